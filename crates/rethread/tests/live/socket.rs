//! The socket: several clients on one session, those who leave, those who stop a run, those who send nonsense.

use serde_json::{Value, json};
use tungstenite::Message;
use tungstenite::protocol::frame::coding::CloseCode;

use crate::Scene;
use crate::client::{Socket, post};
use crate::house::until;

const NOBODY: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

#[test]
fn e004_06_a_run_is_told_from_its_start_to_its_end_with_session_and_run() {
    let scene = Scene::unnamed("");
    let mut socket = scene.socket();
    let asked = json!({"type": "send_message", "sessionId": scene.thread, "text": "tell me more", "clientId": "m-1"});
    socket.say(&asked);
    socket.until("run_end");
    let deltas = ["stream_delta"; 5];
    let wanted =
        [&["status", "accepted", "run_start", "message_complete"][..], &deltas, &["message_complete", "run_end"]];
    assert_eq!(socket.kinds(), wanted.concat(), "{:?}", socket.seen);
    let run = socket.seen[1]["runId"].clone();
    assert_eq!((&socket.seen[1]["clientId"], &socket.seen[2]["clientId"]), (&json!("m-1"), &json!("m-1")));
    for frame in &socket.seen[1..] {
        assert_eq!((&frame["sessionId"], &frame["runId"]), (&json!(scene.thread), &run), "{frame}");
    }
    assert_eq!(run.as_str().unwrap().len(), 26);
    assert_eq!(socket.deltas().concat(), "You said: tell me more");
    let end = socket.seen.last().unwrap();
    assert_eq!((&end["stopReason"], &end["usage"]["output"]), (&json!("end"), &json!(7)), "{end}");
    assert_eq!(end["costUsd"], json!(0.0));
}

#[test]
fn e004_07_two_clients_of_one_session_hear_the_same_and_others_hear_nothing() {
    let scene = Scene::unnamed("");
    let (mut one, mut two, mut other) = (scene.socket(), scene.listener(), scene.socket());
    other.say(&json!({"type": "subscribe", "sessionId": scene.new_thread()}));
    other.next();
    one.send_message(&scene.thread, "hold it and say these seven words then");
    one.until("stream_delta");
    // Who comes in the middle learns what was said so far.
    scene.model.wait_until_it_holds("it");
    until("two words", || one.deltas().len() == 2 || one.next().is_null());
    let mut late = Socket::open(&scene.server, &scene.token, &format!("?session={}", scene.thread));
    let present = late.next();
    assert_eq!((&present["said"], &present["queued"]), (&json!("You said: "), &json!(0)), "{present}");
    assert_eq!(present["runId"], one.seen[1]["runId"]);
    scene.model.release("it");
    for client in [&mut one, &mut two, &mut late] {
        client.until("run_end");
    }
    let of_run = |seen: &[Value]| -> Vec<Value> {
        seen.iter().filter(|frame| frame["runId"].is_string() && frame["type"] != "accepted").cloned().collect()
    };
    assert_eq!(of_run(&one.seen), of_run(&two.seen));
    assert_eq!(one.deltas(), two.deltas());
    assert_eq!(format!("You said: {}", late.deltas().concat()), one.deltas().concat());
    // Nothing came between the answer to this and what was told before.
    other.say(&json!({"type": "unsubscribe", "sessionId": scene.thread}));
    assert_eq!((other.next()["status"].clone(), other.seen.len()), (json!("unsubscribed"), 2));
}

#[test]
fn e004_07_who_leaves_does_not_stop_a_run() {
    let scene = Scene::unnamed("");
    let mut socket = scene.socket();
    socket.send_message(&scene.thread, "hold it until I am gone");
    scene.model.wait_until_it_holds("it");
    drop(socket);
    until("the leaving", || scene.journal().iter().any(|line| line["event"] == "ws_disconnect"));
    scene.model.release("it");
    until("the answer", || scene.log().len() == 2);
    assert_eq!(scene.log()[1].1, "You said: hold it until I am gone");
    assert_eq!(scene.records()[1]["stopReason"], "end");
}

#[test]
fn e004_07_l004_10_cancel_stops_a_run_and_keeps_what_was_said() {
    let scene = Scene::unnamed("");
    let (mut socket, mut other) = (scene.socket(), scene.listener());
    socket.send_message(&scene.thread, "hold it for ever");
    socket.send_message(&scene.thread, "never run");
    socket.send_message(&scene.thread, "run after all");
    scene.model.wait_until_it_holds("it");
    let accepted: Vec<Value> = (0..3).map(|_| socket.until("accepted")["runId"].clone()).collect();
    let waiting = json!({"type": "cancel", "sessionId": scene.thread, "runId": accepted[1]});
    socket.say(&waiting);
    let ended = socket.until("run_end");
    assert_eq!((&ended["runId"], &ended["stopReason"]), (&accepted[1], &json!("aborted")));
    // Whoever listens may stop it, not only who began it.
    other.say(&json!({"type": "cancel", "sessionId": scene.thread}));
    let ended = socket.until("run_end");
    assert_eq!((&ended["runId"], &ended["stopReason"]), (&accepted[0], &json!("aborted")));
    let ended = socket.until("run_end");
    assert_eq!((&ended["runId"], &ended["stopReason"]), (&accepted[2], &json!("end")));
    let texts: Vec<String> = scene.log().into_iter().map(|(_, text, _)| text).collect();
    assert_eq!(texts, ["hold it for ever", "You said: ", "run after all", "You said: run after all"]);
    assert_eq!(scene.records()[1]["stopReason"], "aborted");
    assert!(!other.kinds().contains(&"error"));
    for asked in [waiting, json!({"type": "cancel", "sessionId": scene.thread})] {
        socket.say(&asked);
        assert_eq!(socket.until("error")["code"], "unknown-reference");
    }
}

#[test]
fn s7_8_e004_07_what_is_no_session_is_refused_at_once_and_only_to_its_sender() {
    let scene = Scene::unnamed("");
    let (mut socket, mut other) = (scene.socket(), scene.listener());
    let codes = [("../../etc/passwd", "bad-request"), ("", "bad-request"), (NOBODY, "unknown-reference")];
    for (id, code) in codes {
        for kind in ["send_message", "cancel", "subscribe"] {
            let mut frame = json!({"type": kind, "sessionId": id});
            if kind == "send_message" {
                frame["text"] = json!("hello");
                frame["clientId"] = json!("m-1");
            }
            socket.say(&frame);
            let told = socket.next();
            assert_eq!((&told["type"], &told["code"]), (&json!("error"), &json!(code)), "{told}");
            assert_eq!(told["clientId"], frame["clientId"]);
            assert_eq!(told["sessionId"].is_string(), id == NOBODY, "what is no id is not repeated: {told}");
        }
    }
    for (query, status) in [("?session=x", 400), (&format!("?session={NOBODY}"), 404), ("?sesion=x", 400)] {
        assert_eq!(Socket::try_open(&scene.server, &scene.token, query).err(), Some(status), "{query}");
        assert_eq!(scene.server.get(&format!("/api/events{query}"), &scene.token).status, status, "{query}");
    }
    for (id, status) in [("x", 400), ("01arz3ndektsv4rrffq69g5fav", 400), (NOBODY, 404)] {
        let (told, _) = post(&scene.server, &scene.token, id, &json!({"text": "hello"}));
        assert_eq!(told, status, "{id}");
    }
    other.send_message(&scene.thread, "still there");
    other.until("run_end");
    assert!(!other.kinds().contains(&"error"));
    assert_eq!(scene.model.heard(), ["still there"]);
}

#[test]
fn e004_07_nonsense_is_answered_with_an_error_and_the_socket_stays_open() {
    let scene = Scene::unnamed("");
    let mut socket = scene.socket();
    let thread = &scene.thread;
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
        let told = socket.next();
        assert_eq!(told["type"], "error", "{frame}: {told}");
    }
    socket.send(Message::binary(vec![1, 2, 3]));
    assert_eq!(socket.next()["code"], "bad-request");
    socket.send(Message::text(format!("\"{}\"", "x".repeat(3 << 20))));
    assert_eq!(socket.next()["code"], "too-large");
    socket.send_message(thread, "and now in earnest");
    socket.until("run_end");
    assert_eq!(scene.model.heard(), ["and now in earnest"]);
    // What is longer still is not even read; whether the farewell is heard depends on who is faster.
    let _ = socket.try_send(Message::text("x".repeat(9 << 20)));
    assert!(socket.farewell().is_none_or(|farewell| farewell.code == CloseCode::Size));
    scene.socket();
}

#[test]
fn a_turn_that_fails_is_told_to_all_and_ends() {
    let scene = Scene::unnamed("");
    let (mut socket, mut other) = (scene.socket(), scene.listener());
    socket.send_message(&scene.thread, "fail please");
    for client in [&mut socket, &mut other] {
        let failed = client.until("error");
        assert_eq!((&failed["code"], failed["runId"].is_string()), (&json!("model"), true), "{failed}");
        assert_eq!(client.next()["stopReason"], "error");
    }
    assert_eq!(scene.log().len(), 1, "the text stays, so that it can be answered yet");
}

#[test]
fn e004_12_who_came_and_what_was_run_is_noted_without_a_word_of_it() {
    let scene = Scene::unnamed("");
    let mut socket = scene.socket();
    socket.send_message(&scene.thread, "the password is swordfish");
    socket.until("run_end");
    drop(socket);
    until("the leaving", || scene.journal().iter().any(|line| line["event"] == "ws_disconnect"));
    let journal = scene.journal();
    let events: Vec<&str> = journal.iter().filter_map(|line| line["event"].as_str()).collect();
    let wanted = ["session_created", "ws_connect", "turn_start", "turn_end", "ws_disconnect"];
    assert_eq!(events, wanted);
    let text = serde_json::to_string(&journal).unwrap();
    assert!(!text.contains("swordfish") && !text.contains(&scene.token), "{text}");
}
