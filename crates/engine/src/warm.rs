//! What a search had open is kept for the next one in the same process. Whoever searches meanwhile opens their own.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use rethread_index::Snapshot;
use rethread_store::{Head, Store};

/// A store and an index, open and as of a known moment.
#[derive(Debug, Default)]
pub(crate) struct Warm {
    store: Mutex<Option<(u64, Store)>>,
    snapshot: Mutex<Option<(Head, Arc<Snapshot>)>>,
}

impl Warm {
    /// The store that was put back, if it is still the one at that path.
    pub(crate) fn take_store(&self, path: &Path) -> Option<Store> {
        let (inode, store) = self.store.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        (inode_of(path) == Some(inode)).then_some(store)
    }

    /// Keeps a store for the next search.
    pub(crate) fn put_store(&self, path: &Path, store: Store) {
        let kept = inode_of(path).map(|inode| (inode, store));
        *self.store.lock().unwrap_or_else(PoisonError::into_inner) = kept;
    }

    /// The index as of that moment, if it was that moment when it was opened.
    pub(crate) fn snapshot(&self, head: Head) -> Option<Arc<Snapshot>> {
        let kept = self.snapshot.lock().unwrap_or_else(PoisonError::into_inner);
        kept.as_ref().filter(|(then, _)| *then == head).map(|(_, snapshot)| Arc::clone(snapshot))
    }

    /// Keeps the index for the next search; nothing is kept of one that failed.
    pub(crate) fn keep(&self, kept: Option<(Head, Arc<Snapshot>)>) {
        *self.snapshot.lock().unwrap_or_else(PoisonError::into_inner) = kept;
    }
}

/// Tells one file at a path from the next.
pub(crate) fn inode_of(path: &Path) -> Option<u64> {
    std::fs::metadata(path).ok().map(|data| data.ino())
}
