//! Files of ours in pi's folder, and the folder with our plugin of Claude Code: written, updated, taken away.

use std::fs;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::world::{World, files_below};

const EXTENSION: &str = ".pi/agent/extensions/rethread.ts";
const SKILL: &str = ".pi/agent/skills/rethread/SKILL.md";
const SETTINGS: &str = ".claude/settings.json";

fn read(world: &World, path: &str) -> String {
    fs::read_to_string(world.home(path)).unwrap()
}

fn binary() -> String {
    assert_cmd::cargo::cargo_bin("rethread").canonicalize().unwrap().display().to_string()
}

fn hooks_in_doctor(world: &World) -> String {
    let told = world.tell(&["doctor"]);
    let lines = told.lines().skip_while(|line| !line.contains(" hooks "));
    lines.take_while(|line| !line.contains(" store ")).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_extension_and_the_skill_of_pi_come_and_go_without_a_trace() {
    let world = World::new();
    assert_snapshot!("pi_nothing_to_uninstall", world.tell(&["uninstall", "pi"]));
    let printed = world.tell(&["install", "pi", "--print"]);
    assert!(printed.ends_with("--- stderr\nNothing was changed.\n"), "{printed}");
    assert!(!world.home(".pi").exists() && !world.has_our_folder());
    world.write(".pi/agent/extensions/theirs.ts", "theirs");
    assert_snapshot!("pi_doctor_missing", hooks_in_doctor(&world));
    let installed = world.tell(&["install", "pi"]);
    assert_eq!(installed.split("--- stderr").next(), printed.split("--- stderr").next(), "what was shown was done");
    assert!(read(&world, EXTENSION).contains(&format!("const PROGRAM = {};", json!(binary()))));
    assert!(read(&world, SKILL).contains(&binary()) && !read(&world, SKILL).contains("@BINARY@"));
    assert_snapshot!("pi_again", world.tell(&["install", "pi"]));
    assert_snapshot!("pi_again_json", world.tell(&["install", "pi", "--json"]));
    assert_snapshot!("pi_doctor_well", hooks_in_doctor(&world));
    assert_snapshot!("pi_uninstall_json", world.tell(&["uninstall", "pi", "--json"]));
    assert_eq!(files_below(&world.home(".pi")), [world.home(".pi/agent/extensions/theirs.ts")]);
    assert!(!world.home(".pi/agent/skills").exists());
}

#[test]
fn an_older_extension_is_replaced_and_told_of_before() {
    let world = World::new();
    world.run(&["install", "pi"]);
    let (extension, skill) = (read(&world, EXTENSION), read(&world, SKILL));
    world.write(EXTENSION, &extension.replace(&binary(), "/nowhere/rethread"));
    assert!(hooks_in_doctor(&world).contains("calls /nowhere/rethread, which is not there"));
    world.write(EXTENSION, &extension.replace(&binary(), "/"));
    assert!(hooks_in_doctor(&world).contains("calls /, and this is"));
    world.write(EXTENSION, &extension);
    world.write(SKILL, &format!("{skill}\nmore\n"));
    assert_snapshot!("pi_doctor_stale", hooks_in_doctor(&world));
    assert_snapshot!("pi_update", world.tell(&["install", "pi"]));
    assert_eq!((read(&world, EXTENSION), read(&world, SKILL)), (extension, skill));
}

#[test]
fn a_foreign_file_of_the_same_name_is_left_alone() {
    let world = World::new();
    world.write(EXTENSION, "export default () => {};\n");
    assert_snapshot!("pi_foreign", world.tell(&["install", "pi"]));
    assert_snapshot!("pi_foreign_doctor", hooks_in_doctor(&world));
    assert_snapshot!("pi_foreign_uninstall", world.tell(&["uninstall", "pi"]));
    assert_eq!(read(&world, EXTENSION), "export default () => {};\n");
    assert!(!world.home(SKILL).exists());
}

#[test]
fn a_project_and_another_directory_have_extensions_of_their_own() {
    let world = World::new();
    let told = world.tell(&["install", "pi", "--project"]);
    assert!(told.contains("hint: pi reads them only in projects you trust"), "{told}");
    assert!(world.desk().join(".pi/extensions/rethread.ts").exists() && !world.home(".pi").exists());
    assert!(hooks_in_doctor(&world).contains("✓ hooks        pi calls rethread, by"));
    assert!(world.run(&["uninstall", "pi", "--project"]).status.success());
    assert!(!world.desk().join(".pi").exists());
    let mut command = world.command(&["install", "pi"]);
    assert!(command.env("PI_CODING_AGENT_DIR", world.home("elsewhere")).status().unwrap().success());
    assert!(world.home("elsewhere/extensions/rethread.ts").exists() && !world.home(".pi").exists());
}

#[test]
fn a_plugin_is_written_updated_and_taken_away() {
    let world = World::new();
    let plugin = ["install", "claude-code", "--plugin", "market"];
    let told = world.tell(&plugin);
    assert!(told.contains("  claude plugin marketplace add [FOLDER]/desk/market\n"), "{told}");
    assert!(told.contains("  claude plugin install rethread@rethread\n"), "{told}");
    assert!(!world.home(".claude").exists(), "its settings are left to Claude Code");
    let folder = world.desk().join("market");
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
    assert_snapshot!("plugin_again", world.tell(&plugin));
    let hooks = folder.join("plugins/rethread/hooks/hooks.json");
    fs::write(&hooks, "{}").unwrap();
    assert!(world.run(&plugin).status.success());
    assert!(fs::read_to_string(&hooks).unwrap().contains("UserPromptSubmit"));
    assert!(world.run(&["uninstall", "claude-code", "--plugin", "market"]).status.success());
    assert!(!folder.exists());
}

#[test]
fn a_foreign_marketplace_is_left_alone() {
    let world = World::new();
    world.write("market/.claude-plugin/marketplace.json", "{\"name\": \"theirs\", \"plugins\": []}");
    let folder = world.home("market").display().to_string();
    assert_snapshot!("plugin_foreign", world.tell(&["install", "claude-code", "--plugin", &folder]));
    assert_snapshot!("plugin_foreign_uninstall", world.tell(&["uninstall", "claude-code", "--plugin", &folder]));
    assert_eq!(files_below(&world.home("market")).len(), 1);
    assert_snapshot!("plugin_of_pi", world.tell(&["install", "pi", "--plugin", "market"]));
}

#[test]
fn doctor_sees_the_plugin_and_that_hooks_are_called_twice() {
    let world = World::new();
    let folder = world.home("market").display().to_string();
    assert!(world.run(&["install", "claude-code", "--plugin", &folder]).status.success());
    let settings = json!({
        "extraKnownMarketplaces": {"rethread": {"source": {"source": "directory", "path": folder}}},
        "enabledPlugins": {"rethread@rethread": true},
    });
    world.write(SETTINGS, &settings.to_string());
    assert_snapshot!("plugin_doctor_well", hooks_in_doctor(&world));
    assert!(world.run(&["install", "claude-code"]).status.success());
    assert_snapshot!("plugin_doctor_twice", hooks_in_doctor(&world));
    assert!(world.run(&["uninstall", "claude-code"]).status.success());
    assert!(world.run(&["uninstall", "claude-code", "--plugin", &folder]).status.success());
    assert_snapshot!("plugin_doctor_gone", hooks_in_doctor(&world));
    world.write(SETTINGS, &settings.to_string().replace("true", "false"));
    assert!(hooks_in_doctor(&world).contains("Claude Code does not call rethread"));
}
