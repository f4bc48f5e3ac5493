//! `init` and `demo`.

use insta::assert_snapshot;

use crate::transcripts::{home_with_agents, new_home};
use rethread_testing::files_below;

#[test]
fn init_without_a_terminal_changes_nothing() {
    let home = home_with_agents();
    assert_snapshot!("init_preview", home.snapshot(&["init"]));
    assert!(!home.has_rethread_dir());
}

#[test]
fn init_with_yes_syncs() {
    let home = home_with_agents();
    assert_snapshot!("init_yes", home.snapshot(&["init", "--yes", "--no-hooks"]));
    assert!(home.has_rethread_dir());
    assert_snapshot!("init_again", home.snapshot(&["init", "--yes"]));
}

#[test]
fn init_stores_the_selected_agents() {
    let home = home_with_agents();
    assert_snapshot!("init_agents", home.snapshot(&["init", "--yes", "--agents", "pi"]));
    assert_snapshot!("init_agents_set", home.snapshot(&["config", "get", "intake.agents"]));
}

#[test]
fn init_without_agents_shows_the_demo() {
    let home = new_home();
    let output_text = home.snapshot(&["init"]);
    assert!(output_text.contains("No transcripts of claude-code or pi were found."), "{output_text}");
    assert!(output_text.contains("$ rethread sessions --all-projects"), "{output_text}");
    assert!(files_below(&home.path("")).is_empty());
}

#[test]
fn demo_leaves_nothing_behind() {
    let home = home_with_agents();
    let before = files_below(&home.path(""));
    let output_text = home.snapshot(&["demo"]);
    assert_snapshot!("demo", output_text);
    assert!(output_text.contains("[REDACTED:"), "{output_text}");
    assert_eq!(files_below(&home.path("")), before);
}

#[test]
fn demo_can_be_written_into_an_empty_directory() {
    let home = new_home();
    let folder = home.path("scene");
    let into = ["demo", "--into", folder.to_str().unwrap()];
    assert!(home.run(&into).status.success());
    let listed = |words: &[&str]| {
        let done = home.command(words).env("HOME", &folder).output().unwrap();
        String::from_utf8(done.stdout).unwrap()
    };
    assert!(listed(&["sync"]).contains("claude-code"));
    let sessions: serde_json::Value = serde_json::from_str(&listed(&["sessions", "--all-projects", "--json"])).unwrap();
    assert_eq!(sessions["sessions"].as_array().unwrap().len(), 10, "{sessions}");
    assert!(listed(&["decisions", "--all-projects"]).contains("exponential backoff"));
    let refused = home.run(&into);
    assert_eq!(refused.status.code(), Some(2), "a folder with something in it is left alone");
}
