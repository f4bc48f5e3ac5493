//! Two Claude Code sessions in one project, and the hooks their agent calls at a fixed time.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use std::fs;

use rethread_engine::Engine;
use rethread_model::{Agent, Timestamp};
use rethread_store::{LifecycleEvent, SessionKey, Store};
use rethread_testing::{TestHome, TranscriptBuilder, text_block, tool_call_block, tool_result_block};
use serde_json::{Value, json};

pub(crate) const ANNA: &str = "aaaa1011-0000-4000-8000-00000000000a";
pub(crate) const BEN: &str = "bbbb1011-0000-4000-8000-00000000000b";

/// Minutes after 09:00 on a fixed day.
pub(crate) fn at(minutes: i64) -> Timestamp {
    let start: Timestamp = "2026-03-02T09:00:00Z".parse().unwrap();
    Timestamp::from_millis(start.as_millis() + minutes * 60_000)
}

/// An engine whose clock shows [`at`] that minute.
pub(crate) fn engine(home: &TestHome, minutes: i64) -> Engine {
    home.engine_at(at(minutes))
}

pub(crate) fn transcript(session: &str) -> String {
    format!(".claude/projects/-app/{session}.jsonl")
}

/// Adds a prompt and an answer with an edit and a command to a session's transcript.
pub(crate) fn work(home: &TestHome, session: &str, minutes: i64, prompt: &str, command_fails: bool) {
    let (edit, run) = (format!("toolu_{session}{minutes}e"), format!("toolu_{session}{minutes}r"));
    let input = json!({"file_path": "/app/src/cart.rs", "old_string": "a", "new_string": "b"});
    let lines = TranscriptBuilder::new(session)
        .ids(&format!("{session}-{minutes}"))
        .times(at(minutes), 0)
        .user(prompt)
        .assistant_blocks(&[
            text_block("I look into it."),
            tool_call_block(&edit, "Edit", &input),
            tool_call_block(&run, "Bash", &json!({"command": "cargo test"})),
        ])
        .user(vec![tool_result_block(&edit, "ok", false), tool_result_block(&run, "exit 101", command_fails)]);
    home.append(&transcript(session), lines.build());
}

/// Runs a hook of Claude Code; the text it injects, if any.
pub(crate) fn hook(home: &TestHome, minutes: i64, session: &str, event: &str, more: &Value) -> Option<String> {
    let mut payload = json!({"session_id": session, "transcript_path": home.path(&transcript(session)), "cwd": "/app",
        "hook_event_name": event});
    for (name, value) in more.as_object().unwrap() {
        payload[name] = value.clone();
    }
    let answer = engine(home, minutes).hooks().handle(Agent::ClaudeCode, payload.to_string().as_bytes()).unwrap()?;
    assert_eq!(answer["hookSpecificOutput"]["hookEventName"], event);
    Some(answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned())
}

pub(crate) fn prompt(home: &TestHome, minutes: i64, session: &str, text: &str) -> Option<String> {
    hook(home, minutes, session, "UserPromptSubmit", &json!({"prompt": text}))
}

pub(crate) fn store(home: &TestHome) -> Store {
    home.store()
}

pub(crate) fn key(session: &str) -> SessionKey<'_> {
    SessionKey { agent: Agent::ClaudeCode, external_id: session }
}

/// The stored lifecycle events of a session, oldest first.
pub(crate) fn events(home: &TestHome, session: &str) -> Vec<LifecycleEvent> {
    store(home).lifecycle_events(key(session), 1000).unwrap()
}

pub(crate) fn kinds(home: &TestHome, session: &str) -> Vec<String> {
    events(home, session).into_iter().map(|event| event.kind).collect()
}

/// The archived periods, sorted by file name.
pub(crate) fn archives(home: &TestHome) -> Vec<Value> {
    let Ok(entries) = fs::read_dir(home.path(".rethread/archive")) else { return Vec::new() };
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| serde_json::from_slice(&fs::read(path).unwrap()).unwrap()).collect()
}
