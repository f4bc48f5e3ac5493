//! The first prompt of a new session brings where the last session of the project stopped.

use rethread_engine::Engine;
use rethread_model::Agent;
use rethread_recall::LAST_SESSION_BYTES;
use rethread_testing::{TestHome, TranscriptBuilder};
use serde_json::{Value, json};

use crate::session_helpers::{ANNA, BEN, at, engine, hook, prompt, transcript, work};

const HEADER: &str = "[LAST SESSION]";
const DAY: i64 = 1440;

/// A home in which a session rounded the total of a cart, and its tests failed.
fn home() -> TestHome {
    let home = TestHome::new();
    work(&home, ANNA, 0, "round the total of the cart to cents", true);
    let answer = TranscriptBuilder::new(ANNA).ids("answer").times(at(1), 0);
    home.append(&transcript(ANNA), answer.assistant("Rounded the cart total; one rounding test still fails.").build());
    home.sync();
    home
}

fn first_prompt(home: &TestHome, minutes: i64) -> String {
    prompt(home, minutes, BEN, "hello there").unwrap_or_default()
}

#[test]
fn first_prompt_brings_where_the_last_session_stopped_once() {
    // D41
    let home = home();
    let injected = first_prompt(&home, 2 * DAY);
    let block = &injected[injected.find(HEADER).unwrap()..injected.find("[END LAST SESSION]").unwrap()];
    for part in [
        "Round the total of the cart to cents\", 1d ago",
        "Outcome: \"Rounded the cart total; one rounding test still fails.",
        "Open error: `cargo test` failed when last run",
        "Changed: cart.rs",
    ] {
        assert!(block.contains(part), "{part} is not in {block}");
    }
    assert!(block.len() <= LAST_SESSION_BYTES);
    assert_eq!(prompt(&home, 2 * DAY + 1, BEN, "go on"), None, "once per session");
}

#[test]
fn session_that_just_ended_is_not_reported_as_activity_too() {
    let home = home();
    hook(&home, 3, ANNA, "SessionEnd", &json!({"reason": "prompt_input_exit"}));
    let injected = first_prompt(&home, 4);
    assert!(injected.contains(HEADER) && !injected.contains("[Session Activity]"), "{injected}");
    assert_eq!(prompt(&home, 5, BEN, "go on"), None, "nor later");
}

#[test]
fn session_that_is_still_active_is_activity() {
    let injected = first_prompt(&home(), 5);
    assert!(injected.contains("[Session Activity]") && !injected.contains(HEADER), "{injected}");
}

#[test]
fn old_sessions_and_other_projects_bring_nothing() {
    assert!(first_prompt(&home(), 29 * DAY).contains(HEADER));
    assert!(!first_prompt(&home(), 31 * DAY).contains(HEADER));
    let elsewhere = json!({"prompt": "hello there", "cwd": "/other"});
    assert_eq!(hook(&home(), 2 * DAY, BEN, "UserPromptSubmit", &elsewhere), None);
}

#[test]
fn sessions_that_are_not_new_get_nothing() {
    let home = home();
    work(&home, BEN, 10, "write the docs", false);
    assert!(!first_prompt(&home, 2 * DAY).contains(HEADER), "it had a prompt before hooks were installed");
    let start = |day: i64, session: &str, source: &str| {
        hook(&home, day * DAY, session, "SessionStart", &json!({"source": source}));
        prompt(&home, day * DAY, session, "hello there").unwrap_or_default()
    };
    assert!(start(3, "dddd1011-0000-4000-8000-00000000000d", "startup").contains(HEADER));
    assert!(!start(4, "eeee1011-0000-4000-8000-00000000000e", "clear").contains(HEADER), "the user cleared it");
    let subagent = json!({"prompt": "hello there", "agent_id": "a1"});
    assert_eq!(hook(&home, 5 * DAY, "new", "UserPromptSubmit", &subagent), None);
}

#[test]
fn prompt_that_asks_for_the_last_session_brings_it_once() {
    // D41
    let home = home();
    work(&home, BEN, DAY, "write the docs", false);
    assert!(!prompt(&home, 2 * DAY, BEN, "go on").unwrap_or_default().contains(HEADER));
    assert!(prompt(&home, 2 * DAY, BEN, "what did we work on last?").unwrap().contains(HEADER));
    assert_eq!(prompt(&home, 2 * DAY, BEN, "and what did we do in the last session?"), None);
}

#[test]
fn setting_disables_it_and_the_explanation_says_so() {
    let home = home();
    work(&home, BEN, DAY, "write the docs", false);
    home.sync();
    let explain = |engine: &Engine| engine.awareness().explain(BEN, "go on").unwrap();
    let skipped = explain(&engine(&home, 2 * DAY)).skipped;
    assert!(skipped.contains(&"last_session: this is not the first prompt of a session".to_owned()), "{skipped:?}");
    home.write(".rethread/config.toml", "[inject]\nlast_session = false\n");
    assert_eq!(prompt(&home, 3 * DAY, "dddd1011-0000-4000-8000-00000000000d", "hello there"), None);
}

#[test]
fn prompt_that_references_the_session_does_not_bring_it_twice() {
    let injected = prompt(&home(), 2 * DAY, BEN, &format!("continue @@{ANNA}")).unwrap();
    assert!(!injected.contains(HEADER) && injected.contains("cents"), "{injected}");
}

#[test]
fn every_host_that_reports_prompts_brings_it() {
    let home = home();
    let send = |agent: Agent, payload: Value| {
        let answer = engine(&home, 2 * DAY).hooks().handle(agent, payload.to_string().as_bytes()).unwrap();
        answer.map(|answer| answer.to_string()).unwrap_or_default()
    };
    let event =
        |name: &str| json!({"session_id": "s", "cwd": "/app", "hook_event_name": name, "prompt": "hello there"});
    for (agent, name) in [
        (Agent::Codex, "UserPromptSubmit"),
        (Agent::Gemini, "BeforeAgent"),
        (Agent::Kimi, "UserPromptSubmit"),
        (Agent::Droid, "UserPromptSubmit"),
    ] {
        assert!(send(agent, event(name)).contains(HEADER), "{agent:?}");
    }
    let start = json!({"session_id": "d2", "cwd": "/app", "hook_event_name": "SessionStart", "source": "startup"});
    assert!(send(Agent::Droid, start).contains(HEADER), "a host that may report no prompt");
    let mut prompt = event("UserPromptSubmit");
    prompt["session_id"] = json!("d2");
    assert!(!send(Agent::Droid, prompt).contains(HEADER), "not again with the prompt");
}
