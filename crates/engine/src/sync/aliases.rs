//! Stores the aliases that a project's own files give to its sessions.

use std::collections::HashSet;
use std::path::PathBuf;

use rethread_ingest::source::aliases;
use rethread_store::{SessionKey, Store};

use crate::{Diagnosis, EngineError, FindingLevel, SyncService};

impl SyncService<'_> {
    /// The folders that define aliases for sessions in these directories, and for the current one.
    pub(crate) fn alias_folders(self, work_dirs: &[PathBuf]) -> Vec<PathBuf> {
        let mut folders: Vec<PathBuf> = Vec::new();
        for work_dir in work_dirs.iter().chain([&self.engine.environment.cwd]) {
            for folder in aliases::alias_folders(work_dir) {
                if !folders.contains(&folder) {
                    folders.push(folder);
                }
            }
        }
        folders
    }

    /// Names each folder that defines aliases, and the aliases whose sessions are not known.
    pub(crate) fn check_aliases(self, diagnosis: &mut Diagnosis) {
        let store = self.engine.reader().ok().flatten();
        let work_dirs = store.as_ref().and_then(|store| store.work_dirs().ok()).unwrap_or_default();
        for folder in self.alias_folders(&work_dirs) {
            let aliases = aliases::session_aliases(&folder);
            let is_known = |alias: &&aliases::SessionAlias| {
                let key = SessionKey { agent: alias.agent, external_id: &alias.external_id };
                store.as_ref().is_some_and(|store| store.session_by_external_id(key).is_ok_and(|found| found.is_some()))
            };
            let lost: Vec<&str> =
                aliases.iter().filter(|alias| !is_known(alias)).map(|alias| alias.alias.as_str()).collect();
            let noun = if aliases.len() == 1 { "alias" } else { "aliases" };
            let mut message = format!("{} {noun} in {}", aliases.len(), folder.join(".volute").display());
            if !lost.is_empty() {
                message = format!("{message}, {} of them without a transcript: {}", lost.len(), lost.join(", "));
            }
            let level = if aliases.is_empty() || !lost.is_empty() { FindingLevel::Info } else { FindingLevel::Ok };
            diagnosis.add("aliases", level, message, None);
        }
    }
}

/// Stores the aliases that these folders define, nearest folder first. Takes the write lock only if one is new.
pub(crate) fn save_aliases(store: &mut Store, folders: &[PathBuf]) -> Result<(), EngineError> {
    let (mut seen, mut new) = (HashSet::new(), Vec::new());
    for alias in folders.iter().flat_map(|folder| aliases::session_aliases(folder)) {
        let key = SessionKey { agent: alias.agent, external_id: &alias.external_id };
        let Some((_, session)) = store.session_by_external_id(key)? else { continue };
        if seen.insert(alias.alias.clone()) && session.alias.as_deref() != Some(&alias.alias) {
            new.push(alias);
        }
    }
    if new.is_empty() {
        return Ok(());
    }
    let mut batch = store.begin()?;
    for name in new {
        batch.set_alias(name.agent, &name.external_id, &name.alias)?;
    }
    Ok(batch.commit()?)
}
