//! JSON of `rethread install` and `rethread uninstall`.

use rethread_engine::{FileChange, InstallPlan, ProgramCopy};
use rethread_model::Agent;
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
        Self { schema: SCHEMA, agent: agent.name(), done, files: FileChangeJson::all(plan) }
    }
}

/// What an install or uninstall of all agents changes.
#[derive(Serialize)]
pub(crate) struct InstallAllReportJson {
    schema: u8,
    /// False if the changes were only shown.
    done: bool,
    agents: Vec<AgentChangesJson>,
    /// Agents that could not be changed.
    failed: Vec<AgentErrorJson>,
}

#[derive(Serialize)]
struct AgentChangesJson {
    agent: &'static str,
    files: Vec<FileChangeJson>,
}

#[derive(Serialize)]
struct AgentErrorJson {
    agent: &'static str,
    error: String,
}

impl InstallAllReportJson {
    pub(crate) fn new(plans: &[(Agent, InstallPlan)], failed: &[(Agent, String)], done: bool) -> Self {
        let changes = |(agent, plan): &(Agent, InstallPlan)| AgentChangesJson {
            agent: agent.as_str(),
            files: FileChangeJson::all(Some(plan)),
        };
        let error = |(agent, error): &(Agent, String)| AgentErrorJson { agent: agent.as_str(), error: error.clone() };
        Self {
            schema: SCHEMA,
            done,
            agents: plans.iter().map(changes).collect(),
            failed: failed.iter().map(error).collect(),
        }
    }
}

impl FileChangeJson {
    fn all(plan: Option<&InstallPlan>) -> Vec<Self> {
        let program = plan.and_then(|plan| plan.program.as_ref()).map(FileChangeJson::of_program);
        let files = plan.into_iter().flat_map(|plan| &plan.files).map(FileChangeJson::new);
        program.into_iter().chain(files).collect()
    }

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
