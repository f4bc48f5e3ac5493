//! Every verb in a home where nothing is: no verb fails badly, and no reading verb makes anything.

use insta::assert_snapshot;

use crate::world::World;

#[test]
fn help_is_an_answer() {
    let world = World::new();
    assert_snapshot!("help", world.tell(&["--help"]));
    assert_snapshot!("help_short", world.tell(&["-h"]));
    assert_snapshot!("help_show", world.tell(&["show", "--help"]));
    assert_snapshot!("help_search", world.tell(&["search", "--help"]));
    assert_snapshot!("help_fix", world.tell(&["fix", "--help"]));
    assert_snapshot!("version", world.tell(&["--version"]));
}

#[test]
fn sessions_and_show_find_nothing() {
    let world = World::new();
    assert_snapshot!("empty_sessions", world.tell(&["sessions"]));
    assert_snapshot!("empty_sessions_json", world.tell(&["sessions", "--json"]));
    assert_snapshot!("empty_show", world.tell(&["show", "anything"]));
    assert_snapshot!("empty_show_json", world.tell(&["show", "anything", "--json"]));
    assert!(!world.has_our_folder());
}

#[test]
fn search_and_timeline_find_nothing() {
    let world = World::new();
    assert_snapshot!("empty_search", world.tell(&["search", "anything"]));
    assert_snapshot!("empty_search_json", world.tell(&["search", "anything", "--json"]));
    assert_snapshot!("empty_timeline", world.tell(&["timeline"]));
    assert_snapshot!("empty_timeline_json", world.tell(&["timeline", "--json"]));
    assert_snapshot!("empty_timeline_around", world.tell(&["timeline", "--around", "anything:1"]));
    assert_snapshot!("empty_rebuild_index", world.tell(&["rebuild", "--index-only"]));
    assert!(!world.has_our_folder());
}

#[test]
fn status_doctor_and_verify_say_that_nothing_is_there() {
    let world = World::new();
    assert_snapshot!("empty_status", world.tell(&["status"]));
    assert_snapshot!("empty_status_json", world.tell(&["status", "--json"]));
    assert_snapshot!("empty_doctor", world.tell(&["doctor"]));
    assert_snapshot!("empty_doctor_json", world.tell(&["doctor", "--json"]));
    assert_snapshot!("empty_verify", world.tell(&["verify"]));
    assert_snapshot!("empty_dry_run", world.tell(&["sync", "--dry-run"]));
    assert!(!world.has_our_folder());
}

#[test]
fn sync_and_rebuild_have_nothing_to_read() {
    let world = World::new();
    assert_snapshot!("empty_sync", world.tell(&["sync"]));
    assert_snapshot!("empty_sync_json", world.tell(&["sync", "--json"]));
    assert_snapshot!("empty_rebuild", world.tell(&["rebuild"]));
    assert_snapshot!("quiet_sync", world.tell(&["sync", "--quiet"]));
}

#[test]
fn settings_have_defaults_and_can_be_changed() {
    let world = World::new();
    assert_snapshot!("config_path", world.tell(&["config", "path"]));
    assert_snapshot!("config_set", world.tell(&["config", "set", "intake.mode", "batch"]));
    assert_snapshot!("config_get", world.tell(&["config", "get", "intake.mode"]));
    let flagged = ["-c", "intake.interval_minutes=9", "config", "show", "--origin"];
    assert_snapshot!("config_show_origin", world.tell(&flagged));
    assert_snapshot!("config_show", world.tell(&["config", "show"]));
    assert_snapshot!("config_show_json", world.tell(&["config", "show", "--json"]));
}

#[test]
fn completions_and_the_manual_cover_every_command() {
    let world = World::new();
    let script = String::from_utf8(world.run(&["completions", "bash"]).stdout).unwrap();
    let manual = String::from_utf8(world.run(&["man"]).stdout).unwrap();
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
        "activity",
        "inject",
        "resume",
        "task",
        "note",
        "name",
        "alias",
        "pause",
        "end",
        "hook",
        "thread",
        "status",
        "doctor",
        "verify",
        "forget",
        "rebuild",
        "config",
    ] {
        assert!(script.contains(command), "{command}");
        assert!(manual.contains(&format!(".SH \"RETHREAD {}\"", command.to_uppercase())), "{command}");
    }
    assert!(manual.contains(".SH \"RETHREAD CONFIG SET\""));
    assert!(manual.contains(".SH \"EXIT STATUS\""));
    assert!(!manual.contains("EXTRA"));
    for shell in ["zsh", "fish", "elvish", "powershell"] {
        assert!(world.run(&["completions", shell]).status.success(), "{shell}");
    }
}
