//! What reaches the model in hosts that drop some answers, hide failures or report an event twice.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use rethread_engine::Engine;
use rethread_model::Agent;
use rethread_store::SessionKey;
use rethread_testing::TestHome;
use serde_json::{Value, json};

use crate::fact_extraction::home_with_known_fix;
use crate::session_helpers::{ANNA, at, engine, work};

const ERROR: &str = "error[E0433]: failed to resolve: use of undeclared crate `regex`";
const FIX: &str = "ran `cargo add regex`";

/// Sends an event to a host's hook; the answer, or an empty text.
fn send(engine: &Engine, agent: Agent, payload: &Value) -> String {
    let answer = engine.hooks().handle(agent, payload.to_string().as_bytes()).unwrap();
    answer.map(|answer| answer.as_str().map_or_else(|| answer.to_string(), str::to_owned)).unwrap_or_default()
}

fn event(session: &str, name: &str, more: &Value) -> Value {
    let mut payload = json!({"session_id": session, "cwd": "/app", "hook_event_name": name});
    for (name, value) in more.as_object().unwrap() {
        payload[name] = value.clone();
    }
    payload
}

fn failure(session: &str, tool: &str, error: Value) -> Value {
    let mut payload = event(session, "PostToolUseFailure", &json!({"tool_name": tool}));
    payload["tool_input"] = json!({"command": "cargo build"});
    payload["error"] = error;
    payload
}

#[test]
fn text_that_a_host_drops_comes_with_the_next_prompt_once() {
    let home = home_with_known_fix();
    let (session, engine) = ("session_k1", engine(&home, 600));
    let dropped = send(&engine, Agent::Kimi, &failure(session, "Bash", json!({"code": "x", "message": ERROR})));
    assert_eq!(dropped, "", "Kimi Code does not pass on the answer to a failure");
    let prompt = |text: &str| event(session, "UserPromptSubmit", &json!({"prompt": [{"type": "text", "text": text}]}));
    let answer = send(&engine, Agent::Kimi, &prompt("hello"));
    assert!(answer.starts_with("<rethread-context>") && answer.contains(FIX), "plain text: {answer}");
    assert!(!send(&engine, Agent::Kimi, &prompt("go on")).contains(FIX), "only once");
}

#[test]
fn text_that_waited_too_long_is_dropped() {
    let home = home_with_known_fix();
    send(&engine(&home, 600), Agent::Kimi, &failure("session_k2", "Bash", json!({"message": ERROR})));
    let prompt = event("session_k2", "UserPromptSubmit", &json!({"prompt": "hello"}));
    assert!(!send(&engine(&home, 600 + 25 * 60), Agent::Kimi, &prompt).contains(FIX));
}

#[test]
fn a_collision_notice_comes_with_the_result_where_hosts_ignore_it_before() {
    let home = TestHome::new();
    work(&home, ANNA, 0, "round the total", false);
    home.sync();
    let engine = engine(&home, 5);
    let edit = json!({"tool_name": "replace", "tool_input": {"file_path": "/app/src/cart.rs"}});
    assert_eq!(send(&engine, Agent::Gemini, &event("g1", "BeforeTool", &edit)), "");
    let mut result = event("g1", "AfterTool", &edit);
    result["tool_response"] = json!({"llmContent": "edited"});
    let answer = send(&engine, Agent::Gemini, &result);
    assert!(answer.contains("cart.rs") && answer.contains(r#""hookEventName":"AfterTool""#), "{answer}");
    assert_eq!(send(&engine, Agent::Gemini, &result), "", "only once");
}

#[test]
fn the_exit_code_decides_whether_a_command_failed() {
    let home = home_with_known_fix();
    let call = |output: &str| {
        let result = json!({"result_type": "success", "text_result_for_llm": output});
        json!({"tool_name": "Bash", "tool_input": {"command": "cargo build"}, "tool_result": result})
    };
    let check = |session: &str, code: u8| {
        let output = format!("{ERROR}\n<shellId: 1 completed with exit code {code}>");
        send(&engine(&home, 600), Agent::Copilot, &event(session, "PostToolUse", &call(&output)))
    };
    assert_eq!(check("c1", 0), "", "it printed an error, but succeeded");
    let answer = check("c2", 101);
    assert!(answer.starts_with(r#"{"additionalContext":"#) && answer.contains(FIX), "{answer}");
}

#[test]
fn output_that_clearly_reports_a_failure_counts_if_the_host_gives_no_exit_code() {
    let home = home_with_known_fix();
    let check = |session: &str, output: &str| {
        let call = json!({"tool_name": "Bash", "tool_input": {"command": "cargo build"}, "tool_response": output});
        send(&engine(&home, 600), Agent::Codex, &event(session, "PostToolUse", &call))
    };
    assert!(check("x1", ERROR).contains(FIX));
    assert_eq!(check("x2", "Finished in 2 s"), "");
    let hot = home.store().hot_memory(SessionKey { agent: Agent::Codex, external_id: "x1" }, at(0));
    assert!(!format!("{hot:?}").contains("Failed"), "it is not recorded as failed: {hot:?}");
}

#[test]
fn a_failure_that_the_host_hides_is_found_in_the_transcript() {
    let home = home_with_known_fix();
    let session = "5f1f0c52-7a50-4c2c-9a53-2f3f1d6a8b77";
    let path = format!(".factory/sessions/-app/{session}.jsonl");
    let message = |id: &str, role: &str, content: Value| {
        let at = at(599).to_string();
        json!({"type": "message", "id": id, "timestamp": at, "message": {"role": role, "content": content}}).to_string()
    };
    let failed = format!("Error: Command failed (exit code: 101)\n{ERROR}\n\n[Process exited with code 101]");
    let lines = [
        json!({"type": "session_start", "id": session, "title": "build", "version": 2, "cwd": "/app"}).to_string(),
        message("m1", "user", json!([{"type": "text", "text": "build it"}])),
        message(
            "m2",
            "assistant",
            json!([{"type": "tool_use", "id": "t1", "name": "Execute", "input": {"command": "cargo build"}}]),
        ),
        message(
            "m3",
            "user",
            json!([{"type": "tool_result", "tool_use_id": "t1", "is_error": true, "content": failed}]),
        ),
    ];
    home.write(&path, lines.join("\n") + "\n");
    let mut result = event(session, "PostToolUse", &json!({"tool_name": "Execute", "tool_input": {"command": "ls"}}));
    result["tool_response"] = json!("Cargo.toml");
    result["transcript_path"] = json!(home.path(&path));
    let answer = send(&engine(&home, 600), Agent::Droid, &result);
    assert!(answer.contains(FIX), "{answer}");
    assert_eq!(send(&engine(&home, 600), Agent::Droid, &result), "", "only once");
}

#[test]
fn a_session_that_may_report_no_prompt_learns_at_its_start_what_others_did() {
    let home = TestHome::new();
    work(&home, ANNA, 0, "round the total", false);
    let start = |agent: Agent, session: &str| {
        send(&engine(&home, 5), agent, &event(session, "SessionStart", &json!({"source": "startup"})))
    };
    assert!(start(Agent::Droid, "d1").contains("cart.rs"));
    assert_eq!(start(Agent::Codex, "x3"), "", "others learn it with their prompt");
    let prompt = event("d1", "UserPromptSubmit", &json!({"prompt": "hello"}));
    assert!(!send(&engine(&home, 6), Agent::Droid, &prompt).contains("cart.rs"), "not again with the prompt");
}

#[test]
fn a_prompt_that_two_hooks_report_is_answered_once() {
    let home = TestHome::new();
    work(&home, ANNA, 0, "round the total", false);
    let engine = engine(&home, 5);
    let prompt = json!({"conversation_id": "c1", "workspace_roots": ["/app"], "prompt": "what is @@nothing"});
    let send_as = |agent: Agent, name: &str| {
        let mut payload = prompt.clone();
        payload["hook_event_name"] = json!(name);
        send(&engine, agent, &payload)
    };
    let first = send_as(Agent::Cursor, "beforeSubmitPrompt");
    assert!(first.contains("cart.rs") && first.contains(r#""additional_context""#), "{first}");
    assert_eq!(send_as(Agent::ClaudeCode, "UserPromptSubmit"), "", "Cursor also runs the hooks of Claude Code");
    let key = SessionKey { agent: Agent::Cursor, external_id: "c1" };
    let events = home.store().lifecycle_events(key, 9).unwrap();
    let prompts = events.iter().filter(|event| event.kind == "prompt_submitted").count();
    assert_eq!(prompts, 1, "one prompt, in one session: {events:?}");
}

#[test]
fn prompts_of_sub_agents_and_empty_ones_get_nothing() {
    let home = TestHome::new();
    work(&home, ANNA, 0, "round the total", false);
    let engine = engine(&home, 5);
    let prompt = |more: Value| event("s1", "UserPromptSubmit", &more);
    assert_eq!(send(&engine, Agent::Qwen, &prompt(json!({"prompt": ""}))), "");
    for agent in [Agent::Qwen, Agent::Codex, Agent::Copilot] {
        assert_eq!(send(&engine, agent, &prompt(json!({"prompt": "list files", "agent_id": "a1"}))), "", "{agent}");
    }
    assert!(send(&engine, Agent::Qwen, &prompt(json!({"prompt": "hello"}))).contains("cart.rs"));
}

#[test]
fn different_calls_of_a_host_that_repeats_events_all_count() {
    let home = home_with_known_fix();
    let engine = engine(&home, 600);
    let failed = |command: &str| {
        json!({"conversation_id": "c2", "workspace_roots": ["/app", "/docs"], "hook_event_name": "postToolUseFailure",
            "tool_name": "Shell", "tool_input": {"command": command}, "error_message": ERROR})
    };
    assert!(send(&engine, Agent::Cursor, &failed("cargo build")).contains(FIX), "the first folder is the project");
    let start = json!({"conversation_id": "c2", "workspace_roots": ["/app"], "hook_event_name": "sessionStart"});
    send(&engine, Agent::Cursor, &start);
    let mut again = start;
    again["hook_event_name"] = json!("SessionStart");
    send(&engine, Agent::ClaudeCode, &again);
    send(&engine, Agent::Cursor, &failed("cargo build --release"));
    let key = SessionKey { agent: Agent::Cursor, external_id: "c2" };
    let kinds: Vec<String> =
        home.store().lifecycle_events(key, 9).unwrap().into_iter().map(|event| event.kind).collect();
    assert_eq!(kinds, ["session_start", "tool_executed", "session_start", "tool_executed"], "the reported start once");
}

#[test]
fn text_of_events_at_the_same_time_is_held_and_delivered_once() {
    let home = home_with_known_fix();
    work(&home, ANNA, 598, "round the total", false);
    home.sync();
    let edit = json!({"tool_name": "Edit", "tool_input": {"path": "/app/src/cart.rs"}});
    let events = [
        failure("session_k3", "Bash", json!({"message": ERROR})),
        event("session_k3", "PreToolUse", &edit),
        event("session_k3", "PreToolUse", &edit),
    ];
    std::thread::scope(|scope| {
        for event in &events {
            scope.spawn(|| send(&engine(&home, 600), Agent::Kimi, event));
        }
    });
    let prompt = event("session_k3", "UserPromptSubmit", &json!({"prompt": "hello"}));
    let answer = send(&engine(&home, 601), Agent::Kimi, &prompt);
    assert_eq!((answer.matches(FIX).count(), answer.matches("changed cart.rs").count()), (1, 1), "{answer}");
}
