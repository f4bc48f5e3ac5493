//! The event stream: changes, renames and messages.

use crate::fixture::{LiveFixture, TITLE};
use rethread_testing::{EventClient, TranscriptBuilder, wait_until};
use serde_json::{Value, json};

#[test]
fn event_stream_names_changed_sessions() {
    let live = LiveFixture::without_titles("");
    let line = |id: &str, text: &str| TranscriptBuilder::new("fence").ids(id).user(text).build();
    let transcript = ".claude/projects/-app/9a9eadc8-c1f1-493e-a0f1-884aa996b05b.jsonl";
    live.home.write(transcript, line("u1", "paint the fence"));
    assert!(live.home.run(&["sync"]).status.success());
    let listed = live.home.run(&["sessions", "--all-projects", "--json"]);
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    let id = listed["sessions"][0]["id"].clone();
    let (mut page, mut own) =
        (live.client.event_stream(""), live.client.event_stream(&format!("?session={}", id.as_str().unwrap())));
    let mut other = live.client.event_stream(&format!("?session={}", live.thread));
    let names_the_session = |event: &Value| event["sessions"].as_array().is_some_and(|all| all.contains(&id));
    // Events from the start of the server may still arrive.
    wait_until("the session to be named", || {
        let longer = std::fs::read_to_string(live.home.path(transcript)).unwrap() + &line("u2", "and the gate");
        std::fs::write(live.home.path(transcript), longer.replace("u2", &format!("u{}", longer.len()))).unwrap();
        assert!(live.home.run(&["sync"]).status.success());
        page.next_event().is_some_and(|event| names_the_session(&event))
    });
    own.wait_for_match(names_the_session);
    assert!(live.home.run(&["name", id.as_str().unwrap(), "The white fence"]).status.success());
    for page in [&mut page, &mut own] {
        let renamed = page.wait_for_match(|event| event["type"] == "session_renamed");
        assert_eq!((&renamed["sessionId"], &renamed["name"]), (&id, &json!("The white fence")));
    }
    // A subscriber of another session gets only its own events.
    assert_eq!(live.post(&json!({"role": "user", "content": "hello"})).0, 201);
    let received = other.wait_for_match(|event| event["sessionId"] == json!(live.thread));
    assert_eq!(received["type"], "message_complete");
}

#[test]
fn deltas_go_only_to_subscribers_of_the_session() {
    let live = LiveFixture::without_titles("");
    let (mut board, mut session) =
        (live.client.event_stream(""), live.client.event_stream(&format!("?session={}", live.thread)));
    assert_eq!(live.post(&json!({"text": "four words for you"})).0, 200);
    let kinds = |page: &mut EventClient| {
        let mut kinds = Vec::new();
        loop {
            let event = page.next_event().unwrap();
            let kind = event["type"].as_str().unwrap().to_owned();
            if kind != "changed" && kind != "session_renamed" {
                kinds.push(kind.clone());
            }
            if kind == "run_end" {
                return kinds;
            }
        }
    };
    let words = ["stream_delta"; 6];
    assert_eq!(kinds(&mut board), ["run_start", "message_complete", "message_complete", "run_end"]);
    let wanted = [&["run_start", "message_complete"][..], &words, &["message_complete", "run_end"]].concat();
    assert_eq!(kinds(&mut session), wanted);
}

#[test]
fn title_of_a_thread_is_sent_to_all_clients() {
    // E004-01, E004-04, L004-13
    let live = LiveFixture::new("");
    let (mut one, mut two, mut page) = (live.socket(), live.subscriber(), live.client.event_stream(""));
    one.send_message(&live.thread, "please name this conversation after what it is about");
    let is_title = |frame: &Value| frame["type"] == "session_renamed" && frame["name"] == TITLE;
    for renamed in [one.wait_for_match(is_title), two.wait_for_match(is_title), page.wait_for_match(is_title)] {
        assert_eq!(renamed["sessionId"], json!(live.thread));
    }
    // A rename by another process is sent too.
    assert!(live.home.run(&["name", &live.thread, "Mine"]).status.success());
    let is_mine = |frame: &Value| frame["type"] == "session_renamed" && frame["name"] == "Mine";
    one.wait_for_match(is_mine);
    two.wait_for_match(is_mine);
    let answered = two.frames.iter().position(|frame| frame["type"] == "run_end").unwrap();
    let named = two.frames.iter().position(is_title).unwrap();
    assert!(answered < named, "the answer does not wait for the title");
}
