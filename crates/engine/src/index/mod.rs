//! Updates the search index from the store.

mod shared_snapshot;
mod snapshot;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rethread_index::{
    IndexError, IndexLag, IndexProblem, IndexUpdate, IndexUpdater, LockWait, delete_index, index_lag, update_index,
};
use rethread_model::Space;
use rethread_store::ReadStore;

use crate::error::error_with_cause;
use crate::{EngineError, IndexService, MaintenanceService};

pub(crate) use shared_snapshot::SharedSnapshot;
pub use snapshot::expects_panic;
pub(crate) use snapshot::{GuardedError, catch_index_damage};

/// With fewer new entries the index is not updated: a commit costs more than reading them from the store.
const MIN_ENTRIES_TO_COMMIT: u64 = 256;

/// With more new entries a hook does not update the index; a sync or a search does, as they have more time.
const MAX_ENTRIES_QUICK: u64 = 4_096;

/// More missing entries than this are not counted.
const MAX_LAG_COUNTED: u64 = 100_000;

/// Wait between two attempts to find more to index.
const IDLE_WAIT: Duration = Duration::from_millis(20);

/// How the search index was updated.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IndexReport {
    /// What was done.
    pub outcome: IndexOutcome,
    /// How long it took. If the index was updated during a long sync, only the time after the sync.
    pub seconds: f64,
}

/// What was done to the search index. Searches find everything in any case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum IndexOutcome {
    /// Too little was missing to be worth a commit.
    #[default]
    UpToDate,
    /// Another process is updating the index.
    Busy,
    /// New and changed episodes were indexed.
    Updated {
        /// Number of episodes.
        count: u64,
        /// Why the whole index was rebuilt, if it was.
        rebuild_reason: Option<IndexProblem>,
    },
    /// The update failed, with the reason. Searches read the rest from the store.
    Failed(String),
}

impl MaintenanceService<'_> {
    /// Deletes the index and rebuilds it from the store.
    pub fn rebuild_index(self) -> Result<IndexReport, EngineError> {
        let start = Instant::now();
        let Some(store) = self.engine.reader()? else { return Ok(IndexReport::default()) };
        let folder = self.engine.index().folder();
        delete_index(&folder)?;
        let outcome = index_outcome(update_index(&folder, &store, LockWait::Wait)?);
        Ok(IndexReport { outcome, seconds: start.elapsed().as_secs_f64() })
    }
}

impl IndexService<'_> {
    pub(crate) fn folder(self) -> PathBuf {
        match self.engine.space.space() {
            _ if self.engine.environment.store.is_some() => self.engine.folder.join("index"),
            space if *space == Space::local() => self.engine.folder.join("index"),
            space => self.engine.folder.join(format!("index-{space}")),
        }
    }

    /// How many entries the index lacks; at most [`MAX_LAG_COUNTED`].
    pub(crate) fn lag(self, store: &ReadStore) -> Result<u64, EngineError> {
        Ok(match index_lag(&self.folder(), store, MAX_LAG_COUNTED)? {
            IndexLag::None => 0,
            IndexLag::Entries(entries) => entries,
            // It will be built from the start.
            IndexLag::Unusable(_) => store.count_changed_entries(0, MAX_LAG_COUNTED)?,
        })
    }

    /// Updates the index if that takes only a moment, so that the next prompt finds it up to date.
    pub(crate) fn update_quickly(self, store: &ReadStore) {
        let folder = self.folder();
        // If it cannot be done now, the next sync or search does it, and reports errors.
        if let Ok(IndexLag::Entries(entries)) = index_lag(&folder, store, MAX_ENTRIES_QUICK + 1)
            && (MIN_ENTRIES_TO_COMMIT..=MAX_ENTRIES_QUICK).contains(&entries)
        {
            let _ = update_index(&folder, store, LockWait::Skip);
        }
    }

    /// Updates the index if enough is missing. Errors are reported, but do not fail the sync.
    pub(crate) fn update(self, store: &ReadStore) -> IndexReport {
        let start = Instant::now();
        let folder = self.folder();
        let done = index_lag(&folder, store, MIN_ENTRIES_TO_COMMIT).and_then(|lag| match lag {
            IndexLag::None => Ok(IndexOutcome::UpToDate),
            IndexLag::Entries(entries) if entries <= MIN_ENTRIES_TO_COMMIT => Ok(IndexOutcome::UpToDate),
            _ => update_index(&folder, store, LockWait::Skip).map(index_outcome),
        });
        let outcome = done.unwrap_or_else(|error| IndexOutcome::Failed(error_with_cause(error)));
        IndexReport { outcome, seconds: start.elapsed().as_secs_f64() }
    }

    /// Runs the work. If it is long, indexes in parallel what it has stored so far: a sync leaves one core half idle.
    pub(crate) fn update_alongside<T>(self, is_long: bool, work: impl FnOnce() -> T) -> (T, Option<IndexReport>) {
        if !is_long {
            return (work(), None);
        }
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let following = scope.spawn(|| self.update_until_done(&done));
            let finished = DoneOnDrop(&done);
            let answer = work();
            drop(finished);
            let start = Instant::now();
            let outcome = match following.join() {
                Ok(Ok(followed)) => index_outcome(followed),
                Ok(Err(error)) => IndexOutcome::Failed(error_with_cause(error)),
                Err(_) => IndexOutcome::Failed("indexing failed: internal error".to_owned()),
            };
            (answer, Some(IndexReport { outcome, seconds: start.elapsed().as_secs_f64() }))
        })
    }

    fn update_until_done(self, done: &AtomicBool) -> Result<IndexUpdate, IndexError> {
        let Some(store) = ReadStore::open(&self.engine.location(), &self.engine.space, None)? else {
            return Ok(IndexUpdate::UpToDate);
        };
        let Some(mut follower) = IndexUpdater::begin(&self.folder(), &store, LockWait::Skip)? else {
            return Ok(IndexUpdate::Busy);
        };
        loop {
            let is_done = done.load(Ordering::Acquire);
            if is_done {
                follower.index_new(&store)?;
                return follower.finish();
            }
            if follower.index_closed_episodes(&store)? == 0 {
                std::thread::sleep(IDLE_WAIT);
            }
        }
    }
}

/// Sets the flag when dropped, so also after a panic.
struct DoneOnDrop<'a>(&'a AtomicBool);

impl Drop for DoneOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

fn index_outcome(followed: IndexUpdate) -> IndexOutcome {
    match followed {
        IndexUpdate::UpToDate => IndexOutcome::UpToDate,
        IndexUpdate::Busy => IndexOutcome::Busy,
        IndexUpdate::Updated { episodes, rebuild_reason } => IndexOutcome::Updated { count: episodes, rebuild_reason },
    }
}
