//! The end of the server, and of a token: what was accepted is finished, nothing new is, and everybody is told.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread::{JoinHandle, scope, spawn};

use serde_json::{Value, json};
use tungstenite::protocol::frame::coding::CloseCode;

use crate::Scene;
use crate::client::post;
use crate::house::{Server, until};

#[test]
fn who_ends_the_server_lets_it_finish_what_was_accepted() {
    let mut scene = Scene::unnamed("");
    let (mut socket, mut page) = (scene.socket(), scene.page(""));
    socket.send_message(&scene.thread, "hold it while the server ends");
    scene.model.wait_until_it_holds("it");
    socket.send_message(&scene.thread, "accepted as well");
    socket.until_so(|frame| frame["type"] == "accepted" && frame["ahead"] == 1);
    let (model, thread, token) = (scene.model.clone(), scene.thread.clone(), scene.token.clone());
    let asked = post_later(&scene.server, &token, &thread, "and over HTTP");
    socket.until_so(|frame| frame["type"] == "status" && frame["ahead"] == 2);
    let status = scope(|scope| {
        let ended = scope.spawn(|| scene.server.end());
        // Whoever comes now is too late.
        until("the end to begin", || {
            socket.send_message(&thread, "too late");
            let told = socket.until_so(|frame| frame["type"] == "error" || frame["type"] == "accepted");
            told["code"] == "serve"
        });
        model.release("it");
        ended.join().unwrap()
    });
    assert_eq!(status.code(), Some(0));
    let answered = asked.join().unwrap();
    assert!(answered.contains("200 OK") && answered.contains("You said: and over HTTP"), "{answered}");
    assert_eq!(socket.farewell().map(|farewell| farewell.code), Some(CloseCode::Away));
    let ends = socket.seen.iter().filter(|frame| frame["type"] == "run_end").collect::<Vec<_>>();
    assert!(ends.len() >= 3 && ends.iter().all(|frame| frame["stopReason"] == "end"), "{ends:?}");
    let told = std::iter::from_fn(|| page.next()).filter(|event| event["type"] == "run_end").count();
    assert_eq!(told, ends.len(), "pages hear it to the end, too");
    let log = scene.log();
    assert_eq!(log[3].1, "You said: accepted as well", "{log:?}");
    assert_eq!(log.len(), 2 * ends.len());
}

/// Has a text run over HTTP, and waits for the answer elsewhere.
fn post_later(server: &Server, token: &str, thread: &str, text: &str) -> JoinHandle<String> {
    let (host, body) = (server.authority(), json!({"text": text}).to_string());
    let mut stream = TcpStream::connect(&host).unwrap();
    let length = body.len();
    write!(
        stream,
        "POST /api/sessions/{thread}/messages HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
    .unwrap();
    spawn(move || {
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    })
}

#[test]
fn what_takes_longer_than_the_grace_is_stopped_and_what_was_said_is_kept() {
    let mut scene = Scene::unnamed("[serve]\ngrace_seconds = 0\n");
    let mut socket = scene.socket();
    socket.send_message(&scene.thread, "hold it for ever");
    scene.model.wait_until_it_holds("it");
    socket.send_message(&scene.thread, "never run");
    let waits = socket.until_so(|frame| frame["type"] == "accepted" && frame["ahead"] == 1);
    assert_eq!(scene.server.end().code(), Some(0));
    assert_eq!(socket.farewell().map(|farewell| farewell.code), Some(CloseCode::Away));
    let ends: Vec<&Value> = socket.seen.iter().filter(|frame| frame["type"] == "run_end").collect();
    assert!(ends.len() == 2 && ends.iter().all(|frame| frame["stopReason"] == "aborted"), "{ends:?}");
    assert_eq!(ends[1]["runId"], waits["runId"], "who waited is told that it was not run");
    let log = scene.log();
    let texts: Vec<&str> = log.iter().map(|(_, text, _)| text.as_str()).collect();
    assert_eq!(texts, ["hold it for ever", "You said: "]);
    assert_eq!(scene.records()[1]["stopReason"], "aborted");
}

#[test]
fn a_killed_server_leaves_what_it_had_heard_to_the_next() {
    let mut scene = Scene::unnamed("");
    let mut socket = scene.socket();
    socket.send_message(&scene.thread, "hold it for ever");
    scene.model.wait_until_it_holds("it");
    until("two words", || socket.deltas().len() == 2 || socket.next().is_null());
    scene.server.kill();
    scene.server = scene.house.serve(&["--no-watch"]);
    let (status, turn) = scene.post(&json!({"text": "go on"}));
    assert_eq!(status, 200, "{turn}");
    let log = scene.log();
    let texts: Vec<&str> = log.iter().map(|(_, text, _)| text.as_str()).collect();
    assert_eq!(texts, ["hold it for ever", "You said: ", "go on", "You said: go on"]);
}

#[test]
fn what_was_sent_by_halves_is_not_waited_for() {
    let mut scene = Scene::unnamed("");
    let (host, thread, token) = (scene.server.authority(), &scene.thread, &scene.token);
    let mut stream = TcpStream::connect(&host).unwrap();
    write!(
        stream,
        "POST /api/sessions/{thread}/messages HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{{"
    )
    .unwrap();
    // It is there before the next one comes.
    assert_eq!(scene.post(&json!({"role": "user", "content": "whole"})).0, 201);
    assert_eq!(scene.server.end().code(), Some(0));
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 503"), "{answer}");
    assert_eq!(scene.log().len(), 1);
}

#[test]
fn t6_who_came_in_with_a_rotated_token_is_told_and_does_nothing_more() {
    let scene = Scene::unnamed("");
    let (mut socket, mut page) = (scene.listener(), scene.page(""));
    assert!(scene.house.run(&["token", "--rotate"]).status.success());
    socket.send_message(&scene.thread, "never run");
    assert_eq!(socket.farewell().map(|farewell| farewell.code), Some(CloseCode::Policy));
    assert_eq!(socket.seen.len(), 1, "{:?}", socket.seen);
    // The first event that would be told ends the stream instead.
    let (status, _) = post(&scene.server, &scene.house.token(), &scene.thread, &json!({"text": "run"}));
    assert_eq!(status, 200);
    let heard: Vec<Value> = std::iter::from_fn(|| page.next()).collect();
    assert!(heard.iter().all(|event| event["type"] == "changed"), "{heard:?}");
    assert_eq!(scene.model.heard(), ["run"]);
}
