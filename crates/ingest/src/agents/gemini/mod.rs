//! Gemini CLI: a `.jsonl` file per session that is appended to, or in older versions a JSON document.

mod files;
mod lines;

use rethread_model::Agent;

use super::{AgentFormat, AgentNotes, Layout, Reads, Retention, Storage};
use crate::parse::{ShellReport, is_uuid};

pub(super) use files::{is_transcript as is_session_file, load as load_document};
pub(super) use lines::events as document_events;

pub(crate) static FORMAT: AgentFormat = AgentFormat {
    is_global_id: is_uuid,
    call_ids_repeat: false,
    session_id_in_path: files::session_id_in_path,
    shell_report: |text| ShellReport::parse(text),
    resume: Some("gemini --resume {id}"),
    start: Some("gemini --prompt-interactive {prompt}"),
    retention: Retention::Days(files::retention_days),
    notes: AgentNotes {
        versions: "0.1 – 0.61",
        reads: &[Reads::Tools, Reads::ExitCodes, Reads::Tokens, Reads::Subagents],
        verified: "client 0.61.0; 3 real transcripts",
    },
    ..AgentFormat::new(
        Agent::Gemini,
        files::home,
        &[
            Layout {
                is_transcript: files::is_transcript,
                recognizes: files::recognizes_lines,
                header: files::header,
                ..Layout::new("~/.gemini/tmp/*/chats/session-*.jsonl", files::roots, lines::events)
            },
            Layout {
                storage: Storage::Document { load: files::load },
                extension: "json",
                is_transcript: files::is_transcript,
                recognizes: files::recognizes_document,
                ..Layout::new("~/.gemini/tmp/*/chats/session-*.json", files::roots, lines::events)
            },
        ],
    )
};
