//! Hooks in the settings of Claude Code: printed, installed and removed.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use insta::assert_snapshot;

use crate::transcripts::{built_home, new_home};
use rethread_testing::{TestHome, files_below};

const SETTINGS: &str = ".claude/settings.json";
const PROJECT_SETTINGS: &str = ".claude/settings.local.json";
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
    assert!(!home.path(".claude").exists());
    home.write(".claude/other.json", "{}");
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
    assert!(home.work_dir().join(PROJECT_SETTINGS).exists() && !home.path(SETTINGS).exists());
    let mut command = home.command(&["install", "claude-code"]);
    assert!(command.env("CLAUDE_CONFIG_DIR", home.path("elsewhere")).status().unwrap().success());
    assert!(home.path("elsewhere/settings.json").exists() && !home.path(SETTINGS).exists());
    assert!(home.run(&["uninstall", "claude-code", "--project"]).status.success());
    assert!(!home.work_dir().join(PROJECT_SETTINGS).exists());
}

// D46
#[test]
fn nothing_that_is_committed_gets_a_personal_path() {
    let home = new_home();
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        home.isolate(&mut command);
        assert!(command.args(arguments).env("PATH", "/usr/bin:/bin").status().unwrap().success());
    };
    git(&["init", "--quiet"]);
    // Hooks that an earlier version put into the shared file are taken out again.
    let shared = home.work_dir().join(SETTINGS);
    fs::create_dir_all(shared.parent().unwrap()).unwrap();
    let hook = r#"{"type": "command", "command": "/old/rethread", "args": ["hook", "claude-code"]}"#;
    let group = |hook: &str| format!(r#"{{"hooks": {{"Stop": [{{"hooks": [{{"command": "say"}}]}}{hook}]}}}}"#);
    fs::write(&shared, group(&format!(r#", {{"hooks": [{hook}]}}"#))).unwrap();
    let mut install = home.command(&["install", "claude-code", "--project"]);
    let printed = home.snapshot_of(&install.env("PATH", "/usr/bin:/bin").output().unwrap());
    assert!(
        printed.contains("hint: .claude/settings.local.json contains the path of your program: add it to .gitignore"),
        "{printed}"
    );
    assert_eq!(fs::read_to_string(&shared).unwrap(), group(""));
    let personal = home.binary().display().to_string();
    for file in files_below(&home.work_dir().join(".claude")) {
        let has_path = fs::read_to_string(&file).unwrap().contains(&personal);
        assert_eq!(has_path, file.ends_with("settings.local.json"), "{}", file.display());
    }
    let doctor = home.snapshot(&["doctor"]);
    assert!(doctor.contains("settings.local.json call rethread"), "{doctor}");
}

// D46, D55
#[test]
fn uninstalling_from_a_project_leaves_no_empty_folder() {
    let home = new_home();
    home.run_ok(&["install", "claude-code", "--project"]);
    home.run_ok(&["uninstall", "claude-code", "--project"]);
    assert!(!home.work_dir().join(".claude").exists());
}

// D45
#[test]
fn hooks_of_a_build_call_a_copy_that_stays() {
    let home = built_home();
    assert_snapshot!("install_built", home.snapshot(&["install", "claude-code", "--json"]));
    let copy = home.path(".local/bin/rethread");
    assert!(settings(&home).contains(copy.to_str().unwrap()));
    assert!(!settings(&home).contains(home.binary().to_str().unwrap()));
    let version = |program: &Path| Command::new(program).arg("--version").output().unwrap().stdout;
    assert_eq!(version(&copy), version(home.binary()));
    let doctor = home.snapshot(&["doctor"]);
    assert!(doctor.contains("call rethread"), "{doctor}");
    assert_snapshot!("install_built_again", home.snapshot(&["install", "claude-code"]));
    // Hooks that call the build itself are a problem, whether it is still there or not.
    for program in [home.binary().to_str().unwrap(), "/gone/target/release/rethread"] {
        home.write(SETTINGS, settings(&home).replace(copy.to_str().unwrap(), program));
        let doctor = home.snapshot(&["doctor"]);
        assert!(doctor.contains("✗ hooks") && doctor.contains("hint: run: rethread install claude-code"), "{doctor}");
        home.run_ok(&["install", "claude-code"]);
        assert!(settings(&home).contains(copy.to_str().unwrap()));
    }
}

// D45
#[test]
fn a_copy_is_made_in_a_terminal_only_after_a_yes() {
    let home = built_home();
    let (code, screen) = home.run_in_terminal(&["install", "claude-code"], "\n");
    assert_eq!(code, Some(0), "{screen}");
    assert!(screen.contains("Make the copy and the changes above? [y/N]"), "{screen}");
    assert!(screen.contains("Nothing was changed."), "{screen}");
    assert!(files_below(&home.path("")).is_empty(), "{screen}");
    home.run_in_terminal(&["install", "claude-code"], "y\n");
    assert!(home.path(".local/bin/rethread").exists() && home.path(SETTINGS).exists());
}

// D45
#[test]
fn a_hook_is_silent_if_the_program_is_gone() {
    let home = new_home();
    home.run_ok(&["install", "claude-code"]);
    let value: serde_json::Value = serde_json::from_str(&settings(&home)).unwrap();
    let hook = &value["hooks"]["UserPromptSubmit"][0]["hooks"][0];
    let mut command = Command::new("sh");
    home.isolate(command.args(["-c", hook["command"].as_str().unwrap()]));
    let prompt = serde_json::json!({
        "hook_event_name": "UserPromptSubmit", "session_id": "5b0f6a52-3c1d-4e8f-9a07-5d2c8e4b7f10",
        "cwd": "/home/dev/app", "prompt": "hello",
    });
    let answer = feed(&mut command, prompt.to_string().as_bytes());
    assert!(answer.status.success());
    assert!(home.path(".rethread/memory.db").exists(), "the hook ran");
    fs::remove_file(home.binary()).unwrap();
    let answer = feed(&mut command, prompt.to_string().as_bytes());
    assert_eq!(
        (answer.status.code(), answer.stdout.as_slice(), answer.stderr.as_slice()),
        (Some(0), &b""[..], &b""[..])
    );
}

// D55
#[test]
fn other_entries_keep_their_formatting_and_the_file_its_mark() {
    let home = new_home();
    let text = format!("\u{feff}{}", FOREIGN.replace("{\"A\": \"1\"}", "{ \"A\":\"1\",\n      \"B\": [1,2,3] }"));
    home.write(SETTINGS, &text);
    home.run_ok(&["install", "claude-code"]);
    let installed = settings(&home);
    for line in text.lines().filter(|line| !line.contains("Stop")) {
        assert!(installed.lines().any(|other| other.trim_end_matches(',') == line.trim_end_matches(',')), "{line}");
    }
    assert!(installed.starts_with('\u{feff}'));
    assert!(home.snapshot(&["doctor"]).contains("settings.json call rethread"));
    home.write(SETTINGS, installed.replace("\"opus\"", "\"haiku\""));
    home.run_ok(&["uninstall", "claude-code"]);
    assert_eq!(settings(&home), text.replace("opus", "haiku"));
}

// D55
#[test]
fn a_write_protected_file_is_not_replaced() {
    let home = new_home();
    home.write(SETTINGS, FOREIGN);
    fs::set_permissions(home.path(SETTINGS), fs::Permissions::from_mode(0o444)).unwrap();
    let refused = home.run(&["install", "claude-code"]);
    assert_eq!(refused.status.code(), Some(3));
    let message = String::from_utf8(refused.stderr).unwrap();
    assert!(message.contains("settings.json is read-only\nhint: nothing was changed; allow writing"), "{message}");
    assert_eq!(settings(&home), FOREIGN);
    assert!(!home.path(".claude/skills").exists());
}

// S000-32, D50
#[test]
fn claude_code_gets_the_skill_with_its_hooks() {
    let home = new_home();
    home.run_ok(&["install", "claude-code"]);
    let skill = home.read(".claude/skills/rethread/SKILL.md");
    assert!(skill.contains("rethread search") && skill.contains(home.binary().to_str().unwrap()));
    // Agents put the description into every request, where it must not look like an injection.
    let description = skill.lines().find(|line| line.starts_with("description:")).unwrap();
    assert!(!description.contains("[Session Activity]"), "{description}");
    home.run_ok(&["uninstall", "claude-code"]);
    assert!(!home.path(".claude").exists());
}

/// Runs a command with `input` on standard input.
fn feed(command: &mut Command, input: &[u8]) -> Output {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A program that stops reading early is not an error.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
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

// D45
#[test]
fn another_program_of_the_same_name_is_not_replaced() {
    let home = built_home();
    home.write(".local/bin/rethread", "#!/bin/sh\necho mine\n");
    home.run_ok(&["install", "claude-code"]);
    assert_eq!(fs::read_to_string(home.path(".local/bin/rethread")).unwrap(), "#!/bin/sh\necho mine\n");
    assert!(home.path(".rethread/bin/rethread").exists());
    assert!(settings(&home).contains(".rethread/bin/rethread"));
}
