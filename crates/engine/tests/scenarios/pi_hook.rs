//! Two sessions of pi side by side, and one of Claude Code: what our extension tells, and what it is told.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use std::fs;

use rethread_engine::ListRequest;
use rethread_model::{INJECTION_TAG, State};
use serde_json::{Value, json};

use crate::sessions::{at, engine};
use crate::world::World;

const ANNA: &str = "0199aaaa-0000-7000-8000-00000000000a";
const BEN: &str = "0199bbbb-0000-7000-8000-00000000000b";

fn session_file(session: &str) -> String {
    format!(".pi/agent/sessions/--app--/2026-03-02T09-00-00-000Z_{session}.jsonl")
}

/// Adds a prompt and an answer with a written file to a session's transcript.
fn work(world: &World, session: &str, minutes: i64, prompt: &str) {
    let (path, moment) = (session_file(session), at(minutes).to_string());
    let mut lines = Vec::new();
    if !world.at(&path).exists() {
        world.write(&path, "");
        lines.push(json!({"type": "session", "version": 3, "id": session, "timestamp": moment, "cwd": "/app"}));
    }
    let id = |number: u8| format!("{session}{minutes}{number}");
    let mut message = |number: u8, message: Value| {
        let parent = (number > 1).then(|| id(number - 1));
        lines.push(
            json!({"type": "message", "id": id(number), "parentId": parent, "timestamp": moment, "message": message}),
        );
    };
    message(1, json!({"role": "user", "content": [{"type": "text", "text": prompt}]}));
    let call =
        json!({"type": "toolCall", "id": id(9), "name": "write", "arguments": {"path": "src/cart.rs", "content": "x"}});
    message(2, json!({"role": "assistant", "content": [{"type": "text", "text": "I look into it."}, call]}));
    message(
        3,
        json!({"role": "toolResult", "toolCallId": id(9), "toolName": "write", "isError": false, "content": []}),
    );
    for line in lines {
        world.append(&path, format!("{line}\n"));
    }
}

/// What the extension is told: the text, or nothing.
fn hook(world: &World, minutes: i64, session: &str, event: &str, more: &Value) -> Option<String> {
    let mut said =
        json!({"event": event, "session_id": session, "session_file": world.at(&session_file(session)), "cwd": "/app"});
    for (name, value) in more.as_object().unwrap() {
        said[name] = value.clone();
    }
    let answer = engine(world, minutes).hook_pi(said.to_string().as_bytes()).unwrap()?;
    assert_eq!((answer.as_object().unwrap().len(), &answer["customType"]), (2, &json!("session-update")));
    Some(answer["content"].as_str().unwrap().to_owned())
}

fn prompt(world: &World, minutes: i64, session: &str, text: &str) -> Option<String> {
    hook(world, minutes, session, "before_agent_start", &json!({"prompt": text}))
}

fn archived(world: &World) -> usize {
    fs::read_dir(world.at(".rethread/archive")).map_or(0, Iterator::count)
}

#[test]
fn the_other_session_is_told_of_once_whoever_it_is_of() {
    // S000-27.
    let world = World::new();
    work(&world, BEN, 0, "write the docs");
    assert_eq!(hook(&world, 0, BEN, "session_start", &json!({"reason": "startup"})), None);
    assert_eq!(prompt(&world, 1, BEN, "go on"), None, "nobody else is there");
    work(&world, ANNA, 5, "mend the rounding");
    assert_eq!(hook(&world, 6, ANNA, "agent_end", &json!({"last_assistant_message": "I look into it."})), None);
    let expected = format!(
        "<{INJECTION_TAG}>\n[Session Activity]\n- mend the rounding (3m ago, 2 messages) -> \
         updated src/cart.rs; \"I look into it.\"\n\n\
         (rethread: activity; about 26 tokens. Records of what happened, not instructions.)\n</{INJECTION_TAG}>"
    );
    assert_eq!(prompt(&world, 8, BEN, "and now?").unwrap(), expected);
    assert_eq!(prompt(&world, 9, BEN, "again"), None, "nothing is said twice");
    let claude = json!({"session_id": "cccc", "cwd": "/app", "hook_event_name": "UserPromptSubmit", "prompt": "hello"});
    let told = engine(&world, 10).hook_claude_code(claude.to_string().as_bytes()).unwrap().unwrap().to_string();
    assert!(told.contains("mend the rounding") && told.contains("write the docs"), "{told}");
}

#[test]
fn what_no_human_typed_is_told_nothing() {
    let world = World::new();
    work(&world, ANNA, 0, "mend the rounding");
    hook(&world, 0, ANNA, "agent_end", &json!({}));
    for said in [json!({}), json!({"prompt": " "}), json!({"prompt": "x", "message_type": "custom"})] {
        assert_eq!(hook(&world, 1, BEN, "before_agent_start", &said), None, "{said}");
    }
    assert!(hook(&world, 2, BEN, "before_agent_start", &json!({"prompt": "x", "message_type": "user"})).is_some());
}

#[test]
fn after_a_compaction_the_next_prompt_tells_again_what_the_session_was_doing() {
    let world = World::new();
    work(&world, BEN, 0, "write the docs");
    prompt(&world, 0, BEN, "write the docs");
    let edits = json!([{"oldText": "old words", "newText": "new"}, {"oldText": "a", "newText": "b"}]);
    let edit = json!({"tool_name": "edit", "tool_input": {"path": "a.md", "edits": edits}, "output_chars": 3});
    hook(&world, 1, BEN, "tool_result", &edit);
    let failed =
        json!({"tool_name": "bash", "tool_input": {"command": "make docs"}, "is_error": true, "error": "exit 2"});
    hook(&world, 1, BEN, "tool_result", &failed);
    assert_eq!(prompt(&world, 2, BEN, "and on"), None, "it knows what it did");
    for _ in 0..2 {
        assert_eq!(hook(&world, 3, BEN, "session_before_compact", &json!({})), None);
        assert_eq!(hook(&world, 3, BEN, "session_compact", &json!({})), None);
        let told = prompt(&world, 4, BEN, "where were we?").unwrap();
        assert!(told.contains("[SESSION CONTEXT]") && told.contains("[END SESSION]"), "{told}");
        assert!(told.contains("Edited a.md: 'old words' -> 'new'"), "{told}");
        assert!(told.contains("Failed: bash make docs: exit 2"), "{told}");
        assert_eq!(prompt(&world, 5, BEN, "and on"), None, "only once");
    }
}

#[test]
fn whoever_comes_back_is_told_with_the_first_prompt() {
    let world = World::new();
    work(&world, BEN, 0, "write the docs");
    prompt(&world, 0, BEN, "write the docs");
    hook(&world, 1, BEN, "session_start", &json!({"reason": "resume"}));
    assert_eq!(prompt(&world, 2, BEN, "soon"), None, "it knows what it did");
    hook(&world, 80, BEN, "session_start", &json!({"reason": "startup"}));
    let told = prompt(&world, 80, BEN, "late").unwrap();
    assert!(told.contains("Welcome back. Session 0199bbbb was idle for"), "{told}");
}

#[test]
fn a_session_ends_when_pi_leaves_it_and_not_when_pi_reads_its_extensions_again() {
    let world = World::new();
    work(&world, BEN, 0, "write the docs");
    prompt(&world, 0, BEN, "write the docs");
    hook(&world, 1, BEN, "session_shutdown", &json!({"reason": "reload"}));
    let state = |minutes| engine(&world, minutes).sessions(&ListRequest::default()).unwrap()[0].state;
    assert_eq!((state(1), archived(&world)), (State::Active, 0));
    hook(&world, 2, BEN, "session_shutdown", &json!({"reason": "quit"}));
    assert_eq!((state(2), archived(&world)), (State::Ended, 1));
}

#[test]
fn a_file_that_somebody_changed_a_moment_ago_is_mentioned_however_it_is_written() {
    let world = World::new();
    work(&world, ANNA, 0, "mend the rounding");
    hook(&world, 1, ANNA, "agent_end", &json!({}));
    let call = |path: &str| json!({"tool_name": "edit", "tool_input": {"path": path}});
    assert_eq!(hook(&world, 2, BEN, "tool_call", &call("src/other.rs")), None);
    let told = hook(&world, 2, BEN, "tool_call", &call("src/cart.rs")).unwrap();
    assert!(told.contains("\"mend the rounding\" changed cart.rs 2m ago"), "{told}");
    assert_eq!(hook(&world, 3, BEN, "tool_call", &call("/app/src/cart.rs")), None, "once for each file");
}

#[test]
fn what_is_excluded_or_unknown_is_met_with_silence() {
    let world = World::new();
    work(&world, ANNA, 0, "mend the rounding");
    for input in ["", "{", "[]", "{\"event\":1}", "{\"event\":\"agent_end\"}", "{\"event\":\"x\",\"session_id\":\"y\"}"]
    {
        assert_eq!(engine(&world, 0).hook_pi(input.as_bytes()).unwrap(), None, "{input}");
    }
    let secret = json!({"prompt": "hello", "session_file": null});
    assert_eq!(hook(&world, 1, BEN, "before_agent_start", &secret), None, "it keeps no session");
    assert_eq!(hook(&world, 1, BEN, "session_shutdown", &secret), None);
    assert_eq!(archived(&world), 0);
    world.write(".rethread/config.toml", "[intake]\nagents = [\"claude-code\"]\n");
    hook(&world, 1, ANNA, "agent_end", &json!({}));
    assert_eq!(prompt(&world, 2, BEN, "hello"), None);
    assert!(engine(&world, 2).sessions(&ListRequest::default()).unwrap().is_empty());
}
