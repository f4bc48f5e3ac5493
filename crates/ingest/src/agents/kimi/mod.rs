//! Kimi Code: a log of lines per session and sub-agent. Its predecessor kimi-cli wrote a folder with several logs.

mod files;
mod legacy;
mod lines;

use rethread_model::Agent;

use super::{AgentFormat, AgentNotes, Layout, Reads, Storage};
use crate::parse::is_uuid;

pub(crate) static FORMAT: AgentFormat = AgentFormat {
    // Lines without an id have a time: one that comes again in another session is a copy.
    is_global_id: |id| is_uuid(id) || id.starts_with("msg_") || id.starts_with("line-"),
    resume: Some("kimi -r {id}"),
    notes: AgentNotes {
        versions: "kimi-cli 0.x – 1.x; Kimi Code to 2.1 (wire protocol 1.5)",
        reads: &[Reads::Tools, Reads::ExitCodes, Reads::Tokens, Reads::Subagents],
        verified: "client 2.1.0; the vendor's own samples",
    },
    ..AgentFormat::new(
        Agent::Kimi,
        files::home,
        &[
            Layout {
                is_transcript: files::is_transcript,
                recognizes: files::recognizes,
                beside: |path| files::state_path(path).into_iter().collect(),
                header: |path| Some(files::header(path)),
                ..Layout::new("~/.kimi-code/sessions/*/*/agents/*/wire.jsonl", files::roots, lines::events)
            },
            Layout {
                storage: Storage::Document { load: legacy::load },
                is_transcript: |path| path.file_name().is_some_and(|name| name == "context.jsonl"),
                recognizes: legacy::recognizes,
                beside: legacy::files_beside,
                ..Layout::new("~/.kimi/sessions/*/*/context.jsonl", legacy::roots, lines::events)
            },
        ],
    )
};
