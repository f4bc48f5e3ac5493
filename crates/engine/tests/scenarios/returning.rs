//! Sessions that come back: resumed, run again by a script, compacted or cleared.

use rethread_model::{Agent, SessionState};
use rethread_testing::TestHome;
use serde_json::json;

use crate::session_helpers::{ANNA, BEN, archives, engine, hook, kinds, prompt, work};

/// One `claude -p --resume` run.
fn run_once(home: &TestHome, minutes: i64, text: &str) {
    hook(home, minutes, BEN, "SessionStart", &json!({"source": "resume"}));
    prompt(home, minutes, BEN, text);
    work(home, BEN, minutes, text, false);
    hook(home, minutes, BEN, "Stop", &json!({"last_assistant_message": "done"}));
    hook(home, minutes, BEN, "SessionEnd", &json!({"reason": "other"}));
}

#[test]
fn runs_with_one_prompt_share_a_period_and_its_archive() {
    // D27
    let home = TestHome::new();
    work(&home, BEN, 0, "write the docs", false);
    for minutes in [1, 5, 20] {
        run_once(&home, minutes, "and on");
        assert_eq!(
            engine(&home, minutes).sessions().resolve(BEN).unwrap().state,
            SessionState::Ended,
            "the run has ended"
        );
    }
    assert_eq!(archives(&home).len(), 0, "no run is archived by itself");
    engine(&home, 20 + 61).lifecycle().maintain().unwrap();
    assert_eq!(archives(&home).len(), 1);
    assert_eq!(
        (&archives(&home)[0]["period"], &archives(&home)[0]["endedAt"]),
        (&json!(1), &json!("2026-03-02T09:20:00.000Z"))
    );
    run_once(&home, 100, "much later");
    run_once(&home, 200, "later still");
    assert_eq!(archives(&home).len(), 2, "a period that silence ended is archived with the next run");
}

#[test]
fn run_with_several_prompts_is_archived_when_it_ends() {
    // D27
    let home = TestHome::new();
    work(&home, BEN, 0, "write the docs", false);
    hook(&home, 1, BEN, "SessionStart", &json!({"source": "startup"}));
    prompt(&home, 1, BEN, "one");
    prompt(&home, 2, BEN, "two");
    hook(&home, 3, BEN, "SessionEnd", &json!({"reason": "other"}));
    assert_eq!(archives(&home).len(), 1);
}

#[test]
fn resumed_session_gets_only_the_time_it_was_away() {
    // D27, S002-34
    let home = TestHome::new();
    work(&home, BEN, 0, "write the docs", false);
    prompt(&home, 1, BEN, "write the docs");
    hook(&home, 2, BEN, "SessionEnd", &json!({"reason": "prompt_input_exit"}));
    let injected = hook(&home, 2 + 275 * 1440, BEN, "SessionStart", &json!({"source": "resume"})).unwrap();
    assert!(injected.contains("Welcome back. Session 0000000b was idle for 275 days."), "{injected}");
    assert!(!injected.contains("write the docs") && !injected.contains("cart.rs"), "it is in its context: {injected}");
    assert_eq!(prompt(&home, 3 + 275 * 1440, BEN, "go on"), None, "once");
}

#[test]
fn paused_session_is_greeted_without_zero_seconds() {
    // D27
    let home = TestHome::new();
    work(&home, BEN, 0, "write the docs", false);
    prompt(&home, 0, BEN, "write the docs");
    assert!(engine(&home, 1).lifecycle().pause(BEN).unwrap());
    let injected = prompt(&home, 1, BEN, "go on").unwrap();
    assert!(injected.contains("Welcome back. Session 0000000b was paused."), "{injected}");
}

#[test]
fn break_after_a_compaction_brings_what_the_context_lost() {
    // D27, S002-34
    let home = TestHome::new();
    let payload = |event: &str, more: &str| {
        json!({"event": event, "session_id": BEN, "session_file": home.path("b.jsonl"), "cwd": "/app", "prompt": more})
            .to_string()
    };
    let send = |minutes: i64, event: &str, more: &str| {
        engine(&home, minutes).hooks().handle(Agent::Pi, payload(event, more).as_bytes()).unwrap()
    };
    send(0, "before_agent_start", "write the docs");
    send(1, "session_compact", "");
    let injected = send(120, "before_agent_start", "go on").unwrap().to_string();
    assert!(injected.contains("was idle for 2h 0m.") && injected.contains("Asked: write the docs"), "{injected}");
}

#[test]
fn cleared_session_passes_its_hot_memory_on() {
    // D31
    let home = TestHome::new();
    work(&home, ANNA, 0, "fix the rounding", false);
    let wrote = json!({"tool_name": "Write", "tool_input": {"file_path": "/app/b.md", "content": "one\ntwo\n"}});
    hook(&home, 0, ANNA, "PostToolUse", &wrote);
    hook(&home, 1, ANNA, "SessionEnd", &json!({"reason": "clear"}));
    let injected = hook(&home, 1, BEN, "SessionStart", &json!({"source": "clear"})).unwrap();
    assert!(injected.contains("[SESSION CONTEXT]") && injected.contains("Created b.md (2 lines)"), "{injected}");
    assert_eq!(prompt(&home, 2, BEN, "something else"), None, "once");
    assert!(kinds(&home, BEN).contains(&"session_start".to_owned()));
    let other = "cccc1011-0000-4000-8000-00000000000c";
    assert_eq!(hook(&home, 3, other, "SessionStart", &json!({"source": "clear"})), None, "that was another session");
}

#[test]
fn session_that_quit_is_not_taken_for_a_cleared_one() {
    // D31
    let home = TestHome::new();
    work(&home, ANNA, 0, "fix the rounding", false);
    hook(&home, 1, ANNA, "SessionEnd", &json!({"reason": "prompt_input_exit"}));
    assert_eq!(hook(&home, 1, BEN, "SessionStart", &json!({"source": "clear"})), None);
}

#[test]
fn session_that_ended_beside_a_cleared_one_is_still_reported() {
    // D31, D25
    let home = TestHome::new();
    let third = "cccc1011-0000-4000-8000-00000000000c";
    work(&home, ANNA, 0, "fix the rounding", false);
    work(&home, third, 0, "write the docs", false);
    hook(&home, 1, third, "SessionEnd", &json!({"reason": "prompt_input_exit"}));
    hook(&home, 1, ANNA, "SessionEnd", &json!({"reason": "clear"}));
    hook(&home, 1, BEN, "SessionStart", &json!({"source": "clear"}));
    let injected = prompt(&home, 2, BEN, "something else").unwrap();
    assert!(injected.contains("write the docs") && !injected.contains("fix the rounding"), "{injected}");
}
