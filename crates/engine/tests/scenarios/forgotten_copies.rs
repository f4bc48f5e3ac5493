//! Copies of forgotten entries stay out, whatever ids they have.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use rethread_engine::ForgetTarget;
use rethread_testing::{PiTranscriptBuilder, TestHome, TranscriptBuilder};
use serde_json::json;

const ORIGINAL: &str = "0f1e2d3c-0000-4000-8000-000000000011";
const FORK: &str = "0f1e2d3c-0000-4000-8000-000000000012";

fn file(session: &str) -> String {
    format!(".claude/projects/-app/{session}.jsonl")
}

/// Forgets a session, then reads another file that copies its lines and goes on.
fn fork_after_forgetting(original: (&str, &str), copy: (&str, &str)) -> TestHome {
    let home = TestHome::new();
    home.write(original.0, original.1);
    home.sync();
    let listed = home.engine().forget().plan(&ForgetTarget::Matching("heron".to_owned())).unwrap();
    assert!(!listed.is_empty(), "the original has it");
    let session = listed.partial_sessions[0].id.to_string();
    home.engine().forget().run(&ForgetTarget::Sessions(vec![session])).unwrap();
    home.write(copy.0, copy.1);
    home.sync();
    home
}

fn assert_only_new_text(home: &TestHome) {
    let left = home.engine().forget().plan(&ForgetTarget::Matching("heron".to_owned())).unwrap();
    assert!(left.is_empty(), "{:?}", left.removed);
    assert!(home.dump().contains("something quite different"), "what is new in the copy is read");
}

#[test]
fn fork_with_short_tool_ids_does_not_bring_forgotten_text_back() {
    // D65
    for id in ["call_1", "tooluse_abc", "chatcmpl-tool-0123456789abcdef"] {
        let lines = TranscriptBuilder::new(ORIGINAL)
            .uuids()
            .user("where is the heron")
            .tool_call(id, "Bash", &json!({"command": "find heron"}))
            .tool_result(id, "a heron in the reeds", true)
            .assistant("The heron is in the reeds.");
        let original = lines.clone().build();
        let fork = lines.user("something quite different").build().replace(ORIGINAL, FORK);
        let fork = fork.replace("msg_0f1e2d3c-0000-4000-8000-000000000012", "msg_0f1e2d3c-0000-4000-8000-000000000011");
        let home = fork_after_forgetting((&file(ORIGINAL), &original), (&file(FORK), &fork));
        assert_only_new_text(&home);
    }
}

#[test]
fn fork_with_new_line_ids_does_not_bring_forgotten_text_back() {
    // D65: time and content are the same, every id is another one.
    let lines = |ids: &str, session: &str| {
        TranscriptBuilder::new(session)
            .ids(ids)
            .user("where is the heron")
            .tool_call(&format!("call_{ids}"), "Bash", &json!({"command": "find heron"}))
            .tool_result(&format!("call_{ids}"), "a heron in the reeds", true)
            .assistant("The heron is in the reeds.")
    };
    let original = lines("a", ORIGINAL).build();
    let fork = lines("b", FORK).user("something quite different").build();
    let home = fork_after_forgetting((&file(ORIGINAL), &original), (&file(FORK), &fork));
    assert_only_new_text(&home);
}

#[test]
fn same_words_at_another_time_are_not_forgotten() {
    // D65: the user may say again what was forgotten once.
    let original = TranscriptBuilder::new(ORIGINAL).user("where is the heron").build();
    let later = TranscriptBuilder::new(FORK)
        .times("2026-04-01T09:00:00Z".parse().unwrap(), 60)
        .user("where is the heron")
        .build();
    let home = fork_after_forgetting((&file(ORIGINAL), &original), (&file(FORK), &later));
    assert!(home.dump().contains("where is the heron"));
}

#[test]
fn pi_copy_without_a_parent_does_not_bring_forgotten_text_back() {
    // D65: with the same ids of entries, and with others.
    let (first, second) = ("aaaaaaaa-0000-4000-8000-000000000001", "bbbbbbbb-0000-4000-8000-000000000001");
    for ids in [["p", "p"], ["p", "q"]] {
        let lines = |session: &str, ids: &str| {
            let lines = PiTranscriptBuilder::new(session, "/app", "2026-03-02T09:00:00Z").ids(ids);
            lines.user("where is the heron").assistant("In the reeds, the heron.")
        };
        let original = lines(first, ids[0]).build();
        let copy = lines(second, ids[1]).user("something quite different").build();
        let file = |session: &str| format!(".pi/agent/sessions/--app--/2026-03-02T09-00-00-000Z_{session}.jsonl");
        let home = fork_after_forgetting((&file(first), &original), (&file(second), &copy));
        assert_only_new_text(&home);
    }
}
