//! `export` and `import`: the round trip, and what an import meets in a store that is not empty.

use std::fs;
use std::process::Output;

use crate::transcripts::{CLAUDE, OTHER, home_with_agents, new_home, read_home};
use rethread_testing::{TestHome, TestPostgres, TranscriptBuilder, new_space_name};
use serde_json::{Value, json};

const ALL: [&str; 4] = ["sessions", "--all-projects", "--include-empty", "--children"];

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// What a command answers, without paths of transcripts, which an import has not, and without how long it took.
fn answer(home: &TestHome, arguments: &[&str]) -> Value {
    let output = home.run(&[arguments, &["--json"]].concat());
    let mut value = serde_json::from_slice(&output.stdout).unwrap();
    remove_differences(&mut value);
    value
}

/// Removes what depends on the transcripts, which an import has not.
fn remove_differences(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.remove("transcript");
            fields.remove("original");
            fields.remove("seconds");
            fields.values_mut().for_each(remove_differences);
        }
        Value::Array(all) => all.iter_mut().for_each(remove_differences),
        _ => {}
    }
}

/// What the store answers to all kinds of questions.
fn answers(home: &TestHome) -> Vec<Value> {
    let sessions = answer(home, &ALL);
    let ids: Vec<String> =
        sessions["sessions"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect();
    let mut all = vec![sessions];
    for id in &ids {
        all.push(answer(home, &["show", id, "--full", "--profile", "full"]));
        all.push(answer(home, &["session", "card", id]));
    }
    for arguments in [
        &["search", "parser", "--all-projects"][..],
        &["timeline", "--all-projects"],
        &["decisions", "--all-projects", "--all"],
        &["facts", "--all-projects"],
        &["usage", "--all-projects", "--by", "model"],
    ] {
        all.push(answer(home, arguments));
    }
    all
}

fn export(home: &TestHome) -> String {
    let file = home.root().join("sessions.jsonl");
    home.run_ok(&["export", "--all-projects", "--output", file.to_str().unwrap()]);
    fs::read_to_string(file).unwrap()
}

fn import(home: &TestHome, lines: &str) -> Value {
    let output = home.run_with_input(&["import", "-", "--json"], lines.as_bytes());
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", stderr(&output)))
}

fn assert_consistent(home: &TestHome) {
    let verify = home.run(&["debug", "verify"]);
    assert!(verify.status.success(), "{}", String::from_utf8_lossy(&verify.stdout));
}

/// A home whose sessions also have names, notes and a state.
fn labeled_home() -> TestHome {
    let home = read_home();
    home.run_ok(&["session", "name", OTHER, "The docs"]);
    home.run_ok(&["session", "alias", CLAUDE, "lines"]);
    home.run_ok(&["session", "task", CLAUDE, "Keep the blank lines"]);
    home.run_ok(&["session", "note", CLAUDE, "staging is down"]);
    home.run_ok(&["session", "end", OTHER]);
    home
}

#[test]
fn a_store_that_imports_an_export_answers_the_same() {
    let (from, to) = (labeled_home(), new_home());
    let lines = export(&from);
    let report = import(&to, &lines);
    assert_eq!(report["problems"], json!([]));
    assert_eq!(report["newSessions"], answer(&from, &ALL)["sessions"].as_array().unwrap().len());
    for (before, after) in answers(&from).into_iter().zip(answers(&to)) {
        assert_eq!(after, before);
    }
    assert_consistent(&to);
    assert_eq!(export(&to), lines, "the export of the import is the same file");
}

#[test]
fn importing_again_changes_nothing() {
    let (from, to) = (labeled_home(), new_home());
    let lines = export(&from);
    import(&to, &lines);
    let before = answers(&to);
    for home in [&to, &from] {
        let report = import(home, &lines);
        assert_eq!((&report["newSessions"], &report["extendedSessions"]), (&json!(0), &json!(0)), "{report}");
        assert_eq!(report["entries"], 0);
        assert_consistent(home);
    }
    assert_eq!(answers(&to), before);
    assert_eq!(export(&from), lines);
}

#[test]
fn a_transcript_that_is_synced_after_an_import_adds_nothing_twice() {
    let home = home_with_agents();
    import(&home, &export(&labeled_home()));
    home.run_ok(&["sync"]);
    assert_consistent(&home);
    assert_eq!(answers(&home), answers(&labeled_home()));
    home.run_ok(&["rebuild"]);
    assert_consistent(&home);
    assert_eq!(answers(&home), answers(&labeled_home()));
}

#[test]
fn an_imported_session_is_kept_by_a_rebuild_and_stays_forgotten() {
    let (from, to) = (labeled_home(), new_home());
    let lines = export(&from);
    import(&to, &lines);
    let before = answers(&to);
    to.run_ok(&["rebuild"]);
    assert_eq!(answers(&to), before);

    to.run_ok(&["forget", CLAUDE, "--yes"]);
    let report = import(&to, &lines);
    assert_eq!((&report["forgottenSessions"], &report["newSessions"]), (&json!(1), &json!(0)), "{report}");
    assert_eq!(to.run(&["show", CLAUDE]).status.code(), Some(2));
    assert_consistent(&to);
}

#[test]
fn a_later_export_adds_what_is_new() {
    let (from, to) = (read_home(), new_home());
    let (header, rows) = export(&from).split_once('\n').map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    let is_late = |line: &&str| line.contains(r#""table":"entry""#) && line.contains("And the tests?");
    let early: Vec<&str> = rows.lines().filter(|line| !is_late(line)).collect();
    assert_eq!(early.len() + 1, rows.lines().count());
    import(&to, &format!("{header}\n{}\n", early.join("\n")));
    assert_eq!(to.run(&["search", "and the tests", "--all-projects", "--kind", "prompt"]).status.code(), Some(1));
    let report = import(&to, &format!("{header}\n{rows}"));
    assert_eq!((&report["extendedSessions"], &report["entries"]), (&json!(1), &json!(1)), "{report}");
    assert_consistent(&to);
    let show = ["show", CLAUDE, "--full", "--profile", "full"];
    assert_eq!(answer(&to, &show)["entries"], answer(&from, &show)["entries"]);
}

#[test]
fn a_damaged_line_costs_only_itself() {
    let (from, to) = (read_home(), new_home());
    let mut lines: Vec<String> = export(&from).lines().map(str::to_owned).collect();
    let entry = lines.iter().position(|line| line.contains(r#""table":"entry""#)).unwrap();
    let second_session =
        lines.iter().rposition(|line| line.contains(r#""table":"session""#)).filter(|at| *at > entry).unwrap();
    lines[entry].truncate(40);
    lines[second_session] = "not JSON".to_owned();
    lines.push(r#"{"agent":"nobody","session":"x","table":"entry","row":{}}"#.to_owned());
    lines.push(format!(r#"{{"agent":"pi","session":"x","table":"{}","row":{{}}}}"#, "member"));
    let report = import(&to, &(lines.join("\n") + "\n"));
    let problems: Vec<u64> =
        report["problems"].as_array().unwrap().iter().map(|problem| problem["line"].as_u64().unwrap()).collect();
    let last = lines.len() as u64;
    assert_eq!(problems, [entry as u64 + 1, second_session as u64 + 1, last - 1, last], "{report}");
    let count = |home: &TestHome| home.store().statistics().unwrap().entries;
    assert_eq!(count(&to), count(&from) - 1);
    assert_consistent(&to);
    let output = to.run_with_input(&["import", "-"], lines.join("\n").as_bytes());
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains(&format!("line {} was skipped", entry + 1)), "{}", stderr(&output));
}

#[test]
fn another_file_or_version_is_refused() {
    let home = new_home();
    for (text, message) in [
        ("", "this is not an export of sessions"),
        ("{\"type\":\"user\"}\n", "this is not an export of sessions"),
        ("{\"format\":\"rethread-sessions\",\"version\":99,\"sessions\":0}\n", "has version 99 of the format"),
    ] {
        let output = home.run_with_input(&["import", "-"], text.as_bytes());
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(stderr(&output).contains(message), "{}", stderr(&output));
    }
    assert_eq!(home.run(&["import", "missing.jsonl"]).status.code(), Some(2));
}

#[test]
fn an_import_is_redacted() {
    let (from, to) = (read_home(), new_home());
    let lines = export(&from).replace("And the tests?", "export DB_PASSWORD=tr0ub4dor");
    assert!(!import(&to, &lines)["redactions"].as_object().unwrap().is_empty());
    assert!(!String::from_utf8_lossy(&to.stored_bytes()).contains("tr0ub4dor"));
}

#[test]
fn documents_to_read_hold_the_conversation_and_no_markup_of_it() {
    let home = new_home();
    let hostile = "<script>alert(1)</script> \u{1b}]52;c;eA==\u{7} # not a heading";
    let prompt = crate::transcripts::user("11:00:00", &json!(hostile));
    let reply = crate::transcripts::model("11:00:10", "msg_1", &crate::transcripts::text("<img src=x> **done**"));
    home.write(&format!(".claude/projects/-p/{CLAUDE}.jsonl"), crate::transcripts::claude(CLAUDE, &[prompt, reply]));
    home.run_ok(&["sync"]);
    let html = home.run_ok(&["export", CLAUDE, "--format", "html"]);
    assert!(html.contains("&lt;script&gt;alert(1)") && html.contains("<strong>done</strong>"), "{html}");
    assert!(!html.contains("<script") && !html.contains("<img") && !html.contains('\u{1b}'), "{html}");
    assert!(html.contains("default-src 'none'") && html.contains("light-dark("));
    let markdown = home.run_ok(&["export", CLAUDE, "--format", "md"]);
    assert!(
        markdown.contains("> \\<script>alert(1)\\</script>") && markdown.contains("&lt;img src=x> **done**"),
        "{markdown}"
    );
    assert!(!markdown.contains('\u{1b}'), "{markdown}");
}

#[test]
fn documents_to_read_have_diffs_and_folded_output_while_the_transcript_exists() {
    let home = new_home();
    let path = format!(".claude/projects/-p/{CLAUDE}.jsonl");
    let lines: Vec<String> = (0..90).map(|number| format!("line {number} <b>")).collect();
    let edit = json!({"file_path": "/app/a.ts", "old_string": "max: 5", "new_string": "max: 20"});
    let transcript = TranscriptBuilder::new(CLAUDE)
        .user("raise it")
        .tool_call("toolu_01", "Edit", &edit)
        .tool_result("toolu_01", "done", false)
        .command("make", &lines.join("\n"), false);
    home.write(&path, transcript.build());
    home.run_ok(&["sync"]);
    let export = |format: &str| home.run_ok(&["export", CLAUDE, "--format", format]);
    let markdown = export("md");
    assert!(markdown.contains("  ```diff\n  -max: 5\n  +max: 20\n  ```\n"), "{markdown}");
    assert!(markdown.contains("  ```\n  line 0 <b>\n") && markdown.contains("  ⋮ 66 lines hidden\n"), "{markdown}");
    assert!(markdown.contains("  line 89 <b>\n  ```\n") && !markdown.contains("line 40"), "{markdown}");
    let html = export("html");
    assert!(html.contains("class=\"removed\"") && html.contains("line 89 &lt;b&gt;"), "{html}");
    assert!(html.contains("66 lines hidden") && !html.contains("line 40"));
    std::fs::remove_file(home.path(&path)).unwrap();
    assert!(!export("md").contains("max: 20\n") && export("html").contains("Edit"));
}

#[test]
fn sessions_of_a_search_are_exported_and_a_terminal_is_spared() {
    let home = read_home();
    let output = home.run(&["export", "--search", "\"last line\"", "--all-projects"]);
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(text.contains(CLAUDE) && !text.contains("pi-0001-coupons"), "{}", stderr(&output));
    assert!(stderr(&output).contains("No secrets were left to remove."), "{}", stderr(&output));
    let (code, screen) = home.run_in_terminal(&["export", "--all-projects"], "");
    assert_eq!(code, Some(2));
    assert!(screen.contains("hint: add --output sessions.jsonl"), "{screen}");
    assert_eq!(home.run(&["export", "--search", "zzzz", "--all-projects"]).status.code(), Some(1));
}

#[test]
fn an_export_goes_through_a_store_on_a_server_unchanged() {
    let Some(server) = TestPostgres::shared() else { return };
    server.location();
    let at = || format!("{}&space={}", server.url(), new_space_name());
    let (home, imported, synced) = (labeled_home(), at(), at());
    let lines = export(&home);
    let given = home.run_with_input(&["--store", &imported, "import", "-", "--json"], lines.as_bytes());
    assert!(given.status.success(), "{}", stderr(&given));
    let export_of = |store: &str| home.run_ok(&["--store", store, "export", "--all-projects", "--output", "-"]);
    assert_eq!(export_of(&imported), lines);
    let again = home.run_with_input(&["--store", &imported, "import", "-", "--json"], lines.as_bytes());
    let again: Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!((&again["newSessions"], &again["entries"], &again["problems"]), (&json!(0), &json!(0), &json!([])));
    assert_eq!(export_of(&imported), lines);
    // And a server's own sessions come back into a file.
    home.run_ok(&["--store", &synced, "sync"]);
    let lines = export_of(&synced);
    let local = new_home();
    assert_eq!(import(&local, &lines)["problems"], json!([]));
    assert_eq!(export(&local), lines);
}
