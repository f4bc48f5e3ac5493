//! Rovo Dev: a folder per session with a document, whose messages are Pydantic AI's.

mod files;
mod messages;

use rethread_model::Agent;

use super::{AgentFormat, AgentNotes, Layout, Reads, RecentFolders, Storage};

pub(crate) static FORMAT: AgentFormat = AgentFormat {
    is_global_id: |id| id.starts_with("toolu_") && id.len() >= 20,
    call_ids_repeat: false,
    notes: AgentNotes {
        versions: "2025 – 2026",
        reads: &[Reads::Tools, Reads::ExitCodes, Reads::Tokens],
        verified: "1 sample of another reader; the fixture, written from other readers",
    },
    ..AgentFormat::new(
        Agent::RovoDev,
        files::home,
        &[Layout {
            storage: Storage::Document { load: files::load },
            extension: "json",
            is_transcript: files::is_transcript,
            beside: files::beside,
            recent_folders: RecentFolders::Sessions,
            ..Layout::new("~/.rovodev/sessions/*/session_context.json", files::roots, messages::events)
        }],
    )
};
