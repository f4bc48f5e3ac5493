//! Keeps the store and the index snapshot of a search open for the next search in the same process.
//!
//! Concurrent searches open their own.

use std::sync::{Arc, Mutex, PoisonError};

use rethread_index::IndexSnapshot;
use rethread_store::{ReadStore, StoreHead, StoreLocation};

/// An open store with its identity, and an index snapshot with the store position it belongs to.
#[derive(Debug, Default)]
pub(crate) struct SearchCache {
    store: Mutex<Option<(u64, ReadStore)>>,
    snapshot: Mutex<Option<(StoreHead, Arc<IndexSnapshot>)>>,
}

impl SearchCache {
    /// The cached store, if the one at that location is still the same.
    pub(crate) fn take_store(&self, location: &StoreLocation) -> Option<ReadStore> {
        let (identity, store) = self.store.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        (location.identity() == Some(identity)).then_some(store)
    }

    /// Caches a store for the next search.
    pub(crate) fn put_store(&self, location: &StoreLocation, store: ReadStore) {
        let kept = location.identity().map(|identity| (identity, store));
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
