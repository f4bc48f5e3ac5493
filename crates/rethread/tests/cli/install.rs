//! Hooks in an agent's settings: shown, written, and taken out so that the file is what it was.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use insta::assert_snapshot;

use crate::world::World;

const SETTINGS: &str = ".claude/settings.json";
const FOREIGN: &str = r#"{
    "model": "opus",
    "hooks": {
        "Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]
    },
    "env": {"A": "1"}
}"#;

fn settings(world: &World) -> String {
    fs::read_to_string(world.home(SETTINGS)).unwrap()
}

#[test]
fn hooks_are_installed_once_and_taken_out_without_a_trace() {
    let world = World::new();
    assert_snapshot!("install_nothing_to_uninstall", world.tell(&["uninstall", "claude-code"]));
    assert_snapshot!("install_print", world.tell(&["install", "claude-code", "--print"]));
    assert!(!world.home(".claude").exists() && !world.has_our_folder());
    assert_snapshot!("install_new", world.tell(&["install", "claude-code"]));
    assert_snapshot!("install_again", world.tell(&["install", "claude-code"]));
    let doctor = world.tell(&["doctor"]);
    assert!(doctor.contains("✓ hooks        Claude Code calls rethread"), "{doctor}");
    assert_snapshot!("install_uninstall_new", world.tell(&["uninstall", "claude-code"]));
    assert!(!world.home(SETTINGS).exists());
    let doctor = world.tell(&["doctor"]);
    assert!(doctor.contains("· hooks        Claude Code does not call rethread"), "{doctor}");
}

#[test]
fn foreign_settings_stay_and_come_back_byte_for_byte() {
    let world = World::new();
    world.write(SETTINGS, FOREIGN);
    fs::set_permissions(world.home(SETTINGS), fs::Permissions::from_mode(0o640)).unwrap();
    assert_snapshot!("install_foreign", world.tell(&["install", "claude-code"]));
    assert_eq!(fs::metadata(world.home(SETTINGS)).unwrap().permissions().mode() & 0o777, 0o640);
    for entry in fs::read_dir(world.home(".rethread/install")).unwrap() {
        assert_eq!(entry.unwrap().metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
    assert!(world.run(&["uninstall", "claude-code"]).status.success());
    assert_eq!(settings(&world), FOREIGN);
    assert_eq!(fs::metadata(world.home(SETTINGS)).unwrap().permissions().mode() & 0o777, 0o640);
}

#[test]
fn what_others_changed_since_stays() {
    let world = World::new();
    world.write(SETTINGS, FOREIGN);
    assert!(world.run(&["install", "claude-code"]).status.success());
    world.write(SETTINGS, &settings(&world).replace("\"opus\"", "\"haiku\""));
    assert!(world.run(&["uninstall", "claude-code"]).status.success());
    let left: serde_json::Value = serde_json::from_str(&settings(&world)).unwrap();
    let expect: serde_json::Value = serde_json::from_str(&FOREIGN.replace("opus", "haiku")).unwrap();
    assert_eq!(left, expect);
}

#[test]
fn a_link_to_the_settings_stays_a_link() {
    let world = World::new();
    world.write("dotfiles/claude.json", FOREIGN);
    fs::create_dir_all(world.home(".claude")).unwrap();
    symlink(world.home("dotfiles/claude.json"), world.home(SETTINGS)).unwrap();
    assert!(world.run(&["install", "claude-code"]).status.success());
    assert!(world.home(SETTINGS).is_symlink());
    assert!(fs::read_to_string(world.home("dotfiles/claude.json")).unwrap().contains("PostToolUseFailure"));
    assert!(world.run(&["uninstall", "claude-code"]).status.success());
    assert!(world.home(SETTINGS).is_symlink());
    assert_eq!(settings(&world), FOREIGN);
}

#[test]
fn a_project_and_another_directory_have_settings_of_their_own() {
    let world = World::new();
    assert!(world.run(&["install", "claude-code", "--project"]).status.success());
    assert!(world.desk().join(SETTINGS).exists() && !world.home(SETTINGS).exists());
    let mut command = world.command(&["install", "claude-code"]);
    assert!(command.env("CLAUDE_CONFIG_DIR", world.home("elsewhere")).status().unwrap().success());
    assert!(world.home("elsewhere/settings.json").exists() && !world.home(SETTINGS).exists());
    assert!(world.run(&["uninstall", "claude-code", "--project"]).status.success());
    assert!(!world.desk().join(SETTINGS).exists());
}

#[test]
fn settings_that_cannot_be_understood_are_left_alone() {
    let world = World::new();
    for (name, text) in [
        ("install_broken", "{\n  \"hooks\": {,\n}\n"),
        ("install_odd_hooks", "{\"hooks\": []}"),
        ("install_odd_group", "{\"hooks\": {\"Stop\": [{\"command\": \"x\"}]}}"),
    ] {
        world.write(SETTINGS, text);
        assert_snapshot!(name, world.tell(&["install", "claude-code"]));
        assert_eq!(settings(&world), text);
    }
    world.write(SETTINGS, "{,}");
    let doctor = world.tell(&["doctor"]);
    assert!(doctor.contains("✗ hooks        the settings in"), "{doctor}");
    assert!(!world.home(".rethread/install").exists());
}

#[test]
fn doctor_tells_hooks_that_call_another_program() {
    let world = World::new();
    assert!(world.run(&["install", "claude-code"]).status.success());
    let binary = assert_cmd::cargo::cargo_bin("rethread").canonicalize().unwrap();
    world.write(SETTINGS, &settings(&world).replace(&binary.display().to_string(), "/nowhere/rethread"));
    let doctor = world.tell(&["doctor"]);
    assert!(doctor.contains("call /nowhere/rethread, which is not there"), "{doctor}");
    assert!(world.run(&["install", "claude-code"]).status.success());
    assert!(!settings(&world).contains("/nowhere/"));
}

#[test]
fn doctor_tells_hooks_that_claude_code_was_told_not_to_call() {
    let world = World::new();
    world.write(SETTINGS, "{\"disableAllHooks\": true}\n");
    assert!(world.run(&["install", "claude-code"]).status.success());
    let doctor = world.tell(&["doctor"]);
    assert!(doctor.contains("✗ hooks        Claude Code calls no hooks: disableAllHooks is set in"), "{doctor}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_service_is_one_file_that_others_may_own_instead() {
    const UNIT: &str = ".config/systemd/user/rethread.service";
    let world = World::new();
    assert_snapshot!("service_print", world.tell(&["install", "service", "--print"]));
    assert!(!world.home(UNIT).exists());
    assert!(world.run(&["install", "service"]).status.success());
    assert_snapshot!("service_again", world.tell(&["install", "service"]));
    assert_snapshot!("service_of_a_project", world.tell(&["install", "service", "--project"]));
    assert!(world.run(&["uninstall", "service"]).status.success());
    assert!(!world.home(UNIT).exists());
    world.write(UNIT, "[Service]\nExecStart=true\n");
    assert_eq!(world.run(&["install", "service"]).status.code(), Some(3));
    assert_eq!(fs::read_to_string(world.home(UNIT)).unwrap(), "[Service]\nExecStart=true\n");
}
