//! Auggie, the agent of Augment Code: a document per session, with a record per request to the model.

mod exchanges;
mod files;

use rethread_model::Agent;

use super::{AgentFormat, AgentNotes, Layout, Reads, Storage};
use crate::parse::is_globally_unique;

pub(crate) static FORMAT: AgentFormat = AgentFormat {
    is_global_id: is_globally_unique,
    call_ids_repeat: false,
    resume: Some("auggie --resume {id}"),
    start: Some("auggie {prompt}"),
    notes: AgentNotes {
        versions: "0.32 – 0.36",
        reads: &[Reads::Tools, Reads::ExitCodes, Reads::Tokens],
        verified: "1 sample of another reader; the fixture, written from other readers",
    },
    ..AgentFormat::new(
        Agent::Auggie,
        files::home,
        &[Layout {
            storage: Storage::Document { load: files::load },
            extension: "json",
            ..Layout::new("~/.augment/sessions/*.json", files::roots, exchanges::events)
        }],
    )
};
