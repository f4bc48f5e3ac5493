//! Kiro: lines of the CLI, its older database, and the sessions of the IDE in two ways.

mod cli;
mod database;
mod files;
mod ide;
mod workspace_session;

use rethread_model::Agent;

use super::{AgentFormat, AgentNotes, Layout, Reads, RecentFolders, Storage};
use crate::parse::is_uuid;

pub(crate) static FORMAT: AgentFormat = AgentFormat {
    is_global_id: is_uuid,
    call_ids_repeat: false,
    resume: Some("kiro-cli chat --resume-id {id}"),
    start: Some("kiro-cli chat {prompt}"),
    notes: AgentNotes {
        versions: "CLI 1.0 – 3.0, IDE",
        reads: &[Reads::Tools, Reads::ExitCodes],
        verified: "1 sample of another reader for the database; the rest fixtures, written from other readers",
    },
    ..AgentFormat::new(
        Agent::Kiro,
        files::home,
        &[
            Layout {
                is_transcript: files::is_cli_transcript,
                recognizes: cli::recognizes,
                beside: |path| vec![path.with_extension("json")],
                header: files::cli_header,
                ..Layout::new("~/.kiro/sessions/cli/*.jsonl", files::session_roots, cli::events)
            },
            Layout {
                is_transcript: files::is_ide_transcript,
                beside: |path| vec![path.with_file_name("session.json")],
                header: files::ide_header,
                recent_folders: RecentFolders::Sessions,
                ..Layout::new("~/.kiro/sessions/*/sess_*/messages.jsonl", files::session_roots, ide::events)
            },
            Layout {
                storage: Storage::Database(database::GENERATIONS),
                extension: "sqlite3",
                ..Layout::new("~/.local/share/kiro-cli/data.sqlite3", files::database_roots, database::events)
            },
            Layout {
                storage: Storage::Document { load: workspace_session::load },
                extension: "json",
                is_transcript: files::is_workspace_session,
                ..Layout::new(
                    "<Kiro's user data>/User/globalStorage/kiro.kiroagent/workspace-sessions/*/*.json",
                    files::workspace_session_roots,
                    workspace_session::events,
                )
            },
        ],
    )
};
