//! JSON of `rethread install` and `rethread uninstall`.

use rethread_engine::{FileChange, InstallPlan, ProgramCopy};
use serde::Serialize;

use super::SCHEMA;
use crate::cli::install::InstallTarget;

/// The files that an install or uninstall changes.
#[derive(Serialize)]
pub(crate) struct InstallReportJson {
    schema: u8,
    agent: &'static str,
    /// False if the changes were only shown.
    done: bool,
    files: Vec<FileChangeJson>,
}

#[derive(Serialize)]
struct FileChangeJson {
    path: String,
    change: &'static str,
}

impl InstallReportJson {
    /// `plan` is `None` if there was nothing to uninstall.
    pub(crate) fn new(agent: InstallTarget, plan: Option<&InstallPlan>, done: bool) -> Self {
        let program = plan.and_then(|plan| plan.program.as_ref()).map(FileChangeJson::of_program);
        let files = plan.into_iter().flat_map(|plan| &plan.files).map(FileChangeJson::new);
        let files = program.into_iter().chain(files).collect();
        Self { schema: SCHEMA, agent: agent.name(), done, files }
    }
}

impl FileChangeJson {
    fn of_program(copy: &ProgramCopy) -> Self {
        Self { path: copy.to.display().to_string(), change: "copied" }
    }

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
