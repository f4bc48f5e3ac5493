//! The end of the server, and of a token: what was accepted is finished, nothing new is, and everybody is told.

use std::io::Read;
use std::thread::{JoinHandle, scope, spawn};

use crate::fixture::LiveFixture;
use rethread_testing::{ApiClient, wait_until};
use serde_json::{Value, json};
use tungstenite::protocol::frame::coding::CloseCode;

#[test]
fn who_ends_the_server_lets_it_finish_what_was_accepted() {
    let mut live = LiveFixture::without_titles("");
    let (mut socket, mut page) = (live.socket(), live.client.event_stream(""));
    socket.send_message(&live.thread, "hold it while the server ends");
    live.model.wait_until_held("it");
    socket.send_message(&live.thread, "accepted as well");
    socket.wait_for_match(|frame| frame["type"] == "accepted" && frame["ahead"] == 1);
    let (model, thread) = (live.model.clone(), live.thread.clone());
    let asked = post_in_background(&live.client, &thread, "and over HTTP");
    socket.wait_for_match(|frame| frame["type"] == "status" && frame["ahead"] == 2);
    let status = scope(|scope| {
        let ended = scope.spawn(|| live.server.stop());
        // Whoever comes now is too late.
        wait_until("the end to begin", || {
            socket.send_message(&thread, "too late");
            let told = socket.wait_for_match(|frame| frame["type"] == "error" || frame["type"] == "accepted");
            told["code"] == "serve"
        });
        model.release("it");
        ended.join().unwrap()
    });
    assert_eq!(status.code(), Some(0));
    let answered = asked.join().unwrap();
    assert!(answered.contains("200 OK") && answered.contains("You said: and over HTTP"), "{answered}");
    assert_eq!(socket.read_to_close().map(|farewell| farewell.code), Some(CloseCode::Away));
    let ends = socket.frames.iter().filter(|frame| frame["type"] == "run_end").collect::<Vec<_>>();
    assert!(ends.len() >= 3 && ends.iter().all(|frame| frame["stopReason"] == "end"), "{ends:?}");
    let told = std::iter::from_fn(|| page.next_event()).filter(|event| event["type"] == "run_end").count();
    assert_eq!(told, ends.len(), "pages hear it to the end, too");
    let log = live.messages();
    assert_eq!(log[3].1, "You said: accepted as well", "{log:?}");
    assert_eq!(log.len(), 2 * ends.len());
}

/// Starts a turn over HTTP and reads the response in another thread.
fn post_in_background(client: &ApiClient, thread: &str, text: &str) -> JoinHandle<String> {
    let body = json!({"text": text}).to_string();
    let mut stream = client.start_post(&format!("/api/sessions/{thread}/messages"), body.len(), &body);
    spawn(move || {
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    })
}

#[test]
fn what_takes_longer_than_the_grace_is_stopped_and_what_was_said_is_kept() {
    let mut live = LiveFixture::without_titles("[serve]\ngrace_seconds = 0\n");
    let mut socket = live.socket();
    socket.send_message(&live.thread, "hold it for ever");
    live.model.wait_until_held("it");
    socket.send_message(&live.thread, "never run");
    let waits = socket.wait_for_match(|frame| frame["type"] == "accepted" && frame["ahead"] == 1);
    assert_eq!(live.server.stop().code(), Some(0));
    assert_eq!(socket.read_to_close().map(|farewell| farewell.code), Some(CloseCode::Away));
    let ends: Vec<&Value> = socket.frames.iter().filter(|frame| frame["type"] == "run_end").collect();
    assert!(ends.len() == 2 && ends.iter().all(|frame| frame["stopReason"] == "aborted"), "{ends:?}");
    assert_eq!(ends[1]["runId"], waits["runId"], "who waited is told that it was not run");
    let log = live.messages();
    let texts: Vec<&str> = log.iter().map(|(_, text, _)| text.as_str()).collect();
    assert_eq!(texts, ["hold it for ever", "You said: "]);
    assert_eq!(live.records()[1]["stopReason"], "aborted");
}

#[test]
fn a_killed_server_leaves_what_it_had_heard_to_the_next() {
    let mut live = LiveFixture::without_titles("");
    let mut socket = live.socket();
    socket.send_message(&live.thread, "hold it for ever");
    live.model.wait_until_held("it");
    wait_until("two words", || socket.deltas().len() == 2 || socket.next_frame().is_null());
    live.server.kill();
    live.restart();
    let (status, turn) = live.post(&json!({"text": "go on"}));
    assert_eq!(status, 200, "{turn}");
    let log = live.messages();
    let texts: Vec<&str> = log.iter().map(|(_, text, _)| text.as_str()).collect();
    assert_eq!(texts, ["hold it for ever", "You said: ", "go on", "You said: go on"]);
}

#[test]
fn what_was_sent_by_halves_is_not_waited_for() {
    let mut live = LiveFixture::without_titles("");
    let mut stream = live.client.start_post(&format!("/api/sessions/{}/messages", live.thread), 100, "{");
    // It is there before the next one comes.
    assert_eq!(live.post(&json!({"role": "user", "content": "whole"})).0, 201);
    assert_eq!(live.server.stop().code(), Some(0));
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 503"), "{answer}");
    assert_eq!(live.messages().len(), 1);
}

#[test]
fn t6_who_came_in_with_a_rotated_token_is_told_and_does_nothing_more() {
    let live = LiveFixture::without_titles("");
    let (mut socket, mut page) = (live.subscriber(), live.client.event_stream(""));
    assert!(live.home.run(&["token", "--rotate"]).status.success());
    socket.send_message(&live.thread, "never run");
    assert_eq!(socket.read_to_close().map(|farewell| farewell.code), Some(CloseCode::Policy));
    assert_eq!(socket.frames.len(), 1, "{:?}", socket.frames);
    // The first event that would be told ends the stream instead.
    let (status, _) =
        live.client.clone().with_token(&live.home.token()).post_message(&live.thread, &json!({"text": "run"}));
    assert_eq!(status, 200);
    let heard: Vec<Value> = std::iter::from_fn(|| page.next_event()).collect();
    assert!(heard.iter().all(|event| event["type"] == "changed"), "{heard:?}");
    assert_eq!(live.model.prompts(), ["run"]);
}
