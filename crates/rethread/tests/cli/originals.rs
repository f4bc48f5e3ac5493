//! `show --full`: diffs and outputs from the transcript.

use std::fs;

use rethread_testing::TestHome;
use serde_json::{Value, json};

use crate::transcripts::{call, claude, model, new_home, result, user};

const ID: &str = "0f1e2d3c-0000-4000-8000-000000000007";

/// A session with an edit, a long output that attacks the terminal, and an edit that failed.
fn home() -> TestHome {
    let home = new_home();
    let lines: Vec<String> = (1..=60).map(|number| format!("test {number} ... \u{1b}[32mok\u{1b}[0m\u{7}")).collect();
    let old = "fn parse() {\n    // \"old\"\n    todo()\n}";
    let new = "fn parse() {\n    let lines = 3;\n    todo()\n}";
    let edit = |old: &str| json!({"file_path": "/home/dev/app/src/parser.rs", "old_string": old, "new_string": new});
    let mut done = user("11:00:02", &result("t1", "done", false));
    done["toolUseResult"] = json!({"filePath": "/home/dev/app/src/parser.rs", "structuredPatch": [
        {"oldStart": 9, "newStart": 9, "lines": [" fn parse() {", "-    // \"old\"", "+    let lines = 3;", "     todo()"]}]});
    let lines = [
        user("11:00:00", &json!("Read the lines")),
        model("11:00:01", "m1", &call("t1", "Edit", &edit(old))),
        done,
        model("11:00:03", "m2", &call("t2", "Bash", &json!({"command": "cargo test \\\n  parser"}))),
        user("11:00:04", &result("t2", &lines.join("\n"), false)),
        model("11:00:05", "m3", &call("t3", "Edit", &edit("nothing"))),
        user("11:00:06", &result("t3", "File has not been read yet.", true)),
    ];
    home.write(&format!(".claude/projects/-home-dev-app/{ID}.jsonl"), claude(ID, &lines));
    assert!(home.run(&["sync"]).status.success());
    home
}

#[test]
fn a_full_log_has_diffs_and_folded_outputs() {
    let home = home();
    insta::assert_snapshot!("full", home.snapshot(&["show", ID, "--full"]));
    let citation = home.run_ok(&["show", &format!("{ID}:4"), "--full"]);
    assert!(citation.contains("test 30 ... ok␇") && !citation.contains("hidden"), "{citation}");
    let colored = home.run_ok(&["show", ID, "--full", "--color", "always"]);
    assert!(
        colored.contains("\u{1b}[31m    // \"old\"") || colored.contains("\u{1b}[2m\u{1b}[31m// \"old\""),
        "{colored}"
    );
    assert!(colored.contains("\u{1b}[1m\u{1b}[32mlet\u{1b}[0m"), "{colored}");
}

#[test]
fn the_same_is_there_as_json() {
    let home = home();
    let log: Value = serde_json::from_str(&home.run_ok(&["show", ID, "--full", "--json"])).unwrap();
    let change = &log["entries"][1]["original"]["call"]["changes"][0];
    assert_eq!((&change["kind"], &change["added"], &change["removed"]), (&json!("changed"), &json!(1), &json!(1)));
    assert_eq!(change["hunks"][0]["lines"][1], json!({"sign": "-", "text": "    // \"old\""}));
    assert_eq!(log["entries"][2]["original"]["call"]["output"].as_str().unwrap().lines().count(), 60);
    let short: Value = serde_json::from_str(&home.run_ok(&["show", ID, "--json"])).unwrap();
    assert!(short["entries"][1].get("original").is_none(), "only if all of it is asked for");
}

#[test]
fn a_log_without_its_transcript_says_so() {
    let home = home();
    fs::remove_file(home.path(&format!(".claude/projects/-home-dev-app/{ID}.jsonl"))).unwrap();
    let shown = home.run_ok(&["show", ID, "--full"]);
    assert!(shown.contains("4 entries: the transcript is gone; showing what is stored"), "{shown}");
    assert!(shown.contains("[Edit src/parser.rs"), "{shown}");
    let log: Value = serde_json::from_str(&home.run_ok(&["show", ID, "--full", "--json"])).unwrap();
    assert_eq!(log["entries"][1]["original"]["problem"]["code"], "gone");
}
