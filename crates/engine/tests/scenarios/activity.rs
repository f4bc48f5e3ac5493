//! What a prompt hook reports about other sessions: new ones, replaced transcripts, sub-agents, a first look.

use std::fs;

use rethread_engine::SyncRequest;
use rethread_model::Agent;
use rethread_testing::{
    PiTranscriptBuilder, TestHome, TranscriptBuilder, text_block, tool_call_block, tool_result_block,
};
use serde_json::json;

use crate::session_helpers::{ANNA, BEN, at, engine, hook, prompt, store, transcript, work};

/// Lines of a session that asks, edits one file and answers.
fn edit_lines(session: &str, minutes: i64, ask: &str, path: &str) -> TranscriptBuilder {
    let call = format!("toolu_{session}{minutes}");
    TranscriptBuilder::new(session)
        .ids(&format!("{session}-{minutes}"))
        .times(at(minutes), 0)
        .user(ask)
        .assistant_blocks(&[text_block("On it."), tool_call_block(&call, "Edit", &json!({"file_path": path}))])
        .tool_result(&call, "ok", false)
}

/// A line of a sub-agent that edits a file.
fn subagent_lines(minutes: i64, path: &str) -> String {
    let id = format!("toolu_sub{minutes}");
    let lines = TranscriptBuilder::new(ANNA)
        .ids(&format!("sub-{minutes}"))
        .times(at(minutes), 0)
        .user("You are a sub-agent: repair the file.")
        .assistant_blocks(&[tool_call_block(&id, "Edit", &json!({"file_path": path}))])
        .user(vec![tool_result_block(&id, "ok", false)])
        .build();
    lines.replace("\"sessionId\":", "\"isSidechain\":true,\"agentId\":\"a1b2c3d4\",\"sessionId\":")
}

#[test]
fn a_session_that_no_sync_and_no_hook_has_seen_is_reported() {
    // D22, S000-24
    let home = TestHome::new();
    work(&home, BEN, 0, "write the docs", false);
    assert_eq!(prompt(&home, 1, BEN, "go on"), None);
    work(&home, ANNA, 2, "fix the rounding", false);
    let injected = prompt(&home, 2, BEN, "and now?").unwrap();
    assert!(injected.contains("\"fix the rounding\" -> updated src/cart.rs, ran cargo test"), "{injected}");
    assert_eq!(prompt(&home, 3, BEN, "again"), None, "once");
}

#[test]
fn a_new_session_of_another_agent_is_reported() {
    // D22, S000-24
    let home = TestHome::new();
    work(&home, BEN, 0, "write the docs", false);
    let lines =
        PiTranscriptBuilder::new("pi-1", "/app", "2026-03-02T09:01:00Z").user("check the links").assistant("All fine.");
    home.write(".pi/agent/sessions/--app--/2026-03-02T09-01-00-000Z_pi-1.jsonl", lines.build());
    let injected = prompt(&home, 2, BEN, "go on").unwrap();
    assert!(injected.contains("messages, pi") && injected.contains("\"check the links\" -> answered"), "{injected}");
}

#[test]
fn a_transcript_too_long_to_read_now_does_not_delay_the_prompt() {
    // D22
    let home = TestHome::new();
    work(&home, BEN, 0, "write the docs", false);
    let long = "words ".repeat(1_000_000);
    home.write(&transcript(ANNA), edit_lines(ANNA, 1, &long, "/app/a.rs").build());
    assert_eq!(prompt(&home, 2, BEN, "go on"), None);
    home.engine_at(at(3)).sync().run(&SyncRequest::default(), &mut |_| {}).unwrap();
    assert!(prompt(&home, 3, BEN, "and now?").unwrap().contains("updated a.rs"));
}

#[test]
fn a_replaced_transcript_is_reported_from_its_start_once() {
    // D20, S000-12, L000-03
    let home = TestHome::new();
    work(&home, BEN, 0, "write the docs", false);
    let first = edit_lines(ANNA, 1, "fix the rounding", "/app/cart.rs").build();
    home.write(&transcript(ANNA), &first);
    assert!(prompt(&home, 2, BEN, "go on").unwrap().contains("cart.rs"));
    assert_eq!(prompt(&home, 3, BEN, "go on"), None);
    let same_length = first.replace("fix the rounding", "add the currency").replace("cart.rs", "cash.rs");
    assert_eq!(first.len(), same_length.len());
    let longer = edit_lines(ANNA, 1, "start over with the whole thing", "/app/basket.rs").assistant("Done.").build();
    for (text, expect) in [(same_length, "\"add the currency\" -> updated cash.rs"), (longer, "basket.rs")] {
        fs::remove_file(home.path(&transcript(ANNA))).unwrap();
        home.write(&transcript(ANNA), &text);
        let injected = prompt(&home, 4, BEN, "go on").unwrap();
        assert!(injected.contains(expect), "{injected}");
        assert_eq!(prompt(&home, 5, BEN, "go on"), None, "once");
    }
    engine(&home, 6).maintenance().rebuild(&mut |_| {}).unwrap();
    assert_eq!(prompt(&home, 6, BEN, "go on"), None, "the same transcript read again is not a new one");
}

#[test]
fn edits_of_a_sub_agent_count_as_those_of_its_session() {
    // D23
    for path in [
        format!(".claude/projects/-app/{ANNA}/subagents/agent-a1b2c3d4.jsonl"),
        ".claude/projects/-app/agent-a1b2c3d4.jsonl".to_owned(),
    ] {
        let home = TestHome::new();
        work(&home, BEN, 0, "write the docs", false);
        work(&home, ANNA, 1, "fix the rounding", false);
        assert!(prompt(&home, 2, BEN, "go on").is_some());
        home.append(&path, subagent_lines(3, "/app/docs/guide.md"));
        let edit = json!({"tool_name": "Edit", "tool_input": {"file_path": "/app/docs/guide.md"}});
        let notice = hook(&home, 3, BEN, "PreToolUse", &edit).unwrap();
        assert!(notice.contains("guide.md"), "a collision: {notice}");
        let injected = prompt(&home, 4, BEN, "and now?").unwrap();
        assert!(injected.contains("-> updated docs/guide.md"), "{injected}");
        assert!(!injected.contains("You are a sub-agent"), "what its session told it is not a prompt: {injected}");
        assert_eq!(prompt(&home, 5, BEN, "again"), None, "once");
        home.append(&path, subagent_lines(6, "/app/docs/index.md"));
        assert!(prompt(&home, 7, BEN, "and now?").unwrap().contains("-> updated docs/index.md"));
    }
}

#[test]
fn hooks_of_a_sub_agent_speak_for_its_session() {
    // D23
    let home = TestHome::new();
    work(&home, BEN, 0, "write the docs", false);
    work(&home, ANNA, 1, "fix the rounding", false);
    let edit = |agent: Option<&str>| json!({"tool_name": "Edit", "tool_input": {"file_path": "/app/src/cart.rs"}, "agent_id": agent});
    hook(&home, 1, BEN, "PostToolUse", &edit(Some("a1")));
    let hot = store(&home).hot_memory(crate::session_helpers::key(BEN), at(0)).unwrap();
    assert_eq!(hot.len(), 1, "an edit of the sub-agent is in the session's memory: {hot:?}");
    assert!(hook(&home, 2, BEN, "PreToolUse", &edit(Some("a1"))).is_some(), "Anna changed the file");
    assert_eq!(hook(&home, 2, BEN, "PreToolUse", &edit(Some("a1"))), None, "once");
    assert!(hook(&home, 2, BEN, "PreToolUse", &edit(Some("b2"))).is_some(), "each sub-agent has its own context");
}

#[test]
fn sessions_without_a_reaction_are_reported_with_it() {
    // D25
    let home = TestHome::new();
    work(&home, BEN, 0, "write the docs", false);
    home.append(&transcript(ANNA), TranscriptBuilder::new(ANNA).ids("a").times(at(1), 0).user("anyone there?").build());
    assert_eq!(prompt(&home, 2, BEN, "go on"), None, "nothing happened yet");
    home.append(
        &transcript(ANNA),
        TranscriptBuilder::new(ANNA).ids("b").times(at(3), 0).assistant("Yes, I am here.").build(),
    );
    let injected = prompt(&home, 4, BEN, "go on").unwrap();
    assert!(injected.contains("\"anyone there?\" -> answered \"Yes, I am here.\""), "{injected}");
}

#[test]
fn the_first_look_of_a_session_is_one_bounded_block() {
    // D25, L000-05
    let home = TestHome::new();
    let names: Vec<String> = (0..12).map(|number| format!("cccc{number:04}-0000-4000-8000-00000000000c")).collect();
    for name in &names {
        work(&home, name, 1, &format!("a long story about {name} that needs room"), false);
    }
    let injected = prompt(&home, 2, BEN, "hello").unwrap();
    assert!(injected.contains("more sessions") && injected.chars().count() < 700, "{injected}");
    assert_eq!(prompt(&home, 3, BEN, "go on"), None, "the backlog is not delivered in parts");
    for name in &names {
        work(&home, name, 4, "more of it, and it needs a lot of room again", false);
    }
    assert!(prompt(&home, 5, BEN, "go on").unwrap().contains("more sessions"));
    assert!(prompt(&home, 6, BEN, "go on").is_some(), "later, what did not fit comes with the next prompt");
}

#[test]
fn activity_is_reported_even_if_it_cannot_be_recorded() {
    // E000-05
    let home = TestHome::new();
    work(&home, BEN, 0, "write the docs", false);
    work(&home, ANNA, 0, "fix the rounding", false);
    home.sync();
    let mut other_process = store(&home);
    let lock = other_process.begin().unwrap();
    let payload = json!({"session_id": BEN, "transcript_path": home.path(&transcript(BEN)), "cwd": "/app",
        "hook_event_name": "UserPromptSubmit", "prompt": "go on"});
    let hook = || {
        let engine = engine(&home, 1).with_hook_timeout(std::time::Duration::from_millis(1));
        engine
            .hooks()
            .handle(Agent::ClaudeCode, payload.to_string().as_bytes())
            .unwrap()
            .map(|answer| answer.to_string())
    };
    assert!(hook().unwrap().contains("fix the rounding"));
    assert_eq!(hook(), None, "its event waits behind the first one");
    drop(lock);
    assert!(hook().unwrap().contains("fix the rounding"), "at worst it is repeated");
    assert_eq!(hook(), None);
}

#[test]
fn a_hook_without_a_session_is_skipped_and_logged() {
    // S000-28
    let home = TestHome::new();
    assert_eq!(
        engine(&home, 0)
            .hooks()
            .handle(Agent::ClaudeCode, br#"{"hook_event_name":"UserPromptSubmit","prompt":"x"}"#)
            .unwrap(),
        None
    );
    assert_eq!(
        engine(&home, 0)
            .hooks()
            .handle(Agent::Pi, br#"{"event":"before_agent_start","session_file":"/x","prompt":"x"}"#)
            .unwrap(),
        None
    );
    let logged: Vec<_> =
        home.log_events().into_iter().filter(|event| event["event"] == "hook_without_session").collect();
    assert_eq!(logged.len(), 2, "{:?}", home.log_events());
}

#[test]
fn turns_of_other_sessions_are_listed_since_the_last_own_turn() {
    // E000-10, E000-11
    let home = TestHome::new();
    work(&home, ANNA, 0, "an old story", false);
    work(&home, BEN, 10, "write the docs", false);
    work(&home, ANNA, 20, "fix the rounding", false);
    work(&home, ANNA, 30, "now the tests", true);
    home.sync();
    let engine = engine(&home, 31);
    let listed = engine.awareness().turn_history(BEN).unwrap().unwrap();
    let lines: Vec<&str> = listed.lines().collect();
    assert_eq!(lines.len(), 3, "{listed}");
    assert!(lines[1].contains("\"now the tests\" -> updated src/cart.rs, ran cargo test (failed)"), "{listed}");
    assert!(lines[2].contains("(11m ago") && lines[2].contains("\"fix the rounding\""), "{listed}");
    assert_eq!(engine.awareness().turn_history(BEN).unwrap().unwrap(), listed, "nothing is marked as read");
    assert_eq!(engine.awareness().turn_history(ANNA).unwrap(), None);
}
