//! Hermes: a database with all sessions; before that, a file of lines or a JSON document per session.

mod files;
mod queries;
mod rows;
mod user_rows;

use rethread_model::Agent;

use super::{AgentFormat, AgentNotes, Layout, Reads, Retention, Storage};
use crate::source::SessionDocument;

pub(crate) static FORMAT: AgentFormat = AgentFormat {
    call_ids_repeat: false,
    session_id_in_path: files::session_id_in_path,
    repeats_sessions: true,
    resume: Some("hermes chat --resume {id}"),
    retention: Retention::Days(files::retention_days),
    notes: AgentNotes {
        versions: "0.2 – 0.19",
        reads: &[Reads::Tools, Reads::ExitCodes, Reads::Tokens, Reads::Cost, Reads::Subagents],
        verified: "client 0.19.0 for the database; the older files: only the fixture",
    },
    ..AgentFormat::new(
        Agent::Hermes,
        files::home,
        &[
            Layout {
                storage: Storage::Database(&[queries::STATE]),
                extension: "db",
                is_transcript: |path| path.ends_with("state.db"),
                ..Layout::new("~/.hermes/state.db", files::databases, rows::events)
            },
            Layout {
                recognizes: files::is_session_file,
                ..Layout::new("~/.hermes/sessions/*.jsonl", files::session_folders, rows::events)
            },
            Layout {
                storage: Storage::Document { load: |path| SessionDocument::read(path, "messages") },
                extension: "json",
                is_transcript: files::is_snapshot,
                identify: files::identify_snapshot,
                ..Layout::new("~/.hermes/sessions/session_*.json", files::session_folders, rows::events)
            },
        ],
    )
};
