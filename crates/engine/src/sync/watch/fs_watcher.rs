//! Watches directories with the file system's change notifications, and tracks which ones need polling instead.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::time::SystemTime;

use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher};

use super::{WatchCallback, WatchEvent};

/// Device, inode and creation time. Inodes are reused, so the time is needed to detect a replaced directory.
type FolderIdentity = (u64, u64, Option<SystemTime>);

/// Watches directories that may come and go.
pub(super) struct FsWatcher {
    /// `None` if notifications are unavailable or disabled.
    watcher: Option<RecommendedWatcher>,
    watched: BTreeMap<PathBuf, FolderIdentity>,
    /// Directories that cannot be watched.
    polled: BTreeSet<PathBuf>,
    /// Why notifications are unavailable. Reported for each directory.
    unavailable_reason: Option<String>,
    is_poll_only: bool,
}

impl FsWatcher {
    /// Changes are sent to the channel. With `is_poll_only` no notifications are requested.
    pub(super) fn new(changes: Sender<notify::Result<Event>>, is_poll_only: bool) -> Self {
        let mut fs_watcher = Self {
            watcher: None,
            watched: BTreeMap::new(),
            polled: BTreeSet::new(),
            unavailable_reason: None,
            is_poll_only,
        };
        if !is_poll_only {
            // Read accesses are frequent, include our own, and change nothing.
            let is_access = |event: &notify::Result<Event>| event.as_ref().is_ok_and(|event| event.kind.is_access());
            let pass_on = move |event| {
                if !is_access(&event) {
                    drop(changes.send(event));
                }
            };
            match notify::recommended_watcher(pass_on) {
                Ok(watcher) => fs_watcher.watcher = Some(watcher),
                Err(error) => fs_watcher.unavailable_reason = Some(error.to_string()),
            }
        }
        fs_watcher
    }

    /// Starts to watch those directories that exist and are not watched yet. Returns whether there were any: files
    /// written to them before are not reported, so they must be read in full.
    pub(super) fn watch_new_folders(
        &mut self,
        folders: &BTreeMap<PathBuf, RecursiveMode>,
        on_event: WatchCallback<'_>,
    ) -> bool {
        let mut is_new = false;
        for (folder, mode) in folders {
            let identity = identity_of(folder);
            let known = self.watched.get(folder).copied();
            if identity == known || (identity.is_some() && self.polled.contains(folder)) {
                continue;
            }
            if known.is_some() {
                self.unwatch(folder);
            }
            if let Some(identity) = identity {
                self.watch_folder((folder, *mode), identity, on_event);
                is_new = true;
            }
        }
        is_new
    }

    pub(super) fn must_poll(&self) -> bool {
        self.is_poll_only || !self.polled.is_empty()
    }

    /// A path was removed or renamed. If it was a watched directory, its watch is gone and will be set up again.
    pub(super) fn drop_watch(&mut self, path: &Path) {
        if self.watched.contains_key(path) {
            self.unwatch(path);
        }
    }

    /// Notifications stopped working, for example because the limit of watched directories was exceeded.
    pub(super) fn stop_notifications(&mut self, error: &notify::Error) {
        self.unavailable_reason = Some(error.to_string());
        self.watcher = None;
        self.watched.clear();
    }

    fn watch_folder(
        &mut self,
        (folder, mode): (&Path, RecursiveMode),
        identity: FolderIdentity,
        on_event: WatchCallback<'_>,
    ) {
        let tried = self.watcher.as_mut().map(|watcher| watcher.watch(folder, mode));
        let why = match tried {
            Some(Ok(())) => {
                self.watched.insert(folder.to_owned(), identity);
                return;
            }
            Some(Err(error)) => Some(error.to_string()),
            None => self.unavailable_reason.clone(),
        };
        self.unwatch(folder);
        self.polled.insert(folder.to_owned());
        if let Some(why) = why {
            on_event(WatchEvent::Polling(folder, &why));
        }
    }

    fn unwatch(&mut self, folder: &Path) {
        self.watched.remove(folder);
        if let Some(watcher) = self.watcher.as_mut() {
            // The directory may be gone already, and its watch with it.
            let _ = watcher.unwatch(folder);
        }
    }
}

fn identity_of(folder: &Path) -> Option<FolderIdentity> {
    let data = folder.metadata().ok().filter(std::fs::Metadata::is_dir)?;
    Some((data.dev(), data.ino(), data.created().ok()))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    fn watch_and_count_polled(fs_watcher: &mut FsWatcher, folders: &[PathBuf]) -> (bool, u32) {
        let folders = folders.iter().map(|folder| (folder.clone(), RecursiveMode::Recursive)).collect();
        let mut polling = 0;
        let is_new = fs_watcher
            .watch_new_folders(&folders, &mut |event| polling += u32::from(matches!(event, WatchEvent::Polling(..))));
        (is_new, polling)
    }

    #[test]
    fn a_directory_is_watched_once_it_exists_and_again_when_it_is_replaced() {
        let home = tempfile::tempdir().unwrap();
        let folders = [home.path().join("a")];
        let mut fs_watcher = FsWatcher::new(channel().0, false);
        assert_eq!(watch_and_count_polled(&mut fs_watcher, &folders), (false, 0));
        std::fs::create_dir(&folders[0]).unwrap();
        assert_eq!(watch_and_count_polled(&mut fs_watcher, &folders), (true, 0));
        assert_eq!(watch_and_count_polled(&mut fs_watcher, &folders), (false, 0));
        std::fs::rename(&folders[0], home.path().join("b")).unwrap();
        std::fs::create_dir(&folders[0]).unwrap();
        assert_eq!(watch_and_count_polled(&mut fs_watcher, &folders), (true, 0));
        assert!(!fs_watcher.must_poll());
    }

    #[test]
    fn an_unwatchable_directory_is_polled_and_reported_once() {
        let home = tempfile::tempdir().unwrap();
        let folders = [home.path().to_owned()];
        let mut fs_watcher = FsWatcher::new(channel().0, false);
        fs_watcher.stop_notifications(&notify::Error::new(notify::ErrorKind::MaxFilesWatch));
        assert_eq!(watch_and_count_polled(&mut fs_watcher, &folders), (true, 1));
        assert_eq!(watch_and_count_polled(&mut fs_watcher, &folders), (false, 0));
        assert!(fs_watcher.must_poll());
        let mut forced = FsWatcher::new(channel().0, true);
        assert_eq!(watch_and_count_polled(&mut forced, &folders), (true, 0), "polling on request is not reported");
        assert!(forced.must_poll());
    }
}
