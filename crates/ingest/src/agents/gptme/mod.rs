//! gptme: a folder per conversation. Tool calls are code blocks in the answers, and results are system messages.

mod files;
mod log;
mod tools;

use rethread_model::Agent;

use super::{AgentFormat, AgentNotes, Layout, Reads, RecentFolders, Storage};
use crate::parse::folded;

pub(crate) static FORMAT: AgentFormat = AgentFormat {
    call_ids_repeat: false,
    is_subagent_id: |id| id.starts_with("subagent-"),
    resume: Some("gptme --name {id}"),
    start: Some("gptme {prompt}"),
    notes: AgentNotes {
        versions: "0.20 – 0.35",
        reads: &[Reads::Tools, Reads::ExitCodes, Reads::Tokens, Reads::Cost],
        verified: "client 0.35.1",
    },
    ..AgentFormat::new(
        Agent::Gptme,
        files::home,
        &[Layout {
            storage: Storage::Document { load: files::load },
            is_transcript: files::is_transcript,
            recognizes: files::recognizes,
            beside: files::beside,
            recent_folders: RecentFolders::Sessions,
            ..Layout::new("~/.local/share/gptme/logs/<name>/conversation.jsonl", files::roots, folded::events)
        }],
    )
};
