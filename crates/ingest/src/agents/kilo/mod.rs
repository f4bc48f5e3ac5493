//! Kilo: the command line client and the new extension share OpenCode's code and tables.

use rethread_model::Agent;

use super::cline::tasks;
use super::opencode::{OpenCodeNames, database_layout, folder_layout};
use super::{AgentFormat, AgentNotes, Reads};

const NAMES: OpenCodeNames = OpenCodeNames { name: "kilo", database_variable: "KILO_DB" };

pub(crate) static FORMAT: AgentFormat = AgentFormat {
    call_ids_repeat: false,
    resume: Some("kilo -s {id}"),
    start: Some("kilo --prompt {prompt}"),
    notes: AgentNotes {
        versions: "command line client 1.0 – 7.7, extension 4.x",
        reads: &[Reads::Tools, Reads::ExitCodes, Reads::Tokens, Reads::Cost, Reads::Subagents],
        verified: "client 7.7.7",
    },
    ..AgentFormat::new(
        Agent::Kilo,
        |source_config| NAMES.home(source_config),
        &[
            database_layout(
                "~/.local/share/kilo/kilo*.db",
                |source_config| NAMES.databases(source_config),
                |path| NAMES.is_database(path),
            ),
            folder_layout("~/.local/share/kilo/storage/session/*/*.json", |source_config| NAMES.folders(source_config)),
            // The first extension was derived from Roo Code.
            tasks::layout(
                "`kilocode.kilo-code/tasks/<id>/api_conversation_history.json` in the editor's global storage",
                |source_config| tasks::extension_roots(source_config, "kilocode.kilo-code"),
            ),
        ],
    )
};
