//! The pi extension and the Claude Code plugin: installed, updated and removed.

use std::fs;

use insta::assert_snapshot;

use crate::transcripts::new_home;
use rethread_testing::{TestHome, files_below};
use serde_json::{Value, json};

const EXTENSION: &str = ".pi/agent/extensions/rethread.ts";
const SKILL: &str = ".agents/skills/rethread/SKILL.md";
const SETTINGS: &str = ".claude/settings.json";

fn read(home: &TestHome, path: &str) -> String {
    fs::read_to_string(home.path(path)).unwrap()
}

fn binary(home: &TestHome) -> String {
    home.binary().display().to_string()
}

fn hooks_in_doctor(home: &TestHome) -> String {
    let output_text = home.snapshot(&["doctor"]);
    let lines = output_text.lines().skip_while(|line| !line.contains(" hooks "));
    lines.take_while(|line| !line.contains(" store ")).collect::<Vec<_>>().join("\n")
}

#[test]
fn pi_extension_and_skill_are_installed_and_removed_completely() {
    let home = new_home();
    assert_snapshot!("pi_nothing_to_uninstall", home.snapshot(&["uninstall", "pi"]));
    let printed = home.snapshot(&["install", "pi", "--print"]);
    assert!(printed.ends_with("--- stderr\nNothing was changed.\n"), "{printed}");
    assert!(!home.path(".pi").exists() && !home.has_rethread_dir());
    home.write(".pi/agent/extensions/theirs.ts", "theirs");
    assert_snapshot!("pi_doctor_missing", hooks_in_doctor(&home));
    assert_snapshot!("pi_install", home.snapshot(&["install", "pi"]));
    let shown = printed.lines().filter(|line| line.starts_with('+')).count();
    let written = read(&home, EXTENSION).lines().count() + read(&home, SKILL).lines().count();
    assert_eq!(shown, written, "what was shown was done");
    assert!(read(&home, EXTENSION).contains(&format!("const PROGRAM = {};", json!(binary(&home)))));
    assert!(read(&home, SKILL).contains(&binary(&home)) && !read(&home, SKILL).contains("@BINARY@"));
    assert_snapshot!("pi_again", home.snapshot(&["install", "pi"]));
    assert_snapshot!("pi_again_json", home.snapshot(&["install", "pi", "--json"]));
    assert_snapshot!("pi_doctor_ok", hooks_in_doctor(&home));
    assert_snapshot!("pi_uninstall_json", home.snapshot(&["uninstall", "pi", "--json"]));
    assert_eq!(files_below(&home.path(".pi")), [home.path(".pi/agent/extensions/theirs.ts")]);
    assert!(!home.path(".agents").exists());
}

// D55
#[test]
fn uninstalling_lists_the_files_it_removes_and_not_their_text() {
    let home = new_home();
    home.run_ok(&["install", "pi"]);
    assert_snapshot!("pi_uninstall", home.snapshot(&["uninstall", "pi"]));
}

#[test]
fn outdated_extension_is_reported_and_replaced() {
    let home = new_home();
    home.run(&["install", "pi"]);
    let (extension, skill) = (read(&home, EXTENSION), read(&home, SKILL));
    home.write(EXTENSION, extension.replace(&binary(&home), "/nowhere/rethread"));
    assert!(hooks_in_doctor(&home).contains("calls /nowhere/rethread, which does not exist"));
    home.write(EXTENSION, extension.replace(&binary(&home), "/"));
    assert!(hooks_in_doctor(&home).contains("calls /, but this program is"));
    home.write(EXTENSION, &extension);
    home.write(SKILL, format!("{skill}\nmore\n"));
    assert_snapshot!("pi_doctor_stale", hooks_in_doctor(&home));
    assert_snapshot!("pi_update", home.snapshot(&["install", "pi"]));
    assert_eq!((read(&home, EXTENSION), read(&home, SKILL)), (extension, skill));
}

#[test]
fn other_file_of_the_same_name_is_left_alone() {
    let home = new_home();
    home.write(EXTENSION, "export default () => {};\n");
    assert_snapshot!("pi_other_file", home.snapshot(&["install", "pi"]));
    assert_snapshot!("pi_other_file_doctor", hooks_in_doctor(&home));
    assert_snapshot!("pi_other_file_uninstall", home.snapshot(&["uninstall", "pi"]));
    assert_eq!(read(&home, EXTENSION), "export default () => {};\n");
    assert!(!home.path(SKILL).exists());
}

#[test]
fn project_and_custom_directory_have_their_own_extensions() {
    let home = new_home();
    let output_text = home.snapshot(&["install", "pi", "--project"]);
    assert!(output_text.contains("hint: pi reads them only in projects you trust"), "{output_text}");
    assert!(home.work_dir().join(".pi/extensions/rethread.ts").exists() && !home.path(".pi").exists());
    // A file that may be committed calls the program by its name.
    let hooks = hooks_in_doctor(&home);
    assert!(hooks.contains("rethread.ts calls rethread by name, but it is not in PATH"), "{hooks}");
    let mut doctor = home.command(&["doctor"]);
    let report = home.snapshot_of(&doctor.env("PATH", home.binary().parent().unwrap()).output().unwrap());
    assert!(report.contains("the pi extension in"), "{report}");
    assert!(!report.contains("not in PATH"), "{report}");
    assert!(home.run(&["uninstall", "pi", "--project"]).status.success());
    assert!(!home.work_dir().join(".pi").exists());
    let mut command = home.command(&["install", "pi"]);
    assert!(command.env("PI_CODING_AGENT_DIR", home.path("elsewhere")).status().unwrap().success());
    assert!(home.path("elsewhere/extensions/rethread.ts").exists() && !home.path(".pi").exists());
}

#[test]
fn plugin_is_written_updated_and_removed() {
    let home = new_home();
    let plugin = ["install", "claude-code", "--plugin", "market"];
    let output_text = home.snapshot(&plugin);
    assert!(output_text.contains("  claude plugin marketplace add [FOLDER]/desk/market\n"), "{output_text}");
    assert!(output_text.contains("  claude plugin install rethread@rethread\n"), "{output_text}");
    assert!(!home.path(".claude").exists(), "its settings are left to Claude Code");
    let folder = home.work_dir().join("market");
    let mut files: Vec<String> =
        files_below(&folder).iter().map(|file| file.strip_prefix(&folder).unwrap().display().to_string()).collect();
    files.sort();
    assert_snapshot!("plugin_files", files.join("\n"));
    for file in files_below(&folder) {
        let text = fs::read_to_string(&file).unwrap();
        assert!(!text.contains("@BINARY@"), "{}", file.display());
        if file.extension().is_some_and(|ending| ending == "json") {
            let value: Value = serde_json::from_str(&text).unwrap();
            assert!(value.is_object());
        }
    }
    assert_snapshot!("plugin_again", home.snapshot(&plugin));
    let hooks = folder.join("plugins/rethread/hooks/hooks.json");
    fs::write(&hooks, "{}").unwrap();
    assert!(home.run(&plugin).status.success());
    assert!(fs::read_to_string(&hooks).unwrap().contains("UserPromptSubmit"));
    assert!(home.run(&["uninstall", "claude-code", "--plugin", "market"]).status.success());
    assert!(!folder.exists());
}

#[test]
fn other_marketplace_is_left_alone() {
    let home = new_home();
    home.write("market/.claude-plugin/marketplace.json", "{\"name\": \"theirs\", \"plugins\": []}");
    let folder = home.path("market").display().to_string();
    assert_snapshot!("plugin_other", home.snapshot(&["install", "claude-code", "--plugin", &folder]));
    assert_snapshot!("plugin_other_uninstall", home.snapshot(&["uninstall", "claude-code", "--plugin", &folder]));
    assert_eq!(files_below(&home.path("market")).len(), 1);
    assert_snapshot!("plugin_of_pi", home.snapshot(&["install", "pi", "--plugin", "market"]));
}

#[test]
fn doctor_reports_the_plugin_and_duplicate_hooks() {
    let home = new_home();
    let folder = home.path("market").display().to_string();
    assert!(home.run(&["install", "claude-code", "--plugin", &folder]).status.success());
    let settings = json!({
        "extraKnownMarketplaces": {"rethread": {"source": {"source": "directory", "path": folder}}},
        "enabledPlugins": {"rethread@rethread": true},
    });
    home.write(SETTINGS, settings.to_string());
    assert_snapshot!("plugin_doctor_ok", hooks_in_doctor(&home));
    assert!(home.run(&["install", "claude-code"]).status.success());
    assert_snapshot!("plugin_doctor_twice", hooks_in_doctor(&home));
    assert!(home.run(&["uninstall", "claude-code"]).status.success());
    assert!(home.run(&["uninstall", "claude-code", "--plugin", &folder]).status.success());
    assert_snapshot!("plugin_doctor_gone", hooks_in_doctor(&home));
    home.write(SETTINGS, settings.to_string().replace("true", "false"));
    assert!(hooks_in_doctor(&home).contains("Claude Code hooks are not installed"));
}
