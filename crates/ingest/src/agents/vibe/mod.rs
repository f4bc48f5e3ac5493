//! Mistral Vibe: a folder per session with `messages.jsonl`, or with snapshots of the session since version 2.2x.

mod files;
mod lines;
mod snapshot;

use rethread_model::Agent;

use super::{AgentFormat, AgentNotes, Layout, Reads, RecentFolders, Storage};
use crate::parse::is_uuid;

pub(crate) static FORMAT: AgentFormat = AgentFormat {
    is_global_id: is_uuid,
    call_ids_repeat: false,
    resume: Some("vibe --resume {id}"),
    start: Some("vibe {prompt}"),
    notes: AgentNotes {
        versions: "1.3 – 2.26",
        reads: &[Reads::Tools, Reads::ExitCodes, Reads::Tokens, Reads::Cost, Reads::Subagents],
        verified: "fixtures, written from Vibe's source",
    },
    ..AgentFormat::new(
        Agent::Vibe,
        files::home,
        &[
            Layout {
                storage: Storage::Document { load: snapshot::load },
                extension: "",
                is_transcript: snapshot::is_transcript,
                beside: snapshot::beside,
                recent_folders: RecentFolders::Sessions,
                ..Layout::new("~/.vibe/logs/session/unified/*/CURRENT", files::snapshot_roots, snapshot::events)
            },
            Layout {
                is_transcript: files::is_transcript,
                beside: files::beside,
                header: files::header,
                recent_folders: RecentFolders::Sessions,
                ..Layout::new("~/.vibe/logs/session/session_*/messages.jsonl", files::roots, lines::events)
            },
        ],
    )
};
