//! What the system reports of directories, and which of them have to be looked through because it cannot.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::time::SystemTime;

use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher};

use super::{Tell, WatchNews};

/// A directory as it is now: a new one under the same name is another, also where numbers are used again.
type Identity = (u64, u64, Option<SystemTime>);

/// Watches directories as they come and go.
pub(super) struct Eyes {
    /// Nothing where the system reports nothing, or is not to be asked.
    watcher: Option<RecommendedWatcher>,
    watched: BTreeMap<PathBuf, Identity>,
    /// Directories that cannot be watched.
    polled: BTreeSet<PathBuf>,
    /// Why the system reports nothing at all, until it was told.
    blind: Option<String>,
    is_forced: bool,
}

impl Eyes {
    /// Whoever holds the other end of the channel is told of changes. `poll` asks the system for nothing.
    pub(super) fn new(changes: Sender<notify::Result<Event>>, poll: bool) -> Self {
        let mut eyes =
            Self { watcher: None, watched: BTreeMap::new(), polled: BTreeSet::new(), blind: None, is_forced: poll };
        if !poll {
            // Reading changes nothing, and there is much of it: our own readings are reported too.
            let is_access = |event: &notify::Result<Event>| event.as_ref().is_ok_and(|event| event.kind.is_access());
            let pass_on = move |event| {
                if !is_access(&event) {
                    drop(changes.send(event));
                }
            };
            match notify::recommended_watcher(pass_on) {
                Ok(watcher) => eyes.watcher = Some(watcher),
                Err(error) => eyes.blind = Some(error.to_string()),
            }
        }
        eyes
    }

    /// Begins to watch those of these directories that are there and not watched yet; whether there were any. What was
    /// written into them before is reported by nobody.
    pub(super) fn look_at(&mut self, folders: &[PathBuf], tell: Tell<'_>) -> bool {
        let mut is_new = false;
        for folder in folders {
            let identity = identity_of(folder);
            let known = self.watched.get(folder).copied();
            if identity == known || (identity.is_some() && self.polled.contains(folder)) {
                continue;
            }
            if known.is_some() {
                self.leave(folder);
            }
            if let Some(identity) = identity {
                self.watch(folder, identity, tell);
                is_new = true;
            }
        }
        is_new
    }

    /// Whether anything has to be looked through.
    pub(super) fn must_poll(&self) -> bool {
        self.is_forced || !self.polled.is_empty()
    }

    /// Something was removed or renamed: with a directory its watch goes, and the next look begins anew.
    pub(super) fn lose(&mut self, path: &Path) {
        if self.watched.contains_key(path) {
            self.leave(path);
        }
    }

    /// The system cannot follow any more, for example because directories were made beyond its limit.
    pub(super) fn give_up(&mut self, error: &notify::Error) {
        self.blind = Some(error.to_string());
        self.watcher = None;
        self.watched.clear();
    }

    fn watch(&mut self, folder: &Path, identity: Identity, tell: Tell<'_>) {
        let tried = self.watcher.as_mut().map(|watcher| watcher.watch(folder, RecursiveMode::Recursive));
        let why = match tried {
            Some(Ok(())) => {
                self.watched.insert(folder.to_owned(), identity);
                return;
            }
            Some(Err(error)) => Some(error.to_string()),
            None => self.blind.clone(),
        };
        self.leave(folder);
        self.polled.insert(folder.to_owned());
        if let Some(why) = why {
            tell(WatchNews::Polling(folder, &why));
        }
    }

    fn leave(&mut self, folder: &Path) {
        self.watched.remove(folder);
        if let Some(watcher) = self.watcher.as_mut() {
            // It may be gone already, and with it the watch.
            let _ = watcher.unwatch(folder);
        }
    }
}

fn identity_of(folder: &Path) -> Option<Identity> {
    let data = folder.metadata().ok().filter(std::fs::Metadata::is_dir)?;
    Some((data.dev(), data.ino(), data.created().ok()))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    fn told(eyes: &mut Eyes, folders: &[PathBuf]) -> (bool, u32) {
        let mut polling = 0;
        let is_new = eyes.look_at(folders, &mut |news| polling += u32::from(matches!(news, WatchNews::Polling(..))));
        (is_new, polling)
    }

    #[test]
    fn a_directory_is_watched_once_it_is_there_and_again_when_it_is_another() {
        let home = tempfile::tempdir().unwrap();
        let folders = [home.path().join("a")];
        let mut eyes = Eyes::new(channel().0, false);
        assert_eq!(told(&mut eyes, &folders), (false, 0));
        std::fs::create_dir(&folders[0]).unwrap();
        assert_eq!(told(&mut eyes, &folders), (true, 0));
        assert_eq!(told(&mut eyes, &folders), (false, 0));
        std::fs::rename(&folders[0], home.path().join("b")).unwrap();
        std::fs::create_dir(&folders[0]).unwrap();
        assert_eq!(told(&mut eyes, &folders), (true, 0));
        assert!(!eyes.must_poll());
    }

    #[test]
    fn where_nothing_is_reported_is_looked_and_that_is_told_once() {
        let home = tempfile::tempdir().unwrap();
        let folders = [home.path().to_owned()];
        let mut eyes = Eyes::new(channel().0, false);
        eyes.give_up(&notify::Error::new(notify::ErrorKind::MaxFilesWatch));
        assert_eq!(told(&mut eyes, &folders), (true, 1));
        assert_eq!(told(&mut eyes, &folders), (false, 0));
        assert!(eyes.must_poll());
        let mut forced = Eyes::new(channel().0, true);
        assert_eq!(told(&mut forced, &folders), (true, 0), "who asked for it knows");
        assert!(forced.must_poll());
    }
}
