//! Takes what was said into memory after it was said. Nobody waits for it, and many messages are taken in together.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use rethread_model::thread::ThreadId;

use super::turns::Busy;
use crate::serve::Shared;

/// Threads that are being taken in; true where more was said meanwhile.
#[derive(Debug, Default)]
pub(crate) struct TakingIn(Mutex<BTreeMap<ThreadId, bool>>);

impl TakingIn {
    /// Whether nobody takes the thread in yet; who does is told that there is more.
    fn begins(&self, thread: ThreadId) -> bool {
        let mut taking = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        taking.insert(thread, true).is_none()
    }

    /// Whether there is more to take in. Without it the work is over.
    fn goes_on(&self, thread: ThreadId) -> bool {
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

/// Takes a thread into memory. The log has all of it whatever happens here, and the next reading finds it.
pub(super) fn remember(app: &Shared, thread: ThreadId) {
    if !app.taking_in.begins(thread) {
        return;
    }
    let (app, busy) = (Arc::clone(app), Busy::with(app));
    tokio::task::spawn_blocking(move || {
        let work = Work(&app.taking_in, thread);
        while app.taking_in.goes_on(thread) {
            if let Err(error) = app.engine.thread_remember(thread) {
                app.engine.note_trouble("memory of a thread", &error);
            }
        }
        drop((work, busy));
    });
}

/// Has a model name a thread that was answered, if nobody has named it. A process of its own does it, which goes on
/// when the server ends.
pub(super) fn have_named(app: &Shared, thread: ThreadId) {
    let (app, busy) = (Arc::clone(app), Busy::with(app));
    tokio::task::spawn_blocking(move || {
        // A thread without a title is named after its first words.
        let _ = app.engine.thread_start_title(thread);
        drop(busy);
    });
}

/// Leaves nothing behind when it panics, or the thread would never be taken in again.
struct Work<'a>(&'a TakingIn, ThreadId);

impl Drop for Work<'_> {
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
    fn what_comes_while_a_thread_is_taken_in_is_taken_in_once_more() {
        let (taking, thread) = (TakingIn::default(), ThreadId::draw(Timestamp::from_millis(1)));
        assert!(taking.begins(thread) && taking.goes_on(thread));
        assert!(!taking.begins(thread) && !taking.begins(thread));
        assert!(taking.goes_on(thread) && !taking.goes_on(thread));
        assert!(taking.begins(thread), "and nothing is left behind");
    }
}
