//! Hooks while another process writes: their events wait in the spool and are delivered once, in order.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use std::fs;
use std::time::Duration;

use rethread_engine::Engine;
use rethread_model::Agent;
use rethread_store::SessionKey;
use rethread_testing::TestHome;
use serde_json::json;

use crate::session_helpers::{at, engine};

const ANNA: &str = "5f0f8f9e-0000-4000-8000-00000000000a";
const BEN: &str = "5f0f8f9e-0000-4000-8000-00000000000b";

/// An engine as in a hook that hardly waits.
fn hurried(home: &TestHome, minutes: i64) -> Engine {
    engine(home, minutes).with_hook_timeout(Duration::from_millis(1))
}

fn hook(engine: &Engine, session: &str, event: &str, field: (&str, &str)) {
    let mut payload = json!({"session_id": session, "hook_event_name": event, "cwd": "/app"});
    payload[field.0] = field.1.into();
    engine.hooks().handle(Agent::ClaudeCode, payload.to_string().as_bytes()).unwrap();
}

/// The kinds of a session's recorded events.
fn events(home: &TestHome, session: &str) -> Vec<String> {
    let key = SessionKey { agent: Agent::ClaudeCode, external_id: session };
    let events = home.store().lifecycle_events(key, 50).unwrap().into_iter();
    events.map(|event| format!("{} {}", event.kind, event.detail).trim_end().to_owned()).collect()
}

fn spooled(home: &TestHome) -> Vec<std::path::PathBuf> {
    let mut files: Vec<_> = rethread_testing::files_below(&home.path(".rethread/spool"));
    files.retain(|path| path.extension().is_some_and(|end| end == "json"));
    files
}

#[test]
fn events_of_a_locked_store_are_delivered_once_and_in_order() {
    // D34, D69
    let home = TestHome::new();
    hook(&hurried(&home, 0), ANNA, "SessionStart", ("source", "startup"));
    let mut store = home.store();
    let lock = store.begin().unwrap();
    hook(&hurried(&home, 1), ANNA, "UserPromptSubmit", ("prompt", "first, with AKIAQYLPMN5HFIQR7XYA"));
    hook(&hurried(&home, 2), ANNA, "Stop", ("last_assistant_message", "second"));
    hook(&hurried(&home, 3), ANNA, "SessionEnd", ("reason", "third"));
    drop(lock);
    drop(store);
    let waiting = spooled(&home);
    assert_eq!(waiting.len(), 3);
    assert!(waiting.iter().all(|path| !fs::read_to_string(path).unwrap().contains("AKIAQYLPMN5HFIQR7XYA")), "redacted");
    assert_eq!(events(&home, ANNA), ["session_start startup"]);

    hook(&hurried(&home, 4), BEN, "UserPromptSubmit", ("prompt", "hello"));
    assert_eq!(spooled(&home), Vec::<std::path::PathBuf>::new());
    let delivered = events(&home, ANNA);
    assert_eq!(delivered.len(), 4, "{delivered:?}");
    assert!(delivered[1].starts_with("prompt_submitted first"), "{delivered:?}");
    assert_eq!(delivered[2..], ["response_completed second", "session_end third"]);
}

#[test]
fn a_spooled_end_counts_for_the_other_sessions() {
    // D69
    let home = TestHome::new();
    hook(&hurried(&home, 0), ANNA, "UserPromptSubmit", ("prompt", "work"));
    let mut store = home.store();
    let lock = store.begin().unwrap();
    hook(&hurried(&home, 1), ANNA, "SessionEnd", ("reason", "exit"));
    drop(lock);
    drop(store);
    home.sync();
    let key = SessionKey { agent: Agent::ClaudeCode, external_id: ANNA };
    let life = home.store().lifecycle(key).unwrap().unwrap();
    assert_eq!(life.closed.map(|(_, at)| at), Some(at(1)), "it ended when the hook ran, not when it was delivered");
}

#[test]
fn an_unreadable_spool_file_is_dropped_and_the_rest_is_delivered() {
    // D69
    let home = TestHome::new();
    hook(&hurried(&home, 0), ANNA, "UserPromptSubmit", ("prompt", "work"));
    let mut store = home.store();
    let lock = store.begin().unwrap();
    hook(&hurried(&home, 1), ANNA, "Stop", ("last_assistant_message", "done"));
    drop(lock);
    drop(store);
    home.write(".rethread/spool/00000000000000000000-0.json", "");
    home.sync();
    assert!(events(&home, ANNA).contains(&"response_completed done".to_owned()));
    assert_eq!(spooled(&home).len(), 0);
}
