//! Aider: a Markdown file per project that grows by the conversation of each run.

mod files;
mod history;

use rethread_model::Agent;

use super::{AgentFormat, AgentNotes, Layout, Reads, Storage};
use crate::parse::folded;

pub(crate) static FORMAT: AgentFormat = AgentFormat {
    call_ids_repeat: false,
    // Continues the last run in the project.
    resume: Some("aider --restore-chat-history"),
    notes: AgentNotes {
        versions: "0.30 – 0.86",
        reads: &[Reads::Tools, Reads::Tokens, Reads::Cost],
        verified: "client 0.86.2",
    },
    ..AgentFormat::new(
        Agent::Aider,
        files::home,
        &[Layout {
            storage: Storage::Archive { sessions: files::sessions, load: files::load },
            extension: "md",
            is_transcript: files::is_transcript,
            recognizes: files::recognizes,
            ..Layout::new("<project>/.aider.chat.history.md", files::roots, folded::events)
        }],
    )
};
