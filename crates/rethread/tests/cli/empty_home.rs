//! Every command in an empty home: none fails badly, and no read-only command creates anything.

use insta::assert_snapshot;

use crate::transcripts::{new_home, read_home};
use rethread_testing::TestHome;

#[test]
fn help_goes_to_stdout() {
    let home = new_home();
    assert_snapshot!("help", home.snapshot(&["--help"]));
    assert_snapshot!("help_short", home.snapshot(&["-h"]));
    assert_snapshot!("help_show", home.snapshot(&["show", "--help"]));
    assert_snapshot!("help_search", home.snapshot(&["search", "--help"]));
    assert_snapshot!("help_fix", home.snapshot(&["fix", "--help"]));
    assert_snapshot!("version", home.snapshot(&["--version"]));
}

#[test]
fn sessions_and_show_find_nothing() {
    let home = new_home();
    assert_snapshot!("empty_sessions", home.snapshot(&["sessions"]));
    assert_snapshot!("empty_sessions_json", home.snapshot(&["sessions", "--json"]));
    assert_snapshot!("empty_show", home.snapshot(&["show", "anything"]));
    assert_snapshot!("empty_show_json", home.snapshot(&["show", "anything", "--json"]));
    assert!(!home.has_rethread_dir());
}

#[test]
fn search_and_timeline_find_nothing() {
    let home = new_home();
    assert_snapshot!("empty_search", home.snapshot(&["search", "anything"]));
    assert_snapshot!("empty_search_json", home.snapshot(&["search", "anything", "--json"]));
    assert_snapshot!("empty_timeline", home.snapshot(&["timeline"]));
    assert_snapshot!("empty_timeline_json", home.snapshot(&["timeline", "--json"]));
    assert_snapshot!("empty_timeline_around", home.snapshot(&["timeline", "--around", "anything:1"]));
    assert_snapshot!("empty_rebuild_index", home.snapshot(&["rebuild", "--index-only"]));
    assert!(!home.has_rethread_dir());
}

#[test]
fn status_doctor_and_verify_report_an_empty_home() {
    let home = new_home();
    assert_snapshot!("empty_status", home.snapshot(&["status"]));
    assert_snapshot!("empty_status_json", home.snapshot(&["status", "--json"]));
    assert_snapshot!("empty_doctor", home.snapshot(&["doctor"]));
    assert_snapshot!("empty_doctor_json", home.snapshot(&["doctor", "--json"]));
    assert_snapshot!("empty_verify", home.snapshot(&["verify"]));
    assert_snapshot!("empty_dry_run", home.snapshot(&["sync", "--dry-run"]));
    assert!(!home.has_rethread_dir());
}

#[test]
fn sync_and_rebuild_read_nothing() {
    let home = new_home();
    assert_snapshot!("empty_sync", home.snapshot(&["sync"]));
    assert_snapshot!("empty_sync_json", home.snapshot(&["sync", "--json"]));
    assert_snapshot!("empty_rebuild", home.snapshot(&["rebuild"]));
    assert_snapshot!("quiet_sync", home.snapshot(&["sync", "--quiet"]));
}

#[test]
fn settings_have_defaults_and_can_be_changed() {
    let home = new_home();
    assert_snapshot!("config_path", home.snapshot(&["config", "path"]));
    assert_snapshot!("config_set", home.snapshot(&["config", "set", "intake.mode", "batch"]));
    assert_snapshot!("config_get", home.snapshot(&["config", "get", "intake.mode"]));
    let flagged = ["-c", "intake.interval_minutes=9", "config", "show", "--origin"];
    assert_snapshot!("config_show_origin", home.snapshot(&flagged));
    assert_snapshot!("config_show", home.snapshot(&["config", "show"]));
    assert_snapshot!("config_show_json", home.snapshot(&["config", "show", "--json"]));
}

#[test]
fn a_list_can_be_set_as_it_is_written_in_the_file() {
    // D8
    let home = new_home();
    home.run_ok(&["config", "set", "intake.exclude", "[\"/srv/private\", \"/srv/other\"]"]);
    let set = home.run_ok(&["config", "get", "intake.exclude"]);
    home.run_ok(&["config", "set", "intake.exclude", "/srv/private,/srv/other"]);
    assert_eq!(home.run_ok(&["config", "get", "intake.exclude"]), set);
    assert_eq!(home.run(&["config", "set", "intake.exclude", "[\"/srv"]).status.code(), Some(2));
}

#[test]
fn completions_and_man_page_cover_every_command() {
    let home = new_home();
    let manual = String::from_utf8(home.run(&["man"]).stdout).unwrap();
    for command in [
        "init",
        "demo",
        "install",
        "uninstall",
        "sync",
        "watch",
        "sessions",
        "show",
        "search",
        "timeline",
        "fix",
        "decisions",
        "workflows",
        "files",
        "facts",
        "usage",
        "debug activity",
        "debug inject",
        "resume",
        "session task",
        "session note",
        "session name",
        "session alias",
        "session pause",
        "session end",
        "hook",
        "thread",
        "status",
        "doctor",
        "debug verify",
        "forget",
        "rebuild",
        "config",
    ] {
        let words: Vec<&str> = command.split(' ').collect();
        assert!(completed(&home, &words).lines().any(|line| line.starts_with(words[words.len() - 1])), "{command}");
        assert!(manual.contains(&format!(".SH \"RETHREAD {}\"", command.to_uppercase())), "{command}");
    }
    assert!(manual.contains(".SH \"RETHREAD CONFIG SET\""));
    assert!(manual.contains(".SH \"EXIT STATUS\""));
    assert!(!manual.contains("EXTRA"));
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(home.run_ok(&["completions", shell]).contains("rethread"), "{shell}");
    }
}

/// What fish offers for the last of these words.
fn completed(home: &TestHome, words: &[&str]) -> String {
    let arguments = [&["--", "rethread"], words].concat();
    let output = home.command(&arguments).env("COMPLETE", "fish").output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{words:?}");
    String::from_utf8(output.stdout).unwrap()
}

// D53
#[test]
fn sessions_agents_and_settings_are_completed() {
    let home = read_home();
    let show = completed(&home, &["show", ""]);
    assert!(show.contains("\tFix the parser's last line\n"), "{show}");
    let id = show.lines().find(|line| line.contains("Fix the parser")).unwrap().split('\t').next().unwrap();
    assert!(home.run(&["show", id]).status.success(), "a completed id names one session");
    home.run_ok(&["session", "alias", id, "lines"]);
    assert!(completed(&home, &["resume", "li"]).starts_with("lines\t"));
    assert!(completed(&home, &["forget", &id[..4]]).contains(id));
    assert!(completed(&home, &["sessions", "--agent", ""]).contains("claude-code"));
    assert!(completed(&home, &["config", "set", "intake.ag"]).starts_with("intake.agents\t"));
    assert!(completed(&home, &["show", "fix-the-p"]).starts_with("fix-the-parser-s-last-line\t"));
    home.run_ok(&["show", "fix-the-parser-s-last-line"]);
    assert!(completed(&home, &["sessions", "--sort", ""]).contains("duration"));
    assert!(completed(&home, &["shell", "zsh", "--key", ""]).contains("alt-r"));
    let elsewhere = home.path("elsewhere");
    assert!(!completed(&home, &["--home", elsewhere.to_str().unwrap(), "show", ""]).contains("parser"));
    let thread = home.run_ok(&["thread", "new", "--name", "release notes"]);
    assert!(completed(&home, &["thread", "send", ""]).contains(&format!("{}\trelease notes", thread.trim())));
}

// D53
#[test]
fn no_files_are_offered_where_none_are_expected() {
    let home = new_home();
    std::fs::write(home.work_dir().join("a-file"), "").unwrap();
    assert!(home.run_ok(&["completions", "fish"]).contains("--exclusive"));
    for words in [["show", ""], ["search", ""], ["show", "a-"], ["resume", "a-"]] {
        assert!(!completed(&home, &words).contains("a-file"), "{words:?}");
    }
}
