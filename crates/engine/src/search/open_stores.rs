//! Keeps stores open for the next searches of the same process.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rethread_store::{ReadStore, StoreLocation};

/// Most stores that are kept open: about as many as search at the same time.
const MAX_OPEN: usize = 4;

/// Open stores, each with its identity.
#[derive(Debug, Default)]
pub(crate) struct OpenStores(Mutex<Vec<(u64, ReadStore)>>);

impl OpenStores {
    /// An open store, if the one at that location is still the same.
    pub(crate) fn take(&self, location: &StoreLocation) -> Option<ReadStore> {
        let (identity, store) = self.lock().pop()?;
        (location.identity() == Some(identity)).then_some(store)
    }

    /// Keeps a store for the next search.
    pub(crate) fn put(&self, location: &StoreLocation, store: ReadStore) {
        let Some(identity) = location.identity() else { return };
        let mut open = self.lock();
        open.retain(|(other, _)| *other == identity);
        if open.len() < MAX_OPEN {
            open.push((identity, store));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(u64, ReadStore)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
