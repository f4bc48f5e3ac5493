//! Plans changes of one settings file. Its original is recorded, so that uninstalling restores it byte for byte.

use std::path::{Path, PathBuf};

use rethread_ingest::source::project;
use serde_json::Value;

use super::InstallError;
use super::entry::{NAME, Owner, SettingsEntry};
use super::file_change::{FileChange, InstallPlan, RecordChange};
use super::host::{HostFiles, HostPlace, SettingsFile};
use super::record::{self, InstallRecord};
use super::settings::{EditError, Syntax};

/// A settings file that was read and parsed.
#[derive(Debug)]
pub(super) struct ParsedSettings {
    pub(super) file: FileChange,
    pub(super) syntax: Syntax,
    /// An empty object if the file is missing or empty.
    pub(super) value: Value,
}

impl ParsedSettings {
    pub(super) fn read(path: PathBuf, syntax: Syntax) -> Result<Self, InstallError> {
        let file = FileChange::read(path)?;
        match syntax.parse(file.before.as_deref().unwrap_or_default()) {
            Ok(value) => Ok(Self { file, syntax, value }),
            Err(cause) => Err(InstallError::Invalid { path: file.path, syntax: syntax.name(), cause }),
        }
    }

    /// The text of the file; empty if there is none.
    pub(super) fn text(&self) -> &str {
        self.file.before.as_deref().unwrap_or_default()
    }

    /// The text with our entries.
    pub(super) fn with(&self, entries: &[SettingsEntry], owner: &Owner<'_>) -> Result<String, InstallError> {
        let path = self.file.path.clone();
        self.syntax.with(self.text(), entries, owner).map_err(|error| match error {
            EditError::Unexpected(problem) => {
                InstallError::UnexpectedValue { path, key: problem.key, expected: problem.expected }
            }
            EditError::Unclear { lines } => InstallError::Unclear { path, lines },
        })
    }

    pub(super) fn has_any(&self, entries: &[SettingsEntry], owner: &Owner<'_>) -> bool {
        entries.iter().any(|entry| entry.is_in(&self.value, owner))
    }
}

impl HostPlace<'_> {
    /// Plans adding our entries to one file.
    pub(super) fn plan_settings(&self, file: &SettingsFile, all: &HostFiles) -> Result<InstallPlan, InstallError> {
        let settings = ParsedSettings::read(file.path.clone(), file.syntax)?;
        let after = settings.with(&file.entries, &self.owner())?;
        let is_same = settings.text() == after && settings.file.before.is_some();
        let after = if is_same { settings.file.before.clone() } else { Some(after) };
        let record = self.record_for(&settings, &all.entries_in(&file.path), after.as_deref());
        let records = vec![RecordChange::Save(self.record_path(&settings.file.target), record)];
        Ok(InstallPlan { records, ..InstallPlan::of_own_files(vec![settings.file.with_text(after)]) })
    }

    /// Plans removing our entries from one file. The plan has no files if there are none.
    pub(super) fn plan_remove_settings(&self, file: &SettingsFile) -> Result<InstallPlan, InstallError> {
        let nothing = || Ok(InstallPlan::default());
        let text = FileChange::read(file.path.clone())?.before.unwrap_or_default();
        // A file without our name has nothing of ours, even if it cannot be parsed.
        if !text.contains(NAME) && !self.owner().binary.is_some_and(|binary| text.contains(binary)) {
            return nothing();
        }
        let settings = ParsedSettings::read(file.path.clone(), file.syntax)?;
        let record_path = self.record_path(&settings.file.target);
        let record = record::read(&record_path);
        let entries = removable(&file.entries, &settings, record.as_ref(), &self.owner());
        let Some(before) = settings.file.before.clone().filter(|_| settings.has_any(&entries, &self.owner())) else {
            return nothing();
        };
        let after = if let Some(record) = record.filter(|record| record.matches_text(&before)) {
            record.original
        } else {
            let edited = file.syntax.without(&before, &entries, &self.owner());
            Some(edited.ok_or_else(|| InstallError::NotRemovable(file.path.clone()))?)
        };
        // A file that was not there before may have brought its folders with it.
        let top = self.top_folder();
        let above =
            settings.file.path.ancestors().skip(1).take_while(|folder| **folder != top && folder.starts_with(&top));
        let folders = if after.is_none() { above.map(Path::to_owned).collect() } else { Vec::new() };
        Ok(InstallPlan {
            records: vec![RecordChange::Delete(record_path)],
            folders,
            ..InstallPlan::of_own_files(vec![settings.file.with_text(after)])
        })
    }

    /// Whether a file has something of ours.
    pub(super) fn has_entries(&self, file: &SettingsFile) -> bool {
        let settings = ParsedSettings::read(file.path.clone(), file.syntax);
        settings.is_ok_and(|settings| settings.has_any(&file.entries, &self.owner()))
    }

    fn record_path(&self, target: &Path) -> PathBuf {
        let name = format!("{}-{}.json", self.agent, project::namespace_of(&target.to_string_lossy()));
        self.install.engine.folder.join("install").join(name)
    }

    /// The record to save: the file before our first change, plus later changes by others.
    fn record_for(&self, settings: &ParsedSettings, entries: &[SettingsEntry], after: Option<&str>) -> InstallRecord {
        let known = record::read(&self.record_path(&settings.file.target));
        let text = settings.file.before.as_deref();
        let mut ours = removable(entries, settings, known.as_ref(), &self.owner());
        if known.is_none() {
            // Before our first change, a server is the user's, even if it looks like ours.
            ours.retain(|entry| !entry.is_server(&self.owner()));
        }
        let original = match known.filter(|record| text.is_some_and(|text| record.matches_text(text))) {
            Some(record) => record.original,
            None if settings.has_any(&ours, &self.owner()) => {
                // Text that cannot be changed is removed later by hand.
                settings.syntax.without(settings.text(), &ours, &self.owner()).or(settings.file.before.clone())
            }
            None => settings.file.before.clone(),
        };
        InstallRecord::new(&settings.file.path, original, after.unwrap_or_default())
    }
}

/// The entries that we added: a server that was there before our first change is the user's. Without a record of that
/// time, so is a server that we would not write like this.
fn removable(
    entries: &[SettingsEntry],
    settings: &ParsedSettings,
    record: Option<&InstallRecord>,
    owner: &Owner<'_>,
) -> Vec<SettingsEntry> {
    let original = record.and_then(|record| settings.syntax.parse(record.original.as_deref().unwrap_or_default()).ok());
    let is_users = |entry: &SettingsEntry| match (entry, &original) {
        (SettingsEntry::Member(..) | SettingsEntry::Items(..), Some(original)) => entry.is_in(original, owner),
        _ => entry.is_users_server_in(&settings.value, owner),
    };
    entries.iter().filter(|entry| !is_users(entry)).cloned().collect()
}
