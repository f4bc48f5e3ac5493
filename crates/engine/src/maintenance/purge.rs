//! Deletes everything of Rethread in its directory. Files in it that are not ours stay.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{EngineError, MaintenanceService, home};

/// What we write into our directory, besides files of locks.
const OWN_NAMES: [&str; 18] = [
    "memory.db",
    "memory.db-wal",
    "memory.db-shm",
    "memory.db-journal",
    "index",
    "threads",
    "archive",
    "cards",
    "spool",
    "logs",
    "set-aside",
    "stores",
    "install",
    "bin",
    "config.toml",
    "token",
    "open.html",
    "serve.sock",
];
const LOCK_EXTENSION: &str = "lock";

/// What a purge removes, or has removed.
#[derive(Clone, Debug, Default)]
pub struct PurgeReport {
    /// Our directory.
    pub folder: PathBuf,
    /// Files and directories of ours.
    pub removed: Vec<PurgedItem>,
    /// What else is in the directory, and stays.
    pub kept: Vec<PathBuf>,
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

impl MaintenanceService<'_> {
    /// What a purge would remove. Fails if a server or `rethread watch` uses the directory, or if the store is not in it.
    pub fn plan_purge(self) -> Result<PurgeReport, EngineError> {
        if self.engine.environment.store.is_some() {
            return Err(EngineError::PurgeOfSharedStore);
        }
        let folder = self.engine.home.clone();
        if let Some(info) = self.engine.server().running_info() {
            return Err(EngineError::ServerAlreadyRunning { server_info: Some(info) });
        }
        if folder.is_dir() && home::try_lock_file(&folder.join("watch.lock"))?.is_none() {
            return Err(EngineError::WatchAlreadyRunning(folder));
        }
        let statistics =
            self.engine.reader().ok().flatten().map(|store| store.statistics()).transpose().unwrap_or_default();
        let threads = self.engine.thread_store().ids().map_or(0, |ids| ids.len() as u64);
        let sessions = statistics.map_or(0, |all| all.sessions + all.child_sessions);
        let mut report = PurgeReport { folder, sessions, threads, ..PurgeReport::default() };
        for entry in fs::read_dir(&report.folder).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            if is_own(&path, &name) {
                let (files, bytes) = measure(&path);
                report.removed.push(PurgedItem { name, files, bytes });
            } else {
                report.kept.push(path);
            }
        }
        report.removed.sort_by(|one, other| one.name.cmp(&other.name));
        report.kept.sort();
        Ok(report)
    }

    /// Removes it, and the directory itself if nothing else is in it. Returns what was removed.
    pub fn purge(self) -> Result<PurgeReport, EngineError> {
        let report = self.plan_purge()?;
        for item in &report.removed {
            let path = report.folder.join(&item.name);
            remove(&path).map_err(|cause| EngineError::Folder { path, cause })?;
        }
        if report.kept.is_empty() && report.folder.is_dir() {
            let path = report.folder.clone();
            fs::remove_dir(&path).map_err(|cause| EngineError::Folder { path, cause })?;
        }
        Ok(report)
    }
}

fn is_own(path: &Path, name: &str) -> bool {
    OWN_NAMES.contains(&name) || path.extension().is_some_and(|extension| extension == LOCK_EXTENSION)
}

/// Number of files and their size. Links are not followed.
fn measure(path: &Path) -> (u64, u64) {
    let Ok(about) = fs::symlink_metadata(path) else { return (0, 0) };
    if !about.is_dir() {
        return (1, about.len());
    }
    let parts = fs::read_dir(path).into_iter().flatten().flatten().map(|entry| measure(&entry.path()));
    parts.fold((0, 0), |(files, bytes), (more_files, more_bytes)| (files + more_files, bytes + more_bytes))
}

/// Removes a directory with its content, or a file or link.
fn remove(path: &Path) -> std::io::Result<()> {
    if fs::symlink_metadata(path)?.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
}
