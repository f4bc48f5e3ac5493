//! Waiting for something another thread or process does.

use std::time::{Duration, Instant};

/// How long a test waits for anything before it fails. Far longer than anything takes.
pub const WAIT_LIMIT: Duration = Duration::from_secs(30);

/// Polls until `is_done` returns true. Panics with `what` after [`WAIT_LIMIT`].
pub fn wait_until(what: &str, mut is_done: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_done() {
        assert!(started.elapsed() < WAIT_LIMIT, "{what} did not happen");
        std::thread::sleep(Duration::from_millis(20));
    }
}
