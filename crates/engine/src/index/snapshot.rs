//! Opens the index for searches: updates, rebuilds or bypasses it, so that a search always finds everything.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use rethread_index::{
    IndexError, IndexLag, IndexProblem, IndexSnapshot, LockWait, delete_index, index_lag, update_index,
};
use rethread_recall::SearchError;
use rethread_store::ReadStore;

use super::{MIN_ENTRIES_TO_COMMIT, index_outcome};
use crate::IndexService;
use crate::{EngineError, IndexOutcome};

/// With more unindexed entries than this, the index is updated first, unless another process does.
const MAX_UNINDEXED: u64 = 4_096;

/// Limit of unindexed entries for callers that must answer quickly, such as hooks.
const MAX_UNINDEXED_QUICK: u64 = 512;

thread_local! {
    /// Set while this thread reads an index that may be damaged. A panic is then caught and the index rebuilt, so it
    /// must not be reported.
    static IS_PROBING_INDEX: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic of the current thread is expected and handled. Panic hooks use this to stay silent.
pub fn expects_panic() -> bool {
    IS_PROBING_INDEX.get()
}

impl IndexService<'_> {
    /// Runs the work on the index. Rebuilds a missing or damaged index first, and falls back to the store alone if that
    /// fails too.
    pub(crate) fn with_snapshot<T>(
        self,
        store: &ReadStore,
        work: impl Fn(&IndexSnapshot) -> Result<T, SearchError>,
    ) -> Result<(T, IndexOutcome), EngineError> {
        let folder = self.folder();
        let head = store.head()?;
        let attempt = || -> Result<T, SearchError> {
            let snapshot = match self.engine.search_cache.snapshot(head) {
                Some(snapshot) => snapshot,
                None => Arc::new(IndexSnapshot::open(&folder, store)?),
            };
            self.engine.search_cache.set_snapshot(None);
            let answer = work(&snapshot)?;
            self.engine.search_cache.set_snapshot(Some((head, snapshot)));
            Ok(answer)
        };
        let is_warm = self.engine.search_cache.snapshot(head).is_some();
        let prepared = if is_warm { Ok(IndexOutcome::UpToDate) } else { self.prepare(store) };
        let mut done = prepared.as_ref().map_or(IndexOutcome::UpToDate, Clone::clone);
        if prepared.is_ok() {
            match catch_index_damage(attempt) {
                Ok(answer) => return Ok((answer, done)),
                Err(GuardedError::DamagedIndex) => {}
                Err(GuardedError::Other(error)) => return Err(error.into()),
            }
            let rebuilt = delete_index(&folder).and_then(|()| update_index(&folder, store, LockWait::Wait));
            match rebuilt {
                Ok(followed) => {
                    done = match index_outcome(followed) {
                        IndexOutcome::Updated { count, .. } => {
                            IndexOutcome::Updated { count, rebuild_reason: Some(IndexProblem::Damaged) }
                        }
                        other => other,
                    };
                    if let Ok(answer) = attempt() {
                        return Ok((answer, done));
                    }
                    done = IndexOutcome::Failed("the index is damaged again right after a rebuild".to_owned());
                }
                Err(error) => done = IndexOutcome::Failed(error.to_string()),
            }
        } else if let Err(error) = prepared {
            done = IndexOutcome::Failed(error.to_string());
        }
        let answer =
            IndexSnapshot::from_store(store).map_err(SearchError::from).and_then(|snapshot| work(&snapshot))?;
        Ok((answer, done))
    }

    /// The same without changing the index: missing entries are read from the store, all of them if it is unusable.
    pub(crate) fn with_snapshot_read_only<T>(
        self,
        store: &ReadStore,
        work: impl Fn(&IndexSnapshot) -> Result<T, SearchError>,
    ) -> Result<T, EngineError> {
        let (folder, head) = (self.folder(), store.head()?);
        let of_index = || -> Result<Option<T>, SearchError> {
            let snapshot = match self.engine.search_cache.snapshot(head) {
                Some(snapshot) => snapshot,
                None if matches!(index_lag(&folder, store, 1)?, IndexLag::Unusable(_)) => return Ok(None),
                None => Arc::new(IndexSnapshot::open(&folder, store)?),
            };
            let answer = work(&snapshot)?;
            self.engine.search_cache.set_snapshot(Some((head, snapshot)));
            Ok(Some(answer))
        };
        match catch_index_damage(of_index) {
            Ok(Some(answer)) => return Ok(answer),
            Ok(None) | Err(GuardedError::DamagedIndex) => {}
            Err(GuardedError::Other(error)) => return Err(error.into()),
        }
        let snapshot = Arc::new(IndexSnapshot::from_store(store)?);
        let answer = work(&snapshot)?;
        self.engine.search_cache.set_snapshot(Some((head, snapshot)));
        Ok(answer)
    }

    /// The index, if few entries are missing from it. Without an index the store, if it is small.
    pub(crate) fn quick_snapshot(self, store: &ReadStore) -> Result<Option<IndexSnapshot>, SearchError> {
        let folder = self.folder();
        Ok(match index_lag(&folder, store, MAX_UNINDEXED_QUICK + 1)? {
            IndexLag::None => Some(IndexSnapshot::open(&folder, store)?),
            IndexLag::Entries(entries) if entries <= MAX_UNINDEXED_QUICK => Some(IndexSnapshot::open(&folder, store)?),
            IndexLag::Unusable(_)
                if store.count_changed_entries(0, MAX_UNINDEXED_QUICK + 1)? <= MAX_UNINDEXED_QUICK =>
            {
                Some(IndexSnapshot::from_store(store)?)
            }
            _ => None,
        })
    }

    /// The index plus its missing entries, if there are few. Without an index the store, if it is small.
    pub(crate) fn indexed_snapshot(self, store: &ReadStore) -> Result<Option<IndexSnapshot>, SearchError> {
        if let Some(snapshot) = IndexSnapshot::open_bounded(&self.folder(), store, MIN_ENTRIES_TO_COMMIT)? {
            return Ok(Some(snapshot));
        }
        let is_small = store.count_changed_entries(0, MAX_UNINDEXED_QUICK + 1)? <= MAX_UNINDEXED_QUICK;
        Ok(if is_small { Some(IndexSnapshot::from_store(store)?) } else { None })
    }

    /// Updates the index if reading the missing entries from the store would take longer.
    fn prepare(self, store: &ReadStore) -> Result<IndexOutcome, IndexError> {
        let folder = self.folder();
        if self.engine.environment.store.is_some() {
            // A store on a server may be full before this machine has a folder for its index. If there can be none, the
            // update says why.
            let _ = self.engine.ensure_home();
        }
        match index_lag(&folder, store, MAX_UNINDEXED)? {
            IndexLag::None => Ok(IndexOutcome::UpToDate),
            IndexLag::Entries(entries) if entries <= MAX_UNINDEXED => Ok(IndexOutcome::UpToDate),
            IndexLag::Entries(_) => update_index(&folder, store, LockWait::Skip).map(index_outcome),
            IndexLag::Unusable(_) => update_index(&folder, store, LockWait::Wait).map(index_outcome),
        }
    }
}

pub(crate) enum GuardedError {
    /// The index is damaged: the work failed or panicked while reading it.
    DamagedIndex,
    Other(SearchError),
}

/// Runs work that reads the index. Damaged files can make the index library panic; that counts as damage too.
pub(crate) fn catch_index_damage<T>(work: impl FnOnce() -> Result<T, SearchError>) -> Result<T, GuardedError> {
    let was_probing = IS_PROBING_INDEX.replace(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    IS_PROBING_INDEX.set(was_probing);
    match done {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(SearchError::Index(IndexError::Damaged(_)))) | Err(_) => Err(GuardedError::DamagedIndex),
        Ok(Err(error)) => Err(GuardedError::Other(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_thread_that_reads_the_index_expects_a_panic() {
        // D57
        let seen = catch_index_damage(|| {
            let elsewhere = std::thread::spawn(expects_panic).join().unwrap_or(true);
            Ok((expects_panic(), elsewhere, catch_index_damage(|| Ok(())).is_ok(), expects_panic()))
        });
        assert!(matches!(seen, Ok((true, false, true, true))));
        assert!(!expects_panic());
    }
}
