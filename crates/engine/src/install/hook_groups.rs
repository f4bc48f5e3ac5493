//! Our hooks as the settings of most hosts write them: for each event a list of groups, and in a group the hooks.

use serde_json::{Value, json};

use super::entry::{KeyPath, SettingsEntry};

/// How long a host waits for our hook, in seconds. It takes milliseconds.
pub(super) const TIMEOUT_SECONDS: u64 = 5;
/// The same for hosts that count milliseconds.
pub(super) const TIMEOUT_MILLISECONDS: u64 = TIMEOUT_SECONDS * 1000;

/// An event, and the tools it is limited to.
pub(super) type Event = (&'static str, Option<&'static str>);

/// One group per event, each with one hook. `timeout` is in the unit of the host.
pub(super) fn groups(at: KeyPath, events: &[Event], command: &str, timeout: u64) -> SettingsEntry {
    let groups = events.iter().map(|(event, matcher)| (*event, group(*matcher, command, timeout)));
    SettingsEntry::Hooks(at, groups.collect())
}

/// A group with one hook.
pub(super) fn group(matcher: Option<&str>, command: &str, timeout: u64) -> Value {
    let handler = json!({"type": "command", "command": command, "timeout": timeout});
    match matcher {
        Some(matcher) => json!({"matcher": matcher, "hooks": [handler]}),
        None => json!({"hooks": [handler]}),
    }
}
