//! DeepSeek Harness: a log of events per session, compressed unless the user turned that off.

mod files;
mod lines;

use rethread_model::Agent;

use super::{AgentFormat, AgentNotes, Layout, Reads, RecentFolders, Storage};
use crate::parse::{is_globally_unique, is_uuid};

pub(crate) static FORMAT: AgentFormat = AgentFormat {
    // A fork copies the log of its parent, with all ids.
    is_global_id: |id| is_globally_unique(id) || is_uuid(id) || (id.len() >= 24 && id.starts_with("call_")),
    call_ids_repeat: false,
    notes: AgentNotes {
        versions: "0.1 – 0.2 (session formats 0 – 4)",
        reads: &[Reads::Tools, Reads::ExitCodes, Reads::Tokens, Reads::Subagents],
        verified: "2 sessions of format 0, raw and compressed; format 4 by the fixture, written from its source",
    },
    ..AgentFormat::new(
        Agent::DeepSeek,
        files::home,
        &[
            Layout {
                storage: Storage::Document { load: files::load },
                extension: "zstd",
                peek: files::peek,
                identify: files::identify,
                recent_folders: RecentFolders::Sessions,
                ..Layout::new("~/.dsh/sessions/*/*/session.v4.jsonl.zstd", files::roots, lines::events)
            },
            Layout {
                is_transcript: files::is_raw_transcript,
                recognizes: files::recognizes,
                header: files::raw_header,
                peek: files::peek,
                identify: files::identify,
                recent_folders: RecentFolders::Sessions,
                ..Layout::new("~/.dsh/sessions/*/*/session.v4.jsonl", files::roots, lines::events)
            },
        ],
    )
};
