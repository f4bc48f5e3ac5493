//! Plans our hooks in the Claude Code settings, and the skill. The original settings are recorded, so that uninstalling
//! restores them byte for byte.

use std::path::{Path, PathBuf};

use rethread_ingest::source::project;
use rethread_model::Agent;
use serde_json::Value;

use super::file_change::{FileChange, InstallPlan, RecordChange};
use super::record::{self, InstallRecord};
use super::settings::{self, SettingsProblem};
use super::{HostInstaller, InstallError, InstallScope, has_marker, plan_file_removal, plan_files, skill_text};
use crate::install::InstallService;

/// Hooks in the settings, and a skill.
pub(super) static INSTALLER: HostInstaller = HostInstaller {
    agent: Agent::ClaudeCode,
    component: "hooks",
    plan: |install, scope, binary| install.plan_hooks(scope, binary),
    plan_removal: |install, scope| install.plan_remove_hooks(scope),
    check: |install, diagnosis| install.check_claude_code(diagnosis),
};

impl InstallService<'_> {
    /// Plans adding our hooks and the skill.
    pub(super) fn plan_hooks(self, scope: InstallScope, binary: &str) -> Result<InstallPlan, InstallError> {
        let mut plan = self.plan_add_hooks(self.settings_path(scope), binary)?;
        // Hooks in the file that is shared with others belong to one user, too.
        if let Some(path) = self.shared_settings_path(scope) {
            plan = plan.join(self.plan_remove_hooks_from(path)?);
        }
        Ok(plan.join(plan_files(vec![(self.skill_path(scope), skill_text(scope, binary))], has_marker)?))
    }

    /// Plans removing our hooks and the skill.
    pub(super) fn plan_remove_hooks(self, scope: InstallScope) -> Result<InstallPlan, InstallError> {
        let mut plan = self.plan_remove_hooks_from(self.settings_path(scope))?;
        if let Some(path) = self.shared_settings_path(scope) {
            plan = plan.join(self.plan_remove_hooks_from(path)?);
        }
        let folder = self.claude_folder(scope);
        // The skill first: its folders have to be empty before the one above them can be removed.
        let skill = plan_file_removal(vec![self.skill_path(scope)], &folder, has_marker)?;
        Ok(skill.join(plan))
    }

    fn plan_add_hooks(self, path: PathBuf, binary: &str) -> Result<InstallPlan, InstallError> {
        let settings = ClaudeSettings::read(path)?;
        let after =
            settings::with_hooks(settings.text(), binary).map_err(|problem| settings.unexpected_value(problem))?;
        let after =
            if settings.file.before.as_ref() == Some(&after) { settings.file.before.clone() } else { Some(after) };
        let record = self.record_for(&settings, after.as_deref());
        let records = vec![RecordChange::Save(self.record_path(&settings.file.target), record)];
        Ok(InstallPlan { records, ..InstallPlan::of_own_files(vec![settings.file.with_text(after)]) })
    }

    /// Plans removing our hooks from one file. The plan has no files if there are none.
    fn plan_remove_hooks_from(self, path: PathBuf) -> Result<InstallPlan, InstallError> {
        let settings = ClaudeSettings::read(path)?;
        let binary = self.binary();
        let has_hooks = settings::has_hooks(&settings.value, binary.as_deref());
        let Some(before) = settings.file.before.clone().filter(|_| has_hooks) else {
            return Ok(InstallPlan::of_own_files(Vec::new()));
        };
        let record_path = self.record_path(&settings.file.target);
        let after = match record::read(&record_path).filter(|record| record.matches_text(&before)) {
            Some(record) => record.original,
            None => Some(settings::without_hooks(&before, binary.as_deref())),
        };
        // A file that was not there before may have brought its folder with it.
        let folder = settings.file.target.parent().filter(|_| after.is_none()).map(Path::to_owned);
        Ok(InstallPlan {
            records: vec![RecordChange::Delete(record_path)],
            folders: folder.into_iter().collect(),
            ..InstallPlan::of_own_files(vec![settings.file.with_text(after)])
        })
    }

    /// Path of the Claude Code settings file that gets our hooks. In a project it is the one that is not committed,
    /// because the hooks contain the path of the user's program.
    pub(super) fn settings_path(self, scope: InstallScope) -> PathBuf {
        let name = match scope {
            InstallScope::User => "settings.json",
            InstallScope::Project => "settings.local.json",
        };
        self.claude_folder(scope).join(name)
    }

    /// The settings file of a project that is committed. It may contain hooks of ours.
    pub(super) fn shared_settings_path(self, scope: InstallScope) -> Option<PathBuf> {
        let shared = self.claude_folder(scope).join("settings.json");
        // In the home directory it is the user's file.
        (scope == InstallScope::Project && shared != self.settings_path(InstallScope::User)).then_some(shared)
    }

    /// Path of our skill.
    pub(super) fn skill_path(self, scope: InstallScope) -> PathBuf {
        self.claude_folder(scope).join("skills/rethread/SKILL.md")
    }

    pub(super) fn claude_folder(self, scope: InstallScope) -> PathBuf {
        self.agent_folder(Agent::ClaudeCode, scope, ".claude")
    }

    fn record_path(self, target: &Path) -> PathBuf {
        let name = format!("claude-code-{}.json", project::namespace_of(&target.to_string_lossy()));
        self.engine.folder.join("install").join(name)
    }

    /// The record to save: the file before our first change, plus later changes by others.
    fn record_for(self, settings: &ClaudeSettings, after: Option<&str>) -> InstallRecord {
        let binary = self.binary();
        let known = record::read(&self.record_path(&settings.file.target));
        let text = settings.file.before.as_deref();
        let original = match known.filter(|record| text.is_some_and(|text| record.matches_text(text))) {
            Some(record) => record.original,
            None if settings::has_hooks(&settings.value, binary.as_deref()) => {
                Some(settings::without_hooks(settings.text(), binary.as_deref()))
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
        match settings::parse(file.before.as_deref().unwrap_or_default()) {
            Ok(value) => Ok(Self { file, value }),
            Err(cause) => Err(InstallError::NotJson { path: file.path, cause }),
        }
    }

    /// The text of the file; empty if there is none.
    pub(super) fn text(&self) -> &str {
        self.file.before.as_deref().unwrap_or_default()
    }

    fn unexpected_value(&self, problem: SettingsProblem) -> InstallError {
        InstallError::UnexpectedValue { path: self.file.path.clone(), key: problem.key, expected: problem.expected }
    }
}
