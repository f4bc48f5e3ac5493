//! Syncs threads into memory in the background. Messages that arrive during a sync share one further pass.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use rethread_model::thread::ThreadId;

use super::turn_queue::BusyGuard;
use crate::serve::SharedState;

/// Threads being synced; the value is true if messages arrived since the pass started.
#[derive(Debug, Default)]
pub(crate) struct PendingThreadSyncs(Mutex<BTreeMap<ThreadId, bool>>);

impl PendingThreadSyncs {
    /// Marks the thread as having new messages. True if no sync of it is running, so that the caller must start one.
    fn mark_pending(&self, thread: ThreadId) -> bool {
        let mut taking = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        taking.insert(thread, true).is_none()
    }

    /// Whether another pass is needed. If not, the thread is removed.
    fn take_pending(&self, thread: ThreadId) -> bool {
        let mut taking = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match taking.get_mut(&thread) {
            Some(more) if *more => {
                *more = false;
                true
            }
            _ => {
                taking.remove(&thread);
                false
            }
        }
    }
}

/// Syncs a thread into memory. The log is complete in any case; if this fails, the next sync reads it.
pub(super) fn sync_thread(app: &SharedState, thread: ThreadId) {
    if !app.thread_syncs.mark_pending(thread) {
        return;
    }
    let (app, busy) = (Arc::clone(app), BusyGuard::new(app));
    tokio::task::spawn_blocking(move || {
        let work = ThreadSyncGuard(&app.thread_syncs, thread);
        while app.thread_syncs.take_pending(thread) {
            if let Err(error) = app.engine.threads().sync(thread) {
                app.engine.journal().error("thread sync", &error);
            }
        }
        drop((work, busy));
    });
}

/// Starts a model call that titles an answered thread, unless the user named it. It runs in a process of its own, which
/// outlives the server.
pub(super) fn start_titling(app: &SharedState, thread: ThreadId) {
    let (app, busy) = (Arc::clone(app), BusyGuard::new(app));
    tokio::task::spawn_blocking(move || {
        // On failure the thread keeps a name derived from its first message.
        let _ = app.engine.turns().start_title(thread);
        drop(busy);
    });
}

/// Removes the entry on panic, otherwise the thread would never be synced again.
struct ThreadSyncGuard<'a>(&'a PendingThreadSyncs, ThreadId);

impl Drop for ThreadSyncGuard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.1);
        }
    }
}

#[cfg(test)]
mod tests {
    use rethread_model::Timestamp;

    use super::*;

    #[test]
    fn messages_during_a_sync_cause_one_more_pass() {
        let (taking, thread) = (PendingThreadSyncs::default(), ThreadId::generate(Timestamp::from_millis(1)));
        assert!(taking.mark_pending(thread) && taking.take_pending(thread));
        assert!(!taking.mark_pending(thread) && !taking.mark_pending(thread));
        assert!(taking.take_pending(thread) && !taking.take_pending(thread));
        assert!(taking.mark_pending(thread), "the entry was removed");
    }
}
