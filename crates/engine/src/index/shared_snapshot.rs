//! The index snapshot that all searches of a process share. One of them opens it; the others wait instead of opening it too.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use rethread_index::IndexSnapshot;
use rethread_store::{ReadStore, StoreHead};

use crate::{EngineError, IndexOutcome};

/// The last snapshot that was opened.
#[derive(Debug, Default)]
pub(crate) struct SharedSnapshot {
    current: Mutex<Option<OpenedSnapshot>>,
    /// Held while a snapshot is opened.
    opening: Mutex<()>,
}

/// A snapshot in use.
#[derive(Clone, Debug)]
pub(crate) struct OpenedSnapshot {
    pub(crate) snapshot: Arc<IndexSnapshot>,
    /// What was done to the index first. After a failure, everything was read from the store.
    pub(crate) outcome: IndexOutcome,
    /// It shows everything that was stored before.
    pub(crate) opened_at: Instant,
}

impl OpenedSnapshot {
    pub(crate) fn new(snapshot: IndexSnapshot) -> Self {
        Self { snapshot: Arc::new(snapshot), outcome: IndexOutcome::UpToDate, opened_at: Instant::now() }
    }

    /// A snapshot of the store alone, with the reason why the index cannot be used.
    pub(crate) fn without_index(store: &ReadStore, why: String) -> Result<Self, EngineError> {
        Ok(Self { outcome: IndexOutcome::Failed(why), ..Self::new(IndexSnapshot::from_store(store)?) })
    }
}

impl SharedSnapshot {
    /// A snapshot that shows everything stored so far. If there is none, `open` gets the last one and opens another.
    pub(crate) fn get(
        &self,
        store: &ReadStore,
        open: impl FnOnce(Option<&IndexSnapshot>) -> Result<OpenedSnapshot, EngineError>,
    ) -> Result<OpenedSnapshot, EngineError> {
        let asked_at = Instant::now();
        let head = store.head()?;
        if let Some(current) = self.showing(head, asked_at) {
            return Ok(current);
        }
        let _opening = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(current) = self.showing(head, asked_at) {
            return Ok(current);
        }
        let last = self.current().clone();
        let opened_at = Instant::now();
        let opened = OpenedSnapshot { opened_at, ..open(last.as_ref().map(|last| &*last.snapshot))? };
        *self.current() = Some(opened.clone());
        Ok(opened)
    }

    /// Forgets a snapshot that could not be read, so that it is not used again.
    pub(crate) fn discard(&self, snapshot: &Arc<IndexSnapshot>) {
        let mut current = self.current();
        if current.as_ref().is_some_and(|current| Arc::ptr_eq(&current.snapshot, snapshot)) {
            *current = None;
        }
    }

    /// The current snapshot, if it shows the state `head`. If it was opened after the caller asked, it may show a later
    /// state, or do without the index. Otherwise the store went back to an earlier state, and the index may be usable
    /// by now.
    fn showing(&self, head: StoreHead, asked_at: Instant) -> Option<OpenedSnapshot> {
        let current = self.current();
        let shown = current.as_ref()?;
        let of_snapshot = shown.snapshot.head();
        let is_later = of_snapshot.identity == head.identity && of_snapshot.change > head.change;
        if shown.opened_at >= asked_at {
            return (of_snapshot == head || is_later).then(|| shown.clone());
        }
        let is_failure = matches!(shown.outcome, IndexOutcome::Failed(_));
        (of_snapshot == head && !is_failure)
            .then(|| OpenedSnapshot { outcome: IndexOutcome::UpToDate, ..shown.clone() })
    }

    fn current(&self) -> MutexGuard<'_, Option<OpenedSnapshot>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use rethread_model::Agent;
    use rethread_store::{AuthorizedSpace, Store, StoreLocation};

    use super::*;

    /// A shared snapshot of a store, and how often it was opened.
    struct Opened {
        folder: tempfile::TempDir,
        shared: SharedSnapshot,
        count: AtomicU32,
    }

    impl Opened {
        fn new() -> Self {
            let opened = Self {
                folder: tempfile::tempdir().unwrap(),
                shared: SharedSnapshot::default(),
                count: AtomicU32::new(0),
            };
            opened.write("first");
            opened
        }

        fn store(&self) -> Store {
            Store::open(&StoreLocation::in_folder(self.folder.path()), AuthorizedSpace::local()).unwrap()
        }

        fn write(&self, session: &str) {
            let mut store = self.store();
            let mut batch = store.begin().unwrap();
            let number = batch.open_session(Agent::Pi, session).unwrap().number;
            batch.reset_session(number).unwrap();
            batch.commit().unwrap();
        }

        /// Gets the snapshot; if it must be opened, that gives this outcome.
        fn get(&self, outcome: &IndexOutcome) -> OpenedSnapshot {
            let store = self.store();
            let open = |_: Option<&IndexSnapshot>| {
                self.count.fetch_add(1, Ordering::SeqCst);
                let snapshot = OpenedSnapshot::new(IndexSnapshot::from_store(&store)?);
                Ok(OpenedSnapshot { outcome: outcome.clone(), ..snapshot })
            };
            self.shared.get(&store, open).unwrap()
        }

        fn count(&self) -> u32 {
            self.count.load(Ordering::SeqCst)
        }
    }

    #[test]
    fn requests_at_the_same_time_open_one_snapshot() {
        let opened = Opened::new();
        let start = std::sync::Barrier::new(8);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    start.wait();
                    opened.get(&IndexOutcome::UpToDate);
                });
            }
        });
        assert_eq!(opened.count(), 1);
    }

    #[test]
    fn what_was_stored_since_is_in_the_next_snapshot() {
        let opened = Opened::new();
        let first = opened.get(&IndexOutcome::UpToDate);
        opened.write("second");
        let second = opened.get(&IndexOutcome::UpToDate);
        assert!(second.snapshot.head().change > first.snapshot.head().change);
        assert_eq!(opened.count(), 2);
    }

    #[test]
    fn an_update_is_reported_once() {
        let opened = Opened::new();
        let updated = IndexOutcome::Updated { count: 3, rebuild_reason: None };
        assert_eq!(opened.get(&updated).outcome, updated);
        assert_eq!(opened.get(&updated).outcome, IndexOutcome::UpToDate);
        assert_eq!(opened.count(), 1);
    }

    #[test]
    fn a_failure_and_a_discarded_snapshot_are_not_used_again() {
        let opened = Opened::new();
        opened.get(&IndexOutcome::Failed("no space left".to_owned()));
        let good = opened.get(&IndexOutcome::UpToDate);
        assert_eq!((opened.count(), &good.outcome), (2, &IndexOutcome::UpToDate));
        opened.shared.discard(&good.snapshot);
        let other = opened.get(&IndexOutcome::UpToDate);
        assert_eq!(opened.count(), 3);
        opened.shared.discard(&good.snapshot);
        assert!(Arc::ptr_eq(&opened.get(&IndexOutcome::UpToDate).snapshot, &other.snapshot), "it was another one");
    }
}
