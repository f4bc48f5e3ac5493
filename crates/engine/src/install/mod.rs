//! Installs and removes hooks, plugin, extension and service.
//!
//! Changes are planned and can be shown first; nothing is written before [`Engine::apply_install_plan`].

mod claude_code;
mod diff;
mod doctor_checks;
mod file_change;
mod pi;
mod plugin;
mod record;
mod service;
mod settings;

use std::fs;
use std::path::{Path, PathBuf};

use rethread_ingest::source::project;

use crate::{Engine, EngineError, home};

pub use diff::DiffLine;
use file_change::RecordChange;
pub use file_change::{FileChange, InstallPlan};

/// Marks our text files; it is in one of their first three lines.
const FILE_MARKER: &str = "Written by `rethread install`";
/// Placeholder for the program path in our files.
const BINARY_PLACEHOLDER: &str = "@BINARY@";
/// A skill that explains how to look up other sessions, for any agent that supports skills.
const SKILL: &str = include_str!("skill.md");

/// What to install or remove.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InstallLocation {
    /// Hooks in the Claude Code settings.
    ClaudeCode(InstallScope),
    /// A plugin marketplace folder for Claude Code.
    Plugin(PathBuf),
    /// The pi extension and skill.
    Pi(InstallScope),
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
    /// The settings are not valid JSON.
    #[error("invalid JSON in {}", path.display())]
    NotJson {
        /// Path of the file.
        path: PathBuf,
        /// The parse error.
        #[source]
        cause: serde_json::Error,
    },
    /// The settings are JSON, but not in the documented format.
    #[error("invalid settings in {}: {key} must be {expected}", path.display())]
    UnexpectedValue {
        /// Path of the file.
        path: PathBuf,
        /// The key with the wrong value.
        key: String,
        /// The expected type.
        expected: &'static str,
    },
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

impl Engine {
    /// Plans an installation.
    pub fn plan_install(&self, place: &InstallLocation) -> Result<InstallPlan, EngineError> {
        let binary = self.binary().ok_or(InstallError::NoBinary)?;
        Ok(match place {
            InstallLocation::ClaudeCode(scope) => self.plan_hooks(*scope, &binary)?,
            InstallLocation::Plugin(folder) => plugin::plan_plugin(&self.environment.cwd.join(folder), &binary)?,
            InstallLocation::Pi(scope) => self.plan_extension(*scope, &binary)?,
            InstallLocation::Service => self.plan_service(&binary)?,
        })
    }

    /// Plans a removal; `None` if it is not installed.
    pub fn plan_uninstall(&self, place: &InstallLocation) -> Result<Option<InstallPlan>, EngineError> {
        let plan = match place {
            InstallLocation::ClaudeCode(scope) => self.plan_remove_hooks(*scope)?,
            InstallLocation::Plugin(folder) => Some(plugin::plan_remove_plugin(&self.environment.cwd.join(folder))?),
            InstallLocation::Pi(scope) => Some(self.plan_remove_extension(*scope)?),
            InstallLocation::Service => Some(self.plan_remove_service()?),
        };
        Ok(plan.filter(|plan| !plan.files.is_empty()))
    }

    /// Applies a plan, unless a file has changed since planning. The original is saved first.
    pub fn apply_install_plan(&self, plan: &InstallPlan) -> Result<(), EngineError> {
        if plan.is_empty() {
            return Ok(());
        }
        for file in plan.changes() {
            file.ensure_unchanged()?;
        }
        if let RecordChange::Save(path, record) = &plan.record_change {
            self.ensure_home()?;
            home::ensure_private_folder(&self.folder.join("install"))?;
            record.write(path).map_err(|cause| EngineError::Folder { path: path.clone(), cause })?;
        }
        for file in plan.changes() {
            file.apply()?;
        }
        if let RecordChange::Delete(path) = &plan.record_change {
            // A leftover record matches no file and is never used.
            let _ = fs::remove_file(path);
        }
        for folder in &plan.folders {
            // This only removes empty folders.
            let _ = fs::remove_dir(folder);
        }
        Ok(())
    }

    /// The project of the current directory.
    fn project_folder(&self) -> PathBuf {
        PathBuf::from(project::project_of(&self.environment.cwd.to_string_lossy()))
    }

    fn binary(&self) -> Option<String> {
        self.environment.binary.as_ref().map(|path| path.display().to_string())
    }
}

fn skill_text(binary: &str) -> String {
    SKILL.replace(BINARY_PLACEHOLDER, binary)
}

fn has_marker(text: &str) -> bool {
    text.lines().take(3).any(|line| line.contains(FILE_MARKER))
}

/// Plans to write files, unless another program's file is in the way.
fn plan_files(files: Vec<(PathBuf, String)>, is_ours: impl Fn(&str) -> bool) -> Result<InstallPlan, InstallError> {
    let mut plan = Vec::new();
    for (path, text) in files {
        let file = FileChange::read(path)?;
        if file.before.as_deref().is_some_and(|before| before != text && !is_ours(before)) {
            return Err(InstallError::NotOurs(file.path));
        }
        plan.push(file.with_text(Some(text)));
    }
    Ok(InstallPlan::of_own_files(plan))
}

/// Plans to remove files that are ours, and the folders this leaves empty, up to but not including `above`.
fn plan_file_removal(
    paths: Vec<PathBuf>,
    above: &Path,
    is_ours: impl Fn(&str) -> bool,
) -> Result<InstallPlan, InstallError> {
    let mut plan = InstallPlan::of_own_files(Vec::new());
    for path in paths {
        let inside = path.ancestors().skip(1).take_while(|folder| *folder != above && folder.starts_with(above));
        let folders: Vec<PathBuf> =
            inside.map(Path::to_owned).filter(|folder| !plan.folders.contains(folder)).collect();
        plan.folders.extend(folders);
        let file = FileChange::read(path)?;
        if file.before.as_deref().is_some_and(&is_ours) {
            plan.files.push(file.with_text(None));
        }
    }
    plan.folders.sort_by_key(|folder| std::cmp::Reverse(folder.components().count()));
    Ok(plan)
}

#[cfg(test)]
mod tests;
