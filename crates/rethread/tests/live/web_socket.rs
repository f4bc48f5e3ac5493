//! The WebSocket: several clients on one session, disconnects, cancels and invalid frames.

use crate::fixture::LiveFixture;
use rethread_testing::wait_until;
use serde_json::{Value, json};
use tungstenite::Message;
use tungstenite::protocol::frame::coding::CloseCode;

const UNKNOWN_SESSION: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

#[test]
fn run_is_reported_from_start_to_end() {
    // E004-06
    let live = LiveFixture::without_titles("");
    let mut socket = live.socket();
    let request = json!({"type": "send_message", "sessionId": live.thread, "text": "tell me more", "clientId": "m-1"});
    socket.send_json(&request);
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
fn subscribers_get_the_same_frames_and_others_none() {
    // E004-07
    let live = LiveFixture::without_titles("");
    let (mut one, mut two, mut other) = (live.socket(), live.subscriber(), live.socket());
    other.send_json(&json!({"type": "subscribe", "sessionId": live.new_thread()}));
    other.next_frame();
    one.send_message(&live.thread, "hold it and say these seven words then");
    one.wait_for("stream_delta");
    // A late subscriber gets the text so far.
    live.model.wait_until_held("it");
    one.wait_for_deltas(2);
    let mut late = live.client.web_socket(&format!("?session={}", live.thread));
    let present = late.next_frame();
    assert_eq!((&present["partialText"], &present["queued"]), (&json!("You said: "), &json!(0)), "{present}");
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
    // No frame came in between.
    other.send_json(&json!({"type": "unsubscribe", "sessionId": live.thread}));
    assert_eq!((other.next_frame()["status"].clone(), other.frames.len()), (json!("unsubscribed"), 2));
}

#[test]
fn disconnected_client_does_not_stop_a_run() {
    // E004-07
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
fn cancel_stops_a_run_and_stores_the_partial_answer() {
    // E004-07, L004-10
    let live = LiveFixture::without_titles("");
    let (mut socket, mut other) = (live.socket(), live.subscriber());
    socket.send_message(&live.thread, "hold it for ever");
    socket.send_message(&live.thread, "never run");
    socket.send_message(&live.thread, "run after all");
    live.model.wait_until_held("it");
    let accepted: Vec<Value> = (0..3).map(|_| socket.wait_for("accepted")["runId"].clone()).collect();
    // Once the client has both words, the server has stored them.
    socket.wait_for_deltas(2);
    let waiting = json!({"type": "cancel", "sessionId": live.thread, "runId": accepted[1]});
    socket.send_json(&waiting);
    let ended = socket.wait_for("run_end");
    assert_eq!((&ended["runId"], &ended["stopReason"]), (&accepted[1], &json!("aborted")));
    // Any subscriber can cancel, not only the sender.
    other.send_json(&json!({"type": "cancel", "sessionId": live.thread}));
    let ended = socket.wait_for("run_end");
    assert_eq!((&ended["runId"], &ended["stopReason"]), (&accepted[0], &json!("aborted")));
    let ended = socket.wait_for("run_end");
    assert_eq!((&ended["runId"], &ended["stopReason"]), (&accepted[2], &json!("end")));
    let texts: Vec<String> = live.messages().into_iter().map(|(_, text, _)| text).collect();
    assert_eq!(texts, ["hold it for ever", "You said: ", "run after all", "You said: run after all"]);
    assert_eq!(live.records()[1]["stopReason"], "aborted");
    assert!(!other.frame_types().contains(&"error"));
    for request in [waiting, json!({"type": "cancel", "sessionId": live.thread})] {
        socket.send_json(&request);
        assert_eq!(socket.wait_for("error")["code"], "unknown-reference");
    }
}

#[test]
fn invalid_session_is_refused_only_to_its_sender() {
    // S7.8, E004-07
    let live = LiveFixture::without_titles("");
    let (mut socket, mut other) = (live.socket(), live.subscriber());
    let codes = [("../../etc/passwd", "bad-request"), ("", "bad-request"), (UNKNOWN_SESSION, "unknown-reference")];
    for (id, code) in codes {
        for kind in ["send_message", "cancel", "subscribe"] {
            let mut frame = json!({"type": kind, "sessionId": id});
            if kind == "send_message" {
                frame["text"] = json!("hello");
                frame["clientId"] = json!("m-1");
            }
            socket.send_json(&frame);
            let received = socket.next_frame();
            assert_eq!((&received["type"], &received["code"]), (&json!("error"), &json!(code)), "{received}");
            assert_eq!(received["clientId"], frame["clientId"]);
            assert_eq!(
                received["sessionId"].is_string(),
                id == UNKNOWN_SESSION,
                "an invalid id is not echoed: {received}"
            );
        }
    }
    for (query, status) in [("?session=x", 400), (&format!("?session={UNKNOWN_SESSION}"), 404), ("?sesion=x", 400)] {
        assert_eq!(live.client.try_web_socket(query).err(), Some(status), "{query}");
        assert_eq!(live.client.request("GET", &format!("/api/events{query}"), None).status, status, "{query}");
    }
    for (id, status) in [("x", 400), ("01arz3ndektsv4rrffq69g5fav", 400), (UNKNOWN_SESSION, 404)] {
        let (received, _) = live.client.post_message(id, &json!({"text": "hello"}));
        assert_eq!(received, status, "{id}");
    }
    other.send_message(&live.thread, "still there");
    other.wait_for("run_end");
    assert!(!other.frame_types().contains(&"error"));
    assert_eq!(live.model.prompts(), ["still there"]);
}

#[test]
fn invalid_frames_are_errors_and_the_socket_stays_open() {
    // E004-07
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
        let received = socket.next_frame();
        assert_eq!(received["type"], "error", "{frame}: {received}");
    }
    socket.send(Message::binary(vec![1, 2, 3]));
    assert_eq!(socket.next_frame()["code"], "bad-request");
    socket.send(Message::text(format!("\"{}\"", "x".repeat(3 << 20))));
    assert_eq!(socket.next_frame()["code"], "too-large");
    socket.send_message(thread, "and now in earnest");
    socket.wait_for("run_end");
    assert_eq!(live.model.prompts(), ["and now in earnest"]);
    // A frame over the hard limit is not read; the close frame may be lost.
    let _ = socket.try_send(Message::text("x".repeat(9 << 20)));
    assert!(socket.read_to_close().is_none_or(|close| close.code == CloseCode::Size));
    live.socket();
}

#[test]
fn failed_turn_is_reported_to_all_subscribers() {
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
fn connections_and_runs_are_logged_without_content() {
    // E004-12
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
