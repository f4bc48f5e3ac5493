//! Warp: the conversations with its agent, in the database of the terminal.

mod calls;
mod database;
mod tasks;

use rethread_model::Agent;

use super::{AgentFormat, AgentNotes, Layout, Reads, Storage};
use crate::parse::is_uuid;

pub(crate) static FORMAT: AgentFormat = AgentFormat {
    is_global_id: is_uuid,
    call_ids_repeat: false,
    notes: AgentNotes {
        versions: "2026",
        reads: &[Reads::Tools, Reads::ExitCodes, Reads::Subagents],
        verified: "1 sample of another reader; the fixture, written from Warp's own descriptions of the tables and messages",
    },
    ..AgentFormat::new(
        Agent::Warp,
        database::home,
        &[Layout {
            storage: Storage::Database(database::GENERATIONS),
            extension: "sqlite",
            ..Layout::new("~/.local/state/warp-terminal/warp.sqlite", database::roots, database::events)
        }],
    )
};
