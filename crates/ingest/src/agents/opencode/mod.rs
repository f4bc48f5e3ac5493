//! OpenCode: a SQLite database since 1.2, folders of JSON files before, and the documents of `opencode export`.

mod documents;
mod files;
mod messages;
mod queries;
mod records;
mod rows;
mod session;
mod tools;

use std::path::{Path, PathBuf};

use rethread_model::Agent;

use super::{AgentFormat, AgentNotes, Layout, Reads, Storage};
use crate::source::{DatabaseQueries, SourceConfig};

pub(super) use files::OpenCodeNames;

const NAMES: OpenCodeNames = OpenCodeNames { name: "opencode", database_variable: "OPENCODE_DB" };

/// The tables of both agents.
pub(super) static GENERATIONS: &[DatabaseQueries] = &[
    queries::SECOND_SESSIONS,
    queries::MESSAGE_ROWS,
    queries::MESSAGE_ROWS_WITHOUT_NUMBERS,
    queries::MESSAGES_AND_PARTS,
];

pub(crate) static FORMAT: AgentFormat = AgentFormat {
    // A call's id is that of its message and its place in it: the model's ids repeat.
    call_ids_repeat: false,
    resume: Some("opencode -s {id}"),
    start: Some("opencode --prompt {prompt}"),
    notes: AgentNotes {
        versions: "0.3 – 2.x",
        reads: &[Reads::Tools, Reads::ExitCodes, Reads::Tokens, Reads::Cost, Reads::Subagents],
        verified: "client 1.18.33; 5 real exports; 2.x and the JSON files by fixture only",
    },
    ..AgentFormat::new(
        Agent::OpenCode,
        |source_config| NAMES.home(source_config),
        &[
            database_layout(
                "~/.local/share/opencode/opencode*.db",
                |source_config| NAMES.databases(source_config),
                |path| NAMES.is_database(path),
            ),
            Layout {
                recognizes: files::is_session_info,
                ..folder_layout("~/.local/share/opencode/storage/session/*/*.json", |source_config| {
                    NAMES.folders(source_config)
                })
            },
            Layout {
                storage: Storage::Document { load: documents::load_export },
                extension: "json",
                // Only where a user names it.
                is_transcript: |_| false,
                recognizes: files::is_export,
                ..Layout::new("documents of `opencode export`", |_| Vec::new(), records::events)
            },
        ],
    )
};

/// How both agents store sessions in a database.
pub(super) const fn database_layout(
    location: &'static str,
    roots: fn(&SourceConfig) -> Vec<(PathBuf, &'static str)>,
    is_transcript: fn(&Path) -> bool,
) -> Layout {
    Layout {
        storage: Storage::Database(GENERATIONS),
        extension: "db",
        is_transcript,
        ..Layout::new(location, roots, records::events)
    }
}

/// How both agents stored sessions in folders.
pub(super) const fn folder_layout(
    location: &'static str,
    roots: fn(&SourceConfig) -> Vec<(PathBuf, &'static str)>,
) -> Layout {
    Layout {
        storage: Storage::Document { load: documents::load_folders },
        extension: "json",
        is_transcript: files::is_session_file,
        beside: documents::files_beside,
        ..Layout::new(location, roots, records::events)
    }
}
