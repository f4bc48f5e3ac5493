//! Shutdown and token rotation: accepted turns are finished, new ones are refused, and all clients are informed.

use std::io::Read;
use std::thread::{JoinHandle, scope, spawn};

use crate::fixture::LiveFixture;
use rethread_testing::{ApiClient, wait_until};
use serde_json::{Value, json};
use tungstenite::protocol::frame::coding::CloseCode;

#[test]
fn shutdown_finishes_accepted_turns() {
    let mut live = LiveFixture::without_titles("");
    let (mut socket, mut page) = (live.socket(), live.client.event_stream(""));
    socket.send_message(&live.thread, "hold it while the server ends");
    live.model.wait_until_held("it");
    socket.send_message(&live.thread, "accepted as well");
    socket.wait_for_match(|frame| frame["type"] == "accepted" && frame["ahead"] == 1);
    let (model, thread) = (live.model.clone(), live.thread.clone());
    let pending = post_in_background(&live.client, &thread, "and over HTTP");
    socket.wait_for_match(|frame| frame["type"] == "status" && frame["ahead"] == 2);
    let status = scope(|scope| {
        let ended = scope.spawn(|| live.server.stop());
        // New messages are refused from now on.
        wait_until("the end to begin", || {
            socket.send_message(&thread, "too late");
            let received = socket.wait_for_match(|frame| frame["type"] == "error" || frame["type"] == "accepted");
            received["code"] == "serve"
        });
        model.release("it");
        ended.join().unwrap()
    });
    assert_eq!(status.code(), Some(0));
    let answered = pending.join().unwrap();
    assert!(answered.contains("200 OK") && answered.contains("You said: and over HTTP"), "{answered}");
    assert_eq!(socket.read_to_close().map(|close| close.code), Some(CloseCode::Away));
    let ends = socket.frames.iter().filter(|frame| frame["type"] == "run_end").collect::<Vec<_>>();
    assert!(ends.len() >= 3 && ends.iter().all(|frame| frame["stopReason"] == "end"), "{ends:?}");
    let received = std::iter::from_fn(|| page.next_event()).filter(|event| event["type"] == "run_end").count();
    assert_eq!(received, ends.len(), "event streams get them all, too");
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
fn turns_over_the_grace_period_are_stopped_and_stored() {
    let mut live = LiveFixture::without_titles("[serve]\ngrace_seconds = 0\n");
    let mut socket = live.socket();
    socket.send_message(&live.thread, "hold it for ever");
    live.model.wait_until_held("it");
    socket.send_message(&live.thread, "never run");
    let waits = socket.wait_for_match(|frame| frame["type"] == "accepted" && frame["ahead"] == 1);
    socket.wait_for_deltas(2);
    assert_eq!(live.server.stop().code(), Some(0));
    assert_eq!(socket.read_to_close().map(|close| close.code), Some(CloseCode::Away));
    let ends: Vec<&Value> = socket.frames.iter().filter(|frame| frame["type"] == "run_end").collect();
    assert!(ends.len() == 2 && ends.iter().all(|frame| frame["stopReason"] == "aborted"), "{ends:?}");
    assert_eq!(ends[1]["runId"], waits["runId"], "the waiting turn is reported as not run");
    let log = live.messages();
    let texts: Vec<&str> = log.iter().map(|(_, text, _)| text.as_str()).collect();
    assert_eq!(texts, ["hold it for ever", "You said: "]);
    assert_eq!(live.records()[1]["stopReason"], "aborted");
}

#[test]
fn partial_answer_of_a_killed_server_is_stored_by_the_next() {
    let mut live = LiveFixture::without_titles("");
    let mut socket = live.socket();
    socket.send_message(&live.thread, "hold it for ever");
    live.model.wait_until_held("it");
    socket.wait_for_deltas(2);
    live.server.kill();
    live.restart();
    let (status, turn) = live.post(&json!({"text": "go on"}));
    assert_eq!(status, 200, "{turn}");
    let log = live.messages();
    let texts: Vec<&str> = log.iter().map(|(_, text, _)| text.as_str()).collect();
    assert_eq!(texts, ["hold it for ever", "You said: ", "go on", "You said: go on"]);
}

#[test]
fn incomplete_request_does_not_delay_shutdown() {
    let mut live = LiveFixture::without_titles("");
    let mut stream = live.client.start_post(&format!("/api/sessions/{}/messages", live.thread), 100, "{");
    // The server has the incomplete request before this one.
    assert_eq!(live.post(&json!({"role": "user", "content": "whole"})).0, 201);
    assert_eq!(live.server.stop().code(), Some(0));
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 503"), "{answer}");
    assert_eq!(live.messages().len(), 1);
}

#[test]
fn rotated_token_closes_live_connections() {
    // T6
    let live = LiveFixture::without_titles("");
    let (mut socket, mut page) = (live.subscriber(), live.client.event_stream(""));
    assert!(live.home.run(&["token", "--rotate"]).status.success());
    socket.send_message(&live.thread, "never run");
    assert_eq!(socket.read_to_close().map(|close| close.code), Some(CloseCode::Policy));
    assert_eq!(socket.frames.len(), 1, "{:?}", socket.frames);
    // The next event ends the stream instead of being sent.
    let (status, _) =
        live.client.clone().with_token(&live.home.token()).post_message(&live.thread, &json!({"text": "run"}));
    assert_eq!(status, 200);
    let events: Vec<Value> = std::iter::from_fn(|| page.next_event()).collect();
    assert!(events.iter().all(|event| event["type"] == "changed"), "{events:?}");
    assert_eq!(live.model.prompts(), ["run"]);
}
