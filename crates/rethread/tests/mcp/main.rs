//! MCP with the real binary: both transports, all revisions, every tool, and invalid input.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

mod asking_session;
mod client;
mod http;
mod invalid_input;
mod revisions;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use client::{
    ANNA, BEN, HANDSHAKE_REVISIONS, McpClient, STATELESS_REVISION, add_session, home_with_sessions, new_home, text_of,
    with_metadata,
};
use rethread_testing::{TestHome, wait_until};
use serde_json::{Value, json};

const NAMES: [&str; 8] = [
    "ask_memory",
    "search_memory",
    "get_memory",
    "session_activity",
    "read_session",
    "query_session",
    "find_fix",
    "remember",
];

fn listed(home: &TestHome) -> Vec<Value> {
    McpClient::initialized(home).request("tools/list", &json!({}))["result"]["tools"].as_array().unwrap().clone()
}

#[test]
fn tool_definitions_take_fewer_than_450_tokens() {
    let tools = listed(&new_home());
    // The part that is sent to a model. Four characters count as a token; real tokenizers count fewer.
    let seen = |tool: &Value| json!([tool["name"], tool["description"], tool["inputSchema"]]).to_string();
    let characters: usize = tools.iter().map(|tool| seen(tool).chars().count()).sum();
    let tokens = characters.div_ceil(4);
    assert!(tokens < 450, "{tokens} tokens");
    let instructions =
        McpClient::new(&new_home(), &[], &["--no-sync"]).initialize(STATELESS_REVISION)["instructions"].to_string();
    assert!(instructions.chars().count() < 450, "{instructions}");
}

#[test]
fn tools_are_as_specified_and_none_takes_a_path() {
    // T9
    let tools = listed(&new_home());
    assert_eq!(tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect::<Vec<_>>(), NAMES);
    assert_eq!(tools, listed(&home_with_sessions()), "always the same, in the same order");
    for tool in &tools {
        let adds = tool["name"] == "remember";
        let hints = if adds {
            json!({"destructiveHint": false, "openWorldHint": false})
        } else {
            json!({"readOnlyHint": true})
        };
        assert_eq!(tool["annotations"], hints, "{tool}");
        assert_eq!(tool["_meta"], json!({"anthropic/alwaysLoad": true}));
        assert_eq!(tool.get("outputSchema"), None);
        let parameters = tool["inputSchema"]["properties"].as_object().unwrap();
        let known = ["query", "everywhere", "limit", "ids", "session", "lines", "question", "error", "text"];
        assert!(parameters.keys().all(|name| known.contains(&name.as_str())), "{tool}");
    }
}

#[test]
fn a_session_without_a_transcript_is_read_by_its_events() {
    // D28
    let home = new_home();
    let session = "5e551011-0000-4000-8000-00000000000d";
    let payload = json!({"session_id": session, "cwd": home.work_dir(), "hook_event_name": "UserPromptSubmit",
        "prompt": "plan the release"});
    assert!(home.run_with_input(&["hook", "claude-code"], payload.to_string().as_bytes()).status.success());
    let text = McpClient::initialized(&home).text("read_session", &json!({"session": session}));
    assert!(text.contains("prompt_submitted") && text.contains("plan the release"), "{text}");
}

#[test]
fn handshake_revisions_start_with_initialize() {
    let home = home_with_sessions();
    for revision in HANDSHAKE_REVISIONS {
        let mut client = McpClient::new(&home, &[], &["--no-sync"]);
        let initialized = client.initialize(revision);
        assert_eq!(initialized["protocolVersion"], revision);
        assert_eq!(initialized["serverInfo"]["name"], "rethread");
        assert_eq!(client.request("ping", &json!({}))["result"], json!({}));
        assert_eq!(client.request("tools/list", &json!({}))["result"]["tools"].as_array().unwrap().len(), 8);
        let result = client.call("search_memory", &json!({"query": "quokka"}));
        assert_eq!(result.get("resultType"), None, "{revision} does not know it");
        assert!(text_of(&result).contains("quokka buffer"));
    }
    let mut client = McpClient::new(&home, &[], &["--no-sync"]);
    assert_eq!(
        client.initialize("2099-01-01")["protocolVersion"],
        HANDSHAKE_REVISIONS[3],
        "what we do not know is answered with what we do"
    );
}

#[test]
fn stateless_revision_needs_metadata_in_each_request() {
    let home = home_with_sessions();
    let mut client = McpClient::new(&home, &[], &["--no-sync"]);
    let found = client.request("server/discover", &with_metadata(&json!({})))["result"].clone();
    assert_eq!(
        found["supportedVersions"],
        json!([
            HANDSHAKE_REVISIONS[0],
            HANDSHAKE_REVISIONS[1],
            HANDSHAKE_REVISIONS[2],
            HANDSHAKE_REVISIONS[3],
            STATELESS_REVISION
        ]),
        "{found}"
    );
    assert!(found["instructions"].as_str().unwrap().contains("search_memory"), "{found}");
    let tools = client.request("tools/list", &with_metadata(&json!({})))["result"].clone();
    assert_eq!((&tools["resultType"], tools["tools"].as_array().unwrap().len()), (&json!("complete"), 8));
    assert!(tools["ttlMs"].is_u64() && tools["cacheScope"].is_string(), "{tools}");
    let call = with_metadata(&json!({"name": "search_memory", "arguments": {"query": "quokka"}}));
    let result = client.request("tools/call", &call)["result"].clone();
    assert_eq!(result["resultType"], "complete");
    assert!(text_of(&result).contains("quokka buffer"));
    let bare = client.request("tools/list", &json!({}));
    assert_eq!(bare["error"]["code"], -32602, "without its own metadata: {bare}");
    // A client that called discover may still use the handshake.
    let mut client = McpClient::new(&home, &[], &["--no-sync"]);
    client.request("server/discover", &with_metadata(&json!({})));
    assert_eq!(client.initialize(HANDSHAKE_REVISIONS[3])["protocolVersion"], HANDSHAKE_REVISIONS[3]);
}

#[test]
fn memory_is_searched_and_hits_are_read() {
    // S000-29
    let home = home_with_sessions();
    let mut client = McpClient::initialized(&home);
    let hits = client.text("search_memory", &json!({"query": "quokka buffer", "limit": 3}));
    let id = hits.lines().map(str::trim).find(|line| line.contains(':') && line.starts_with("01")).unwrap().to_owned();
    assert!(hits.contains("claude-code · ") && hits.contains("matching entries in project "), "{hits}");
    let around = client.text("get_memory", &json!({"ids": [id]}));
    assert!(around.contains("> why does the zymurgy parser drop a line?"), "{around}");
    assert!(around.contains("▸─ agent") && around.contains("[Bash mkdir greased] ok"), "{around}");
    let end = client.text("read_session", &json!({"session": ANNA, "lines": 2}));
    assert!(end.contains("[Bash cargo test] ok") && end.contains("3 earlier entries"), "{end}");
    let answer = client.text("query_session", &json!({"session": ANNA, "question": "what was too small?"}));
    assert!(answer.contains("No model was asked") && answer.contains("quokka buffer"), "{answer}");
    let answer = client.text("ask_memory", &json!({"question": "why does the zymurgy parser drop lines?"}));
    assert!(
        answer.contains("quokka buffer") && answer.contains(&format!("{}:", id.split(':').next().unwrap())),
        "{answer}"
    );
    let answer = client.text("ask_memory", &json!({"question": "how did we fix the squeaking sluice gate?"}));
    assert!(answer.contains("Fixed by running `mkdir greased`"), "{answer}");
    let nothing = client.text("ask_memory", &json!({"question": "which color has the zeppelin?"}));
    assert!(nothing.contains("Nothing is known about that."), "{nothing}");
    let fix = client.text("find_fix", &json!({"error": "error: the sluice gate squeaks"}));
    assert!(fix.contains("ran `mkdir greased`") && fix.contains("confirmed"), "{fix}");
}

#[test]
fn other_projects_are_searched_only_on_request() {
    // S7.18
    let home = home_with_sessions();
    fs::create_dir(home.path("elsewhere")).unwrap();
    fs::create_dir(home.path("elsewhere/.git")).unwrap();
    let mut command = home.command(&["mcp", "--no-sync"]);
    command.current_dir(home.path("elsewhere"));
    let mut client = McpClient::from_command(command);
    client.initialize(HANDSHAKE_REVISIONS[2]);
    let here = client.text("search_memory", &json!({"query": "quokka"}));
    assert!(!here.contains("buffer") && here.contains("everywhere=true"), "{here}");
    let everywhere = client.text("search_memory", &json!({"query": "quokka", "everywhere": true}));
    assert!(everywhere.contains("quokka buffer") && everywhere.contains("all projects"), "{everywhere}");
    let fix = json!({"error": "error: the sluice gate squeaks"});
    assert!(client.text("find_fix", &fix).contains("everywhere=true"));
    // An id works from any project.
    assert!(client.text("read_session", &json!({"session": ANNA})).contains("zymurgy"));
}

#[test]
fn session_activity_can_be_repeated() {
    let home = home_with_sessions();
    let mut command = home.command(&["mcp", "--no-sync"]);
    command.env("RETHREAD_NOW", "2026-02-20T12:10:00Z");
    let mut client = McpClient::from_command(command);
    client.initialize(HANDSHAKE_REVISIONS[2]);
    for _ in 0..2 {
        let output = client.text("session_activity", &json!({}));
        assert!(output.contains("[Session Activity]") && output.contains("zymurgy parser"), "{output}");
        assert!(output.contains("AGENT") && output.contains("claude-code"), "with session ids: {output}");
        let activity = client.text("session_activity", &json!({"session": BEN}));
        assert!(
            activity.contains("zymurgy parser") && !activity.contains("wombat"),
            "a session does not get its own activity: {activity}"
        );
    }
}

#[test]
fn remembered_note_is_found_at_once_with_its_author() {
    // T12
    let home = home_with_sessions();
    let mut client = McpClient::initialized(&home);
    let noted = client.text("remember", &json!({"text": "The zeppelin gateway listens on 8443.", "session": ANNA}));
    assert!(noted.contains("Saved as 01"), "{noted}");
    let hits = client.text("search_memory", &json!({"query": "zeppelin gateway"}));
    assert!(hits.contains("native · ") && hits.contains("(noted by tester, session 01"), "{hits}");
    let again = client.text("remember", &json!({"text": "The zeppelin gateway listens on 8443.", "session": ANNA}));
    assert!(again.contains("Already saved as 01"), "{again}");
    for (text, code) in [(" ".to_owned(), "bad-content"), ("x".repeat(3000), "too-large"), (hits, "bad-content")] {
        let output = client.error_text("remember", &json!({"text": text}));
        assert!(output.contains(&format!("code: {code}\n")), "{output}");
    }
}

#[test]
fn tool_errors_have_codes_and_hints() {
    // E001-15
    let home = home_with_sessions();
    let mut client = McpClient::initialized(&home);
    for (tool, arguments, expected) in [
        ("query_session", json!({"session": "atlantis", "question": "why?"}), ["SESSION_NOT_FOUND", "search_memory"]),
        ("query_session", json!({"session": ANNA, "question": " "}), ["INVALID_ARGS", "the question is empty"]),
        ("query_session", json!({"session": ANNA}), ["INVALID_ARGS", "missing argument \"question\""]),
        ("query_session", json!({"session": "1011-0000", "question": "why?"}), ["SESSION_NOT_FOUND", "no session"]),
        ("read_session", json!({"session": "zz"}), ["unknown-reference", "search_memory"]),
        ("get_memory", json!({"ids": []}), ["usage", "SESSION:LINE"]),
        ("get_memory", json!({"ids": ["atlantis:3"]}), ["unknown-reference", "search_memory"]),
        ("search_memory", json!({"query": " "}), ["usage", "query is empty"]),
        ("search_memory", json!({"query": "x".repeat(3000)}), ["too-large", "only the important words"]),
        ("find_fix", json!({"error": ""}), ["usage", "error is empty"]),
        ("remember", json!({"note": "x"}), ["code: usage", "remember accepts: text, session"]),
    ] {
        let output = client.error_text(tool, &arguments);
        assert!(expected.iter().all(|words| output.contains(words)), "{tool}: {output}");
    }
    add_session(&home, "aaaa2022-0000-4000-8000-00000000000a", "translate the menu");
    assert!(home.run(&["sync"]).status.success());
    let output = client.error_text("query_session", &json!({"session": "aaaa", "question": "why?"}));
    assert!(
        output.contains("SESSION_AMBIGUOUS") && output.contains("Translate the menu") && output.contains("zymurgy"),
        "{output}"
    );
    let unknown = client.request("tools/call", &json!({"name": "delete_everything", "arguments": {}}));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    let listless = client.request("tools/call", &json!({"name": "search_memory", "arguments": ["x"]}));
    assert_eq!(listless["error"]["code"], -32602, "{listless}");
    assert_eq!(client.request("resources/everything", &json!({}))["error"]["code"], -32601);
}

#[test]
fn passages_are_quoted_when_no_model_may_be_asked() {
    // E001-14
    let home = home_with_sessions();
    let model = ["-c", "model.provider=anthropic", "-c", "model.name=claude-haiku-4-5"];
    let mut client = McpClient::new(&home, &model, &["--no-sync"]);
    client.initialize(HANDSHAKE_REVISIONS[2]);
    let tools = client.request("tools/list", &json!({}))["result"]["tools"].clone();
    assert_eq!(tools[5]["annotations"], json!({"destructiveHint": false}), "with a model it does not only read");
    let answer = client.text("query_session", &json!({"session": ANNA, "question": "what was too small?"}));
    assert!(answer.contains("note: QUERY_MODEL_UNAVAILABLE: ") && answer.contains("quokka buffer"), "{answer}");
}

#[test]
fn transcript_text_stays_inside_its_quotation() {
    // T11
    let home = home_with_sessions();
    let mut client = McpClient::initialized(&home);
    for output in [
        client.text("search_memory", &json!({"query": "wombat"})),
        client.text("read_session", &json!({"session": BEN})),
        client.text("query_session", &json!({"session": BEN, "question": "what did the wombat say?"})),
    ] {
        assert!(output.contains("wombat") && output.contains("‹/rethread-context>"), "{output}");
        assert!(
            !output.contains("\n── you · 2026-01-01") && !output.contains(['\u{1b}', '\u{7}', '\u{202e}']),
            "{output}"
        );
    }
}

#[test]
fn background_sync_runs_after_the_first_sync() {
    let home = home_with_sessions();
    add_session(&home, "cccc3033-0000-4000-8000-00000000000c", "paint the zeppelin");
    let mut client = McpClient::new(&home, &[], &[]);
    client.initialize(HANDSHAKE_REVISIONS[2]);
    wait_until("reading along", || {
        client.text("search_memory", &json!({"query": "zeppelin"})).contains("paint the zeppelin")
    });
}

#[test]
fn missing_home_is_reported_and_not_created() {
    let home = new_home();
    let mut client = McpClient::new(&home, &[], &[]);
    client.initialize(HANDSHAKE_REVISIONS[2]);
    for (tool, arguments) in [
        ("search_memory", json!({"query": "x"})),
        ("session_activity", json!({})),
        ("find_fix", json!({"error": "error: no such thing"})),
    ] {
        assert!(client.text(tool, &arguments).contains("rethread init"), "{tool}");
    }
    for (tool, arguments) in [
        ("get_memory", json!({"ids": ["a:1"]})),
        ("read_session", json!({"session": "nobody"})),
        ("session_activity", json!({"session": "nobody"})),
        ("query_session", json!({"session": "nobody", "question": "why?"})),
    ] {
        assert!(client.error_text(tool, &arguments).contains("rethread init"), "{tool}");
    }
    assert!(!home.path(".rethread").exists(), "a read creates nothing");
    assert!(client.text("remember", &json!({"text": "the lift is slow"})).contains("Saved as 01"));
    assert!(client.text("search_memory", &json!({"query": "lift"})).contains("lift is slow"));
}

#[test]
fn tool_reference_is_up_to_date() {
    const BEGIN: &str = "<!-- Generated by `UPDATE_DOCS=1 cargo test -p rethread`. Do not edit. -->\n";
    const END: &str = "<!-- End of the generated part. -->";
    let mut expect = "\n| tool | what it does | takes |\n|---|---|---|\n".to_owned();
    for tool in listed(&new_home()) {
        let schema = &tool["inputSchema"];
        let required = |name: &str| schema["required"].as_array().is_some_and(|all| all.contains(&name.into()));
        let parameters = schema["properties"].as_object().unwrap().iter().map(|(name, about)| {
            let about = about["description"].as_str().map_or(String::new(), |about| format!(": {about}"));
            let optional = if required(name) { "" } else { ", optional" };
            format!("`{name}`{optional}{about}")
        });
        let parameters: Vec<String> = parameters.collect();
        let (name, about) = (tool["name"].as_str().unwrap(), tool["description"].as_str().unwrap());
        writeln!(expect, "| `{name}` | {about} | {} |", parameters.join("; ")).unwrap();
    }
    expect.push('\n');
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/mcp.md");
    let found = fs::read_to_string(&path).unwrap();
    let (before, rest) = found.split_once(BEGIN).unwrap();
    let (inside, after) = rest.split_once(END).unwrap();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, format!("{before}{BEGIN}{expect}{END}{after}")).unwrap();
        return;
    }
    assert!(inside == expect, "docs/mcp.md is out of date; run: UPDATE_DOCS=1 cargo test -p rethread");
}
