//! The socket: several clients on one session, those who leave, those who stop a run, those who send nonsense.

use crate::fixture::LiveFixture;
use rethread_testing::wait_until;
use serde_json::{Value, json};
use tungstenite::Message;
use tungstenite::protocol::frame::coding::CloseCode;

const NOBODY: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

#[test]
fn e004_06_a_run_is_told_from_its_start_to_its_end_with_session_and_run() {
    let live = LiveFixture::without_titles("");
    let mut socket = live.socket();
    let asked = json!({"type": "send_message", "sessionId": live.thread, "text": "tell me more", "clientId": "m-1"});
    socket.send_json(&asked);
    socket.wait_for("run_end");
    let deltas = ["stream_delta"; 5];
    let wanted =
        [&["status", "accepted", "run_start", "message_complete"][..], &deltas, &["message_complete", "run_end"]];
    assert_eq!(socket.frame_types(), wanted.concat(), "{:?}", socket.frames);
    let run = socket.frames[1]["runId"].clone();
    assert_eq!((&socket.frames[1]["clientId"], &socket.frames[2]["clientId"]), (&json!("m-1"), &json!("m-1")));
    for frame in &socket.frames[1..] {
        assert_eq!((&frame["sessionId"], &frame["runId"]), (&json!(live.thread), &run), "{frame}");
    }
    assert_eq!(run.as_str().unwrap().len(), 26);
    assert_eq!(socket.deltas().concat(), "You said: tell me more");
    let end = socket.frames.last().unwrap();
    assert_eq!((&end["stopReason"], &end["usage"]["output"]), (&json!("end"), &json!(7)), "{end}");
    assert_eq!(end["costUsd"], json!(0.0));
}

#[test]
fn e004_07_two_clients_of_one_session_hear_the_same_and_others_hear_nothing() {
    let live = LiveFixture::without_titles("");
    let (mut one, mut two, mut other) = (live.socket(), live.subscriber(), live.socket());
    other.send_json(&json!({"type": "subscribe", "sessionId": live.new_thread()}));
    other.next_frame();
    one.send_message(&live.thread, "hold it and say these seven words then");
    one.wait_for("stream_delta");
    // Who comes in the middle learns what was said so far.
    live.model.wait_until_held("it");
    wait_until("two words", || one.deltas().len() == 2 || one.next_frame().is_null());
    let mut late = live.client.web_socket(&format!("?session={}", live.thread));
    let present = late.next_frame();
    assert_eq!((&present["said"], &present["queued"]), (&json!("You said: "), &json!(0)), "{present}");
    assert_eq!(present["runId"], one.frames[1]["runId"]);
    live.model.release("it");
    for client in [&mut one, &mut two, &mut late] {
        client.wait_for("run_end");
    }
    let of_run = |seen: &[Value]| -> Vec<Value> {
        seen.iter().filter(|frame| frame["runId"].is_string() && frame["type"] != "accepted").cloned().collect()
    };
    assert_eq!(of_run(&one.frames), of_run(&two.frames));
    assert_eq!(one.deltas(), two.deltas());
    assert_eq!(format!("You said: {}", late.deltas().concat()), one.deltas().concat());
    // Nothing came between the answer to this and what was told before.
    other.send_json(&json!({"type": "unsubscribe", "sessionId": live.thread}));
    assert_eq!((other.next_frame()["status"].clone(), other.frames.len()), (json!("unsubscribed"), 2));
}

#[test]
fn e004_07_who_leaves_does_not_stop_a_run() {
    let live = LiveFixture::without_titles("");
    let mut socket = live.socket();
    socket.send_message(&live.thread, "hold it until I am gone");
    live.model.wait_until_held("it");
    drop(socket);
    wait_until("the leaving", || live.home.log_events().iter().any(|line| line["event"] == "ws_disconnect"));
    live.model.release("it");
    wait_until("the answer", || live.messages().len() == 2);
    assert_eq!(live.messages()[1].1, "You said: hold it until I am gone");
    assert_eq!(live.records()[1]["stopReason"], "end");
}

#[test]
fn e004_07_l004_10_cancel_stops_a_run_and_keeps_what_was_said() {
    let live = LiveFixture::without_titles("");
    let (mut socket, mut other) = (live.socket(), live.subscriber());
    socket.send_message(&live.thread, "hold it for ever");
    socket.send_message(&live.thread, "never run");
    socket.send_message(&live.thread, "run after all");
    live.model.wait_until_held("it");
    let accepted: Vec<Value> = (0..3).map(|_| socket.wait_for("accepted")["runId"].clone()).collect();
    let waiting = json!({"type": "cancel", "sessionId": live.thread, "runId": accepted[1]});
    socket.send_json(&waiting);
    let ended = socket.wait_for("run_end");
    assert_eq!((&ended["runId"], &ended["stopReason"]), (&accepted[1], &json!("aborted")));
    // Whoever listens may stop it, not only who began it.
    other.send_json(&json!({"type": "cancel", "sessionId": live.thread}));
    let ended = socket.wait_for("run_end");
    assert_eq!((&ended["runId"], &ended["stopReason"]), (&accepted[0], &json!("aborted")));
    let ended = socket.wait_for("run_end");
    assert_eq!((&ended["runId"], &ended["stopReason"]), (&accepted[2], &json!("end")));
    let texts: Vec<String> = live.messages().into_iter().map(|(_, text, _)| text).collect();
    assert_eq!(texts, ["hold it for ever", "You said: ", "run after all", "You said: run after all"]);
    assert_eq!(live.records()[1]["stopReason"], "aborted");
    assert!(!other.frame_types().contains(&"error"));
    for asked in [waiting, json!({"type": "cancel", "sessionId": live.thread})] {
        socket.send_json(&asked);
        assert_eq!(socket.wait_for("error")["code"], "unknown-reference");
    }
}

#[test]
fn s7_8_e004_07_what_is_no_session_is_refused_at_once_and_only_to_its_sender() {
    let live = LiveFixture::without_titles("");
    let (mut socket, mut other) = (live.socket(), live.subscriber());
    let codes = [("../../etc/passwd", "bad-request"), ("", "bad-request"), (NOBODY, "unknown-reference")];
    for (id, code) in codes {
        for kind in ["send_message", "cancel", "subscribe"] {
            let mut frame = json!({"type": kind, "sessionId": id});
            if kind == "send_message" {
                frame["text"] = json!("hello");
                frame["clientId"] = json!("m-1");
            }
            socket.send_json(&frame);
            let told = socket.next_frame();
            assert_eq!((&told["type"], &told["code"]), (&json!("error"), &json!(code)), "{told}");
            assert_eq!(told["clientId"], frame["clientId"]);
            assert_eq!(told["sessionId"].is_string(), id == NOBODY, "what is no id is not repeated: {told}");
        }
    }
    for (query, status) in [("?session=x", 400), (&format!("?session={NOBODY}"), 404), ("?sesion=x", 400)] {
        assert_eq!(live.client.try_web_socket(query).err(), Some(status), "{query}");
        assert_eq!(live.client.request("GET", &format!("/api/events{query}"), None).status, status, "{query}");
    }
    for (id, status) in [("x", 400), ("01arz3ndektsv4rrffq69g5fav", 400), (NOBODY, 404)] {
        let (told, _) = live.client.post_message(id, &json!({"text": "hello"}));
        assert_eq!(told, status, "{id}");
    }
    other.send_message(&live.thread, "still there");
    other.wait_for("run_end");
    assert!(!other.frame_types().contains(&"error"));
    assert_eq!(live.model.prompts(), ["still there"]);
}

#[test]
fn e004_07_nonsense_is_answered_with_an_error_and_the_socket_stays_open() {
    let live = LiveFixture::without_titles("");
    let mut socket = live.socket();
    let thread = &live.thread;
    let nonsense = [
        "{".to_owned(),
        "[]".to_owned(),
        "null".to_owned(),
        r#"{"type":"fly"}"#.to_owned(),
        r#"{"type":"send_message"}"#.to_owned(),
        format!(r#"{{"type":"send_message","sessionId":"{thread}","text":7}}"#),
        format!(r#"{{"type":"send_message","sessionId":"{thread}","text":"x","txt":"y"}}"#),
        format!(r#"{{"type":"send_message","sessionId":"{thread}","text":" "}}"#),
        format!(r#"{{"type":"send_message","sessionId":"{thread}"}}"#),
        format!(r#"{{"type":"send_message","sessionId":"{thread}","text":"x","clientId":"a b"}}"#),
    ];
    for frame in nonsense {
        socket.send(Message::text(frame.clone()));
        let told = socket.next_frame();
        assert_eq!(told["type"], "error", "{frame}: {told}");
    }
    socket.send(Message::binary(vec![1, 2, 3]));
    assert_eq!(socket.next_frame()["code"], "bad-request");
    socket.send(Message::text(format!("\"{}\"", "x".repeat(3 << 20))));
    assert_eq!(socket.next_frame()["code"], "too-large");
    socket.send_message(thread, "and now in earnest");
    socket.wait_for("run_end");
    assert_eq!(live.model.prompts(), ["and now in earnest"]);
    // What is longer still is not even read; whether the farewell is heard depends on who is faster.
    let _ = socket.try_send(Message::text("x".repeat(9 << 20)));
    assert!(socket.read_to_close().is_none_or(|farewell| farewell.code == CloseCode::Size));
    live.socket();
}

#[test]
fn a_turn_that_fails_is_told_to_all_and_ends() {
    let live = LiveFixture::without_titles("");
    let (mut socket, mut other) = (live.socket(), live.subscriber());
    socket.send_message(&live.thread, "fail please");
    for client in [&mut socket, &mut other] {
        let failed = client.wait_for("error");
        assert_eq!((&failed["code"], failed["runId"].is_string()), (&json!("model"), true), "{failed}");
        assert_eq!(client.next_frame()["stopReason"], "error");
    }
    assert_eq!(live.messages().len(), 1, "the text stays, so that it can be answered yet");
}

#[test]
fn e004_12_who_came_and_what_was_run_is_noted_without_a_word_of_it() {
    let live = LiveFixture::without_titles("");
    let mut socket = live.socket();
    socket.send_message(&live.thread, "the password is swordfish");
    socket.wait_for("run_end");
    drop(socket);
    wait_until("the leaving", || live.home.log_events().iter().any(|line| line["event"] == "ws_disconnect"));
    let journal = live.home.log_events();
    let events: Vec<&str> = journal.iter().filter_map(|line| line["event"].as_str()).collect();
    let wanted = ["session_created", "ws_connect", "turn_start", "turn_end", "ws_disconnect"];
    assert_eq!(events, wanted);
    let text = serde_json::to_string(&journal).unwrap();
    assert!(!text.contains("swordfish") && !text.contains(&live.client.token), "{text}");
}
