//! Qwen Code: a `.jsonl` file per session and per sub-agent. Versions before 0.5 wrote Gemini CLI's JSON documents.

mod files;
mod lines;

use rethread_model::Agent;

use super::gemini::{document_events, is_session_file, load_document};
use super::{AgentFormat, AgentNotes, Layout, ProjectFolders, Reads, Storage};
use crate::parse::{ShellReport, is_uuid};

pub(crate) static FORMAT: AgentFormat = AgentFormat {
    is_global_id: is_uuid,
    // Models number their calls, and some begin again with every answer.
    call_ids_repeat: true,
    session_id_in_path: files::session_id_in_path,
    shell_report: |text| ShellReport::parse(text),
    resume: Some("qwen --resume {id}"),
    start: Some("qwen --prompt-interactive {prompt}"),
    notes: AgentNotes {
        versions: "0.1 – 0.24",
        reads: &[Reads::Tools, Reads::ExitCodes, Reads::Tokens, Reads::Subagents],
        verified: "client 0.24.4",
    },
    ..AgentFormat::new(
        Agent::Qwen,
        files::home,
        &[
            Layout {
                is_transcript: files::is_transcript,
                recognizes: files::recognizes,
                header: files::header,
                copy_signs: &["\"forkedFrom\":{"],
                identify: files::identify,
                project_folders: Some(ProjectFolders { name: files::folder_name, parent: None, are_complete: true }),
                ..Layout::new("~/.qwen/projects/*/chats/*.jsonl", files::roots, lines::events)
            },
            Layout {
                storage: Storage::Document { load: load_document },
                extension: "json",
                is_transcript: is_session_file,
                ..Layout::new("~/.qwen/tmp/*/chats/session-*.json", files::old_roots, document_events)
            },
        ],
    )
};
