//! The pi extension: nothing of it throws into pi, also after its session was replaced.

use std::path::Path;
use std::process::Command;

use rethread_testing::{PiTranscriptBuilder, StubModel, StubReply, TestHome};
use serde_json::{Value, json};

use crate::transcripts::new_home;

const EXTENSION: &str = ".pi/agent/extensions/rethread.ts";
const DRIVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/pi_extension.mjs");

const SESSION: &str = "0199aaaa-0000-7000-8000-00000000000a";

/// Runs the installed extension in Node against a stub of pi. `None` if there is no Node.
fn drive(home: &TestHome) -> Option<Value> {
    let lines = PiTranscriptBuilder::new(SESSION, "/app", "2026-03-02T09:00:00.000Z").user("polish the kettle");
    home.write(&format!(".pi/agent/sessions/--app--/2026-03-02T09-00-00-000Z_{SESSION}.jsonl"), lines.build());
    home.run_ok(&["sync"]);
    home.run_ok(&["install", "pi"]);
    // It is plain JavaScript; Node decides by the name.
    home.write("extension.mjs", home.read(EXTENSION));
    let mut node = Command::new("node");
    home.isolate(&mut node);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let done = node.env("PATH", path).arg(DRIVER).arg(home.path("extension.mjs")).output().ok()?;
    let (stdout, stderr) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    let report: Value = serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}{stderr}"));
    assert_eq!((&report["problems"], done.status.code()), (&json!([]), Some(0)), "{report:#}");
    Some(report)
}

#[test]
fn nothing_is_thrown_into_pi_when_a_session_is_replaced() {
    // D19, S001-18
    let Some(report) = drive(&new_home()) else { return };
    assert_eq!((&report["waiting"], &report["left"]), (&json!([5000]), &json!(0)), "the status timer is stopped");
    let text = "index-session: no new card: no language model configured";
    assert_eq!(report["shown"][0], json!({"key": "session-index", "text": text}), "{report:#}");
    assert_eq!((&report["suggestions"], &report["name"]), (&Value::Null, &Value::Null));
}

#[test]
fn pi_shows_the_cost_of_a_new_card_and_its_name() {
    // S001-18, E001-08, E001-10
    let home = new_home();
    let card = json!({"name": "Polish the kettle", "description": "It was polished.", "summary": "## Goal\nPolish it.",
        "tags": ["kettle", "polish", "kitchen"]});
    let model = StubModel::with_replies(vec![StubReply::json(&card)]);
    for (key, value) in model.settings() {
        home.run_ok(&["config", "set", &key, &value]);
    }
    let Some(report) = drive(&home) else { return };
    let shown = report["shown"][0]["text"].as_str().unwrap();
    assert!(shown.starts_with("card written: Polish the kettle ($0.0"), "{report:#}");
    assert_eq!(report["name"], "Polish the kettle");
}

#[test]
fn every_handler_and_timer_of_the_pi_extension_is_guarded() {
    // D19
    let home = new_home();
    home.run_ok(&["install", "pi"]);
    let text = home.read(EXTENSION);
    let code: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with(['/', '*'])).collect();
    let lines_with = |words: &str| code.iter().filter(|line| line.contains(words)).copied().collect::<Vec<_>>();
    for (words, guards) in [
        ("pi.on(", &["guarded("][..]),
        ("pi.registerCommand(", &["guarded("]),
        ("setTimeout(", &["=> attempt(", "setTimeout(stop, "]),
        ("pi.sendMessage(", &["attempt("]),
    ] {
        let found = lines_with(words);
        assert!(!found.is_empty(), "{words}");
        assert!(found.iter().all(|line| guards.iter().any(|guard| line.contains(guard))), "{found:#?}");
    }
    assert!(Path::new(DRIVER).exists());
}
