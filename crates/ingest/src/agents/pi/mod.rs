//! pi: a `.jsonl` file per session, whose lines are the nodes of a tree.

mod files;
mod lines;

use rethread_model::Agent;

use super::{AgentFormat, AgentNotes, Layout, ProjectFolders, Reads};

pub(super) use lines::{PiMessage, add_message, add_user, events_with};

pub(crate) static FORMAT: AgentFormat = AgentFormat {
    // Eight hex digits repeat across sessions; copies are detected by lineage instead. Version 1 has no ids; a line with
    // the same time and content in two files is a copy.
    is_global_id: |id| id.starts_with("line-"),
    is_subagent_id: |id| id.starts_with("subagent-"),
    names_subagents: true,
    session_id_in_path: files::session_id_in_path,
    resume: Some("pi --session {id}"),
    start: Some("pi {prompt}"),
    notes: AgentNotes {
        versions: "session format 1 – 4",
        reads: &[Reads::Tools, Reads::ExitCodes, Reads::Tokens, Reads::Cost, Reads::Subagents],
        verified: "client 0.87.1; 50 real transcripts",
    },
    ..AgentFormat::new(
        Agent::Pi,
        files::home,
        &[Layout {
            recognizes: files::recognizes,
            peek: files::peek,
            copy_signs: &["\"parentSession\":\"", "\"branchedFrom\":\""],
            identify: files::identify,
            project_folders: Some(ProjectFolders {
                name: files::folder_name,
                parent: Some("sessions"),
                are_complete: false,
            }),
            ..Layout::new("~/.pi/agent/sessions/*/*.jsonl", files::roots, lines::events)
        }],
    )
};
