//! Rethread itself: the logs of our own threads.

mod files;
mod lines;

use rethread_model::Agent;

use super::{AgentFormat, AgentNotes, Layout, Reads};

pub use files::explicit_thread_name;

pub(crate) static FORMAT: AgentFormat = AgentFormat {
    notes: AgentNotes {
        versions: "all",
        reads: &[Reads::Tools, Reads::Tokens, Reads::Cost],
        verified: "its own tests",
    },
    ..AgentFormat::new(
        Agent::Native,
        files::home,
        &[Layout {
            is_transcript: files::is_transcript,
            identify: files::identify,
            ..Layout::new("~/.rethread/threads/*/session.jsonl", files::roots, lines::events)
        }],
    )
};
