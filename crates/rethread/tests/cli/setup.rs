//! First steps: `init`, and the scene of `demo`.

use insta::assert_snapshot;

use crate::transcripts::home_with_agents;
use crate::world::{World, files_below};

#[test]
fn without_a_terminal_init_only_shows() {
    let world = home_with_agents();
    assert_snapshot!("init_shows", world.tell(&["init"]));
    assert!(!world.has_our_folder());
}

#[test]
fn init_reads_when_told_to() {
    let world = home_with_agents();
    assert_snapshot!("init_yes", world.tell(&["init", "--yes", "--no-hooks"]));
    assert!(world.has_our_folder());
    assert_snapshot!("init_again", world.tell(&["init", "--yes"]));
}

#[test]
fn init_remembers_which_agents_are_wanted() {
    let world = home_with_agents();
    assert_snapshot!("init_agents", world.tell(&["init", "--yes", "--agents", "pi"]));
    assert_snapshot!("init_agents_set", world.tell(&["config", "get", "intake.agents"]));
}

#[test]
fn where_no_agent_is_found_the_demo_is_shown() {
    let world = World::new();
    let told = world.tell(&["init"]);
    assert!(told.contains("No transcripts of claude-code or pi were found."), "{told}");
    assert!(told.contains("$ rethread sessions --all-projects"), "{told}");
    assert!(files_below(&world.home("")).is_empty());
}

#[test]
fn the_demo_plays_and_leaves_nothing_behind() {
    let world = home_with_agents();
    let before = files_below(&world.home(""));
    let told = world.tell(&["demo"]);
    assert_snapshot!("demo", told);
    assert!(told.contains("[REDACTED:"), "{told}");
    assert_eq!(files_below(&world.home("")), before);
}

#[test]
fn the_demo_can_be_written_into_an_empty_folder_to_be_looked_at() {
    let world = World::new();
    let folder = world.home("scene");
    let into = ["demo", "--into", folder.to_str().unwrap()];
    assert!(world.run(&into).status.success());
    let listed = |words: &[&str]| {
        let done = world.command(words).env("HOME", &folder).output().unwrap();
        String::from_utf8(done.stdout).unwrap()
    };
    assert!(listed(&["sync"]).contains("claude-code"));
    let sessions: serde_json::Value = serde_json::from_str(&listed(&["sessions", "--all-projects", "--json"])).unwrap();
    assert_eq!(sessions["sessions"].as_array().unwrap().len(), 10, "{sessions}");
    assert!(listed(&["decisions", "--all-projects"]).contains("exponential backoff"));
    let refused = world.run(&into);
    assert_eq!(refused.status.code(), Some(2), "a folder with something in it is left alone");
}
