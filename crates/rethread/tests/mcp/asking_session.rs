//! The session that calls a tool: recognized by what its client sends or sets; it gets only what is new to it.

use rethread_testing::TestHome;
use serde_json::{Value, json};

use crate::client::{ANNA, BEN, McpClient, home_with_sessions, post, text_of};

const CODEX: &str = "0199aaaa-0000-7000-8000-00000000000c";
/// Ten minutes after the sessions of the home.
const NOW: &str = "2026-02-20T12:10:00Z";
/// How a caller that is not recognized gets its list.
const UNKNOWN_CALLER: &str = "(one may be your own)";

fn frozen_home() -> TestHome {
    home_with_sessions().frozen_at(NOW)
}

/// A server that was started by a client with this name and these variables.
fn started_by(home: &TestHome, client: &str, variables: &[(&str, &str)]) -> McpClient {
    let mut command = home.command(&["mcp", "--no-sync"]);
    command.envs(variables.iter().copied());
    let mut mcp = McpClient::from_command(command);
    let info = json!({"name": client, "version": "1"});
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info});
    mcp.request("initialize", &params);
    mcp.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    mcp
}

/// The text of a call with metadata.
fn call(mcp: &mut McpClient, tool: &str, arguments: &Value, metadata: &Value) -> String {
    let params = json!({"name": tool, "arguments": arguments, "_meta": metadata});
    let answer = mcp.request("tools/call", &params);
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    text_of(&answer["result"])
}

fn codex(thread: &str) -> Value {
    let ids = json!({"session_id": CODEX, "thread_id": thread, "turn_id": "turn-1", "model": "gpt-5.1-codex"});
    json!({"callId": "call_1", "x-codex-turn-metadata": ids, "threadId": thread, "progressToken": 1})
}

fn prompt(home: &TestHome, session: &str) -> String {
    let payload = json!({"session_id": session, "cwd": home.root(), "hook_event_name": "UserPromptSubmit",
        "prompt": "and now?"});
    let output = home.run_with_input(&["hook", "claude-code"], payload.to_string().as_bytes());
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn activity_is_reported_once_to_the_session_that_asks() {
    let home = frozen_home();
    let mut mcp = started_by(&home, "codex-mcp-client", &[]);
    let of_a_sub_agent = call(&mut mcp, "session_activity", &json!({}), &codex("another thread"));
    assert!(of_a_sub_agent.contains("zymurgy parser"), "{of_a_sub_agent}");
    let first = call(&mut mcp, "session_activity", &json!({}), &codex(CODEX));
    assert!(first.contains("[Session Activity]") && first.contains("zymurgy parser"), "not reported before: {first}");
    assert!(first.contains("Other sessions active in the last hour:") && !first.contains(UNKNOWN_CALLER), "{first}");
    let mut mcp = started_by(&home, "codex-mcp-client", &[]);
    let second = call(&mut mcp, "session_activity", &json!({}), &codex(CODEX));
    assert!(second.contains("No new activity of other sessions"), "{second}");
    assert!(!second.contains("[Session Activity]"), "{second}");
    let droid = call(&mut mcp, "session_activity", &json!({}), &json!({"assemblySessionId": "d1", "caller": "AGENT"}));
    assert!(droid.contains("[Session Activity]"), "another session was not asked: {droid}");
}

#[test]
fn what_was_injected_is_not_reported_again() {
    let home = frozen_home();
    assert!(prompt(&home, BEN).contains("zymurgy parser"));
    let variables = [("CLAUDE_CODE_SESSION_ID", BEN)];
    let output = started_by(&home, "claude-code", &variables).text("session_activity", &json!({}));
    assert!(output.contains("No new activity of other sessions"), "{output}");
    // And the other way round.
    let home = frozen_home();
    let asked = started_by(&home, "claude-code", &variables).text("session_activity", &json!({}));
    assert!(asked.contains("[Session Activity]") && asked.contains("zymurgy parser"), "{asked}");
    assert!(!prompt(&home, BEN).contains("[Session Activity]"));
}

#[test]
fn a_session_is_left_out_of_its_own_list() {
    let home = frozen_home();
    let mut mcp = started_by(&home, "claude-code", &[("CLAUDE_CODE_SESSION_ID", ANNA)]);
    let output = mcp.text("session_activity", &json!({}));
    assert!(!output.contains("zymurgy"), "{output}");
    // A session that a user typed wins, and nothing is marked as reported.
    let other = mcp.text("session_activity", &json!({"session": BEN}));
    assert!(other.contains("zymurgy parser"), "{other}");
}

#[test]
fn variables_of_another_client_are_ignored() {
    let home = frozen_home();
    let variables =
        [("CLAUDE_CODE_SESSION_ID", ANNA), ("COPILOT_AGENT_SESSION_ID", ANNA), ("QWEN_CODE_SESSION_ID", ANNA)];
    for client in ["opencode", "gemini-cli-mcp-client", "kimi-code", "codex-mcp-client", "@cline/core"] {
        let output = started_by(&home, client, &variables).text("session_activity", &json!({}));
        assert!(output.contains("zymurgy") && output.contains(UNKNOWN_CALLER), "{client}: {output}");
    }
    for (client, name) in
        [("qwen-cli-mcp-client-rethread", "QWEN_CODE_SESSION_ID"), ("copilot-cli", "COPILOT_AGENT_SESSION_ID")]
    {
        let output = started_by(&home, client, &[(name, "5e55")]).text("session_activity", &json!({}));
        assert!(output.contains("[Session Activity]") && !output.contains(UNKNOWN_CALLER), "{client}: {output}");
    }
}

#[test]
fn a_session_that_its_agent_ended_no_longer_calls() {
    // After `/clear`, Claude Code keeps the server and its variables.
    let home = frozen_home();
    let payload = json!({"session_id": BEN, "cwd": home.root(), "hook_event_name": "SessionEnd", "reason": "clear"});
    home.run_with_input(&["hook", "claude-code"], payload.to_string().as_bytes());
    let mut mcp = started_by(&home, "claude-code", &[("CLAUDE_CODE_SESSION_ID", BEN)]);
    let output = mcp.text("session_activity", &json!({}));
    assert!(output.contains(UNKNOWN_CALLER), "{output}");
}

#[test]
fn notes_and_questions_know_who_asks() {
    let home = frozen_home();
    let mut mcp = started_by(&home, "claude-code", &[("CLAUDE_CODE_SESSION_ID", BEN)]);
    mcp.text("remember", &json!({"text": "The zeppelin gateway listens on 8443."}));
    let hits = mcp.text("search_memory", &json!({"query": "zeppelin gateway"}));
    assert!(hits.contains("(noted by claude-code, session 01"), "{hits}");
    // The name that the session was shown still means that session when it has another one.
    mcp.text("session_activity", &json!({}));
    home.run_ok(&["session", "name", ANNA, "Renamed"]);
    let question = json!({"session": "@@why-does-the-zymurgy-parser-drop-a-line", "question": "what was too small?"});
    let answer = mcp.text("query_session", &question);
    assert!(answer.contains("quokka buffer"), "{answer}");
    let own = mcp.text("query_session", &json!({"session": BEN, "question": "what did the wombat say?"}));
    assert!(own.contains("wombat"), "a session may ask about itself: {own}");
}

#[test]
fn metadata_names_the_caller_over_http_too() {
    let home = frozen_home();
    let id = "dddd1011-0000-4000-8000-00000000000d";
    let start = json!({"type": "session_start", "id": id, "version": 2, "cwd": home.root()});
    let message = json!({"type": "message", "id": "m1", "timestamp": "2026-02-20T12:05:00Z",
        "message": {"role": "user", "content": [{"type": "text", "text": "go on"}]}});
    home.write(&format!(".factory/sessions/-home/{id}.jsonl"), format!("{start}\n{message}\n"));
    home.run_ok(&["sync"]);
    let server = home.serve(&["--no-watch"]);
    let client = home.client(&server);
    let ask = |session: &str| {
        let params = json!({"name": "session_activity", "arguments": {}, "_meta": {"assemblySessionId": session}});
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let answer = post(&client, &message, &["MCP-Protocol-Version: 2025-06-18"]);
        text_of(&serde_json::from_str::<Value>(&answer.body).unwrap()["result"])
    };
    let unknown = ask("never seen");
    assert!(unknown.contains(UNKNOWN_CALLER), "its project is not known: {unknown}");
    let first = ask(id);
    assert!(first.contains("zymurgy parser") && !first.contains(UNKNOWN_CALLER), "{first}");
    let second = ask(id);
    assert!(second.contains("No new activity of other sessions"), "{second}");
}
