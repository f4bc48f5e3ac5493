//! Keeps the search index up to the store.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rethread_index::{Followed, Follower, IndexError, Lag, Patience, Unusable, discard, follow, lag};
use rethread_model::Space;
use rethread_store::Store;

use crate::{Engine, EngineError};

/// Fewer entries than this are left to be read from the store: a commit of the index costs more than reading them.
pub(crate) const WORTH_A_COMMIT: u64 = 256;

/// More are left to a sync or a search, which have the time.
const DONE_IN_PASSING: u64 = 4_096;

/// How long to wait for more to index.
const BREATH: Duration = Duration::from_millis(20);

/// What became of the search index.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IndexReport {
    /// What was done.
    pub outcome: Indexed,
    /// How long it took; of a long sync, beside which it was done, only what it took longer.
    pub seconds: f64,
}

/// What was done to the search index. Whatever it is, a search finds everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Indexed {
    /// Nothing worth a commit was missing.
    #[default]
    Nothing,
    /// Another process is indexing.
    Busy,
    /// So many new and changed episodes were indexed.
    Episodes {
        /// How many.
        count: u64,
        /// Why everything was indexed anew, if it was.
        anew: Option<Unusable>,
    },
    /// It could not be brought up to date.
    Failed(String),
}

impl Engine {
    pub(crate) fn index_folder(&self) -> PathBuf {
        self.folder.join("index")
    }

    /// Throws the index away and makes it again from what is stored.
    pub fn rebuild_index(&self) -> Result<IndexReport, EngineError> {
        let start = Instant::now();
        let Some(store) = self.reader()? else { return Ok(IndexReport::default()) };
        let folder = self.index_folder();
        discard(&folder)?;
        let outcome = outcome(follow(&folder, &store, Patience::Wait)?);
        Ok(IndexReport { outcome, seconds: start.elapsed().as_secs_f64() })
    }

    /// Brings the index up to the store if that takes no more than a moment, for the prompt that comes next.
    pub(crate) fn follow_in_passing(&self, store: &Store) {
        let folder = self.index_folder();
        // What cannot be done now is done by the next sync or search, which also say what is wrong.
        if let Ok(Lag::Entries(entries)) = lag(&folder, store, DONE_IN_PASSING + 1)
            && (WORTH_A_COMMIT..=DONE_IN_PASSING).contains(&entries)
        {
            let _ = follow(&folder, store, Patience::None);
        }
    }

    /// Brings the index up to the store if enough is missing. What goes wrong is told, and no reason to fail a sync.
    pub(crate) fn follow_store(&self, store: &Store) -> IndexReport {
        let start = Instant::now();
        let folder = self.index_folder();
        let done = lag(&folder, store, WORTH_A_COMMIT).and_then(|lag| match lag {
            Lag::None => Ok(Indexed::Nothing),
            Lag::Entries(entries) if entries <= WORTH_A_COMMIT => Ok(Indexed::Nothing),
            _ => follow(&folder, store, Patience::None).map(outcome),
        });
        let outcome = done.unwrap_or_else(|error| Indexed::Failed(with_cause(&error)));
        IndexReport { outcome, seconds: start.elapsed().as_secs_f64() }
    }
}

impl Engine {
    /// Does the work and, if it is long, indexes beside it what it has stored so far: a sync leaves a core half idle.
    pub(crate) fn index_beside<T>(&self, is_long: bool, work: impl FnOnce() -> T) -> (T, Option<IndexReport>) {
        if !is_long {
            return (work(), None);
        }
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let following = scope.spawn(|| self.follow_until(&done));
            let finished = Finished(&done);
            let answer = work();
            drop(finished);
            let start = Instant::now();
            let outcome = match following.join() {
                Ok(Ok(followed)) => outcome(followed),
                Ok(Err(error)) => Indexed::Failed(with_cause(&error)),
                Err(_) => Indexed::Failed("indexing stopped by a mistake in rethread itself".to_owned()),
            };
            (answer, Some(IndexReport { outcome, seconds: start.elapsed().as_secs_f64() }))
        })
    }

    fn follow_until(&self, done: &AtomicBool) -> Result<Followed, IndexError> {
        let store = Store::open(&self.database(), Space::local())?;
        let Some(mut follower) = Follower::begin(&self.index_folder(), &store, Patience::None)? else {
            return Ok(Followed::Busy);
        };
        loop {
            let is_done = done.load(Ordering::Acquire);
            if is_done {
                follower.step(&store)?;
                return follower.finish();
            }
            if follower.step_while_growing(&store)? == 0 {
                std::thread::sleep(BREATH);
            }
        }
    }
}

/// Says that the work is done, also when it ends by a panic.
struct Finished<'a>(&'a AtomicBool);

impl Drop for Finished<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

pub(crate) fn outcome(followed: Followed) -> Indexed {
    match followed {
        Followed::UpToDate => Indexed::Nothing,
        Followed::Busy => Indexed::Busy,
        Followed::Caught { episodes, anew } => Indexed::Episodes { count: episodes, anew },
    }
}

fn with_cause(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"))
}
