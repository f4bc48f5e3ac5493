//! What is injected, into which session and how often: activity, collisions, memory, greetings.

use std::collections::BTreeSet;

use rethread_engine::{SearchRequest, SessionScope};
use rethread_model::Agent;
use rethread_testing::TestHome;
use serde_json::json;

use crate::session_helpers::{ANNA, BEN, engine, hook, prompt, transcript, work};

const CARA: &str = "cccc1011-0000-4000-8000-00000000000c";
const DORA: &str = "dddd1011-0000-4000-8000-00000000000d";
const DAY: i64 = 24 * 60;

fn edit(home: &TestHome, minutes: i64, session: &str, file: &str) -> Option<String> {
    let call = json!({"tool_name": "Edit", "tool_input": {"file_path": format!("/app/src/{file}")}});
    hook(home, minutes, session, "PreToolUse", &call)
}

fn stop(home: &TestHome, minutes: i64, session: &str) {
    hook(home, minutes, session, "Stop", &json!({}));
}

#[test]
fn sessions_over_the_limit_are_injected_with_the_next_prompt() {
    // S000-15
    // S000-09: watermarks are stored per pair of sessions.
    let home = TestHome::new();
    work(&home, BEN, 0, "write the docs", false);
    prompt(&home, 0, BEN, "go on");
    let others: Vec<String> = (1..=9).map(|number| format!("dddd{number}011-0000-4000-8000-00000000000d")).collect();
    for (number, other) in others.iter().enumerate() {
        work(&home, other, 1, &format!("job number {number} of many, each with a long prompt about it"), true);
        stop(&home, 1, other);
    }
    let mut injected = BTreeSet::new();
    for minutes in 2..9 {
        let Some(text) = prompt(&home, minutes, BEN, "and now?") else { break };
        let jobs = (0..9).filter(|number| text.contains(&format!("job number {number} ")));
        for number in jobs {
            assert!(injected.insert(number), "{number} was injected twice");
        }
    }
    assert_eq!(injected.len(), 9);
    assert_eq!(prompt(&home, 9, BEN, "and now?"), None);
}

#[test]
fn activity_over_the_token_budget_waits() {
    let home = TestHome::new();
    work(&home, BEN, 0, "write the docs", false);
    work(&home, ANNA, 1, "fix the rounding", false);
    stop(&home, 1, ANNA);
    home.write(".rethread/config.toml", "[inject]\nbudget_tokens = 15\n");
    assert_eq!(prompt(&home, 2, BEN, "go on"), None);
    home.write(".rethread/config.toml", "");
    assert!(prompt(&home, 3, BEN, "go on").unwrap().contains("fix the rounding"));
}

#[test]
fn collision_with_another_session_is_injected_once() {
    let home = TestHome::new();
    work(&home, BEN, 0, "write the docs", false);
    work(&home, ANNA, 1, "fix the rounding", false);
    for session in [BEN, ANNA] {
        stop(&home, 1, session);
    }
    // D26
    let expected = "<rethread-context>\nSession \"Fix the rounding\" changed cart.rs 2m before this edit, and this \
                    session has not read it since. Read it again and check that both changes are in it.\n\n\
                    (as of 2026-03-02 09:03 UTC)\n</rethread-context>";
    assert_eq!(edit(&home, 3, BEN, "cart.rs").unwrap(), expected);
    assert_eq!(edit(&home, 4, BEN, "cart.rs"), None, "once");
    assert_eq!(edit(&home, 4, BEN, "other.rs"), None, "no other session changed it");
    assert_eq!(edit(&home, 4, ANNA, "cart.rs"), None, "it made the last change itself");
    work(&home, CARA, 5, "a third hand", false);
    stop(&home, 5, CARA);
    assert!(edit(&home, 6, BEN, "cart.rs").unwrap().contains("A third hand"), "that is another collision");
    assert_eq!(edit(&home, 50, ANNA, "cart.rs"), None, "half an hour is long ago");
    let injected = engine(&home, 7).awareness().injections(BEN, 9).unwrap();
    assert_eq!(injected.iter().filter(|injected| injected.event == "PreToolUse").count(), 2, "each has a record");
}

#[test]
fn own_later_change_suppresses_the_collision() {
    let home = TestHome::new();
    work(&home, ANNA, 0, "fix the rounding", false);
    work(&home, BEN, 1, "round it up", false);
    for session in [ANNA, BEN] {
        stop(&home, 1, session);
    }
    assert_eq!(edit(&home, 2, BEN, "cart.rs"), None);
}

#[test]
fn queue_lines_of_the_prompt_do_not_end_idleness() {
    // S002-34
    let home = TestHome::new();
    work(&home, BEN, 0, "write the docs", false);
    stop(&home, 1, BEN);
    let line = json!({"type": "queue-operation", "operation": "enqueue", "sessionId": BEN,
        "timestamp": "2026-03-02T10:59:59.500Z", "content": "go on"});
    home.append(&transcript(BEN), format!("{line}\n"));
    let injected = prompt(&home, 120, BEN, "go on").unwrap();
    assert!(injected.contains("Welcome back. Session 0000000b was idle for 1h 59m."), "{injected}");
    assert_eq!(prompt(&home, 121, BEN, "go on"), None, "a break is greeted once");
}

#[test]
fn session_stays_in_its_project_after_a_directory_change() {
    // L000-10, E002-19
    let home = TestHome::new();
    work(&home, BEN, 0, "write the docs", false);
    stop(&home, 0, BEN);
    work(&home, ANNA, 1, "fix the rounding", false);
    stop(&home, 1, ANNA);
    let injected = hook(&home, 2, BEN, "UserPromptSubmit", &json!({"prompt": "go on", "cwd": "/elsewhere/deep"}));
    assert!(injected.unwrap().contains("fix the rounding"));
}

#[test]
fn immediate_resume_injects_nothing_known() {
    let home = TestHome::new();
    work(&home, BEN, 0, "write the docs", false);
    stop(&home, 1, BEN);
    assert_eq!(hook(&home, 2, BEN, "SessionStart", &json!({"source": "resume"})), None);
    let injected = hook(&home, 3, BEN, "SessionStart", &json!({"source": "compact"})).unwrap();
    assert!(injected.contains("[SESSION CONTEXT]") && injected.contains("src/cart.rs"), "{injected}");
}

#[test]
fn cleared_session_is_not_injected_into_its_successor() {
    let home = TestHome::new();
    work(&home, ANNA, 0, "fix the rounding", false);
    hook(&home, 1, ANNA, "SessionEnd", &json!({"reason": "clear"}));
    let injected = hook(&home, 1, BEN, "SessionStart", &json!({"source": "clear"})).unwrap();
    assert!(!injected.contains("[Session Activity]"), "{injected}");
    assert_eq!(prompt(&home, 2, BEN, "something else"), None);
    assert!(prompt(&home, 2, CARA, "hello").is_some(), "other sessions get an injection");
}

#[test]
fn matching_prompt_injects_recent_memory() {
    // E002-02, E002-03, L002-20
    let home = TestHome::new();
    work(&home, CARA, -8 * DAY, "why does the invoice checkout total lose a cent?", false);
    work(&home, ANNA, -2 * DAY, "the invoice checkout total is off by a cent, why?", false);
    for session in [CARA, ANNA] {
        stop(&home, -2 * DAY, session);
    }
    work(&home, BEN, 0, "write the docs", false);
    assert_eq!(prompt(&home, 1, BEN, "fix the changelog"), None, "nothing is close to that");
    let question = "do you know why the invoice checkout total is off by a cent?";
    let injected = prompt(&home, 2, BEN, question).unwrap();
    let line = "[MEMORY CONTEXT]\n- [2d ago] \
                \"the invoice checkout total is off by a cent, why?\" -> \"I look into it.\" (rethread show ";
    assert!(injected.contains(line), "{injected}");
    assert!(!injected.contains("lose a cent"), "old memory is not injected: {injected}");
    let asked_for = SearchRequest { text: "lose a cent".to_owned(), limit: 5, ..SearchRequest::default() };
    let found =
        engine(&home, 2).search().run(&SearchRequest { scope: SessionScope::AllProjects, ..asked_for }).unwrap();
    assert!(found.hits.iter().any(|found| found.hit.entry.text.contains("lose a cent")), "and is not lost");
    assert!(injected.contains("memory (1 recent, 1.00 of the prompt's words)"), "{injected}");
    assert_eq!(prompt(&home, 3, BEN, question), None, "nothing is injected twice");
    assert_eq!(hook(&home, 4, BEN, "SessionStart", &json!({"source": "resume"})), None);
    home.write(".rethread/config.toml", "[inject]\nmemory = false\n");
    assert_eq!(prompt(&home, 5, CARA, question).filter(|injected| injected.contains("MEMORY")), None);
}

#[test]
fn unavailable_memory_is_reported_beside_other_sections() {
    // E002-11
    let home = TestHome::new();
    work(&home, BEN, 0, "write the docs", false);
    work(&home, CARA, 1, "look at the orders", false);
    stop(&home, 1, CARA);
    // More entries than a prompt hook scans without an index.
    for minutes in 0..150 {
        work(&home, ANNA, minutes, "fix the rounding", false);
    }
    stop(&home, 150, ANNA);
    let injected = prompt(&home, 151, BEN, "what about the rounding of discounts in orders?").unwrap();
    assert!(injected.contains("(2m ago") && injected.contains("fix the rounding"), "{injected}");
    assert!(
        injected.contains("[MEMORY CONTEXT]\nwarm unavailable: the index is too far behind\n[END MEMORY]"),
        "{injected}"
    );
    engine(&home, 151).maintenance().rebuild_index().unwrap();
    work(&home, ANNA, 152, "now the tests", false);
    assert!(!prompt(&home, 153, BEN, "and?").unwrap().contains("unavailable"));
    // Entries after the last index commit are found too; a few of them do not trigger a commit.
    work(&home, DORA, 200, "does the zeppelin carry mail over the harbour?", false);
    stop(&home, 200, DORA);
    let injected = prompt(&home, 200 + DAY, BEN, "which zeppelin carries mail over the harbour?").unwrap();
    assert!(injected.contains("- [1d ago] \"does the zeppelin carry mail"), "{injected}");
}

#[test]
fn one_invalid_field_does_not_lose_the_others() {
    // L002-08, L002-19
    let home = TestHome::new();
    work(&home, ANNA, 0, "fix the rounding", false);
    stop(&home, 0, ANNA);
    let odd = json!({"prompt": "hello", "tool_name": null, "tool_input": 7, "agent_id": null, "permission_mode": []});
    assert!(hook(&home, 1, BEN, "UserPromptSubmit", &odd).is_some());
}

#[test]
fn invalid_hook_input_is_logged() {
    // E000-08, S000-28
    let home = TestHome::new();
    assert_eq!(engine(&home, 0).hooks().handle(Agent::ClaudeCode, b"{\"session_id\":").unwrap(), None);
    let logs = std::fs::read_dir(home.path(".rethread/logs")).unwrap();
    let lines: Vec<String> = logs.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap()).collect();
    assert!(lines.concat().contains("\"event\":\"hook_not_understood\""), "{lines:?}");
}

#[test]
fn concurrent_hooks_of_one_session_inject_once() {
    // L000-11, E002-20
    let home = TestHome::new();
    work(&home, BEN, 0, "write the docs", false);
    work(&home, ANNA, 1, "fix the rounding", false);
    stop(&home, 1, ANNA);
    stop(&home, 1, BEN);
    let injected: Vec<Option<String>> = std::thread::scope(|scope| {
        let hooks: Vec<_> = (0..8).map(|_| scope.spawn(|| prompt(&home, 2, BEN, "go on"))).collect();
        hooks.into_iter().map(|hook| hook.join().unwrap()).collect()
    });
    assert_eq!(injected.iter().flatten().count(), 1, "{injected:?}");
}
