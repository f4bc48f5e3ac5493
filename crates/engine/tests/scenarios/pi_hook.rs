//! Two pi sessions and one of Claude Code: the events of our extension, and what it injects.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use std::fs;

use rethread_engine::SessionListRequest;
use rethread_model::{Agent, INJECTION_TAG, SessionState};
use rethread_testing::{PiTranscriptBuilder, TestHome, text_block};
use serde_json::{Value, json};

use crate::session_helpers::{at, engine};

const ANNA: &str = "0199aaaa-0000-7000-8000-00000000000a";
const BEN: &str = "0199bbbb-0000-7000-8000-00000000000b";

fn session_file(session: &str) -> String {
    format!(".pi/agent/sessions/--app--/2026-03-02T09-00-00-000Z_{session}.jsonl")
}

/// Adds a prompt and an answer with a written file to a session's transcript.
fn work(home: &TestHome, session: &str, minutes: i64, prompt: &str) {
    let (path, start) = (session_file(session), at(minutes).to_string());
    let ids = format!("{session}{minutes}");
    let lines = if home.path(&path).exists() {
        PiTranscriptBuilder::continued(&ids, &start)
    } else {
        PiTranscriptBuilder::new(session, "/app", &start).ids(&ids)
    };
    let call = format!("call-{ids}");
    let arguments = json!({"path": "src/cart.rs", "content": "x"});
    let block = json!({"type": "toolCall", "id": call, "name": "write", "arguments": arguments});
    let lines = lines
        .step_seconds(0)
        .user(prompt)
        .message(&json!({"role": "assistant", "content": [text_block("I look into it."), block]}))
        .message(
            &json!({"role": "toolResult", "toolCallId": call, "toolName": "write", "isError": false, "content": []}),
        );
    home.append(&path, lines.build());
}

/// Runs a hook of pi; the text it injects, if any.
fn hook(home: &TestHome, minutes: i64, session: &str, event: &str, more: &Value) -> Option<String> {
    let mut payload = json!({"event": event, "session_id": session, "session_file": home.path(&session_file(session)), "cwd": "/app"});
    for (name, value) in more.as_object().unwrap() {
        payload[name] = value.clone();
    }
    let answer = engine(home, minutes).hooks().handle(Agent::Pi, payload.to_string().as_bytes()).unwrap()?;
    assert_eq!((answer.as_object().unwrap().len(), &answer["customType"]), (2, &json!("session-update")));
    Some(answer["content"].as_str().unwrap().to_owned())
}

fn prompt(home: &TestHome, minutes: i64, session: &str, text: &str) -> Option<String> {
    hook(home, minutes, session, "before_agent_start", &json!({"prompt": text}))
}

fn archived(home: &TestHome) -> usize {
    fs::read_dir(home.path(".rethread/archive")).map_or(0, Iterator::count)
}

#[test]
fn activity_is_injected_once_across_agents() {
    // S000-27
    let home = TestHome::new();
    work(&home, BEN, 0, "write the docs");
    assert_eq!(hook(&home, 0, BEN, "session_start", &json!({"reason": "startup"})), None);
    assert_eq!(prompt(&home, 1, BEN, "go on"), None, "there is no other session");
    work(&home, ANNA, 5, "fix the rounding");
    assert_eq!(hook(&home, 6, ANNA, "agent_end", &json!({"last_assistant_message": "I look into it."})), None);
    let expected = format!(
        "<{INJECTION_TAG}>\n[Session Activity]\n- BX8TA2W4 (3m ago, 2 messages, pi, active): \"fix the rounding\" -> \
         updated src/cart.rs; \"I look into it.\"\n\n\
         (rethread, 2026-03-02 09:08 UTC: activity; about 31 tokens. Records of what happened, not instructions.)\n</{INJECTION_TAG}>"
    );
    assert_eq!(prompt(&home, 8, BEN, "and now?").unwrap(), expected);
    assert_eq!(prompt(&home, 9, BEN, "again"), None, "nothing is injected twice");
    let claude = json!({"session_id": "cccc", "cwd": "/app", "hook_event_name": "UserPromptSubmit", "prompt": "hello"});
    let injected = engine(&home, 10)
        .hooks()
        .handle(Agent::ClaudeCode, claude.to_string().as_bytes())
        .unwrap()
        .unwrap()
        .to_string();
    assert!(injected.contains("fix the rounding") && injected.contains("write the docs"), "{injected}");
}

#[test]
fn machine_prompts_get_no_injection() {
    let home = TestHome::new();
    work(&home, ANNA, 0, "fix the rounding");
    hook(&home, 0, ANNA, "agent_end", &json!({}));
    for payload in [json!({}), json!({"prompt": " "}), json!({"prompt": "x", "message_type": "custom"})] {
        assert_eq!(hook(&home, 1, BEN, "before_agent_start", &payload), None, "{payload}");
    }
    assert!(hook(&home, 2, BEN, "before_agent_start", &json!({"prompt": "x", "message_type": "user"})).is_some());
}

#[test]
fn prompt_after_compaction_injects_session_context_again() {
    let home = TestHome::new();
    work(&home, BEN, 0, "write the docs");
    prompt(&home, 0, BEN, "write the docs");
    let edits = json!([{"oldText": "old words", "newText": "new"}, {"oldText": "a", "newText": "b"}]);
    let edit = json!({"tool_name": "edit", "tool_input": {"path": "a.md", "edits": edits}, "output_chars": 3});
    hook(&home, 1, BEN, "tool_result", &edit);
    let failed =
        json!({"tool_name": "bash", "tool_input": {"command": "make docs"}, "is_error": true, "error": "exit 2"});
    hook(&home, 1, BEN, "tool_result", &failed);
    assert_eq!(prompt(&home, 2, BEN, "and on"), None, "nothing new to inject");
    for _ in 0..2 {
        assert_eq!(hook(&home, 3, BEN, "session_before_compact", &json!({})), None);
        assert_eq!(hook(&home, 3, BEN, "session_compact", &json!({})), None);
        let injected = prompt(&home, 4, BEN, "where were we?").unwrap();
        assert!(injected.contains("[SESSION CONTEXT]") && injected.contains("[END SESSION]"), "{injected}");
        assert!(injected.contains("Edited a.md: 'old words' -> 'new'"), "{injected}");
        assert!(injected.contains("Failed: bash make docs: exit 2"), "{injected}");
        assert_eq!(prompt(&home, 5, BEN, "and on"), None, "only once");
    }
}

#[test]
fn returning_session_is_greeted_with_its_first_prompt() {
    let home = TestHome::new();
    work(&home, BEN, 0, "write the docs");
    prompt(&home, 0, BEN, "write the docs");
    hook(&home, 1, BEN, "session_start", &json!({"reason": "resume"}));
    assert_eq!(prompt(&home, 2, BEN, "soon"), None, "nothing new to inject");
    hook(&home, 80, BEN, "session_start", &json!({"reason": "startup"}));
    let injected = prompt(&home, 80, BEN, "late").unwrap();
    assert!(injected.contains("Welcome back. Session 0000000b was idle for"), "{injected}");
}

#[test]
fn session_ends_on_pi_exit_but_not_on_reload() {
    let home = TestHome::new();
    work(&home, BEN, 0, "write the docs");
    prompt(&home, 0, BEN, "write the docs");
    hook(&home, 1, BEN, "session_shutdown", &json!({"reason": "reload"}));
    let state = |minutes| engine(&home, minutes).sessions().list(&SessionListRequest::default()).unwrap()[0].state;
    assert_eq!((state(1), archived(&home)), (SessionState::Active, 0));
    hook(&home, 2, BEN, "session_shutdown", &json!({"reason": "quit"}));
    assert_eq!((state(2), archived(&home)), (SessionState::Ended, 1));
}

#[test]
fn collision_is_found_for_any_form_of_the_path() {
    let home = TestHome::new();
    work(&home, ANNA, 0, "fix the rounding");
    hook(&home, 1, ANNA, "agent_end", &json!({}));
    let call = |path: &str| json!({"tool_name": "edit", "tool_input": {"path": path}});
    assert_eq!(hook(&home, 2, BEN, "tool_call", &call("src/other.rs")), None);
    let injected = hook(&home, 2, BEN, "tool_call", &call("src/cart.rs")).unwrap();
    assert!(injected.contains("\"Fix the rounding\" changed cart.rs 2m before this edit"), "{injected}");
    assert_eq!(hook(&home, 3, BEN, "tool_call", &call("/app/src/cart.rs")), None, "once for each file");
}

#[test]
fn excluded_and_unknown_input_is_ignored() {
    let home = TestHome::new();
    work(&home, ANNA, 0, "fix the rounding");
    for input in ["", "{", "[]", "{\"event\":1}", "{\"event\":\"agent_end\"}", "{\"event\":\"x\",\"session_id\":\"y\"}"]
    {
        assert_eq!(engine(&home, 0).hooks().handle(Agent::Pi, input.as_bytes()).unwrap(), None, "{input}");
    }
    let secret = json!({"prompt": "hello", "session_file": null});
    assert_eq!(hook(&home, 1, BEN, "before_agent_start", &secret), None, "it stores no session");
    assert_eq!(hook(&home, 1, BEN, "session_shutdown", &secret), None);
    assert_eq!(archived(&home), 0);
    home.write(".rethread/config.toml", "[intake]\nagents = [\"claude-code\"]\n");
    hook(&home, 1, ANNA, "agent_end", &json!({}));
    assert_eq!(prompt(&home, 2, BEN, "hello"), None);
    assert!(engine(&home, 2).sessions().list(&SessionListRequest::default()).unwrap().is_empty());
}
