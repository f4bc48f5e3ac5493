//! Shows each new statement to a check that tests install. Release builds have none of it.

use std::collections::HashSet;
use std::sync::{Mutex, OnceLock, PoisonError};

static CHECK: OnceLock<fn(&str)> = OnceLock::new();

/// Calls `check` with every statement that is prepared from now on, each once. Only in builds with debug assertions.
pub fn on_new_statement(check: fn(&str)) {
    // A second check would be the same: one process has one kind of tests.
    let _ = CHECK.set(check);
}

pub(super) fn note_statement(sql: &str) {
    static SEEN: OnceLock<Mutex<HashSet<String>>> = OnceLock::new();
    if !cfg!(debug_assertions) {
        return;
    }
    let Some(check) = CHECK.get() else { return };
    let mut seen = SEEN.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    if seen.contains(sql) {
        return;
    }
    seen.insert(sql.to_owned());
    drop(seen);
    check(sql);
}
