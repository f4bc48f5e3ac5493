//! Two people's sessions in one project, and the hooks their agent calls at a moment of some morning.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use std::fmt::Write as _;
use std::fs;

use rethread_engine::{Clock, Engine, Environment};
use rethread_model::{Agent, Space, Timestamp};
use rethread_store::{LifeEvent, SessionKey, Store};
use serde_json::{Value, json};

use crate::world::World;

pub(crate) const ANNA: &str = "aaaa1011-0000-4000-8000-00000000000a";
pub(crate) const BEN: &str = "bbbb1011-0000-4000-8000-00000000000b";

/// Minutes after some morning.
pub(crate) fn at(minutes: i64) -> Timestamp {
    let morning: Timestamp = "2026-03-02T09:00:00Z".parse().unwrap();
    Timestamp::from_millis(morning.as_millis() + minutes * 60_000)
}

/// A world in which it is that many minutes after the morning.
pub(crate) fn engine(world: &World, minutes: i64) -> Engine {
    let mut environment = Environment::for_home(world.home.path());
    environment.clock = Clock::Frozen(at(minutes));
    Engine::open(environment).unwrap()
}

pub(crate) fn transcript(session: &str) -> String {
    format!(".claude/projects/-app/{session}.jsonl")
}

/// Adds a prompt and an answer with an edit and a command to a session's transcript.
pub(crate) fn work(world: &World, session: &str, minutes: i64, prompt: &str, command_fails: bool) {
    let moment = at(minutes).to_string();
    let mut lines = String::new();
    let mut line = |uuid: &str, kind: &str, message: Value| {
        let id = format!("{session}-{minutes}-{uuid}");
        let entry = json!({"type": kind, "uuid": id, "sessionId": session, "cwd": "/app", "gitBranch": "main",
            "timestamp": moment, "message": message});
        writeln!(lines, "{entry}").unwrap();
    };
    line("1", "user", json!({"role": "user", "content": prompt}));
    let (edit, run) = (format!("toolu_{session}{minutes}e"), format!("toolu_{session}{minutes}r"));
    let calls = json!([
        {"type": "text", "text": "I look into it."},
        {"type": "tool_use", "id": edit, "name": "Edit", "input": {"file_path": "/app/src/cart.rs", "old_string": "a", "new_string": "b"}},
        {"type": "tool_use", "id": run, "name": "Bash", "input": {"command": "cargo test"}},
    ]);
    line(
        "2",
        "assistant",
        json!({"role": "assistant", "id": format!("msg_{session}{minutes}"), "model": "m", "content": calls}),
    );
    let results = json!([
        {"type": "tool_result", "tool_use_id": edit, "content": "ok"},
        {"type": "tool_result", "tool_use_id": run, "content": "exit 101", "is_error": command_fails},
    ]);
    line("3", "user", json!({"role": "user", "content": results}));
    let path = transcript(session);
    if !world.at(&path).exists() {
        world.write(&path, "");
    }
    world.append(&path, lines);
}

/// What a hook is told: the text, or nothing.
pub(crate) fn hook(world: &World, minutes: i64, session: &str, event: &str, more: &Value) -> Option<String> {
    let mut said = json!({"session_id": session, "transcript_path": world.at(&transcript(session)), "cwd": "/app",
        "hook_event_name": event});
    for (name, value) in more.as_object().unwrap() {
        said[name] = value.clone();
    }
    let answer = engine(world, minutes).hook_claude_code(said.to_string().as_bytes()).unwrap()?;
    assert_eq!(answer["hookSpecificOutput"]["hookEventName"], event);
    Some(answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned())
}

pub(crate) fn prompt(world: &World, minutes: i64, session: &str, text: &str) -> Option<String> {
    hook(world, minutes, session, "UserPromptSubmit", &json!({"prompt": text}))
}

/// What the store says.
pub(crate) fn store(world: &World) -> Store {
    Store::open(&world.at(".rethread/memory.db"), Space::local()).unwrap()
}

/// A session, as the store knows it.
pub(crate) fn key(session: &str) -> SessionKey<'_> {
    SessionKey { agent: Agent::ClaudeCode, external_id: session }
}

/// The events that are kept of a session, oldest first.
pub(crate) fn events(world: &World, session: &str) -> Vec<LifeEvent> {
    store(world).life_events(key(session), 1000).unwrap()
}

/// Their kinds.
pub(crate) fn kinds(world: &World, session: &str) -> Vec<String> {
    events(world, session).into_iter().map(|event| event.kind).collect()
}

/// The archives, by name, as JSON.
pub(crate) fn archives(world: &World) -> Vec<Value> {
    let Ok(entries) = fs::read_dir(world.at(".rethread/archive")) else { return Vec::new() };
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| serde_json::from_slice(&fs::read(path).unwrap()).unwrap()).collect()
}
