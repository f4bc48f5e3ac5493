//! A home with two agents: reading, listing, showing.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::transcripts::{CLAUDE, claude, home_with_agents, read_home, user};

#[test]
fn sync_reads_what_is_new_and_then_nothing() {
    let world = home_with_agents();
    assert_snapshot!("dry_run", world.tell(&["sync", "--dry-run"]));
    assert_snapshot!("dry_run_json", world.tell(&["sync", "--dry-run", "--json"]));
    assert!(!world.has_our_folder());
    assert_snapshot!("sync_json", world.tell(&["sync", "--json"]));
    assert_snapshot!("sync_again", world.tell(&["sync"]));
}

#[test]
fn sync_can_be_narrowed() {
    let world = home_with_agents();
    assert_snapshot!("sync_agent", world.tell(&["sync", "--agent", "pi"]));
    let path = world.home(&format!(".claude/projects/-home-dev-app/{CLAUDE}.jsonl"));
    assert_snapshot!("sync_path", world.tell(&["sync", "--path", path.to_str().unwrap()]));
    assert_snapshot!("sync_nothing_there", world.tell(&["sync", "--path", "no/such/file", "--json"]));
}

#[test]
fn warnings_are_listed_until_there_are_too_many() {
    let world = home_with_agents();
    world.write(".claude/projects/-x/22222222-2222-4222-8222-222222222222.jsonl", &"not json\n".repeat(12));
    assert_snapshot!("sync_warnings", world.tell(&["sync"]));
}

#[test]
fn sessions_are_listed_newest_first() {
    let world = read_home();
    assert_snapshot!("sessions_all", world.tell(&["sessions", "--all-projects"]));
    assert_snapshot!(
        "sessions_everything",
        world.tell(&["sessions", "--all-projects", "--children", "--include-empty"])
    );
    assert_snapshot!("sessions_for_ref", world.tell(&["sessions", "--all-projects", "--for-ref"]));
    assert_snapshot!("sessions_of_a_project", world.tell(&["sessions", "--project", "/home/dev/api"]));
    assert_snapshot!("sessions_idle", world.tell(&["sessions", "--all-projects", "--state", "active", "--limit", "1"]));
    assert_snapshot!("sessions_elsewhere", world.tell(&["sessions"]));
    assert_snapshot!("sessions_json", world.tell(&["sessions", "--all-projects", "--limit", "2", "--json"]));
}

#[test]
fn sessions_are_those_of_the_project_at_hand() {
    let world = read_home();
    let here = world.desk().display().to_string();
    let lines = claude("33333333-0000-4000-8000-000000000003", &[user("11:40:00", &json!("What is on my desk?"))]);
    world.write(
        ".claude/projects/-desk/33333333-0000-4000-8000-000000000003.jsonl",
        &lines.replace("/home/dev/app", &here),
    );
    world.run(&["sync"]);
    assert_snapshot!("sessions_here", world.tell(&["sessions"]));
}

#[test]
fn names_are_cut_at_the_width_of_the_terminal() {
    let world = read_home();
    let narrow = world.command(&["sessions", "--all-projects"]).env("COLUMNS", "72").output().unwrap();
    assert_snapshot!("sessions_narrow", world.told(&narrow));
    let narrow = world.command(&["show", "last line"]).env("COLUMNS", "72").output().unwrap();
    assert_snapshot!("show_narrow", world.told(&narrow));
}

#[test]
fn s000_30_a_session_is_shown_as_a_conversation() {
    let world = read_home();
    assert_snapshot!("show", world.tell(&["show", "Fix the parser's last line"]));
    assert_snapshot!("show_lines", world.tell(&["show", "Fix the parser's last line", "--lines", "3"]));
    assert_snapshot!("show_text", world.tell(&["show", "Fix the parser's last line", "--profile", "text"]));
    assert_snapshot!("show_bytes", world.tell(&["show", "Fix the parser's last line", "--bytes", "40"]));
    assert_snapshot!("show_branches", world.tell(&["show", "coupons", "--profile", "full"]));
    assert_snapshot!("show_json", world.tell(&["show", "coupons", "--json", "--profile", "full"]));
    assert_snapshot!("show_tools_json", world.tell(&["show", CLAUDE, "--json", "--lines", "4"]));
}

#[test]
fn e000_07_an_empty_session_has_no_activity() {
    let world = read_home();
    assert_snapshot!("show_nothing", world.tell(&["show", "00000000-0000"]));
}

#[test]
fn status_and_the_checks_tell_what_is_there() {
    let world = read_home();
    assert_snapshot!("status", world.tell(&["status"]));
    assert_snapshot!("status_json", world.tell(&["status", "--json"]));
    assert_snapshot!("doctor", world.tell(&["doctor"]));
    assert_snapshot!("verify", world.tell(&["verify"]));
    assert_snapshot!("verify_json", world.tell(&["verify", "--json"]));
    assert_snapshot!("rebuild", world.tell(&["rebuild"]));
}

#[test]
fn all_json_has_a_schema_and_is_one_line() {
    let world = read_home();
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
        let out = String::from_utf8(world.run(command).stdout).unwrap();
        assert_eq!(out.lines().count(), 1, "{command:?}");
        let value: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(value["schema"], 1, "{command:?}");
    }
}
