//! `search`, `timeline` and citations, also after the index was lost.

use std::fs;

use insta::assert_snapshot;
use rethread_testing::{TestHome, TranscriptBuilder, files_below};
use serde_json::{Value, json};

use crate::transcripts::{call, claude, home_with_agents, model, result, text, user};

const POOL: &str = "44444444-0000-4000-8000-000000000004";
const JAPANESE: &str = "55555555-0000-4000-8000-000000000005";

/// A home with two agents, a session of the current project and one in Japanese. Not synced yet.
fn unread_home() -> TestHome {
    let home = home_with_agents();
    let desk = home.work_dir().display().to_string();
    let lines = claude(POOL, &pool_session());
    let lines = lines.replace("/home/dev/app", &desk);
    home.write(&format!(".claude/projects/-desk/{POOL}.jsonl"), &lines);
    let japanese = [
        user("08:00:00", &json!("データベースの移行が失敗する理由は何ですか")),
        model("08:00:10", "msg_j", &text("接続の設定が原因です。")),
    ];
    home.write(&format!(".claude/projects/-home-dev-app/{JAPANESE}.jsonl"), claude(JAPANESE, &japanese));
    home
}

fn pool_session() -> Vec<Value> {
    let edit = json!({"file_path": "/home/dev/app/src/pool.rs", "old_string": "lock()", "new_string": "try_lock()"});
    vec![
        user("09:00:00", &json!("The connection pool deadlocks when two workers flush at once.\nFind out why.")),
        model("09:00:10", "msg_p1", &call("toolu_p1", "Bash", &json!({"command": "cargo test pool"}))),
        user("09:00:40", &result("toolu_p1", "Exit code 101\nthread 'flush' panicked: deadlock detected", true)),
        model("09:01:00", "msg_p2", &call("toolu_p2", "Edit", &edit)),
        user("09:01:01", &result("toolu_p2", "The file has been updated.", false)),
        model("09:02:00", "msg_p3", &text("Mended: drop took the lock that flush was holding.")),
        json!({"type": "ai-title", "aiTitle": "Deadlock in the connection pool"}),
        user("09:30:00", &json!("Now the changelog, please")),
        model("09:30:20", "msg_p4", &text("Written: workers may flush at once.")),
    ]
}

fn read_home() -> TestHome {
    let home = unread_home();
    assert!(home.run(&["sync"]).status.success());
    home
}

/// The JSON answer without times and scores, whose form is checked.
fn found(home: &TestHome, arguments: &[&str]) -> Value {
    let output = home.run(&[&arguments[..1], &["--json"], &arguments[1..]].concat());
    let mut value: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(value["seconds"].take().as_f64().is_some_and(|seconds| seconds >= 0.0));
    for hit in value["hits"].as_array_mut().unwrap() {
        assert!(hit["score"].take().as_f64().is_some_and(|score| score >= 0.0), "{hit}");
        let why = hit["why"].take();
        // A hit found by filters alone has no score parts.
        assert!(why.as_object().unwrap().values().all(Value::is_number), "{why}");
        let snippet: Vec<char> = hit["snippet"].as_str().unwrap().chars().collect();
        for range in hit["matches"].as_array().unwrap() {
            let place = |at: usize| range[at].as_u64().unwrap() as usize;
            assert!(place(0) < place(1) && place(1) <= snippet.len(), "{range}");
        }
    }
    value
}

/// The citation of the best hit.
fn best(home: &TestHome, query: &str) -> String {
    found(home, &["search", query, "--all-projects"])["hits"][0]["citation"].as_str().unwrap().to_owned()
}

#[test]
fn hits_have_a_session_a_snippet_and_a_citation() {
    let home = read_home();
    let query = ["search", "connection", "pool", "deadlocks", "workers", "--limit", "2"];
    assert_snapshot!("search", home.snapshot(&query));
    assert_snapshot!("search_quiet", home.snapshot(&[&query[..], &["--quiet"]].concat()));
    assert_snapshot!("search_elsewhere", home.snapshot(&["search", "coupons", "--all-projects"]));
    assert_snapshot!(
        "search_full",
        home.snapshot(&["search", "connection deadlocks workers", "--limit", "1", "--full"])
    );
    assert_snapshot!("search_exchange", home.snapshot(&["search", "panicked", "--exchange"]));
}

#[test]
fn lines_wrap_at_the_terminal_width_and_matches_are_highlighted() {
    let home = read_home();
    for (columns, name) in [("60", "search_narrow"), ("30", "search_very_narrow")] {
        let arguments = ["search", "connection deadlocks workers", "--limit", "1", "--exchange"];
        let output = home.command(&arguments).env("COLUMNS", columns).output().unwrap();
        assert_snapshot!(name, home.snapshot_of(&output));
    }
    let output = home.run(&["search", "holding", "--color", "always"]);
    let colored = String::from_utf8(output.stdout).unwrap();
    assert!(colored.contains("flush was \u{1b}[1m\u{1b}[33mholding\u{1b}[0m."), "{colored:?}");
}

#[test]
fn hits_can_be_grouped_by_session() {
    let home = read_home();
    assert_snapshot!("search_grouped", home.snapshot(&["search", "deadlock detected", "--limit", "2", "--group"]));
    let output_text = home.snapshot(&["search", "parser", "pool", "--group", "--all-projects", "--limit", "30"]);
    let sessions: Vec<&str> = output_text.lines().filter(|line| line.len() == 26 && line.starts_with("01K")).collect();
    let mut once = sessions.clone();
    once.sort_unstable();
    once.dedup();
    assert!(sessions.len() > 2 && once.len() == sessions.len(), "{output_text}");
}

#[test]
fn json_hits_have_their_positions() {
    let home = read_home();
    let hits = found(&home, &["search", "connection deadlocks workers", "--limit", "1"]);
    assert_snapshot!("search_json", without_root(&home, &hits));
    let hits = found(&home, &["search", "移行", "--all-projects", "--full", "--exchange"]);
    assert_snapshot!("search_json_exchange", without_root(&home, &hits));
}

/// Pretty JSON with a placeholder for the temporary directory.
fn without_root(home: &TestHome, value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap().replace(&home.root().display().to_string(), "[FOLDER]")
}

#[test]
fn no_result_suggests_where_to_look() {
    let home = read_home();
    assert_snapshot!("search_nothing", home.snapshot(&["search", "xylophone"]));
    assert_snapshot!("search_nothing_here", home.snapshot(&["search", "coupons"]));
    assert_snapshot!("search_nothing_json", home.snapshot(&["search", "xylophone", "--json"]));
    assert_snapshot!("timeline_nothing_here", home.snapshot(&["timeline", "--file", "coupons.rs"]));
    let elsewhere = home.path("");
    let output = home.command(&["timeline"]).current_dir(elsewhere).output().unwrap();
    assert_snapshot!("timeline_elsewhere", home.snapshot_of(&output));
}

#[test]
fn filters_keep_only_matching_hits() {
    let home = read_home();
    let lines = |arguments: &[&str]| -> Vec<u64> {
        let value = found(&home, &[&["search"], arguments].concat());
        let mut lines: Vec<u64> =
            value["hits"].as_array().unwrap().iter().map(|hit| hit["entry"]["line"].as_u64().unwrap()).collect();
        lines.sort_unstable();
        lines
    };
    assert_eq!(lines(&["flush"]), [1, 2, 6, 9]);
    assert_eq!(lines(&["flush", "--kind", "prompt"]), [1]);
    assert_eq!(lines(&["flush", "--kind", "assistant,User"]), [1, 6, 9]);
    assert_eq!(lines(&["flush kind:error"]), [2]);
    assert_eq!(lines(&["flush", "--kind", "error"]), [2]);
    assert_eq!(lines(&["flush", "--file", "pool.rs"]), [1, 2, 6]);
    assert_eq!(lines(&["flush", "--tool", "bash", "--tool", "edit"]), [1, 2, 6]);
    assert_eq!(lines(&["flush", "--since", "2026-02-20T09:15", "--until", "today"]), [9]);
    assert_eq!(lines(&["flush", "--until", "2026-02-20T09:00:30"]), [1, 2]);
    assert_eq!(lines(&["flush -workers"]), [2, 6]);
    assert_eq!(lines(&["--", "-workers", "flush"]), [2, 6]);
    assert_eq!(lines(&["flush", "--agent", "pi"]), [0; 0]);
    assert_eq!(lines(&["--kind", "prompt"]), [1, 8]);
    assert_eq!(lines(&["\"workers may flush\""]), [9]);
    assert_eq!(lines(&["coupons", "--session", "coupons"]), [2]);
    assert_eq!(lines(&["coupons", "--project", "/home/dev/api"]), [2]);
}

#[test]
fn citation_shows_its_line() {
    let home = read_home();
    let citation = best(&home, "holding");
    assert!(citation.ends_with(":6"), "{citation}");
    assert_snapshot!("show_cited", home.snapshot(&["show", &citation]));
    let call = best(&home, "panicked");
    assert_snapshot!("show_cited_call", home.snapshot(&["show", &call, "--lines", "2"]));
    let json = |arguments: &[&str]| -> Value { serde_json::from_slice(&home.run(arguments).stdout).unwrap() };
    assert_eq!(json(&["show", &citation, "--json"])["cited"], 6);
    assert_eq!(json(&["show", &citation[..26], "--json"])["cited"], Value::Null);
    assert_eq!(json(&["show", &citation, "--json", "--lines", "1"])["entries"][0]["line"], 6);
    assert_eq!(json(&["show", &citation, "--json", "--full"])["entries"].as_array().unwrap().len(), 6);
    let narrowed = json(&["show", &citation[..26], "--json", "--lines", "2", "--bytes", "9999"]);
    assert_eq!(narrowed["entries"].as_array().unwrap().len(), 2);
}

#[test]
fn timeline_lists_episodes_oldest_first() {
    let home = read_home();
    assert_snapshot!("timeline", home.snapshot(&["timeline"]));
    assert_snapshot!("timeline_all", home.snapshot(&["timeline", "--all-projects", "--limit", "5"]));
    assert_snapshot!("timeline_file", home.snapshot(&["timeline", "--file", "pool.rs"]));
    assert_snapshot!("timeline_json", home.snapshot(&["timeline", "--limit", "1", "--json"]));
    let narrow = home.command(&["timeline", "--limit", "2"]).env("COLUMNS", "48").output().unwrap();
    assert_snapshot!("timeline_narrow", home.snapshot_of(&narrow));
    let since = home.snapshot(&["timeline", "--since", "2026-02-20T09:15"]);
    assert!(since.contains("changelog") && !since.contains("deadlocks"), "{since}");
}

#[test]
fn timeline_can_be_centered_on_an_episode() {
    let home = read_home();
    assert_snapshot!("timeline_around", home.snapshot(&["timeline", "--around", &best(&home, "changelog")]));
    // The id of an episode in another project selects that project.
    let hit = found(&home, &["search", "coupons", "--all-projects"]);
    let episode = hit["hits"][0]["episode"]["id"].as_str().unwrap();
    assert_snapshot!("timeline_around_elsewhere", home.snapshot(&["timeline", "--around", episode]));
    let session = home.snapshot(&["timeline", "--session", "coupons"]);
    assert!(session.contains("Add coupons"), "{session}");
}

#[test]
fn deleted_index_is_rebuilt() {
    let home = read_home();
    let query = ["search", "holding"];
    let before = home.run(&query).stdout;
    fs::remove_dir_all(home.path(".rethread/index")).unwrap();
    assert_snapshot!("index_deleted", home.snapshot(&query));
    assert_eq!(home.run(&query).stdout, before);
    fs::remove_dir_all(home.path(".rethread/index")).unwrap();
    assert_snapshot!("index_deleted_timeline", home.snapshot(&["timeline", "--file", "pool.rs", "--limit", "1"]));
    assert_snapshot!("rebuild_index", home.snapshot(&["rebuild", "--index-only"]));
    assert_eq!(home.run(&query).stdout, before);
}

#[test]
fn corrupt_index_is_rebuilt() {
    let home = read_home();
    let query = ["search", "holding"];
    let before = home.run(&query).stdout;
    let rubbish = |seed: usize| -> Vec<u8> { (0..4096).map(|at| ((at * 31 + seed * 17) % 251) as u8).collect() };
    for (at, file) in files_below(&home.path(".rethread/index")).iter().enumerate() {
        fs::write(file, rubbish(at)).unwrap();
    }
    assert_snapshot!("index_corrupt", home.snapshot(&query));
    // Each file alone: the result is correct and nothing panics, whether the damage is noticed or not.
    for at in 0..files_below(&home.path(".rethread/index")).len() {
        let mut files = files_below(&home.path(".rethread/index"));
        files.sort_by_key(|file| file.extension().map(ToOwned::to_owned));
        let Some(file) = files.get(at) else { break };
        fs::write(file, rubbish(at)).unwrap();
        let output = home.run(&query);
        let output_text = home.snapshot_of(&output);
        assert_eq!(output.stdout, before, "{}: {output_text}", file.display());
        assert!(
            !output_text.contains("error:") && !output_text.contains("panicked"),
            "{}: {output_text}",
            file.display()
        );
    }
}

#[test]
fn sync_reports_index_changes() {
    let home = unread_home();
    assert_snapshot!("sync_indexes", home.snapshot(&["sync"]));
    for file in files_below(&home.path(".rethread/index")) {
        fs::write(file, "rubbish").unwrap();
    }
    assert_snapshot!("sync_repairs_index", home.snapshot(&["sync"]));
}

#[test]
fn any_query_is_accepted() {
    let home = read_home();
    let long = "deadlock(pool) -> \"Result<T, E>\" ".repeat(320);
    let dashes = "-".repeat(500);
    let queries = [
        "\"",
        "\"\"",
        "\"unclosed phrase",
        "'",
        "`rm -rf`",
        "-",
        "--",
        "---",
        "- -",
        "-\"a\"",
        "-file:x -kind:tool",
        ":",
        "::",
        "file:",
        "file:\"",
        "kind:nothing",
        "kind:",
        "agent:nobody",
        "before:never",
        "after:after:after",
        "a:b:c:d",
        "AND",
        "OR OR OR",
        "NOT",
        "a AND",
        "(((",
        "*",
        "?",
        "[a-z]+\\d{2,}",
        "\\",
        "\u{1}\u{2}\u{1b}[31m",
        "\u{fffd}\u{feff}",
        "🦀🦀",
        "ﷺ",
        "e\u{301}",
        "0",
        "-1",
        "1e9999",
        "日本 \"移行\" -接続",
        "x'; DROP TABLE entry; --",
        "../../etc/passwd",
        "$(touch x) `x` %s %n {0}",
        &long,
        &dashes,
    ];
    for query in queries {
        let output = home.run(&["search", "--all-projects", "--", query]);
        let output_text = home.snapshot_of(&output);
        assert!(matches!(output.status.code(), Some(0 | 1)), "{query:?}: {output_text}");
        assert!(!output_text.contains("error:"), "{query:?}: {output_text}");
        let json = home.run(&["search", "--all-projects", "--json", "--exchange", "--full", "--", query]);
        let value: Value = serde_json::from_slice(&json.stdout).unwrap();
        assert_eq!(value["query"], query);
        assert_eq!(json.status.code(), output.status.code(), "{query:?}");
    }
}

#[test]
fn a_search_reads_what_grew_since_the_last_sync() {
    // D43
    let home = crate::transcripts::new_home();
    let builder = || TranscriptBuilder::new("0000aaaa-0000-4000-8000-0000000000aa").cwd("/p");
    let file = ".claude/projects/-p/0000aaaa-0000-4000-8000-0000000000aa.jsonl";
    home.write(file, builder().user("the first words").build());
    home.run_ok(&["sync"]);
    home.write(file, builder().user("the first words").assistant("a zeppelin appears").build());
    let found = home.run_ok(&["search", "zeppelin", "--all-projects"]);
    assert!(found.contains("zeppelin"), "{found}");
}
