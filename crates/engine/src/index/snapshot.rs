//! Opens the index for searches: updates, rebuilds or bypasses it, so that a search always finds everything.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use rethread_index::{
    IndexError, IndexLag, IndexProblem, IndexSnapshot, LockWait, delete_index, index_lag, indexed_change, update_index,
};
use rethread_recall::SearchError;
use rethread_store::ReadStore;

use super::shared_snapshot::OpenedSnapshot;
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
        for is_damaged in [false, true] {
            let opened = self.engine.shared_snapshot.get(store, |last| match self.catch_up(store, last)? {
                Some(opened) => Ok(opened),
                None => self.open_updated(store, is_damaged),
            })?;
            if matches!(opened.outcome, IndexOutcome::Failed(_)) {
                return Ok((work(&opened.snapshot)?, opened.outcome));
            }
            match catch_index_damage(|| work(&opened.snapshot)) {
                Ok(answer) => return Ok((answer, opened.outcome)),
                Err(GuardedError::Other(error)) => return Err(error.into()),
                Err(GuardedError::DamagedIndex) => self.engine.shared_snapshot.discard(&opened.snapshot),
            }
        }
        let opened = OpenedSnapshot::without_index(store, damaged_again())?;
        Ok((work(&opened.snapshot)?, opened.outcome))
    }

    /// The same without changing an index that can be used: missing entries are read from the store.
    pub(crate) fn with_snapshot_read_only<T>(
        self,
        store: &ReadStore,
        work: impl Fn(&IndexSnapshot) -> Result<T, SearchError>,
    ) -> Result<T, EngineError> {
        let opened = self.engine.shared_snapshot.get(store, |last| match self.catch_up(store, last)? {
            Some(opened) => Ok(opened),
            None => self.open_unchanged(store),
        })?;
        match catch_index_damage(|| work(&opened.snapshot)) {
            Ok(answer) => return Ok(answer),
            Err(GuardedError::Other(error)) => return Err(error.into()),
            Err(GuardedError::DamagedIndex) => self.engine.shared_snapshot.discard(&opened.snapshot),
        }
        Ok(work(&IndexSnapshot::from_store(store)?)?)
    }

    /// The last snapshot plus what was stored since, if that is as good as the index on disk.
    fn catch_up(self, store: &ReadStore, last: Option<&IndexSnapshot>) -> Result<Option<OpenedSnapshot>, EngineError> {
        let Some(last) = last else { return Ok(None) };
        if !self.can_catch_up(store, last)? {
            return Ok(None);
        }
        match catch_index_damage(|| Ok(last.caught_up(store)?)) {
            Ok(snapshot) => Ok(snapshot.map(OpenedSnapshot::new)),
            Err(GuardedError::Other(error)) => Err(error.into()),
            // Who opens the index again finds the damage, and repairs it.
            Err(GuardedError::DamagedIndex) => Ok(None),
        }
    }

    /// Whether the last snapshot plus what was stored since is as good as the index on disk.
    fn can_catch_up(self, store: &ReadStore, last: &IndexSnapshot) -> Result<bool, EngineError> {
        let (then, now) = (last.head(), store.head()?);
        if then.identity != now.identity || then.change > now.change {
            return Ok(false);
        }
        let in_memory = last.unindexed_entries();
        let is_best = (in_memory < MIN_ENTRIES_TO_COMMIT && last.indexed_change() > 0)
            || indexed_change(&self.folder(), now) == Some(last.indexed_change());
        let left = MAX_UNINDEXED.saturating_sub(in_memory);
        Ok(is_best && store.count_changed_entries(then.change, left + 1)? <= left)
    }

    /// Opens the index after an update, or after a rebuild if it is damaged.
    fn open_updated(self, store: &ReadStore, is_damaged: bool) -> Result<OpenedSnapshot, EngineError> {
        let prepared = if is_damaged { self.rebuild(store) } else { self.prepare(store) };
        let outcome = match prepared {
            Ok(outcome) => outcome,
            Err(error) => return OpenedSnapshot::without_index(store, error.to_string()),
        };
        match catch_index_damage(|| Ok(IndexSnapshot::open(&self.folder(), store)?)) {
            Ok(snapshot) => Ok(OpenedSnapshot { outcome, ..OpenedSnapshot::new(snapshot) }),
            Err(GuardedError::Other(error)) => Err(error.into()),
            Err(GuardedError::DamagedIndex) if is_damaged => OpenedSnapshot::without_index(store, damaged_again()),
            Err(GuardedError::DamagedIndex) => self.open_updated(store, true),
        }
    }

    /// Opens the index as it is. If it is unusable, reads a small store instead; a large one may not fit in memory.
    fn open_unchanged(self, store: &ReadStore) -> Result<OpenedSnapshot, EngineError> {
        let folder = self.folder();
        if !matches!(index_lag(&folder, store, 1)?, IndexLag::Unusable(_)) {
            match catch_index_damage(|| Ok(IndexSnapshot::open(&folder, store)?)) {
                Ok(snapshot) => return Ok(OpenedSnapshot::new(snapshot)),
                Err(GuardedError::Other(error)) => return Err(error.into()),
                Err(GuardedError::DamagedIndex) => return self.open_updated(store, true),
            }
        }
        if store.count_changed_entries(0, MAX_UNINDEXED + 1)? > MAX_UNINDEXED {
            return self.open_updated(store, false);
        }
        Ok(OpenedSnapshot::new(IndexSnapshot::from_store(store)?))
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

    /// Builds the index again after it was found to be damaged.
    fn rebuild(self, store: &ReadStore) -> Result<IndexOutcome, IndexError> {
        let folder = self.folder();
        delete_index(&folder)?;
        Ok(match index_outcome(update_index(&folder, store, LockWait::Wait)?) {
            IndexOutcome::Updated { count, .. } => {
                IndexOutcome::Updated { count, rebuild_reason: Some(IndexProblem::Damaged) }
            }
            other => other,
        })
    }
}

fn damaged_again() -> String {
    "the index is damaged again right after a rebuild".to_owned()
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
