//! MCP with the real binary: both ways, all revisions, every tool, and whatever a client may get wrong.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "mcp/by_http.rs"]
mod by_http;
#[expect(dead_code, reason = "not all of it is needed here")]
#[path = "serve/house.rs"]
mod house;
#[path = "mcp/odd.rs"]
mod odd;
#[path = "mcp/talk.rs"]
mod talk;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use house::{House, until};
use serde_json::{Value, json};
use talk::{ANNA, BEN, NEW, OLD, Talk, house_with_sessions, say, standing_alone, text_of};

const NAMES: [&str; 7] =
    ["search_memory", "get_memory", "session_activity", "read_session", "query_session", "find_fix", "remember"];

fn listed(house: &House) -> Vec<Value> {
    Talk::begun(house).ask("tools/list", &json!({}))["result"]["tools"].as_array().unwrap().clone()
}

#[test]
fn all_definitions_together_take_fewer_than_450_tokens() {
    let tools = listed(&House::new());
    // What reaches a model. Four characters are a token, as everywhere here; real tokenizers count fewer.
    let seen = |tool: &Value| json!([tool["name"], tool["description"], tool["inputSchema"]]).to_string();
    let characters: usize = tools.iter().map(|tool| seen(tool).chars().count()).sum();
    let tokens = characters.div_ceil(4);
    assert!(tokens < 450, "{tokens} tokens");
    let instructions = Talk::new(&House::new(), &[], &["--no-sync"]).hello(NEW)["instructions"].to_string();
    assert!(instructions.chars().count() < 450, "{instructions}");
}

#[test]
fn t9_the_tools_are_those_of_the_contract_and_none_takes_a_path() {
    let tools = listed(&House::new());
    assert_eq!(tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect::<Vec<_>>(), NAMES);
    assert_eq!(tools, listed(&house_with_sessions()), "always the same, in the same order");
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
fn old_revisions_begin_with_a_handshake() {
    let house = house_with_sessions();
    for revision in OLD {
        let mut talk = Talk::new(&house, &[], &["--no-sync"]);
        let hello = talk.hello(revision);
        assert_eq!(hello["protocolVersion"], revision);
        assert_eq!(hello["serverInfo"]["name"], "rethread");
        assert_eq!(talk.ask("ping", &json!({}))["result"], json!({}));
        assert_eq!(talk.ask("tools/list", &json!({}))["result"]["tools"].as_array().unwrap().len(), 7);
        let result = talk.call("search_memory", &json!({"query": "quokka"}));
        assert_eq!(result.get("resultType"), None, "{revision} does not know it");
        assert!(text_of(&result).contains("quokka buffer"));
    }
    let mut talk = Talk::new(&house, &[], &["--no-sync"]);
    assert_eq!(talk.hello("2099-01-01")["protocolVersion"], OLD[3], "what we do not know is answered with what we do");
}

#[test]
fn in_the_new_revision_each_request_stands_for_itself() {
    let house = house_with_sessions();
    let mut talk = Talk::new(&house, &[], &["--no-sync"]);
    let found = talk.ask("server/discover", &standing_alone(&json!({})))["result"].clone();
    assert_eq!(found["supportedVersions"], json!([OLD[0], OLD[1], OLD[2], OLD[3], NEW]), "{found}");
    assert!(found["instructions"].as_str().unwrap().contains("search_memory"), "{found}");
    let tools = talk.ask("tools/list", &standing_alone(&json!({})))["result"].clone();
    assert_eq!((&tools["resultType"], tools["tools"].as_array().unwrap().len()), (&json!("complete"), 7));
    assert!(tools["ttlMs"].is_u64() && tools["cacheScope"].is_string(), "{tools}");
    let call = standing_alone(&json!({"name": "search_memory", "arguments": {"query": "quokka"}}));
    let result = talk.ask("tools/call", &call)["result"].clone();
    assert_eq!(result["resultType"], "complete");
    assert!(text_of(&result).contains("quokka buffer"));
    let bare = talk.ask("tools/list", &json!({}));
    assert_eq!(bare["error"]["code"], -32602, "without its own metadata: {bare}");
    // A client that only looked may go on as it did before there was this revision.
    let mut talk = Talk::new(&house, &[], &["--no-sync"]);
    talk.ask("server/discover", &standing_alone(&json!({})));
    assert_eq!(talk.hello(OLD[3])["protocolVersion"], OLD[3]);
}

#[test]
fn s000_29_memory_is_searched_and_what_was_found_is_read() {
    let house = house_with_sessions();
    let mut talk = Talk::begun(&house);
    let hits = talk.text("search_memory", &json!({"query": "quokka buffer", "limit": 3}));
    let id = hits.lines().map(str::trim).find(|line| line.contains(':') && line.starts_with("01")).unwrap().to_owned();
    assert!(hits.contains("claude-code · ") && hits.contains("in the project "), "{hits}");
    let around = talk.text("get_memory", &json!({"ids": [id]}));
    assert!(around.contains("> why does the zymurgy parser drop a line?"), "{around}");
    assert!(around.contains("▸─ agent") && around.contains("[Bash mkdir greased] ok"), "{around}");
    let end = talk.text("read_session", &json!({"session": ANNA, "lines": 2}));
    assert!(end.contains("[Bash cargo test] ok") && end.contains("3 earlier entries"), "{end}");
    let asked = talk.text("query_session", &json!({"session": ANNA, "question": "what was too small?"}));
    assert!(asked.contains("No model was asked") && asked.contains("quokka buffer"), "{asked}");
    let fix = talk.text("find_fix", &json!({"error": "error: the sluice gate squeaks"}));
    assert!(fix.contains("ran `mkdir greased`") && fix.contains("confirmed"), "{fix}");
}

#[test]
fn s7_18_other_projects_are_looked_at_only_when_asked_for() {
    let house = house_with_sessions();
    fs::create_dir(house.path("elsewhere")).unwrap();
    fs::create_dir(house.path("elsewhere/.git")).unwrap();
    let mut command = house.command(&["mcp", "--no-sync"]);
    command.current_dir(house.path("elsewhere"));
    let mut talk = Talk::of(command);
    talk.hello(OLD[2]);
    let here = talk.text("search_memory", &json!({"query": "quokka"}));
    assert!(!here.contains("buffer") && here.contains("everywhere=true"), "{here}");
    let everywhere = talk.text("search_memory", &json!({"query": "quokka", "everywhere": true}));
    assert!(everywhere.contains("quokka buffer") && everywhere.contains("all projects"), "{everywhere}");
    let fix = json!({"error": "error: the sluice gate squeaks"});
    assert!(talk.text("find_fix", &fix).contains("everywhere=true"));
    // An id says what it means, wherever it is.
    assert!(talk.text("read_session", &json!({"session": ANNA})).contains("zymurgy"));
}

#[test]
fn live_sessions_are_told_again_and_again() {
    let house = house_with_sessions();
    let mut command = house.command(&["mcp", "--no-sync"]);
    command.env("RETHREAD_NOW", "2026-02-20T12:10:00Z");
    let mut talk = Talk::of(command);
    talk.hello(OLD[2]);
    for _ in 0..2 {
        let told = talk.text("session_activity", &json!({}));
        assert!(told.contains("[Session Activity]") && told.contains("zymurgy parser"), "{told}");
        assert!(told.contains("AGENT") && told.contains("claude-code"), "with ids to go on with: {told}");
        let news = talk.text("session_activity", &json!({"session": BEN}));
        assert!(news.contains("zymurgy parser") && !news.contains("wombat"), "nobody hears of itself: {news}");
    }
}

#[test]
fn t12_what_is_remembered_is_found_at_once_and_says_whose_word_it_is() {
    let house = house_with_sessions();
    let mut talk = Talk::begun(&house);
    let noted = talk.text("remember", &json!({"text": "The zeppelin gateway listens on 8443.", "session": ANNA}));
    assert!(noted.contains("Noted as 01"), "{noted}");
    let hits = talk.text("search_memory", &json!({"query": "zeppelin gateway"}));
    assert!(hits.contains("native · ") && hits.contains("(noted by tester, session 01"), "{hits}");
    let again = talk.text("remember", &json!({"text": "The zeppelin gateway listens on 8443.", "session": ANNA}));
    assert!(again.contains("was noted before"), "{again}");
    for (text, code) in [(" ".to_owned(), "bad-content"), ("x".repeat(3000), "too-large"), (hits, "bad-content")] {
        let told = talk.complaint("remember", &json!({"text": text}));
        assert!(told.contains(&format!("code: {code}\n")), "{told}");
    }
}

#[test]
fn e001_15_failures_of_tools_have_codes_and_say_what_next() {
    let house = house_with_sessions();
    let mut talk = Talk::begun(&house);
    for (tool, arguments, expected) in [
        ("query_session", json!({"session": "atlantis", "question": "why?"}), ["SESSION_NOT_FOUND", "search_memory"]),
        ("query_session", json!({"session": ANNA, "question": " "}), ["INVALID_ARGS", "nothing is asked"]),
        ("query_session", json!({"session": ANNA}), ["INVALID_ARGS", "\"question\" is missing"]),
        ("query_session", json!({"session": "1011-0000", "question": "why?"}), ["SESSION_NOT_FOUND", "no session"]),
        ("read_session", json!({"session": "zz"}), ["unknown-reference", "search_memory"]),
        ("get_memory", json!({"ids": []}), ["usage", "SESSION:LINE"]),
        ("get_memory", json!({"ids": ["atlantis:3"]}), ["unknown-reference", "search_memory"]),
        ("search_memory", json!({"query": " "}), ["usage", "nothing to search for"]),
        ("search_memory", json!({"query": "x".repeat(3000)}), ["too-large", "words that matter"]),
        ("find_fix", json!({"error": ""}), ["usage", "no error"]),
        ("remember", json!({"note": "x"}), ["INVALID_ARGS", "remember takes: text, session"]),
    ] {
        let told = talk.complaint(tool, &arguments);
        assert!(expected.iter().all(|words| told.contains(words)), "{tool}: {told}");
    }
    say(&house, "aaaa2022-0000-4000-8000-00000000000a", "c1", "user", &json!("another one"));
    assert!(house.run(&["sync"]).status.success());
    let told = talk.complaint("query_session", &json!({"session": "aaaa", "question": "why?"}));
    assert!(told.contains("SESSION_AMBIGUOUS") && told.contains("another one") && told.contains("zymurgy"), "{told}");
    let unknown = talk.ask("tools/call", &json!({"name": "delete_everything", "arguments": {}}));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    let listless = talk.ask("tools/call", &json!({"name": "search_memory", "arguments": ["x"]}));
    assert_eq!(listless["error"]["code"], -32602, "{listless}");
    assert_eq!(talk.ask("resources/everything", &json!({}))["error"]["code"], -32601);
}

#[test]
fn e001_14_where_no_model_may_be_asked_passages_are_quoted_and_this_is_said() {
    let house = house_with_sessions();
    let model = ["-c", "model.provider=anthropic", "-c", "model.name=claude-haiku-4-5"];
    let mut talk = Talk::new(&house, &model, &["--no-sync"]);
    talk.hello(OLD[2]);
    let tools = talk.ask("tools/list", &json!({}))["result"]["tools"].clone();
    assert_eq!(tools[4]["annotations"], json!({"destructiveHint": false}), "with a model it does not only read");
    let asked = talk.text("query_session", &json!({"session": ANNA, "question": "what was too small?"}));
    assert!(asked.contains("note: QUERY_MODEL_UNAVAILABLE: ") && asked.contains("quokka buffer"), "{asked}");
}

#[test]
fn t11_what_transcripts_say_stays_inside_what_is_quoted() {
    let house = house_with_sessions();
    let mut talk = Talk::begun(&house);
    for told in [
        talk.text("search_memory", &json!({"query": "wombat"})),
        talk.text("read_session", &json!({"session": BEN})),
        talk.text("query_session", &json!({"session": BEN, "question": "what did the wombat say?"})),
    ] {
        assert!(told.contains("wombat") && told.contains("‹/rethread-context>"), "{told}");
        assert!(!told.contains("\n── you · 2026-01-01") && !told.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{told}");
    }
}

#[test]
fn it_reads_along_once_something_was_read() {
    let house = house_with_sessions();
    say(&house, "cccc3033-0000-4000-8000-00000000000c", "c1", "user", &json!("paint the zeppelin"));
    let mut talk = Talk::new(&house, &[], &[]);
    talk.hello(OLD[2]);
    until("reading along", || talk.text("search_memory", &json!({"query": "zeppelin"})).contains("paint the zeppelin"));
}

#[test]
fn without_a_home_it_says_so_and_makes_none() {
    let house = House::new();
    let mut talk = Talk::new(&house, &[], &[]);
    talk.hello(OLD[2]);
    for (tool, arguments) in [
        ("search_memory", json!({"query": "x"})),
        ("session_activity", json!({})),
        ("find_fix", json!({"error": "error: no such thing"})),
    ] {
        assert!(talk.text(tool, &arguments).contains("rethread init"), "{tool}");
    }
    for (tool, arguments) in [
        ("get_memory", json!({"ids": ["a:1"]})),
        ("read_session", json!({"session": "nobody"})),
        ("session_activity", json!({"session": "nobody"})),
        ("query_session", json!({"session": "nobody", "question": "why?"})),
    ] {
        assert!(talk.complaint(tool, &arguments).contains("rethread init"), "{tool}");
    }
    assert!(!house.path(".rethread").exists(), "looking makes nothing");
    assert!(talk.text("remember", &json!({"text": "the lift is slow"})).contains("Noted"));
    assert!(talk.text("search_memory", &json!({"query": "lift"})).contains("lift is slow"));
}

#[test]
fn the_reference_of_tools_is_up_to_date() {
    const BEGIN: &str =
        "<!-- Made from the program by `UPDATE_DOCS=1 cargo test -p rethread`. Changes here are lost. -->\n";
    const END: &str = "<!-- Here it ends. -->";
    let mut expect = "\n| tool | what it does | takes |\n|---|---|---|\n".to_owned();
    for tool in listed(&House::new()) {
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
