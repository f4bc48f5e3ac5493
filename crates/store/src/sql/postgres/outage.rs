//! What all callers know about a server that cannot be reached.
//!
//! One of them tries again and the others wait, for a limited time since it was lost. After that, calls fail at once.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::error::PostgresError;
use crate::sql::DriverErrorKind;

/// How long a server that was reachable before is waited for, such as while it restarts after a crash.
pub(super) const RECONNECT_FOR: Duration = Duration::from_secs(15);
/// Pause between two attempts; doubled up to the maximum.
const FIRST_PAUSE: Duration = Duration::from_millis(20);
const MAX_PAUSE: Duration = Duration::from_secs(1);
/// How long a caller waits for the attempt of another one when the time is over.
const LATE_WAIT: Duration = Duration::from_millis(250);

/// Whether the server is unreachable, and who tries to reach it.
pub(super) struct Outage {
    patience: Duration,
    state: Mutex<Option<Lost>>,
    changed: Condvar,
}

struct Lost {
    since: Instant,
    /// Whether a caller is trying to connect.
    is_tried: bool,
    next_attempt: Instant,
    pause: Duration,
    /// Why the last attempt failed.
    reason: String,
}

impl Default for Outage {
    fn default() -> Self {
        Self { patience: RECONNECT_FOR, state: Mutex::default(), changed: Condvar::new() }
    }
}

impl Outage {
    /// Connects. If the server cannot be reached, tries again until it can, or until the time since it was lost is over.
    pub(super) fn bridge<T>(&self, mut connect: impl FnMut() -> Result<T, PostgresError>) -> Result<T, PostgresError> {
        loop {
            self.wait_for_attempt()?;
            match connect() {
                Ok(connected) => {
                    self.end();
                    return Ok(connected);
                }
                Err(error) if error.kind() == DriverErrorKind::Unavailable && !error.is_server_full() => {
                    if self.note_failure(&error) {
                        return Err(error);
                    }
                }
                Err(error) => {
                    // The server answers.
                    self.end();
                    return Err(error);
                }
            }
        }
    }

    /// Lets everyone connect again.
    pub(super) fn end(&self) {
        if self.state.lock().unwrap_or_else(PoisonError::into_inner).take().is_some() {
            self.changed.notify_all();
        }
    }

    /// Returns when the caller may try to connect. Fails if the time is over and it is not this caller's turn to try.
    fn wait_for_attempt(&self) -> Result<(), PostgresError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let called_at = Instant::now();
        loop {
            let Some(lost) = state.as_mut() else { return Ok(()) };
            let now = Instant::now();
            if !lost.is_tried && lost.next_attempt <= now {
                lost.is_tried = true;
                return Ok(());
            }
            let deadline = lost.since + self.patience;
            let wake_at = if lost.is_tried {
                // The server may just have come back.
                deadline.max(called_at + LATE_WAIT)
            } else {
                lost.next_attempt.min(deadline)
            };
            let wait = wake_at.saturating_duration_since(now);
            if wait.is_zero() {
                return Err(PostgresError::Unreachable(lost.reason.clone()));
            }
            state = self.changed.wait_timeout(state, wait).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Returns whether the time is over.
    fn note_failure(&self, error: &PostgresError) -> bool {
        let now = Instant::now();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let lost = state.get_or_insert_with(|| Lost {
            since: now,
            is_tried: false,
            next_attempt: now,
            pause: FIRST_PAUSE,
            reason: String::new(),
        });
        let is_over = now >= lost.since + self.patience;
        lost.is_tried = false;
        lost.next_attempt = now + if is_over { MAX_PAUSE } else { lost.pause };
        lost.pause = (lost.pause * 2).min(MAX_PAUSE);
        lost.reason = error.to_string();
        self.changed.notify_all();
        is_over
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use super::*;

    /// A server that can be switched off, for callers that wait 300 milliseconds.
    struct LostServer {
        outage: Outage,
        is_up: AtomicBool,
        attempts: AtomicUsize,
    }

    impl LostServer {
        fn new() -> Self {
            let outage = Outage { patience: Duration::from_millis(300), ..Outage::default() };
            Self { outage, is_up: AtomicBool::new(false), attempts: AtomicUsize::new(0) }
        }

        /// Whether a call succeeded, and how long it took.
        fn call(&self) -> (bool, Duration) {
            let start = Instant::now();
            let connected = self.outage.bridge(|| {
                self.attempts.fetch_add(1, Ordering::Relaxed);
                let is_up = self.is_up.load(Ordering::Relaxed);
                if is_up { Ok(()) } else { Err(PostgresError::Unreachable("off".to_owned())) }
            });
            (connected.is_ok(), start.elapsed())
        }
    }

    #[test]
    fn callers_share_the_time_that_a_lost_server_is_waited_for() {
        let server = LostServer::new();
        std::thread::scope(|scope| {
            let calls: Vec<_> = (0..100).map(|_| scope.spawn(|| server.call())).collect();
            for call in calls {
                let (is_connected, took) = call.join().unwrap();
                assert!(!is_connected && took < Duration::from_secs(2), "{took:?}");
            }
        });
        let attempts = server.attempts.load(Ordering::Relaxed);
        assert!(attempts < 150, "{attempts} attempts");
        for _ in 0..100 {
            let (is_connected, took) = server.call();
            assert!(!is_connected && took < Duration::from_millis(200), "{took:?}");
        }
        let late = server.attempts.load(Ordering::Relaxed) - attempts;
        assert!(late <= 2, "{late} attempts within less than a second");
    }

    #[test]
    fn callers_go_on_when_the_server_is_back() {
        let server = LostServer::new();
        std::thread::scope(|scope| {
            let calls: Vec<_> = (0..20).map(|_| scope.spawn(|| server.call())).collect();
            std::thread::sleep(Duration::from_millis(50));
            server.is_up.store(true, Ordering::Relaxed);
            for call in calls {
                assert!(call.join().unwrap().0);
            }
        });
        // Lost a second time: the time begins again.
        server.is_up.store(false, Ordering::Relaxed);
        let (is_connected, took) = server.call();
        assert!(!is_connected && took >= Duration::from_millis(300), "{took:?}");
        // A call after the time finds it at once, but not more often than once a second.
        server.is_up.store(true, Ordering::Relaxed);
        std::thread::sleep(MAX_PAUSE);
        assert!(server.call().0 && server.call().0);
    }
}
