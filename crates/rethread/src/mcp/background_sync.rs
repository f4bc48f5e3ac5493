//! Syncs transcripts in the background when a tool is called, so that other sessions are found without a watcher.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rethread_engine::{Engine, EngineError, SyncRequest};

use crate::commands::CommandContext;
use crate::failure::Failure;

/// How long to wait for a locked database.
const STORE_LOCK_TIMEOUT: Duration = Duration::from_secs(2);
/// No new sync within this time after the last one.
const SYNC_INTERVAL: Duration = Duration::from_mins(1);

/// Syncs when a tool is called, never on a timer.
#[derive(Debug)]
pub(super) struct BackgroundSync {
    engine: Engine,
    last_started: Mutex<Option<Instant>>,
}

impl BackgroundSync {
    /// Opens an engine of its own and starts the first sync.
    pub(super) fn start(context: &CommandContext) -> Result<Arc<Self>, Failure> {
        let engine = Engine::open(context.environment.clone())?.with_store_timeout(STORE_LOCK_TIMEOUT);
        let reading = Arc::new(Self { engine, last_started: Mutex::default() });
        reading.start_if_due();
        Ok(reading)
    }

    /// Starts a sync, unless one started less than [`SYNC_INTERVAL`] ago. Does not wait for it, and it may be killed at
    /// any point: the next sync reads what was not stored.
    pub(super) fn start_if_due(self: &Arc<Self>) {
        let mut last = self.last_started.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new_enough = last.is_some_and(|last| last.elapsed() < SYNC_INTERVAL);
        if is_new_enough || !self.engine.syncs_unasked() {
            return;
        }
        *last = Some(Instant::now());
        let reading = Arc::clone(self);
        // If no thread can be started, this sync is skipped.
        let _ = std::thread::Builder::new().spawn(move || reading.sync());
    }

    fn sync(&self) {
        self.engine.reload_config();
        match self.engine.sync().run(&SyncRequest::default(), &mut |_| {}) {
            // Another process holds the store and writes the same entries.
            Ok(_) | Err(EngineError::Store(_)) => {}
            Err(error) => self.engine.journal().error("mcp", &error),
        }
    }
}
