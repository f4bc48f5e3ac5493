//! Deletes everything of Rethread in its directory. Files in it that are not ours stay.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::own_files::{is_own_file, is_own_folder};
use crate::{EngineError, MaintenanceService, home};

/// What a purge removes, or has removed.
#[derive(Clone, Debug, Default)]
pub struct PurgeReport {
    /// Our directory.
    pub folder: PathBuf,
    /// Files and directories of ours.
    pub removed: Vec<PurgedItem>,
    /// What else is in the directory, and stays.
    pub kept: Vec<PathBuf>,
    /// What is ours and could not be removed, with the reason.
    pub failed: Vec<(PathBuf, String)>,
    /// Sessions in the store.
    pub sessions: u64,
    /// Threads, of which there is no other copy.
    pub threads: u64,
}

/// A file or directory.
#[derive(Clone, Debug)]
pub struct PurgedItem {
    /// Its name in our directory.
    pub name: String,
    /// Number of files.
    pub files: u64,
    /// Their size.
    pub bytes: u64,
}

/// What is in our directory.
#[derive(Debug, Default)]
struct FolderContent {
    /// Files of ours, each with its name in our directory or that of its folder there.
    own: Vec<(String, PathBuf)>,
    /// Directories of ours, each after what is in it.
    folders: Vec<PathBuf>,
    others: Vec<PathBuf>,
}

impl MaintenanceService<'_> {
    /// What a purge would remove. Fails if `rethread watch` uses the directory, or if the store is not in it.
    pub fn plan_purge(self) -> Result<PurgeReport, EngineError> {
        let is_served = self.engine.server().running_info().is_some();
        let _lock = if is_served { None } else { self.lock_for_purge()? };
        Ok(self.look_at_home().1)
    }

    /// Removes it, and the directory itself if nothing else is in it. Returns what was removed. Fails if a server runs.
    pub fn purge(self) -> Result<PurgeReport, EngineError> {
        if let Some(info) = self.engine.server().running_info() {
            return Err(EngineError::ServerAlreadyRunning { server_info: Some(info) });
        }
        let _lock = self.lock_for_purge()?;
        let (content, mut report) = self.look_at_home();
        for (_, path) in &content.own {
            if let Err(error) = fs::remove_file(path) {
                report.failed.push((path.clone(), error.to_string()));
            }
        }
        for path in &content.folders {
            // This removes only empty directories. In the others is something that was kept or could not be removed.
            let _ = fs::remove_dir(path);
        }
        if report.kept.is_empty() && report.failed.is_empty() {
            self.remove_home(&mut report);
        }
        Ok(report)
    }

    /// Keeps `rethread watch` from starting. Fails if it runs. `None` if there is no directory.
    fn lock_for_purge(self) -> Result<Option<File>, EngineError> {
        let folder = &self.engine.home;
        if self.engine.environment.store.is_some() {
            return Err(EngineError::PurgeOfSharedStore);
        }
        if !folder.is_dir() {
            return Ok(None);
        }
        let lock = home::try_lock_file(&folder.join("watch.lock"))?;
        lock.map(Some).ok_or_else(|| EngineError::PurgeWhileWatched(folder.clone()))
    }

    fn look_at_home(self) -> (FolderContent, PurgeReport) {
        // First, because opening the store may create side files.
        let statistics = self.engine.reader().ok().flatten().and_then(|store| store.statistics().ok());
        let mut content = FolderContent::default();
        content.add(&self.engine.home, &[]);
        let mut items: BTreeMap<&str, PurgedItem> = BTreeMap::new();
        for (name, path) in &content.own {
            let item = items.entry(name).or_insert_with(|| PurgedItem { name: name.clone(), files: 0, bytes: 0 });
            item.files += 1;
            item.bytes += fs::symlink_metadata(path).map_or(0, |about| about.len());
        }
        let mut kept = content.others.clone();
        kept.sort();
        let report = PurgeReport {
            folder: self.engine.home.clone(),
            removed: items.into_values().collect(),
            kept,
            failed: Vec::new(),
            sessions: statistics.map_or(0, |all| all.sessions + all.child_sessions),
            threads: self.engine.thread_store().ids().map_or(0, |ids| ids.len() as u64),
        };
        (content, report)
    }

    /// Removes the directory; if it is a link, also the link.
    fn remove_home(self, report: &mut PurgeReport) {
        let folder = &self.engine.home;
        let is_link = folder.is_symlink();
        let target = if is_link { fs::canonicalize(folder) } else { Ok(folder.clone()) };
        let Ok(target) = target else { return };
        let removed = if target.is_dir() { fs::remove_dir(&target) } else { Ok(()) };
        let removed = removed.and_then(|()| if is_link { fs::remove_file(folder) } else { Ok(()) });
        if let Err(error) = removed {
            report.failed.push((target, error.to_string()));
        }
    }
}

impl FolderContent {
    /// Adds what is in a folder. Links are not followed, and stay: what they lead to may be elsewhere for a reason.
    fn add(&mut self, folder: &Path, place: &[&str]) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            let inside = [place, &[name.as_str()]].concat();
            let top = (*inside.first().unwrap_or(&"")).to_owned();
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() && is_own_folder(&inside) {
                self.add(&path, &inside);
                self.folders.push(path);
            } else if !kind.is_dir() && !kind.is_symlink() && is_own_file(&inside, &path) {
                self.own.push((top, path));
            } else {
                self.others.push(path);
            }
        }
    }
}
