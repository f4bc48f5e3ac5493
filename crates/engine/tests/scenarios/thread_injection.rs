//! Activity and references in threads: of agents, of other threads, and of threads in agents.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use rethread_engine::{Clock, Engine, Environment, NewMessage};
use rethread_model::thread::{ChatRole, ContentBlock, ThreadRecord};
use rethread_testing::{StubModel, StubReply, TestHome};
use serde_json::Value;

use crate::session_helpers::{ANNA, BEN, at, prompt, work};
use crate::turns::{environment, log, send, thread};

/// An engine with a model in the project of Anna and Ben.
fn engine_in_app(home: &TestHome, server: &StubModel, minutes: i64, more: &[(&str, &str)]) -> Engine {
    let environment = environment(home, server, more);
    Engine::open(Environment { clock: Clock::Frozen(at(minutes)), cwd: "/app".into(), ..environment }).unwrap()
}

fn replies(count: usize) -> StubModel {
    StubModel::with_replies((0..count).map(|_| StubReply::text("I see.")).collect())
}

fn injection(record: &ThreadRecord) -> &str {
    match record {
        ThreadRecord::Injection(injection) => &injection.text,
        _ => panic!("not an injection: {record:?}"),
    }
}

/// The last message of a request.
fn last_content(body: &Value) -> String {
    body["messages"].as_array().unwrap().last().unwrap()["content"].to_string()
}

#[test]
fn activity_of_agents_is_injected_into_a_thread() {
    // D32
    let home = TestHome::new();
    work(&home, BEN, 0, "round the discounts", false);
    home.sync();
    let server = replies(2);
    let engine = engine_in_app(&home, &server, 1, &[]);
    let id = thread(&engine);
    send(&engine, &id, "what is new?").unwrap();
    send(&engine, &id, "and now?").unwrap();
    let records = log(&home, &id);
    let text = injection(&records[0]);
    assert!(text.contains("[Session Activity]") && text.contains("round the discounts"), "{text}");
    let messages: Vec<&str> = records
        .iter()
        .filter_map(|record| record.message())
        .map(|one| match one.role {
            ChatRole::User => "user",
            _ => "answer",
        })
        .collect();
    assert_eq!((records.len(), messages.join(" ").as_str()), (5, "user answer user answer"), "injected once");
    let bodies = server.bodies();
    let first = last_content(&bodies[0]);
    assert!(first.contains("round the discounts") && first.contains("what is new?"), "{first}");
    assert!(!last_content(&bodies[1]).contains("discounts"), "it belongs to the first message");
    let shown = engine.threads().context(&id).unwrap();
    assert!(shown.messages[0].text().contains("[Session Activity]"));
    // The injected text is never read back.
    engine.threads().sync(id.parse().unwrap()).unwrap();
    let entries = engine.sessions().show(&id, rethread_engine::ShowRequest::default()).unwrap().entries;
    assert!(entries.iter().all(|entry| !entry.text.contains("discounts")), "{entries:?}");
}

#[test]
fn a_reference_in_a_thread_is_resolved() {
    // D32
    let home = TestHome::new();
    work(&home, BEN, 0, "round the discounts", false);
    home.sync();
    home.engine().lifecycle().set_alias(BEN, "rounding").unwrap();
    let server = replies(1);
    // Long after the session ended, so that only the reference is injected.
    let engine = engine_in_app(&home, &server, 3 * 24 * 60, &[]);
    let id = thread(&engine);
    send(&engine, &id, "as in @@rounding please").unwrap();
    let records = log(&home, &id);
    assert!(injection(&records[0]).contains("Referenced session summaries:"), "{records:?}");
    assert!(last_content(&server.bodies()[0]).contains("Referenced session summaries:"));
}

#[test]
fn threads_are_reported_to_agents_and_to_each_other() {
    // D32
    let home = TestHome::new();
    let server = replies(2);
    let engine = engine_in_app(&home, &server, 0, &[]);
    let (first, second) = (thread(&engine), thread(&engine));
    send(&engine, &first, "plan the release of the cart").unwrap();
    engine.threads().sync(first.parse().unwrap()).unwrap();
    send(&engine, &second, "what is going on?").unwrap();
    let injected = injection(&log(&home, &second)[0]).to_owned();
    assert!(injected.contains("plan the release of the cart"), "{injected}");
    work(&home, ANNA, 1, "fix the cart", false);
    let injected = prompt(&home, 2, ANNA, "go on").unwrap();
    assert!(injected.contains("plan the release of the cart"), "{injected}");
}

#[test]
fn activity_can_be_turned_off_for_threads_too() {
    // D32
    let home = TestHome::new();
    work(&home, BEN, 0, "round the discounts", false);
    home.sync();
    let server = replies(1);
    let engine = engine_in_app(&home, &server, 1, &[("inject.activity", "false")]);
    let id = thread(&engine);
    send(&engine, &id, "what is new?").unwrap();
    assert_eq!(log(&home, &id).len(), 2);
}

#[test]
fn reasoning_in_an_answer_is_not_stored() {
    // D59, L004-04
    let home = TestHome::new();
    let server = StubModel::with_replies(vec![StubReply::text("<think>\nhm\n</think>\n\nForty-two.")]);
    let engine = engine_in_app(&home, &server, 0, &[]);
    let id = thread(&engine);
    let report = send(&engine, &id, "what is it?").unwrap();
    assert_eq!(report.messages[1].text(), "Forty-two.");
    let content = vec![
        ContentBlock::text("<think>so</think>Yes."),
        ContentBlock::Other(serde_json::json!({"type": "thinking", "thinking": "so"})),
    ];
    let message =
        NewMessage { role: ChatRole::Assistant, content, tool_call_id: None, is_error: false, client_id: None };
    let appended = engine.threads().open(&id).unwrap().append(message).unwrap();
    assert_eq!(appended.content, [ContentBlock::text("Yes.")]);
}
