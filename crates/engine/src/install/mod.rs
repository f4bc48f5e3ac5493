//! Installs and removes hooks, plugin, extension and service.
//!
//! Changes are planned and can be shown first; nothing is written before [`InstallService::apply`].

mod claude_code;
mod cline;
mod codex;
mod codex_trust;
mod continue_dev;
mod copilot;
mod cursor;
mod diff;
mod doctor_checks;
mod droid;
mod entry;
mod file_change;
mod gemini;
mod hermes;
mod hook_check;
mod hook_groups;
mod host;
mod kimi;
mod openclaw;
mod opencode;
mod own_files;
mod pi;
mod plugin;
mod program;
mod qwen;
mod record;
mod service;
mod settings;
mod settings_plan;

use std::fs;
use std::path::{Path, PathBuf};

use rethread_ingest::agents::format_of;
use rethread_ingest::source::project;
use rethread_model::Agent;

use crate::{EngineError, InstallService, home};

pub use diff::DiffLine;
pub use file_change::{FileChange, InstallPlan};
use file_change::{RecordChange, Undo};
pub use host::HostInstaller;
use own_files::{
    BINARY_PLACEHOLDER, FILE_MARKER, asset_text, has_marker, is_own_file, plan_file_removal, plan_files, program_in,
    skill_text,
};
pub use program::ProgramCopy;

/// The hosts that Rethread can be installed into, in display order.
pub static INSTALLERS: [&HostInstaller; 15] = [
    &claude_code::INSTALLER,
    &pi::INSTALLER,
    &cline::INSTALLER,
    &codex::INSTALLER,
    &continue_dev::INSTALLER,
    &copilot::INSTALLER,
    &cursor::INSTALLER,
    &droid::INSTALLER,
    &gemini::INSTALLER,
    &hermes::INSTALLER,
    &opencode::KILO,
    &kimi::INSTALLER,
    &openclaw::INSTALLER,
    &opencode::OPENCODE,
    &qwen::INSTALLER,
];

/// What to install or remove.
#[derive(Clone, Debug)]
pub enum InstallLocation {
    /// What calls our hook, a skill, and the MCP server if it is wanted.
    Host {
        /// The host.
        host: &'static HostInstaller,
        /// For the user or one project.
        scope: InstallScope,
        /// Also install the MCP server. A removal always includes it.
        with_mcp: bool,
    },
    /// A plugin marketplace folder for Claude Code.
    Plugin(PathBuf),
    /// The server as a user service of systemd or launchd.
    Service,
}

/// Whether to install for the user or for one project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstallScope {
    /// For the user, in all projects.
    User,
    /// For the project of the current directory.
    Project,
}

/// Why an install or uninstall failed. The files are unchanged.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// A file could not be read or written.
    #[error("cannot read or write {}", path.display())]
    File {
        /// Path of the file.
        path: PathBuf,
        /// The I/O error.
        #[source]
        cause: std::io::Error,
    },
    /// The settings cannot be parsed.
    #[error("invalid {syntax} in {}", path.display())]
    Invalid {
        /// Path of the file.
        path: PathBuf,
        /// The syntax that was expected, such as `JSON`.
        syntax: &'static str,
        /// The parse error.
        #[source]
        cause: std::io::Error,
    },
    /// The settings are valid, but cannot be changed without touching other parts of them.
    #[error("cannot change {} without touching other lines; add these by hand:\n{lines}", path.display())]
    Unclear {
        /// Path of the file.
        path: PathBuf,
        /// What to add.
        lines: String,
    },
    /// Our entries cannot be removed without touching other parts of a file.
    #[error("cannot remove the entries of rethread from {} without touching other lines", .0.display())]
    NotRemovable(PathBuf),
    /// The host has no settings of a project.
    #[error("{} has no project settings", .0.label())]
    NoProjectScope(Agent),
    /// The project is the home directory, so its settings are those of the user.
    #[error("{} is your home directory, not a project", .0.display())]
    ProjectIsHome(PathBuf),
    /// The host calls no hooks.
    #[error("{} calls no hooks; it can only use the MCP server", .0.label())]
    OnlyServer(Agent),
    /// The host has no MCP servers in this scope.
    #[error("{} has no per-project MCP settings", .0.label())]
    NoServer(Agent),
    /// The settings can be parsed, but are not in the documented format.
    #[error("invalid settings in {}: {key} must be {expected}", path.display())]
    UnexpectedValue {
        /// Path of the file.
        path: PathBuf,
        /// The key with the wrong value.
        key: String,
        /// The expected type.
        expected: &'static str,
    },
    /// The file is write-protected.
    #[error("{} is read-only", .0.display())]
    ReadOnly(PathBuf),
    /// Another file already exists at our path.
    #[error("{} already exists and was not written by rethread", .0.display())]
    NotOurs(PathBuf),
    /// The file changed between planning and writing.
    #[error("{} was changed by another program in the meantime", .0.display())]
    Changed(PathBuf),
    /// The path of this program is unknown, and hooks need it.
    #[error("cannot determine the path of the rethread program for the hooks")]
    NoBinary,
}

impl InstallService<'_> {
    /// Plans an installation.
    pub fn plan(self, place: &InstallLocation) -> Result<InstallPlan, EngineError> {
        let program = self.program().ok_or(InstallError::NoBinary)?;
        let binary = program.path.display().to_string();
        let plan = match place {
            InstallLocation::Host { host, scope, with_mcp } => {
                host.plan(&host.place(self, *scope, &binary)?, *with_mcp)?
            }
            InstallLocation::Plugin(folder) => plugin::plan_plugin(&self.engine.environment.cwd.join(folder), &binary)?,
            InstallLocation::Service => self.plan_service(&binary)?,
        };
        Ok(InstallPlan { program: program.copy, ..plan })
    }

    /// Plans a removal; `None` if it is not installed.
    pub fn plan_removal(self, place: &InstallLocation) -> Result<Option<InstallPlan>, EngineError> {
        let plan = match place {
            InstallLocation::Host { host, scope, .. } => {
                let binary = self.binary().unwrap_or_default();
                host.plan_removal(&host.place(self, *scope, &binary)?)?
            }
            InstallLocation::Plugin(folder) => plugin::plan_remove_plugin(&self.engine.environment.cwd.join(folder))?,
            InstallLocation::Service => self.plan_remove_service()?,
        };
        Ok(Some(plan).filter(|plan| !plan.files.is_empty()))
    }

    /// Applies a plan, unless a file has changed since planning or is write-protected. Originals are saved first. If a
    /// file cannot be written, those before it are restored; only a copy of the program stays.
    pub fn apply(self, plan: &InstallPlan) -> Result<(), EngineError> {
        for file in plan.changes() {
            file.ensure_replaceable()?;
        }
        if let Some(copy) = &plan.program {
            copy.apply()?;
        }
        if plan.changes().next().is_none() {
            return Ok(());
        }
        let mut undo = Undo::default();
        if let Err(error) = self.write_files(plan, &mut undo) {
            undo.run();
            return Err(error);
        }
        for record in &plan.records {
            if let RecordChange::Delete(path) = record {
                // A leftover record matches no file and is never used.
                let _ = fs::remove_file(path);
            }
        }
        for folder in &plan.folders {
            // This only removes empty folders.
            let _ = fs::remove_dir(folder);
        }
        Ok(())
    }

    /// Writes the records and files of a plan, and notes how to undo it.
    fn write_files(self, plan: &InstallPlan, undo: &mut Undo) -> Result<(), EngineError> {
        for record in &plan.records {
            if let RecordChange::Save(path, record) = record {
                self.engine.ensure_home()?;
                home::ensure_private_folder(&self.engine.folder.join("install"))?;
                undo.note(path, fs::read_to_string(path).ok());
                record.write(path).map_err(|cause| EngineError::Folder { path: path.clone(), cause })?;
            }
        }
        for file in plan.changes() {
            undo.note(&file.target, file.before.clone());
            file.apply()?;
        }
        Ok(())
    }

    /// Plans and applies an installation. Returns what was changed.
    pub fn run(self, place: &InstallLocation) -> Result<InstallPlan, EngineError> {
        let plan = self.plan(place)?;
        self.apply(&plan)?;
        Ok(plan)
    }

    /// The hosts that were used on this machine, except Claude Code if our plugin is already installed there.
    pub fn found_hosts(self) -> Vec<&'static HostInstaller> {
        let is_wanted = |host: &&HostInstaller| host.agent != Agent::ClaudeCode || !self.uses_plugin();
        INSTALLERS.into_iter().filter(|host| self.has_agent(host.agent)).filter(is_wanted).collect()
    }

    /// Whether an agent was used on this machine, with or without transcripts.
    pub fn has_agent(self, agent: Agent) -> bool {
        (format_of(agent).home)(&self.engine.source_config()).is_dir()
    }

    /// The project of the current directory.
    fn project_folder(self) -> PathBuf {
        PathBuf::from(project::project_of(&self.engine.environment.cwd.to_string_lossy()))
    }

    /// Whether the current directory has no other project than the home directory.
    fn is_project_home(self) -> bool {
        let (project, home) = (self.project_folder(), &self.engine.environment.home);
        let resolved = |path: &Path| path.canonicalize().ok();
        project == *home || resolved(&project).is_some_and(|project| Some(project) == resolved(home))
    }

    /// The path of the program that hooks call, as text.
    fn binary(self) -> Option<String> {
        self.program_path().map(|path| path.display().to_string())
    }
}

#[cfg(test)]
mod host_tests;
#[cfg(test)]
mod tests;
