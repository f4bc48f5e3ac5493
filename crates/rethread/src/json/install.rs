//! What was installed or taken out, as programs get it.

use rethread_engine::{FileChange, Plan};
use serde::Serialize;

use super::SCHEMA;
use crate::cli::install::Target;

/// The files of an install or uninstall.
#[derive(Serialize)]
pub(crate) struct Installed {
    schema: u8,
    agent: &'static str,
    /// Whether it was done, and not only shown.
    done: bool,
    files: Vec<Changed>,
}

#[derive(Serialize)]
struct Changed {
    path: String,
    change: &'static str,
}

impl Installed {
    /// What a plan changes; nothing where there was nothing to take out.
    pub(crate) fn new(agent: Target, plan: Option<&Plan>, done: bool) -> Self {
        let files = plan.into_iter().flat_map(|plan| &plan.files).map(Changed::new).collect();
        Self { schema: SCHEMA, agent: agent.name(), done, files }
    }
}

impl Changed {
    fn new(file: &FileChange) -> Self {
        let change = match (&file.before, &file.after) {
            _ if file.is_empty() => "none",
            (None, _) => "created",
            (_, None) => "removed",
            _ => "changed",
        };
        Self { path: file.path.display().to_string(), change }
    }
}
