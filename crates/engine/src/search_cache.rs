//! Keeps the store and the index snapshot of a search open for the next search in the same process.
//!
//! Concurrent searches open their own.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use rethread_index::IndexSnapshot;
use rethread_store::{Store, StoreHead};

/// An open store with the inode of its file, and an index snapshot with the store position it belongs to.
#[derive(Debug, Default)]
pub(crate) struct SearchCache {
    store: Mutex<Option<(u64, Store)>>,
    snapshot: Mutex<Option<(StoreHead, Arc<IndexSnapshot>)>>,
}

impl SearchCache {
    /// The cached store, if the file at that path is still the same.
    pub(crate) fn take_store(&self, path: &Path) -> Option<Store> {
        let (inode, store) = self.store.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        (inode_of(path) == Some(inode)).then_some(store)
    }

    /// Caches a store for the next search.
    pub(crate) fn put_store(&self, path: &Path, store: Store) {
        let kept = inode_of(path).map(|inode| (inode, store));
        *self.store.lock().unwrap_or_else(PoisonError::into_inner) = kept;
    }

    /// The cached snapshot, if the store has not changed since it was opened.
    pub(crate) fn snapshot(&self, head: StoreHead) -> Option<Arc<IndexSnapshot>> {
        let kept = self.snapshot.lock().unwrap_or_else(PoisonError::into_inner);
        kept.as_ref().filter(|(then, _)| *then == head).map(|(_, snapshot)| Arc::clone(snapshot))
    }

    /// Replaces the cached snapshot. `None` after a failure, so that a damaged index is not reused.
    pub(crate) fn set_snapshot(&self, kept: Option<(StoreHead, Arc<IndexSnapshot>)>) {
        *self.snapshot.lock().unwrap_or_else(PoisonError::into_inner) = kept;
    }
}

/// A different inode means that the file at the path was replaced.
pub(crate) fn inode_of(path: &Path) -> Option<u64> {
    std::fs::metadata(path).ok().map(|data| data.ino())
}
