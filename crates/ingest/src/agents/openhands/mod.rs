//! OpenHands CLI: a folder per conversation, with its state and a JSON file per event.

mod conversation;
mod events;

use rethread_model::Agent;

use super::{AgentFormat, AgentNotes, Layout, Reads, RecentFolders, Storage};
use crate::parse::is_uuid;

pub(crate) static FORMAT: AgentFormat = AgentFormat {
    is_global_id: is_uuid,
    call_ids_repeat: false,
    resume: Some("openhands --resume {id}"),
    start: Some("openhands --task {prompt}"),
    notes: AgentNotes {
        versions: "CLI 1.0 – 1.9 (software agent SDK)",
        reads: &[Reads::Tools, Reads::ExitCodes, Reads::Tokens, Reads::Cost, Reads::Subagents],
        verified: "the fixture, written from OpenHands' source",
    },
    ..AgentFormat::new(
        Agent::OpenHands,
        conversation::home,
        &[Layout {
            storage: Storage::Document { load: conversation::load },
            extension: "json",
            is_transcript: conversation::is_transcript,
            beside: conversation::beside,
            recent_folders: RecentFolders::Sessions,
            ..Layout::new("~/.openhands/conversations/*/base_state.json", conversation::roots, events::events)
        }],
    )
};
