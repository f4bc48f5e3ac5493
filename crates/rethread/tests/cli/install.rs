//! Hooks in the settings of Claude Code: printed, installed and removed.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use insta::assert_snapshot;

use crate::transcripts::new_home;
use rethread_testing::TestHome;

const SETTINGS: &str = ".claude/settings.json";
const FOREIGN: &str = r#"{
    "model": "opus",
    "hooks": {
        "Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]
    },
    "env": {"A": "1"}
}"#;

fn settings(home: &TestHome) -> String {
    fs::read_to_string(home.path(SETTINGS)).unwrap()
}

#[test]
fn hooks_are_installed_once_and_removed_completely() {
    let home = new_home();
    assert_snapshot!("install_nothing_to_uninstall", home.snapshot(&["uninstall", "claude-code"]));
    assert_snapshot!("install_print", home.snapshot(&["install", "claude-code", "--print"]));
    assert!(!home.path(".claude").exists() && !home.has_rethread_dir());
    assert_snapshot!("install_new", home.snapshot(&["install", "claude-code"]));
    assert_snapshot!("install_again", home.snapshot(&["install", "claude-code"]));
    let doctor = home.snapshot(&["doctor"]);
    assert!(
        doctor.contains("✓ hooks        the Claude Code hooks in [FOLDER]/home/.claude/settings.json call rethread"),
        "{doctor}"
    );
    assert_snapshot!("install_uninstall_new", home.snapshot(&["uninstall", "claude-code"]));
    assert!(!home.path(SETTINGS).exists());
    let doctor = home.snapshot(&["doctor"]);
    assert!(doctor.contains("· hooks        Claude Code hooks are not installed"), "{doctor}");
}

#[test]
fn other_settings_are_restored_byte_for_byte() {
    let home = new_home();
    home.write(SETTINGS, FOREIGN);
    fs::set_permissions(home.path(SETTINGS), fs::Permissions::from_mode(0o640)).unwrap();
    assert_snapshot!("install_other_settings", home.snapshot(&["install", "claude-code"]));
    assert_eq!(fs::metadata(home.path(SETTINGS)).unwrap().permissions().mode() & 0o777, 0o640);
    for entry in fs::read_dir(home.path(".rethread/install")).unwrap() {
        assert_eq!(entry.unwrap().metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
    assert!(home.run(&["uninstall", "claude-code"]).status.success());
    assert_eq!(settings(&home), FOREIGN);
    assert_eq!(fs::metadata(home.path(SETTINGS)).unwrap().permissions().mode() & 0o777, 0o640);
}

#[test]
fn later_changes_survive_uninstall() {
    let home = new_home();
    home.write(SETTINGS, FOREIGN);
    assert!(home.run(&["install", "claude-code"]).status.success());
    home.write(SETTINGS, settings(&home).replace("\"opus\"", "\"haiku\""));
    assert!(home.run(&["uninstall", "claude-code"]).status.success());
    let left: serde_json::Value = serde_json::from_str(&settings(&home)).unwrap();
    let expect: serde_json::Value = serde_json::from_str(&FOREIGN.replace("opus", "haiku")).unwrap();
    assert_eq!(left, expect);
}

#[test]
fn symlinked_settings_stay_a_symlink() {
    let home = new_home();
    home.write("dotfiles/claude.json", FOREIGN);
    fs::create_dir_all(home.path(".claude")).unwrap();
    symlink(home.path("dotfiles/claude.json"), home.path(SETTINGS)).unwrap();
    assert!(home.run(&["install", "claude-code"]).status.success());
    assert!(home.path(SETTINGS).is_symlink());
    assert!(fs::read_to_string(home.path("dotfiles/claude.json")).unwrap().contains("PostToolUseFailure"));
    assert!(home.run(&["uninstall", "claude-code"]).status.success());
    assert!(home.path(SETTINGS).is_symlink());
    assert_eq!(settings(&home), FOREIGN);
}

#[test]
fn project_and_custom_directory_have_their_own_settings() {
    let home = new_home();
    assert!(home.run(&["install", "claude-code", "--project"]).status.success());
    assert!(home.work_dir().join(SETTINGS).exists() && !home.path(SETTINGS).exists());
    let mut command = home.command(&["install", "claude-code"]);
    assert!(command.env("CLAUDE_CONFIG_DIR", home.path("elsewhere")).status().unwrap().success());
    assert!(home.path("elsewhere/settings.json").exists() && !home.path(SETTINGS).exists());
    assert!(home.run(&["uninstall", "claude-code", "--project"]).status.success());
    assert!(!home.work_dir().join(SETTINGS).exists());
}

#[test]
fn unparsable_settings_are_left_alone() {
    let home = new_home();
    for (name, text) in [
        ("install_broken", "{\n  \"hooks\": {,\n}\n"),
        ("install_invalid_hooks", "{\"hooks\": []}"),
        ("install_invalid_group", "{\"hooks\": {\"Stop\": [{\"command\": \"x\"}]}}"),
    ] {
        home.write(SETTINGS, text);
        assert_snapshot!(name, home.snapshot(&["install", "claude-code"]));
        assert_eq!(settings(&home), text);
    }
    home.write(SETTINGS, "{,}");
    let doctor = home.snapshot(&["doctor"]);
    assert!(doctor.contains("✗ hooks        invalid JSON in [FOLDER]/home/.claude/settings.json"), "{doctor}");
    assert!(!home.path(".rethread/install").exists());
}

#[test]
fn doctor_reports_hooks_that_call_another_program() {
    let home = new_home();
    assert!(home.run(&["install", "claude-code"]).status.success());
    let binary = home.binary().canonicalize().unwrap();
    home.write(SETTINGS, settings(&home).replace(&binary.display().to_string(), "/nowhere/rethread"));
    let doctor = home.snapshot(&["doctor"]);
    assert!(doctor.contains("call /nowhere/rethread, which does not exist"), "{doctor}");
    assert!(home.run(&["install", "claude-code"]).status.success());
    assert!(!settings(&home).contains("/nowhere/"));
}

#[test]
fn doctor_reports_disabled_hooks() {
    let home = new_home();
    home.write(SETTINGS, "{\"disableAllHooks\": true}\n");
    assert!(home.run(&["install", "claude-code"]).status.success());
    let doctor = home.snapshot(&["doctor"]);
    assert!(doctor.contains("✗ hooks        Claude Code hooks are disabled: disableAllHooks is set in"), "{doctor}");
}

#[test]
#[cfg(target_os = "linux")]
fn service_is_one_file_and_an_existing_one_is_kept() {
    const UNIT: &str = ".config/systemd/user/rethread.service";
    let home = new_home();
    assert_snapshot!("service_print", home.snapshot(&["install", "service", "--print"]));
    assert!(!home.path(UNIT).exists());
    assert!(home.run(&["install", "service"]).status.success());
    assert_snapshot!("service_again", home.snapshot(&["install", "service"]));
    assert_snapshot!("service_of_a_project", home.snapshot(&["install", "service", "--project"]));
    assert!(home.run(&["uninstall", "service"]).status.success());
    assert!(!home.path(UNIT).exists());
    home.write(UNIT, "[Service]\nExecStart=true\n");
    assert_eq!(home.run(&["install", "service"]).status.code(), Some(3));
    assert_eq!(fs::read_to_string(home.path(UNIT)).unwrap(), "[Service]\nExecStart=true\n");
}
