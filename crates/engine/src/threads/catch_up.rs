//! Completes what other nodes began.
//!
//! Syncs threads that they appended to but did not sync, because they were killed or lost the store, and removes what is
//! left here of threads that they deleted.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use rethread_model::thread::ThreadId;

use crate::{Engine, EngineError};

/// A thread that is not synced within this time is synced by every node that notices.
const PATIENCE: Duration = Duration::from_secs(5);

/// Threads whose logs were longer than what was synced of them when they were last looked at.
#[derive(Debug, Default)]
pub struct ThreadCatchUp {
    /// How many bytes of each were synced.
    behind: BTreeMap<ThreadId, u64>,
    looked_at: Option<Instant>,
}

impl ThreadCatchUp {
    /// Looks for such threads, at most every five seconds, and syncs those that no node has synced since the last look.
    /// Returns how many. Removes what is left of deleted threads, too.
    pub fn run_if_due(&mut self, engine: &Engine) -> Result<usize, EngineError> {
        if self.looked_at.is_some_and(|at| at.elapsed() < PATIENCE) {
            return Ok(0);
        }
        self.looked_at = Some(Instant::now());
        self.run(engine)
    }

    /// Looks now.
    pub fn run(&mut self, engine: &Engine) -> Result<usize, EngineError> {
        engine.threads().finish_deletions_of_nodes()?;
        let now: BTreeMap<ThreadId, u64> = engine.thread_store().unsynced()?.into_iter().collect();
        let before = std::mem::replace(&mut self.behind, now);
        let stuck: Vec<ThreadId> =
            self.behind.iter().filter(|(id, synced)| before.get(id) == Some(synced)).map(|(id, _)| *id).collect();
        for id in &stuck {
            engine.threads().sync(*id)?;
        }
        Ok(stuck.len())
    }
}
