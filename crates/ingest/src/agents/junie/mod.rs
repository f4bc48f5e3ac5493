//! Junie: a stream of user interface events per session, which repeats a block whenever it changes.

mod blocks;
mod files;
mod fold;

use rethread_model::Agent;

use super::{AgentFormat, AgentNotes, Layout, Reads, RecentFolders, Storage};

pub(crate) static FORMAT: AgentFormat = AgentFormat {
    call_ids_repeat: false,
    notes: AgentNotes {
        versions: "since 2026-02",
        reads: &[Reads::Tools, Reads::ExitCodes, Reads::Tokens, Reads::Cost],
        verified: "1 sample of another reader; the fixture, written from other readers",
    },
    ..AgentFormat::new(
        Agent::Junie,
        files::home,
        &[Layout {
            storage: Storage::Document { load: fold::load },
            is_transcript: files::is_transcript,
            recent_folders: RecentFolders::Sessions,
            ..Layout::new("~/.junie/sessions/*/events.jsonl", files::roots, blocks::events)
        }],
    )
};
