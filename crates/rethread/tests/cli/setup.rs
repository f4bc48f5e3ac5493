//! `init` and `demo`.

use insta::assert_snapshot;

use crate::transcripts::{built_home, home_with_agents, new_home};
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

// D50
#[test]
fn reading_and_hooks_are_asked_for_separately() {
    let home = home_with_agents();
    let (_, screen) = home.run_in_terminal(&["init"], "n\nn\n");
    assert!(screen.contains("Read the transcripts? [y/N]") && screen.contains("Install the hooks? [y/N]"), "{screen}");
    assert!(screen.contains("Nothing was changed."), "{screen}");
    assert!(!home.has_rethread_dir() && !home.path(".claude/settings.json").exists());
    let (_, screen) = home.run_in_terminal(&["init"], "y\nn\n");
    assert!(!screen.contains("Installed hooks"), "{screen}");
    assert!(home.has_rethread_dir() && !home.path(".claude/settings.json").exists());
    let (_, screen) = home.run_in_terminal(&["init"], "n\ny\n");
    assert!(
        screen.contains("Installed hooks for claude-code") && screen.contains("rethread install --all --mcp"),
        "{screen}"
    );
    assert!(home.path(".claude/settings.json").exists());
}

// D50
#[test]
fn init_names_agents_without_transcripts_and_agents_it_cannot_read() {
    let home = new_home();
    for folder in [".claude", ".codex", ".local/share/opencode"] {
        std::fs::create_dir_all(home.path(folder)).unwrap();
    }
    assert_snapshot!("init_no_transcripts", home.snapshot(&["init"]));
    let (_, screen) = home.run_in_terminal(&["init", "--yes"], "");
    assert!(screen.contains("Installed hooks for claude-code"), "{screen}");
}

// D45
#[test]
fn init_of_a_build_installs_a_copy_for_the_hooks() {
    let home = built_home();
    std::fs::create_dir_all(home.path(".pi/agent")).unwrap();
    std::fs::create_dir_all(home.path(".claude")).unwrap();
    let output_text = home.snapshot(&["init", "--yes"]);
    let copy = home.path(".local/bin/rethread");
    assert!(output_text.contains("copy    this program to [FOLDER]/home/.local/bin/rethread"), "{output_text}");
    assert!(output_text.contains("Installed rethread as [FOLDER]/home/.local/bin/rethread."), "{output_text}");
    for file in [".claude/settings.json", ".pi/agent/extensions/rethread.ts"] {
        let text = home.read(file);
        assert!(text.contains(copy.to_str().unwrap()) && !text.contains(home.binary().to_str().unwrap()), "{text}");
    }
}

#[test]
fn init_without_agents_shows_the_demo() {
    let home = new_home();
    let output_text = home.snapshot(&["init"]);
    assert!(output_text.contains("No transcripts of a coding agent were found."), "{output_text}");
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
fn the_home_of_the_demo_can_be_kept() {
    let home = new_home();
    let folder = home.path("it's a demo");
    let keep = ["demo", "--keep", folder.to_str().unwrap()];
    let shown = home.run_ok(&keep);
    assert!(shown.contains("it'\\''s a demo' rethread sessions --all-projects"), "{shown}");
    let done = home.command(&["sessions", "--all-projects", "--json"]).env("HOME", &folder).output().unwrap();
    let sessions: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(sessions["sessions"].as_array().unwrap().len(), 10, "{sessions}");
    assert_eq!(home.run(&keep).status.code(), Some(2), "a folder with something in it is left alone");
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
