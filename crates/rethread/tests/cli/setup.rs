//! First steps: `init`, and the scene of `demo`.

use insta::assert_snapshot;

use crate::transcripts::{home_with_agents, new_home};
use rethread_testing::files_below;

#[test]
fn without_a_terminal_init_only_shows() {
    let home = home_with_agents();
    assert_snapshot!("init_shows", home.snapshot(&["init"]));
    assert!(!home.has_rethread_dir());
}

#[test]
fn init_reads_when_told_to() {
    let home = home_with_agents();
    assert_snapshot!("init_yes", home.snapshot(&["init", "--yes", "--no-hooks"]));
    assert!(home.has_rethread_dir());
    assert_snapshot!("init_again", home.snapshot(&["init", "--yes"]));
}

#[test]
fn init_remembers_which_agents_are_wanted() {
    let home = home_with_agents();
    assert_snapshot!("init_agents", home.snapshot(&["init", "--yes", "--agents", "pi"]));
    assert_snapshot!("init_agents_set", home.snapshot(&["config", "get", "intake.agents"]));
}

#[test]
fn where_no_agent_is_found_the_demo_is_shown() {
    let home = new_home();
    let told = home.snapshot(&["init"]);
    assert!(told.contains("No transcripts of claude-code or pi were found."), "{told}");
    assert!(told.contains("$ rethread sessions --all-projects"), "{told}");
    assert!(files_below(&home.path("")).is_empty());
}

#[test]
fn the_demo_plays_and_leaves_nothing_behind() {
    let home = home_with_agents();
    let before = files_below(&home.path(""));
    let told = home.snapshot(&["demo"]);
    assert_snapshot!("demo", told);
    assert!(told.contains("[REDACTED:"), "{told}");
    assert_eq!(files_below(&home.path("")), before);
}

#[test]
fn the_demo_can_be_written_into_an_empty_folder_to_be_looked_at() {
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
