//! `sync`, `sessions`, `show` and `status` in a home with two agents.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::transcripts::{CLAUDE, PI, claude, home_with_agents, new_home, read_home, user};

// D56
#[test]
fn rebuilding_does_not_make_the_store_larger() {
    let home = new_home();
    let lines: Vec<_> =
        (0..3_000).map(|at| user("11:00:00", &json!(format!("prompt {at}: {}", "words ".repeat(60))))).collect();
    home.write(&format!(".claude/projects/-p/{CLAUDE}.jsonl"), claude(CLAUDE, &lines));
    home.run_ok(&["sync"]);
    let size = || {
        let files = ["memory.db", "memory.db-wal"].map(|name| home.path(".rethread").join(name));
        files.iter().filter_map(|path| std::fs::metadata(path).ok()).map(|data| data.len()).sum::<u64>()
    };
    let before = size();
    for _ in 0..2 {
        home.run_ok(&["rebuild"]);
        assert!(size() <= before + before / 4, "{before} became {}", size());
    }
}

#[test]
fn sync_reads_new_entries_and_then_nothing() {
    let home = home_with_agents();
    assert_snapshot!("dry_run", home.snapshot(&["sync", "--dry-run"]));
    assert_snapshot!("dry_run_json", home.snapshot(&["sync", "--dry-run", "--json"]));
    // E003-20
    let listed = home.run_ok(&["-v", "sync", "--dry-run"]);
    assert!(listed.contains(&format!("{CLAUDE}.jsonl (")) && listed.contains(&format!("{PI}.jsonl (")), "{listed}");
    assert!(!home.has_rethread_dir());
    assert_snapshot!("sync_json", home.snapshot(&["sync", "--json"]));
    assert_snapshot!("sync_again", home.snapshot(&["sync"]));
}

#[test]
fn sync_can_be_narrowed() {
    let home = home_with_agents();
    assert_snapshot!("sync_agent", home.snapshot(&["sync", "--agent", "pi"]));
    let path = home.path(&format!(".claude/projects/-home-dev-app/{CLAUDE}.jsonl"));
    assert_snapshot!("sync_path", home.snapshot(&["sync", "--path", path.to_str().unwrap()]));
    assert_snapshot!("sync_nothing_there", home.snapshot(&["sync", "--path", "no/such/file", "--json"]));
}

#[test]
fn warnings_are_listed_up_to_a_limit() {
    let home = home_with_agents();
    home.write(".claude/projects/-x/22222222-2222-4222-8222-222222222222.jsonl", "not json\n".repeat(12));
    assert_snapshot!("sync_warnings", home.snapshot(&["sync"]));
}

#[test]
fn sessions_are_listed_newest_first() {
    let home = read_home();
    assert_snapshot!("sessions_all", home.snapshot(&["sessions", "--all-projects"]));
    assert_snapshot!(
        "sessions_everything",
        home.snapshot(&["sessions", "--all-projects", "--children", "--include-empty"])
    );
    assert_snapshot!("sessions_for_ref", home.snapshot(&["sessions", "--all-projects", "--for-ref"]));
    assert_snapshot!("sessions_of_a_project", home.snapshot(&["sessions", "--project", "/home/dev/api"]));
    assert_snapshot!(
        "sessions_idle",
        home.snapshot(&["sessions", "--all-projects", "--state", "active", "--limit", "1"])
    );
    assert_snapshot!("sessions_elsewhere", home.snapshot(&["sessions"]));
    assert_snapshot!("sessions_json", home.snapshot(&["sessions", "--all-projects", "--limit", "2", "--json"]));
}

#[test]
fn sessions_default_to_the_current_project() {
    let home = read_home();
    let here = home.work_dir().display().to_string();
    let lines = claude("33333333-0000-4000-8000-000000000003", &[user("11:40:00", &json!("What is on my desk?"))]);
    home.write(
        ".claude/projects/-desk/33333333-0000-4000-8000-000000000003.jsonl",
        lines.replace("/home/dev/app", &here),
    );
    home.run(&["sync"]);
    assert_snapshot!("sessions_here", home.snapshot(&["sessions"]));
}

#[test]
fn names_are_cut_at_the_terminal_width() {
    let home = read_home();
    let narrow = home.command(&["sessions", "--all-projects"]).env("COLUMNS", "72").output().unwrap();
    assert_snapshot!("sessions_narrow", home.snapshot_of(&narrow));
    let narrow = home.command(&["show", "last line"]).env("COLUMNS", "72").output().unwrap();
    assert_snapshot!("show_narrow", home.snapshot_of(&narrow));
}

#[test]
fn session_is_shown_as_a_conversation() {
    // S000-30
    let home = read_home();
    assert_snapshot!("show", home.snapshot(&["show", "Fix the parser's last line"]));
    assert_snapshot!("show_lines", home.snapshot(&["show", "Fix the parser's last line", "--lines", "3"]));
    assert_snapshot!("show_text", home.snapshot(&["show", "Fix the parser's last line", "--profile", "text"]));
    assert_snapshot!("show_bytes", home.snapshot(&["show", "Fix the parser's last line", "--bytes", "40"]));
    assert_snapshot!("show_branches", home.snapshot(&["show", "coupons", "--profile", "full"]));
    assert_snapshot!("show_json", home.snapshot(&["show", "coupons", "--json", "--profile", "full"]));
    assert_snapshot!("show_tools_json", home.snapshot(&["show", CLAUDE, "--json", "--lines", "4"]));
}

#[test]
fn empty_session_has_no_activity() {
    // E000-07
    let home = read_home();
    assert_snapshot!("show_nothing", home.snapshot(&["show", "00000000-0000"]));
}

#[test]
fn status_and_checks_report_the_store() {
    let home = read_home();
    assert_snapshot!("status", home.snapshot(&["status"]));
    assert_snapshot!("status_json", home.snapshot(&["status", "--json"]));
    assert_snapshot!("doctor", home.snapshot(&["doctor"]));
    assert_snapshot!("verify", home.snapshot(&["verify"]));
    assert_snapshot!("verify_json", home.snapshot(&["verify", "--json"]));
    assert_snapshot!("rebuild", home.snapshot(&["rebuild"]));
}

#[test]
fn all_json_has_a_schema_and_is_one_line() {
    let home = read_home();
    let commands: [&[&str]; 10] = [
        &["search", "parser", "--all-projects", "--json"],
        &["timeline", "--all-projects", "--json"],
        &["usage", "--all-projects", "--json"],
        &["sessions", "--all-projects", "--json"],
        &["show", "coupons", "--json"],
        &["sync", "--json"],
        &["status", "--json"],
        &["doctor", "--json"],
        &["verify", "--json"],
        &["config", "show", "--json"],
    ];
    for command in commands {
        let out = String::from_utf8(home.run(command).stdout).unwrap();
        assert_eq!(out.lines().count(), 1, "{command:?}");
        let value: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(value["schema"], 1, "{command:?}");
    }
}

#[test]
fn a_working_directory_of_another_system_is_not_looked_up_below_the_current_one() {
    let home = new_home();
    home.write("app/.aider.chat.history.md", "\n# aider chat started at 2026-05-03 08:00:00\n\n#### hello  \n\nHi!\n");
    let line = json!({"type": "user", "uuid": "u1", "sessionId": CLAUDE, "cwd": "C:\\app",
        "timestamp": "2026-05-01T08:00:00Z", "message": {"role": "user", "content": "hello"}});
    home.write(&format!(".claude/projects/C--app/{CLAUDE}.jsonl"), format!("{line}\n"));
    // The second sync knows the directory of the first one.
    for _ in 0..2 {
        let mut sync = home.command(&["sync"]);
        assert!(sync.current_dir(home.path("app")).status().unwrap().success());
    }
    let listed: Value = serde_json::from_str(&home.run_ok(&["sessions", "--all-projects", "--json"])).unwrap();
    let agents: Vec<_> = listed["sessions"].as_array().unwrap().iter().map(|one| one["agent"].clone()).collect();
    assert_eq!(agents, ["aider", "claude-code"]);
}
