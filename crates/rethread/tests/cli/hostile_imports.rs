//! `import` of files that no export wrote: odd values, lines in another order, ids of other sessions.

use crate::transcripts::{CLAUDE, OTHER, home_with_agents, new_home, read_home};
use rethread_testing::TestHome;
use serde_json::{Value, json};

const HEADER: &str = r#"{"format":"rethread-sessions","version":1,"sessions":1}"#;
const START: i64 = 1_771_500_000_000;
const TOKEN: &str = concat!("ghp_", "a8Kd0sLq2mNc4vBx6zTy8wRu1pEo3iHj5gFd");

fn line(session: &str, table: &str, row: &Value) -> Value {
    json!({ "agent": "pi", "session": session, "table": table, "row": row })
}

fn with(mut row: Value, more: &Value) -> Value {
    row.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    row
}

fn session(id: &str, more: &Value) -> Value {
    let row = json!({ "kind": "main", "name": id, "cwd": "/p", "project": "/p", "started_at": START,
        "last_activity_at": START, "is_empty": 0, "prompts": 1, "messages": 1 });
    line(id, "session", &with(row, more))
}

/// An entry whose key is another one in every session.
fn entry(id: &str, seq: i64, more: &Value) -> Value {
    let key = id.bytes().map(i64::from).sum::<i64>() * 100_000 + seq;
    let row = json!({ "seq": seq, "native_key": key, "native_id": format!("{id}-{seq}"), "line": seq + 1, "offset": 0,
        "length": 10, "at": START + seq, "kind": "prompt", "text": format!("parsers number {seq}") });
    line(id, "entry", &with(row, more))
}

/// A session that has nothing odd.
fn plain(id: &str) -> [Value; 2] {
    [session(id, &json!({})), entry(id, 0, &json!({}))]
}

fn json_lines(lines: &[Value]) -> String {
    lines.iter().flat_map(|line| [line.to_string(), "\n".to_owned()]).collect()
}

fn import_with(home: &TestHome, arguments: &[&str], lines: &[Value]) -> Value {
    let input = format!("{HEADER}\n{}", json_lines(lines));
    let output = home.run_with_input(&[&["import", "-", "--json"], arguments].concat(), input.as_bytes());
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

fn import(home: &TestHome, lines: &[Value]) -> Value {
    import_with(home, &[], lines)
}

fn assert_usable(home: &TestHome) {
    for arguments in [
        &["debug", "verify"][..],
        &["sessions", "--all-projects"],
        &["search", "parsers", "--all-projects"],
        &["usage", "--all-projects"],
        &["show", "last"],
        &["session", "card", "last"],
    ] {
        let output = home.run(arguments);
        // 1: nothing was found.
        let is_fine = output.status.code().is_some_and(|code| code < 2);
        assert!(is_fine, "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn one_bad_row_costs_only_itself_and_other_sessions_arrive() {
    let huge = "9223372036854775807";
    let tokens = json!({ "message_key": 1, "input_tokens": huge, "output_tokens": 1, "cache_read_tokens": 0,
        "cache_write_tokens": 0 });
    let card = json!({ "fields": "{\"name\":\"a\"}", "prompts": 1 });
    let bad = [
        line("odd", "usage", &tokens),
        line("odd", "card", &card),
        line("odd", "session_label", &json!({ "pinned_at": huge })),
        entry("odd", 1, &json!({ "offset": -1 })),
        entry("odd", 2, &json!({ "length": -1 })),
        entry("odd", 3, &json!({ "at": i64::MIN.to_string() })),
        entry("odd", 4, &json!({ "output_bytes": -1 })),
        json!({ "agent": "pi", "session": "odd", "table": "entry", "row": [1] }),
    ];
    let home = new_home();
    let lines = [&plain("first")[..], &plain("odd"), &bad, &plain("last")].concat();
    let report = import(&home, &lines);
    assert_eq!((&report["newSessions"], &report["entries"]), (&json!(3), &json!(3)), "{report}");
    let problems = report["problems"].as_array().unwrap();
    assert_eq!(problems.len(), bad.len(), "{report}");
    assert_eq!(problems[0], json!({ "line": 6, "reason": "usage has an invalid input_tokens" }));
    assert_eq!(problems[7], json!({ "line": 13, "reason": "a row must be a JSON object" }));
    assert_usable(&home);

    let home = new_home();
    let times = session("times", &json!({ "started_at": i64::MIN.to_string(), "last_activity_at": -1 }));
    let report = import(&home, &[&[times, entry("times", 0, &json!({}))][..], &plain("last")].concat());
    assert_eq!(report["problems"].as_array().unwrap().len(), 1, "{report}");
    assert_usable(&home);
}

#[test]
fn an_entry_that_has_no_place_is_reported() {
    let home = new_home();
    let lines = [&plain("last")[..], &[entry("last", 0, &json!({ "native_key": 5, "text": "lost" }))]].concat();
    let report = import(&home, &lines);
    assert_eq!(report["problems"], json!([{ "line": 4, "reason": "another entry has the seq 0" }]), "{report}");
    assert_eq!(report["entries"], 1);
}

#[test]
fn labels_alone_and_removed_sessions_stay_out() {
    let home = new_home();
    let lines =
        [line("label", "session_label", &json!({ "name": "x" })), session("removed", &json!({ "kind": "removed" }))];
    let report = import(&home, &[&lines[..], &plain("last")].concat());
    assert_eq!(report["newSessions"], 1, "{report}");
    assert_usable(&home);
}

#[test]
fn an_id_of_another_session_is_not_taken() {
    let exported = read_home().run_ok(&["export", CLAUDE]);
    let rows = exported.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let victim = rows.into_iter().find(|row| row["table"] == "session").unwrap()["row"]["id"].clone();
    let home = home_with_agents();
    import(&home, &[session("attacker", &json!({ "id": victim })), entry("attacker", 0, &json!({}))]);
    home.run_ok(&["sync"]);
    home.run_ok(&["sync"]);
    let found: Value = serde_json::from_str(&home.run_ok(&["show", CLAUDE, "--json"])).unwrap();
    assert_eq!(found["session"]["id"], victim);
    let found: Value = serde_json::from_str(&home.run_ok(&["show", "attacker", "--json"])).unwrap();
    assert_ne!(found["session"]["id"], victim);
}

#[test]
fn lines_of_two_sessions_may_alternate() {
    let home = new_home();
    let mut lines = vec![session("one", &json!({})), session("last", &json!({}))];
    for seq in 0..400 {
        lines.extend([entry("one", seq, &json!({})), entry("last", seq, &json!({}))]);
    }
    lines.push(line("one", "session_label", &json!({ "tags": "late" })));
    let report = import(&home, &lines);
    let counts = [&report["newSessions"], &report["extendedSessions"], &report["entries"]];
    assert_eq!(counts, [&json!(2), &json!(0), &json!(800)], "{report}");
    assert_eq!(report["problems"], json!([]));
    assert!(home.run_ok(&["sessions", "--all-projects", "--tag", "late"]).contains("#late"));
    assert_usable(&home);
}

#[test]
fn no_column_brings_a_secret_and_tags_follow_the_rules() {
    let home = new_home();
    let mut tags =
        vec![TOKEN.to_owned(), "t,a,g".to_owned(), "\u{1b}[2J".to_owned(), "Tag".to_owned(), "tag".to_owned()];
    tags.extend((0..500).map(|number| format!("t{number}")));
    let secret = json!(format!("x {TOKEN}"));
    let lines = [
        session("last", &json!({ "model": secret, "namespace": secret })),
        entry("last", 0, &json!({ "native_id": TOKEN })),
        entry(
            "last",
            1,
            &json!({ "kind": "call", "tool_name": secret, "tool_kind": "other", "target": "x", "status": "ok" }),
        ),
        line("last", "session_label", &json!({ "pinned_at": START, "tags": tags.join("\n") })),
    ];
    let report = import(&home, &lines);
    assert_eq!(report["redactions"]["github"], 5, "{report}");
    assert!(!String::from_utf8_lossy(&home.stored_bytes()).contains(&TOKEN[..20]));
    let listed: Value = serde_json::from_str(&home.run_ok(&["sessions", "--all-projects", "--json"])).unwrap();
    let stored = listed["sessions"][0]["tags"].as_array().unwrap();
    assert_eq!(stored.len(), 20, "{listed}");
    assert_eq!((&stored[0], &stored[1]), (&json!("[REDACTED:github]"), &json!("Tag")));
    assert_eq!(stored.iter().filter(|tag| tag.as_str().unwrap().eq_ignore_ascii_case("tag")).count(), 1);
    assert_usable(&home);
}

#[test]
fn a_dry_run_says_what_would_be_imported_and_stores_nothing() {
    let home = new_home();
    let lines = [&plain("last")[..], &plain("other")].concat();
    for is_synced in [false, true] {
        let report = import_with(&home, &["--dry-run"], &lines);
        let found = [&report["dryRun"], &report["newSessions"], &report["entries"]];
        assert_eq!(found, [&json!(true), &json!(2), &json!(2)], "{report}");
        assert_eq!(home.run(&["show", "last"]).status.code(), Some(2));
        assert_eq!(home.path(".rethread/memory.db").exists(), is_synced);
        home.run_ok(&["sync"]);
    }
}

#[test]
fn what_is_no_export_gets_a_useful_answer() {
    let home = new_home();
    let marked = format!("\u{feff}{HEADER}\r\n{}", json_lines(&plain("last")).replace('\n', "\r\n"));
    assert!(home.run_with_input(&["import", "-"], marked.as_bytes()).status.success());
    let errors = |output: std::process::Output| String::from_utf8(output.stderr).unwrap();
    let packed = errors(home.run_with_input(&["import", "-"], b"\x1f\x8b\x08\x00abc"));
    assert!(packed.contains("this file is compressed") && packed.contains("gunzip -c FILE"), "{packed}");
    let folder = errors(home.run(&["import", home.root().to_str().unwrap()]));
    assert!(folder.contains("is a directory") && !folder.contains("it continues"), "{folder}");
    let broken = errors(home.run_with_input(&["import", "-"], format!("{HEADER}\nnot JSON\n").as_bytes()));
    assert!(broken.contains("line 2 was skipped: expected ident\n"), "{broken}");
}

#[test]
fn pins_and_tags_are_listed_and_filter_the_list() {
    let home = read_home();
    assert!(home.run_ok(&["session", "pin", CLAUDE]).is_empty());
    home.run_ok(&["session", "tag", CLAUDE, "Release", "later"]);
    home.run_ok(&["session", "tag", OTHER, "later"]);
    let listed = |arguments: &[&str]| home.run(&[&["sessions", "--all-projects"], arguments].concat());
    let count = |arguments: &[&str]| {
        let output = listed(&[arguments, &["--json"]].concat());
        serde_json::from_slice::<Value>(&output.stdout).unwrap()["sessions"].as_array().unwrap().len()
    };
    assert_eq!(count(&["--pinned"]), 1);
    assert_eq!(count(&["--tag", "LATER"]), 2);
    assert_eq!(count(&["--tag", "later", "--tag", "release"]), 1);
    assert_eq!(count(&["--tag", "later", "--limit", "1"]), 1);
    assert_eq!(listed(&["--tag", "none"]).status.code(), Some(1));
    let pinned = String::from_utf8(listed(&["--pinned"]).stdout).unwrap();
    assert!(pinned.contains("★ pinned #Release #later"), "{pinned}");
    for arguments in [&["show", CLAUDE][..], &["session", "card", CLAUDE]] {
        assert!(home.run_ok(arguments).contains("★ pinned  #Release  #later"), "{arguments:?}");
    }
    let note = |arguments: &[&str]| String::from_utf8(home.run(arguments).stderr).unwrap();
    assert!(note(&["session", "pin", CLAUDE]).contains("is pinned already."));
    assert!(note(&["session", "tag", CLAUDE, TOKEN]).contains("Added \"[REDACTED:github]\" to"));
    assert!(note(&["session", "tag", CLAUDE, "zzz", "--remove"]).contains("has no such tag."));
}
