//! Several hosts at once, and what `doctor` says about them.

use std::fs;

use rethread_testing::TestHome;
use serde_json::Value;

use crate::transcripts::new_home;

fn json(home: &TestHome, arguments: &[&str]) -> Value {
    serde_json::from_slice(&home.run(arguments).stdout).unwrap()
}

/// The lines of `doctor` about hooks, with their hints.
fn doctor(home: &TestHome) -> String {
    home.snapshot(&["doctor"])
}

#[test]
fn all_agents_that_were_used_are_installed_and_removed() {
    let home = new_home();
    assert!(home.snapshot(&["install", "--all"]).contains("No supported agent was found"));
    home.write(".codex/config.toml", "# mine\n");
    home.write(".qwen/settings.json", "{\"a\": 1} // mine\n");
    home.write(".gemini/settings.json", "{ broken");
    let shown = json(&home, &["install", "--all", "--mcp", "--print", "--json"]);
    assert_eq!(shown["done"], false);
    assert!(!home.path(".codex/hooks.json").exists());
    let done = json(&home, &["install", "--all", "--mcp", "--json"]);
    let agents: Vec<&str> = done["agents"].as_array().unwrap().iter().filter_map(|it| it["agent"].as_str()).collect();
    assert_eq!((agents, &done["failed"][0]["agent"]), (vec!["codex", "qwen"], &Value::from("gemini")));
    assert!(fs::read_to_string(home.path(".codex/config.toml")).unwrap().contains("[mcp_servers.rethread]"));
    // What can be installed is installed; the exit code reports the rest.
    let again = home.snapshot(&["install", "--all", "--mcp"]);
    assert!(again.contains("Already installed") && again.contains("skipped gemini: invalid JSON"), "{again}");
    assert!(!again.starts_with("exit 0"), "{again}");
    home.write(".gemini/settings.json", "{}");
    home.run_ok(&["uninstall", "--all"]);
    assert_eq!(fs::read_to_string(home.path(".codex/config.toml")).unwrap(), "# mine\n");
    assert_eq!(fs::read_to_string(home.path(".qwen/settings.json")).unwrap(), "{\"a\": 1} // mine\n");
    assert!(!home.path(".codex/hooks.json").exists() && !home.path(".agents").exists());
    assert!(home.snapshot(&["uninstall", "--all"]).contains("not installed here"));
}

#[test]
fn a_host_that_has_only_the_server_or_no_projects_says_what_to_do() {
    let home = new_home();
    let refused = home.snapshot(&["install", "continue"]);
    assert!(refused.contains("Continue calls no hooks") && refused.contains("hint: add --mcp"), "{refused}");
    let refused = home.snapshot(&["install", "hermes", "--project"]);
    assert!(
        refused.contains("Hermes has no project settings") && refused.contains("run without --project"),
        "{refused}"
    );
    home.run_ok(&["install", "continue", "--mcp"]);
    assert!(fs::read_to_string(home.path(".continue/config.yaml")).unwrap().contains("- name: rethread"));
}

#[test]
fn doctor_names_hooks_that_do_not_run() {
    let home = new_home();
    for agent in ["codex", "gemini", "qwen", "droid"] {
        home.run_ok(&["install", agent]);
    }
    fs::create_dir_all(home.path(".factory")).unwrap();
    let report = doctor(&home);
    assert!(report.contains("Codex does not run hooks that you have not trusted: SessionStart"), "{report}");
    assert!(report.contains("the Factory Droid hooks in") && !report.contains("disabled"), "{report}");
    home.write(".codex/config.toml", "[features]\nhooks = false\n");
    let turn_off = |path: &str, with: &str| {
        let text = fs::read_to_string(home.path(path)).unwrap();
        home.write(path, text.replacen('{', with, 1));
    };
    turn_off(".gemini/settings.json", "{\"hooksConfig\": {\"enabled\": false},");
    turn_off(".qwen/settings.json", "{\"disableAllHooks\": true,");
    home.run_ok(&["install", "droid", "--project"]);
    let report = doctor(&home);
    for message in [
        "Codex hooks are disabled: features.hooks is false in",
        "Gemini CLI hooks are disabled: hooksConfig.enabled is false in",
        "Qwen Code hooks are disabled: disableAllHooks is set in",
        "Rethread is installed twice in Factory Droid: for you and in this project",
    ] {
        assert!(report.contains(message), "{message}: {report}");
    }
}
