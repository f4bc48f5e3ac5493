//! Our hooks in the settings of agents: put in, taken out, and the file as it was brought back.
//!
//! What would change is planned first and shown; nothing is written before [`Engine::change_settings`].

mod diff;
mod health;
mod record;
mod settings;

use std::fs::{self, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rethread_ingest::source::project;
use serde_json::Value;

use crate::{Engine, EngineError, home};

pub use diff::DiffLine;
use record::Record;
use settings::Problem;

/// Whose settings are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingsOf {
    /// The user's, which hold everywhere.
    User,
    /// Those of the project the user is in.
    Project,
}

/// What would become of a settings file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsChange {
    /// The file, as the agent names it.
    pub path: PathBuf,
    /// The text there is; nothing if there is no file.
    pub before: Option<String>,
    /// The text there would be; nothing if the file would be removed.
    pub after: Option<String>,
    /// The file that is written, where links lead to it.
    target: PathBuf,
    /// What has to be remembered to take it back; nothing if the change takes something back.
    record: Option<Record>,
}

impl SettingsChange {
    /// Whether nothing would change.
    pub fn is_empty(&self) -> bool {
        self.before == self.after
    }

    /// The lines that would change, with a few around them.
    pub fn diff(&self) -> Vec<DiffLine> {
        diff::lines(self.before.as_deref().unwrap_or_default(), self.after.as_deref().unwrap_or_default())
    }
}

/// Why the settings of an agent could not be changed. They are as they were.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// The file system.
    #[error("the settings in {} cannot be used", path.display())]
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
    /// Somebody else wrote the file between plan and change.
    #[error("the settings in {} were changed by somebody else just now", .0.display())]
    Changed(PathBuf),
    /// Hooks must name the program, and it is not known where it is.
    #[error("it is not known where the program is that the hooks should call")]
    NoBinary,
}

impl Engine {
    /// What installing the hooks of Claude Code would change.
    pub fn plan_install(&self, whose: SettingsOf) -> Result<SettingsChange, EngineError> {
        let binary = self.binary().ok_or(InstallError::NoBinary)?;
        let file = self.settings_file(whose)?;
        let after = settings::with_hooks(&file.value, &binary).map_err(|problem| file.shape(problem))?;
        let after = if after == file.value { file.text.clone() } else { Some(file.write(&after)) };
        let record = self.record_for(&file, after.as_deref());
        Ok(SettingsChange { path: file.path, before: file.text, after, target: file.target, record: Some(record) })
    }

    /// What taking the hooks of Claude Code out again would change; nothing if they are not installed.
    pub fn plan_uninstall(&self, whose: SettingsOf) -> Result<Option<SettingsChange>, EngineError> {
        let file = self.settings_file(whose)?;
        let binary = self.binary();
        let Some(before) = file.text.clone().filter(|_| settings::has_hooks(&file.value, binary.as_deref())) else {
            return Ok(None);
        };
        let record = record::read(&self.record_path(&file.target)).filter(|record| record.describes(&before));
        let after = match record {
            Some(record) => record.original,
            None => Some(file.write(&settings::without_hooks(&file.value, binary.as_deref()))),
        };
        Ok(Some(SettingsChange { path: file.path, before: Some(before), after, target: file.target, record: None }))
    }

    /// Does what was planned, unless somebody else was quicker. What was there before is kept first.
    pub fn change_settings(&self, change: &SettingsChange) -> Result<(), EngineError> {
        if change.is_empty() {
            return Ok(());
        }
        let failed = |cause| InstallError::File { path: change.path.clone(), cause };
        if read(&change.target).map_err(failed)?.as_deref() != change.before.as_deref().map(str::as_bytes) {
            return Err(InstallError::Changed(change.path.clone()).into());
        }
        let kept = self.record_path(&change.target);
        if let Some(record) = &change.record {
            home::prepare(&self.folder)?;
            home::prepare(&self.folder.join("install"))?;
            record.write(&kept).map_err(|cause| EngineError::Folder { path: kept.clone(), cause })?;
        }
        write(&change.target, change.after.as_deref()).map_err(failed)?;
        if change.record.is_none() {
            // A record that stays describes a file that is no more, and is never used.
            let _ = fs::remove_file(&kept);
        }
        Ok(())
    }

    /// The directory Claude Code keeps its settings in.
    fn claude_folder(&self) -> PathBuf {
        let surroundings = self.surroundings();
        let named = surroundings.variable("CLAUDE_CONFIG_DIR").and_then(|list| list.split(',').next());
        named.map_or_else(|| self.environment.home.join(".claude"), |folder| surroundings.expand(folder.trim()))
    }

    fn settings_path(&self, whose: SettingsOf) -> PathBuf {
        let folder = match whose {
            SettingsOf::User => self.claude_folder(),
            SettingsOf::Project => {
                Path::new(&project::project_of(&self.environment.cwd.to_string_lossy())).join(".claude")
            }
        };
        folder.join("settings.json")
    }

    fn settings_file(&self, whose: SettingsOf) -> Result<SettingsFile, InstallError> {
        SettingsFile::read(self.settings_path(whose))
    }

    fn binary(&self) -> Option<String> {
        self.environment.binary.as_ref().map(|path| path.display().to_string())
    }

    fn record_path(&self, target: &Path) -> PathBuf {
        let name = format!("claude-code-{}.json", project::namespace_of(&target.to_string_lossy()));
        self.folder.join("install").join(name)
    }

    /// What to remember: the file before the first of our changes, with whatever others changed since.
    fn record_for(&self, file: &SettingsFile, after: Option<&str>) -> Record {
        let binary = self.binary();
        let known = record::read(&self.record_path(&file.target));
        let known = known.filter(|record| file.text.as_deref().is_some_and(|text| record.describes(text)));
        let original = match known {
            Some(record) => record.original,
            None if settings::has_hooks(&file.value, binary.as_deref()) => {
                Some(file.write(&settings::without_hooks(&file.value, binary.as_deref())))
            }
            None => file.text.clone(),
        };
        Record::new(&file.path, original, after.unwrap_or_default())
    }
}

/// A settings file as it is.
#[derive(Debug)]
struct SettingsFile {
    path: PathBuf,
    target: PathBuf,
    text: Option<String>,
    /// An empty object where there is no file, or nothing in it.
    value: Value,
}

impl SettingsFile {
    fn read(path: PathBuf) -> Result<Self, InstallError> {
        let failed = |cause| InstallError::File { path: path.clone(), cause };
        let target = resolve(&path).map_err(failed)?;
        let Some(bytes) = read(&target).map_err(failed)? else {
            return Ok(Self { path, target, text: None, value: Value::Object(serde_json::Map::new()) });
        };
        match settings::parse(&bytes) {
            // What is JSON is also UTF-8, so nothing is lost here.
            Ok(value) => Ok(Self { path, target, text: Some(String::from_utf8_lossy(&bytes).into_owned()), value }),
            Err(cause) => Err(InstallError::NotJson { path, cause }),
        }
    }

    /// A value in the style of this file.
    fn write(&self, value: &Value) -> String {
        settings::write(value, self.text.as_deref().unwrap_or_default())
    }

    fn shape(&self, problem: Problem) -> InstallError {
        InstallError::Shape { path: self.path.clone(), place: problem.place, expected: problem.expected }
    }
}

/// The file that a path means, through all links. What is not there yet is named by the part that is.
fn resolve(path: &Path) -> std::io::Result<PathBuf> {
    let Some(there) = path.ancestors().find(|part| part.symlink_metadata().is_ok()) else {
        return Ok(path.to_owned());
    };
    let base = there.canonicalize()?;
    match path.strip_prefix(there) {
        Ok(rest) if !rest.as_os_str().is_empty() => Ok(base.join(rest)),
        _ => Ok(base),
    }
}

fn read(path: &Path) -> std::io::Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Writes or removes a file in one step, and leaves its permissions as they are.
fn write(path: &Path, text: Option<&str>) -> std::io::Result<()> {
    let Some(text) = text else { return fs::remove_file(path) };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let permissions = fs::metadata(path).map_or_else(|_| Permissions::from_mode(0o600), |data| data.permissions());
    home::write_with(path, text, permissions)
}

#[cfg(test)]
mod tests;
