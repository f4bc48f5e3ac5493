//! Continue: a document per session, written by the editors' extensions and by the CLI `cn`.

mod files;
mod history;

use rethread_model::Agent;

use super::{AgentFormat, AgentNotes, Layout, Reads, Storage};
use crate::parse::folded;

pub(crate) static FORMAT: AgentFormat = AgentFormat {
    is_global_id: history::is_global_id,
    call_ids_repeat: false,
    // The CLI continues its last session, or forks another one.
    resume: Some("cn --fork {id}"),
    start: Some("cn {prompt}"),
    notes: AgentNotes {
        versions: "extensions 1.x, CLI 1.5",
        reads: &[Reads::Tools, Reads::ExitCodes, Reads::Tokens, Reads::Cost],
        verified: "client 1.5.47",
    },
    ..AgentFormat::new(
        Agent::Continue,
        files::home,
        &[Layout {
            storage: Storage::Document { load: files::load },
            extension: "json",
            is_transcript: files::is_transcript,
            recognizes: files::recognizes,
            ..Layout::new("~/.continue/sessions/<id>.json", files::roots, folded::events)
        }],
    )
};
