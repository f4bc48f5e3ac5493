//! Roo Code: an extension derived from Cline's, with the same files. A sub-task is a task of its own.

use std::path::PathBuf;

use rethread_model::Agent;

use super::cline::tasks;
use super::{AgentFormat, AgentNotes, Reads};
use crate::source::{SourceConfig, extension_dirs};

/// The extension's name in the editor's storage.
const EXTENSION: &str = "rooveterinaryinc.roo-cline";

pub(crate) static FORMAT: AgentFormat = AgentFormat {
    call_ids_repeat: false,
    notes: AgentNotes {
        versions: "extension 3.x",
        reads: &[Reads::Tools, Reads::ExitCodes, Reads::Tokens, Reads::Cost, Reads::Subagents],
        verified: "its source; fixture only",
    },
    ..AgentFormat::new(
        Agent::Roo,
        home,
        &[tasks::layout(
            "`rooveterinaryinc.roo-cline/tasks/<id>/api_conversation_history.json` in the editor's global storage",
            roots,
        )],
    )
};

/// The extension's data in the first editor that has it.
fn home(source_config: &SourceConfig) -> PathBuf {
    let found = extension_dirs(source_config, EXTENSION).into_iter().next();
    found.unwrap_or_else(|| source_config.home.join(".config/Code/User/globalStorage").join(EXTENSION))
}

fn roots(source_config: &SourceConfig) -> Vec<(PathBuf, &'static str)> {
    tasks::extension_roots(source_config, EXTENSION)
}
