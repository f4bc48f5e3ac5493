//! Hooks in the settings of Claude Code. The file is kept as it was, so that it can come back byte for byte.

use std::path::{Path, PathBuf};

use rethread_ingest::source::project;
use serde_json::Value;

use super::change::{FileChange, Memo, Plan};
use super::record::{self, Record};
use super::settings::{self, Problem};
use super::{InstallError, SettingsOf};
use crate::Engine;

impl Engine {
    /// The settings with our hooks in them.
    pub(super) fn plan_hooks(&self, whose: SettingsOf, binary: &str) -> Result<Plan, InstallError> {
        let settings = Settings::read(self.settings_path(whose))?;
        let after = settings::with_hooks(&settings.value, binary).map_err(|problem| settings.shape(problem))?;
        let after = if after == settings.value { settings.file.before.clone() } else { Some(settings.write(&after)) };
        let kept = self.record_path(&settings.file.target);
        let memo = Memo::Keep(kept, self.record_for(&settings, after.as_deref()));
        Ok(Plan { memo, ..Plan::of(vec![settings.file.becoming(after)]) })
    }

    /// The settings without our hooks; nothing if there are none.
    pub(super) fn plan_no_hooks(&self, whose: SettingsOf) -> Result<Option<Plan>, InstallError> {
        let settings = Settings::read(self.settings_path(whose))?;
        let binary = self.binary();
        let has_hooks = settings::has_hooks(&settings.value, binary.as_deref());
        let Some(before) = settings.file.before.clone().filter(|_| has_hooks) else { return Ok(None) };
        let kept = self.record_path(&settings.file.target);
        let after = match record::read(&kept).filter(|record| record.describes(&before)) {
            Some(record) => record.original,
            None => Some(settings.write(&settings::without_hooks(&settings.value, binary.as_deref()))),
        };
        Ok(Some(Plan { memo: Memo::Drop(kept), ..Plan::of(vec![settings.file.becoming(after)]) }))
    }

    /// The file Claude Code keeps settings in.
    pub(super) fn settings_path(&self, whose: SettingsOf) -> PathBuf {
        let folder = match whose {
            SettingsOf::User => self.claude_folder(),
            SettingsOf::Project => self.project_folder().join(".claude"),
        };
        folder.join("settings.json")
    }

    fn claude_folder(&self) -> PathBuf {
        let surroundings = self.surroundings();
        let named = surroundings.variable("CLAUDE_CONFIG_DIR").and_then(|list| list.split(',').next());
        named.map_or_else(|| self.environment.home.join(".claude"), |folder| surroundings.expand(folder.trim()))
    }

    fn record_path(&self, target: &Path) -> PathBuf {
        let name = format!("claude-code-{}.json", project::namespace_of(&target.to_string_lossy()));
        self.folder.join("install").join(name)
    }

    /// What to remember: the file before the first of our changes, with whatever others changed since.
    fn record_for(&self, settings: &Settings, after: Option<&str>) -> Record {
        let binary = self.binary();
        let known = record::read(&self.record_path(&settings.file.target));
        let text = settings.file.before.as_deref();
        let original = match known.filter(|record| text.is_some_and(|text| record.describes(text))) {
            Some(record) => record.original,
            None if settings::has_hooks(&settings.value, binary.as_deref()) => {
                Some(settings.write(&settings::without_hooks(&settings.value, binary.as_deref())))
            }
            None => settings.file.before.clone(),
        };
        Record::new(&settings.file.path, original, after.unwrap_or_default())
    }
}

/// A settings file as it is.
#[derive(Debug)]
pub(super) struct Settings {
    file: FileChange,
    /// An empty object where there is no file, or nothing in it.
    pub(super) value: Value,
}

impl Settings {
    pub(super) fn read(path: PathBuf) -> Result<Self, InstallError> {
        let file = FileChange::read(path)?;
        match settings::parse(file.before.as_deref().unwrap_or_default().as_bytes()) {
            Ok(value) => Ok(Self { file, value }),
            Err(cause) => Err(InstallError::NotJson { path: file.path, cause }),
        }
    }

    /// A value in the style of this file.
    fn write(&self, value: &Value) -> String {
        settings::write(value, self.file.before.as_deref().unwrap_or_default())
    }

    fn shape(&self, problem: Problem) -> InstallError {
        InstallError::Shape { path: self.file.path.clone(), place: problem.place, expected: problem.expected }
    }
}
