//! Events of sessions, sessions known only from hooks, and labels that must not look like activity.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use rethread_engine::{EventOrigin, SessionEvents, SessionListRequest};
use rethread_model::SessionState;
use rethread_testing::TestHome;
use serde_json::json;

use crate::session_helpers::{BEN, archives, at, engine, hook, prompt, work};

const DAY: i64 = 24 * 60;

fn state(home: &TestHome, minutes: i64) -> SessionState {
    engine(home, minutes).sessions().resolve(BEN).unwrap().state
}

fn kinds_of(found: &SessionEvents) -> Vec<&str> {
    found.events.iter().map(|event| event.kind.as_str()).collect()
}

fn edit(home: &TestHome, minutes: i64, file: &str) {
    let call = json!({"tool_name": "Edit", "tool_input": {"file_path": file, "old_string": "a", "new_string": "b"}});
    hook(home, minutes, BEN, "PostToolUse", &call);
}

#[test]
fn a_label_neither_starts_nor_resumes_a_session() {
    // D24, S002-12, S002-16
    let label = |home: &TestHome, minutes: i64| {
        let engine = engine(home, minutes);
        engine.lifecycle().set_task(BEN, "ship it").unwrap();
        engine.lifecycle().set_name(BEN, "the docs").unwrap();
        engine.lifecycle().add_note(BEN, "ask Anna").unwrap();
        engine.lifecycle().set_alias(BEN, "docs").unwrap();
        assert_eq!(state(home, minutes), SessionState::Ended);
    };
    // A session without hooks.
    let home = TestHome::new();
    work(&home, BEN, 0, "write the docs", false);
    home.sync();
    label(&home, 3 * DAY);
    assert_eq!(engine(&home, 3 * DAY).sessions().resolve(BEN).unwrap().session.name.as_deref(), Some("the docs"));
    assert_eq!(engine(&home, 4 * DAY).lifecycle().maintain().unwrap().archived, 0);
    assert!(archives(&home).is_empty(), "nothing happened, so there is nothing to archive");
    // A session that its agent ended.
    let home = TestHome::new();
    work(&home, BEN, 0, "write the docs", false);
    prompt(&home, 1, BEN, "write the docs");
    hook(&home, 2, BEN, "SessionEnd", &json!({"reason": "prompt_input_exit"}));
    label(&home, 3);
    assert_eq!(engine(&home, DAY).lifecycle().maintain().unwrap().archived, 0);
    assert_eq!(archives(&home).len(), 1);
    assert_eq!(state(&home, DAY), SessionState::Ended);
    let injected = prompt(&home, 4, BEN, "go on").unwrap();
    assert!(injected.contains("ship it") && injected.contains("ask Anna"), "{injected}");
}

#[test]
fn ending_an_unknown_session_archives_nothing() {
    // D24, S002-16
    let home = TestHome::new();
    hook(&home, 0, BEN, "SessionEnd", &json!({"reason": "other"}));
    assert!(archives(&home).is_empty());
    assert!(engine(&home, 1).sessions().resolve(BEN).is_err());
}

#[test]
fn a_session_known_only_from_hooks_is_a_session() {
    // D28, S002-05, S002-15, S002-18
    let home = TestHome::new();
    hook(&home, 0, BEN, "SessionStart", &json!({"source": "startup"}));
    let all = SessionListRequest { include_empty: true, ..SessionListRequest::default() };
    let listed = |request: &SessionListRequest| engine(&home, 1).sessions().list(request).unwrap();
    assert!(listed(&SessionListRequest::default()).is_empty(), "nothing happened in it");
    assert_eq!(listed(&all).len(), 1);
    prompt(&home, 1, BEN, "write the docs");
    edit(&home, 2, "/app/src/cart.rs");
    edit(&home, 2, "/app/src/tax.rs");
    edit(&home, 2, "/app/src/cart.rs");
    let sessions = listed(&SessionListRequest::default());
    assert_eq!((sessions.len(), sessions[0].state), (1, SessionState::Active));
    assert_eq!(sessions[0].session.project.as_deref(), Some("/app"));
    let summary = engine(&home, 3).awareness().explain(BEN, "go on").unwrap().session;
    assert_eq!((summary.files, summary.tools), (vec!["src/cart.rs".into(), "src/tax.rs".into()], vec!["Edit".into()]));
    assert!(engine(&home, 3).lifecycle().pause(BEN).unwrap());
    assert_eq!(state(&home, 3), SessionState::Suspended);
    assert!(prompt(&home, 4, BEN, "go on").unwrap().contains("Welcome back."));
    engine(&home, 5).lifecycle().set_name(BEN, "docs").unwrap();
    assert!(engine(&home, 5).lifecycle().end("docs").unwrap().unwrap().archive_path.is_some());
    let archived = &archives(&home)[0];
    assert_eq!(
        (&archived["state"], &archived["cwd"], &archived["project"]),
        (&json!("ended"), &json!("/app"), &json!("/app"))
    );
    assert_eq!((&archived["files"], &archived["tools"]), (&json!(["src/cart.rs", "src/tax.rs"]), &json!(["Edit"])));
    assert_eq!(engine(&home, 5).maintenance().verify().unwrap().damage, []);
    // The transcript completes the same session.
    work(&home, BEN, 6, "write the docs", false);
    home.sync();
    let sessions = listed(&all);
    assert_eq!((sessions.len(), sessions[0].session.counts.prompts), (1, 1));
    assert_eq!(sessions[0].session.name.as_deref(), Some("docs"));
}

#[test]
fn hooks_of_a_forgotten_session_do_not_bring_it_back() {
    // D28
    let home = TestHome::new();
    prompt(&home, 0, BEN, "write the docs");
    let target = rethread_engine::ForgetTarget::Sessions(vec![BEN.to_owned()]);
    engine(&home, 1).forget().run(&target).unwrap();
    prompt(&home, 2, BEN, "write the docs");
    let all = SessionListRequest { include_empty: true, ..SessionListRequest::default() };
    assert!(engine(&home, 3).sessions().list(&all).unwrap().is_empty());
}

#[test]
fn events_of_a_session_can_be_read() {
    // D28, S002-04, S002-05, S002-08
    let home = TestHome::new();
    prompt(&home, 0, BEN, "write the docs");
    edit(&home, 1, "/app/src/cart.rs");
    hook(&home, 2, BEN, "Stop", &json!({"last_assistant_message": "done"}));
    let found = engine(&home, 3).lifecycle().events(BEN).unwrap();
    let expected = ["session_start", "prompt_submitted", "tool_executed", "response_completed"];
    assert_eq!((kinds_of(&found), found.total, found.origin), (expected.to_vec(), 4, EventOrigin::Hooks));
    assert_eq!((found.events[1].at, found.events[1].detail.as_str()), (at(0), "write the docs"));
    // Silence shows before anything records it.
    let idle = engine(&home, 40).lifecycle().events(BEN).unwrap();
    assert_eq!(idle.events.last().map(|event| (event.kind.as_str(), event.at)), Some(("session_idle", at(32))));
    let ended = engine(&home, DAY).lifecycle().events(BEN).unwrap();
    assert_eq!(ended.events.last().map(|event| (event.kind.as_str(), event.at)), Some(("session_end", at(2))));
    engine(&home, DAY).lifecycle().maintain().unwrap();
    let recorded = engine(&home, DAY).lifecycle().events(BEN).unwrap();
    assert_eq!((kinds_of(&recorded), recorded.total), (kinds_of(&ended), ended.total), "the same when it is recorded");
}

#[test]
fn an_archive_has_the_last_fifty_events() {
    // D28, S002-08
    let home = TestHome::new();
    prompt(&home, 0, BEN, "write the docs");
    for number in 0..60 {
        edit(&home, 1, &format!("/app/src/{number}.rs"));
    }
    hook(&home, 2, BEN, "SessionEnd", &json!({"reason": "logout"}));
    let archived = &archives(&home)[0];
    let events = archived["lastEvents"].as_array().unwrap();
    assert_eq!((events.len(), &archived["events"]), (50, &json!(63)));
    assert_eq!(events[49], json!({"at": at(2).to_string(), "kind": "session_end", "text": "logout"}));
    assert_eq!(events[48]["text"], "Edit src/59.rs (0 characters)");
}

#[test]
fn events_of_a_session_without_hooks_come_from_its_transcript() {
    // D28, S002-04
    let home = TestHome::new();
    work(&home, BEN, 0, "write the docs", false);
    work(&home, BEN, 45, "and the tests", false);
    work(&home, BEN, 200, "and the release", true);
    home.sync();
    let found = engine(&home, 201).lifecycle().events(BEN).unwrap();
    let turn = ["prompt_submitted", "tool_executed", "tool_executed"];
    let expected = [
        &["session_start"][..],
        &turn,
        &["session_idle", "session_resume"],
        &turn,
        &["session_end", "session_start"],
        &turn,
    ];
    assert_eq!((kinds_of(&found), found.origin), (expected.concat(), EventOrigin::Transcript));
    assert_eq!(found.events[2].detail, "Edit /app/src/cart.rs");
    assert_eq!((found.events[4].at, found.events[5].at), (at(30), at(45)));
}

#[test]
fn a_break_is_noticed_in_a_session_known_only_from_hooks() {
    // D28, S002-13
    let home = TestHome::new();
    prompt(&home, 0, BEN, "write the docs");
    edit(&home, 40, "/app/src/cart.rs");
    let found = engine(&home, 41).lifecycle().events(BEN).unwrap();
    let expected = ["session_start", "prompt_submitted", "session_idle", "session_resume", "tool_executed"];
    assert_eq!(kinds_of(&found), expected);
}
