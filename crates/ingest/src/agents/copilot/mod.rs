//! Copilot CLI: a folder per session with `events.jsonl`; before that a file per session, and at first a document.

mod calls;
mod events;
mod files;
mod history;

use rethread_model::Agent;

use super::{AgentFormat, AgentNotes, Layout, Reads, RecentFolders, Storage};

pub(super) use events::{CopilotHeader, events};

pub(crate) static FORMAT: AgentFormat = AgentFormat {
    call_ids_repeat: false,
    session_id_in_path: files::session_id_in_path,
    shell_report: calls::shell_report,
    resume: Some("copilot --resume={id}"),
    start: Some("copilot --interactive {prompt}"),
    notes: AgentNotes {
        versions: "0.0.3 – 1.0.102",
        reads: &[Reads::Tools, Reads::ExitCodes, Reads::Tokens, Reads::Subagents],
        verified: "client 1.0.102; trimmed real transcripts of 0.0.420 – 1.0.77",
    },
    ..AgentFormat::new(
        Agent::Copilot,
        files::home,
        &[
            Layout {
                is_transcript: files::is_transcript,
                recognizes: events::recognizes,
                beside: files::beside,
                header: files::header,
                peek: files::peek,
                identify: files::identify,
                recent_folders: RecentFolders::Sessions,
                ..Layout::new("~/.copilot/session-state/*/events.jsonl", files::roots, events::events)
            },
            Layout {
                storage: Storage::Document { load: history::load },
                extension: "json",
                ..Layout::new("~/.copilot/history-session-state/*.json", files::history_roots, history::events)
            },
        ],
    )
};
