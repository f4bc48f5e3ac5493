//! A session that asks through a tool gets what would be injected, and asks in its own turn.

use rethread_engine::AskingSession;
use rethread_model::Agent;
use rethread_testing::TestHome;
use serde_json::json;

use crate::session_helpers::{ANNA, BEN, engine, hook, prompt, work};

fn asker(external_id: &str) -> AskingSession {
    AskingSession { agent: Agent::ClaudeCode, external_id: external_id.to_owned(), turn: None, is_subagent: false }
}

#[test]
fn tools_and_injections_share_watermarks() {
    let home = TestHome::new();
    work(&home, BEN, 0, "write the docs", false);
    assert_eq!(prompt(&home, 1, BEN, "go on"), None);
    work(&home, ANNA, 5, "fix the rounding", true);
    let subagent = AskingSession { is_subagent: true, ..asker(BEN) };
    for asker in [&subagent, &asker(BEN)] {
        let activity = engine(&home, 6).awareness().activity_for(asker).unwrap().unwrap();
        assert!(
            activity.text.contains("fix the rounding") && !activity.text.contains("write the docs"),
            "{}",
            activity.text
        );
    }
    assert_eq!(engine(&home, 7).awareness().activity_for(&asker(BEN)).unwrap(), None);
    assert_eq!(prompt(&home, 8, BEN, "and now?"), None, "it was reported");
    work(&home, ANNA, 9, "now the tests", false);
    assert!(prompt(&home, 10, BEN, "and now?").unwrap().contains("now the tests"));
    assert_eq!(engine(&home, 11).awareness().activity_for(&asker(BEN)).unwrap(), None, "it was injected");
}

#[test]
fn a_turn_is_named_by_the_agent_or_begins_with_a_prompt() {
    let home = TestHome::new();
    let turn = |asker: &AskingSession| engine(&home, 9).awareness().turn_of(asker).unwrap();
    let named = AskingSession { turn: Some("t1".to_owned()), ..asker("s") };
    assert_eq!(turn(&named).as_deref(), Some("s/t1"));
    assert_eq!(turn(&asker(BEN)), None, "nothing is known of the session");
    prompt(&home, 1, BEN, "one");
    let first = turn(&asker(BEN)).unwrap();
    hook(&home, 2, BEN, "Stop", &json!({}));
    assert_eq!(turn(&asker(BEN)).as_ref(), Some(&first));
    prompt(&home, 3, BEN, "two");
    assert_ne!(turn(&asker(BEN)), Some(first));
}

#[test]
fn only_an_ended_session_has_ended() {
    let home = TestHome::new();
    let has_ended = |id: &str| engine(&home, 9).awareness().has_ended(&asker(id)).unwrap();
    assert!(!has_ended(BEN), "there is no store");
    prompt(&home, 1, BEN, "one");
    assert!(!has_ended(BEN) && !has_ended(ANNA));
    hook(&home, 2, BEN, "SessionEnd", &json!({"reason": "clear"}));
    assert!(has_ended(BEN));
    prompt(&home, 3, BEN, "resumed");
    assert!(!has_ended(BEN));
}
