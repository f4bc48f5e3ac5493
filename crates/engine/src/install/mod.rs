//! What makes agents call us: hooks in their settings, or files of ours that they read. Put in, and taken out again.
//!
//! What would change is planned first and shown; nothing is written before [`Engine::carry_out`].

mod change;
mod claude_code;
mod diff;
mod health;
mod pi;
mod plugin;
mod record;
mod service;
mod settings;

use std::fs;
use std::path::{Path, PathBuf};

use rethread_ingest::source::project;

use crate::{Engine, EngineError, home};

use change::Memo;
pub use change::{FileChange, Plan};
pub use diff::DiffLine;

/// Stands in one of the first lines of each text file that is ours.
const MARK: &str = "Written by `rethread install`";
/// Stands in our texts for the path of the program.
const BINARY: &str = "@BINARY@";
/// How to look into other sessions, for any agent that reads skills.
const SKILL: &str = include_str!("skill.md");

/// Where something of ours goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Hooks in the settings of Claude Code.
    ClaudeCode(SettingsOf),
    /// A folder that Claude Code takes plugins from.
    Plugin(PathBuf),
    /// An extension of pi.
    Pi(SettingsOf),
    /// The server as a service of the user.
    Service,
}

/// Whose settings are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingsOf {
    /// The user's, which hold everywhere.
    User,
    /// Those of the project the user is in.
    Project,
}

/// Why nothing could be installed or taken out. The files are as they were.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// The file system.
    #[error("{} cannot be used", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        cause: std::io::Error,
    },
    /// Not JSON.
    #[error("the settings in {} are not valid JSON", path.display())]
    NotJson {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        #[source]
        cause: serde_json::Error,
    },
    /// JSON, but not as the agent documents it.
    #[error("in the settings in {}, {place} is not {expected}", path.display())]
    Shape {
        /// The file.
        path: PathBuf,
        /// The key.
        place: String,
        /// What should be there.
        expected: &'static str,
    },
    /// Somebody else's file is where ours should be.
    #[error("{} is there already, and rethread did not write it", .0.display())]
    Foreign(PathBuf),
    /// Somebody else wrote the file between plan and change.
    #[error("{} was changed by somebody else just now", .0.display())]
    Changed(PathBuf),
    /// Hooks must name the program, and it is not known where it is.
    #[error("it is not known where the program is that the hooks should call")]
    NoBinary,
}

impl Engine {
    /// What installing would change.
    pub fn plan_install(&self, place: &Place) -> Result<Plan, EngineError> {
        let binary = self.binary().ok_or(InstallError::NoBinary)?;
        Ok(match place {
            Place::ClaudeCode(whose) => self.plan_hooks(*whose, &binary)?,
            Place::Plugin(folder) => plugin::plan(&self.environment.cwd.join(folder), &binary)?,
            Place::Pi(whose) => self.plan_extension(*whose, &binary)?,
            Place::Service => self.plan_service(&binary)?,
        })
    }

    /// What taking it out again would change; nothing if it is not installed.
    pub fn plan_uninstall(&self, place: &Place) -> Result<Option<Plan>, EngineError> {
        let plan = match place {
            Place::ClaudeCode(whose) => self.plan_no_hooks(*whose)?,
            Place::Plugin(folder) => Some(plugin::plan_removal(&self.environment.cwd.join(folder))?),
            Place::Pi(whose) => Some(self.plan_no_extension(*whose)?),
            Place::Service => Some(self.plan_no_service()?),
        };
        Ok(plan.filter(|plan| !plan.files.is_empty()))
    }

    /// Does what was planned, unless somebody else was quicker. What was there before is kept first.
    pub fn carry_out(&self, plan: &Plan) -> Result<(), EngineError> {
        if plan.is_empty() {
            return Ok(());
        }
        for file in plan.changes() {
            file.must_still_hold()?;
        }
        if let Memo::Keep(path, record) = &plan.memo {
            home::prepare(&self.folder)?;
            home::prepare(&self.folder.join("install"))?;
            record.write(path).map_err(|cause| EngineError::Folder { path: path.clone(), cause })?;
        }
        for file in plan.changes() {
            file.carry_out()?;
        }
        if let Memo::Drop(path) = &plan.memo {
            // A record that stays describes a file that is no more, and is never used.
            let _ = fs::remove_file(path);
        }
        for folder in &plan.folders {
            // Only an empty one can be removed this way.
            let _ = fs::remove_dir(folder);
        }
        Ok(())
    }

    /// The project the user is in.
    fn project_folder(&self) -> PathBuf {
        PathBuf::from(project::project_of(&self.environment.cwd.to_string_lossy()))
    }

    fn binary(&self) -> Option<String> {
        self.environment.binary.as_ref().map(|path| path.display().to_string())
    }
}

/// The skill, with the program it tells of.
fn skill(binary: &str) -> String {
    SKILL.replace(BINARY, binary)
}

/// Whether a text file is one of ours.
fn is_ours(text: &str) -> bool {
    text.lines().take(3).any(|line| line.contains(MARK))
}

/// Files as they should be, where nobody else's are.
fn wanted(files: Vec<(PathBuf, String)>, is_ours: impl Fn(&str) -> bool) -> Result<Plan, InstallError> {
    let mut plan = Vec::new();
    for (path, text) in files {
        let file = FileChange::read(path)?;
        if file.before.as_deref().is_some_and(|before| before != text && !is_ours(before)) {
            return Err(InstallError::Foreign(file.path));
        }
        plan.push(file.becoming(Some(text)));
    }
    Ok(Plan::of(plan))
}

/// Without those files, as far as they are ours, and without the folders they leave empty, up to one that stays.
fn unwanted(paths: Vec<PathBuf>, above: &Path, is_ours: impl Fn(&str) -> bool) -> Result<Plan, InstallError> {
    let mut plan = Plan::of(Vec::new());
    for path in paths {
        let inside = path.ancestors().skip(1).take_while(|folder| *folder != above && folder.starts_with(above));
        let folders: Vec<PathBuf> =
            inside.map(Path::to_owned).filter(|folder| !plan.folders.contains(folder)).collect();
        plan.folders.extend(folders);
        let file = FileChange::read(path)?;
        if file.before.as_deref().is_some_and(&is_ours) {
            plan.files.push(file.becoming(None));
        }
    }
    plan.folders.sort_by_key(|folder| std::cmp::Reverse(folder.components().count()));
    Ok(plan)
}

#[cfg(test)]
mod tests;
