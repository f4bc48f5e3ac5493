//! Reads transcripts beside the conversation, so that what other sessions said is found without anybody's help.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rethread_engine::{Engine, EngineError, SyncRequest};

use crate::commands::Context;
use crate::failure::Failure;

/// How long a database in use is waited for.
const PATIENCE: Duration = Duration::from_secs(2);
/// What was read so shortly before is new enough.
const NEW_ENOUGH: Duration = Duration::from_mins(1);

/// Somebody who reads when a tool is called, and never else.
#[derive(Debug)]
pub(super) struct Reading {
    engine: Engine,
    last: Mutex<Option<Instant>>,
}

impl Reading {
    /// A reader of this world's transcripts, who begins at once.
    pub(super) fn of(context: &Context) -> Result<Arc<Self>, Failure> {
        let engine = Engine::open(context.environment.clone())?.waiting_at_most(PATIENCE);
        let reading = Arc::new(Self { engine, last: Mutex::default() });
        reading.look();
        Ok(reading)
    }

    /// Begins to read what is new, unless that was done just now. Nobody waits for it, and it may be stopped anywhere:
    /// what was not stored is read the next time.
    pub(super) fn look(self: &Arc<Self>) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new_enough = last.is_some_and(|last| last.elapsed() < NEW_ENOUGH);
        // Where nothing was ever read, its owner decides about that: `init` asks first.
        if is_new_enough || !self.engine.is_begun() {
            return;
        }
        *last = Some(Instant::now());
        let reading = Arc::clone(self);
        // Without a thread nothing is read now.
        let _ = std::thread::Builder::new().spawn(move || reading.read());
    }

    fn read(&self) {
        match self.engine.sync(&SyncRequest::default(), &mut |_| {}) {
            // Whoever has the store is writing what we would have read.
            Ok(_) | Err(EngineError::Store(_)) => {}
            Err(error) => self.engine.note_trouble("mcp", &error),
        }
    }
}
