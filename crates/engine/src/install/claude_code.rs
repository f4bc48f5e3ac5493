//! Plans our hooks in the Claude Code settings. The original file is recorded, so that uninstalling restores it byte
//! for byte.

use std::path::{Path, PathBuf};

use rethread_ingest::source::project;
use serde_json::Value;

use super::file_change::{FileChange, InstallPlan, RecordChange};
use super::record::{self, InstallRecord};
use super::settings::{self, SettingsProblem};
use super::{InstallError, InstallScope};
use crate::Engine;

impl Engine {
    /// Plans adding our hooks.
    pub(super) fn plan_hooks(&self, scope: InstallScope, binary: &str) -> Result<InstallPlan, InstallError> {
        let settings = ClaudeSettings::read(self.settings_path(scope))?;
        let after =
            settings::with_hooks(&settings.value, binary).map_err(|problem| settings.unexpected_value(problem))?;
        let after = if after == settings.value { settings.file.before.clone() } else { Some(settings.write(&after)) };
        let record_path = self.record_path(&settings.file.target);
        let memo = RecordChange::Save(record_path, self.record_for(&settings, after.as_deref()));
        Ok(InstallPlan { record_change: memo, ..InstallPlan::of_own_files(vec![settings.file.with_text(after)]) })
    }

    /// Plans removing our hooks; `None` if there are none.
    pub(super) fn plan_remove_hooks(&self, scope: InstallScope) -> Result<Option<InstallPlan>, InstallError> {
        let settings = ClaudeSettings::read(self.settings_path(scope))?;
        let binary = self.binary();
        let has_hooks = settings::has_hooks(&settings.value, binary.as_deref());
        let Some(before) = settings.file.before.clone().filter(|_| has_hooks) else { return Ok(None) };
        let record_path = self.record_path(&settings.file.target);
        let after = match record::read(&record_path).filter(|record| record.matches_text(&before)) {
            Some(record) => record.original,
            None => Some(settings.write(&settings::without_hooks(&settings.value, binary.as_deref()))),
        };
        Ok(Some(InstallPlan {
            record_change: RecordChange::Delete(record_path),
            ..InstallPlan::of_own_files(vec![settings.file.with_text(after)])
        }))
    }

    /// Path of the Claude Code settings file.
    pub(super) fn settings_path(&self, scope: InstallScope) -> PathBuf {
        let folder = match scope {
            InstallScope::User => self.claude_folder(),
            InstallScope::Project => self.project_folder().join(".claude"),
        };
        folder.join("settings.json")
    }

    fn claude_folder(&self) -> PathBuf {
        let surroundings = self.source_config();
        let named = surroundings.env_var("CLAUDE_CONFIG_DIR").and_then(|list| list.split(',').next());
        named.map_or_else(|| self.environment.home.join(".claude"), |folder| surroundings.expand_home(folder.trim()))
    }

    fn record_path(&self, target: &Path) -> PathBuf {
        let name = format!("claude-code-{}.json", project::namespace_of(&target.to_string_lossy()));
        self.folder.join("install").join(name)
    }

    /// The record to save: the file before our first change, plus later changes by others.
    fn record_for(&self, settings: &ClaudeSettings, after: Option<&str>) -> InstallRecord {
        let binary = self.binary();
        let known = record::read(&self.record_path(&settings.file.target));
        let text = settings.file.before.as_deref();
        let original = match known.filter(|record| text.is_some_and(|text| record.matches_text(text))) {
            Some(record) => record.original,
            None if settings::has_hooks(&settings.value, binary.as_deref()) => {
                Some(settings.write(&settings::without_hooks(&settings.value, binary.as_deref())))
            }
            None => settings.file.before.clone(),
        };
        InstallRecord::new(&settings.file.path, original, after.unwrap_or_default())
    }
}

/// A parsed settings file.
#[derive(Debug)]
pub(super) struct ClaudeSettings {
    file: FileChange,
    /// An empty object if the file is missing or empty.
    pub(super) value: Value,
}

impl ClaudeSettings {
    pub(super) fn read(path: PathBuf) -> Result<Self, InstallError> {
        let file = FileChange::read(path)?;
        match settings::parse(file.before.as_deref().unwrap_or_default().as_bytes()) {
            Ok(value) => Ok(Self { file, value }),
            Err(cause) => Err(InstallError::NotJson { path: file.path, cause }),
        }
    }

    /// Formats a value in the style of this file.
    fn write(&self, value: &Value) -> String {
        settings::to_text(value, self.file.before.as_deref().unwrap_or_default())
    }

    fn unexpected_value(&self, problem: SettingsProblem) -> InstallError {
        InstallError::UnexpectedValue { path: self.file.path.clone(), key: problem.key, expected: problem.expected }
    }
}
