//! Turns run in the order of acceptance: none lost, repeated or interleaved.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::thread::scope;

use crate::fixture::{LiveFixture, message};
use rethread_testing::wait_until;
use serde_json::{Value, json};

/// Queues for two hundred turns at once.
const LONG: &str = "[threads]\nqueue_limit = 300\n[serve]\nqueue = 300\n";

#[test]
fn two_hundred_concurrent_messages_run_in_order() {
    // S7.10, S004-28
    let live = LiveFixture::without_titles(LONG);
    scope(|scope| {
        for socket in 0..10 {
            let live = &live;
            scope.spawn(move || {
                let mut client = live.socket();
                for number in 0..10 {
                    client.send_message(&live.thread, &format!("socket {socket} says {number}"));
                }
                let mut own = BTreeSet::new();
                while own.len() < 10 {
                    let frame = client.wait_for("accepted");
                    own.insert(frame["runId"].as_str().unwrap().to_owned());
                }
                let ended = |frame: &Value| frame["type"] == "run_end";
                while client.frames.iter().filter(|frame| ended(frame)).count() < 10
                    || !own.iter().all(|run| client.frames.iter().any(|frame| ended(frame) && frame["runId"] == **run))
                {
                    client.next_frame();
                }
            });
        }
        for number in 0..100 {
            let live = &live;
            scope.spawn(move || {
                let (status, turn) = live.post(&json!({"text": format!("request {number}")}));
                assert_eq!((status, &turn["stopReason"]), (200, &json!("end")), "{turn}");
                let messages = turn["messages"].as_array().unwrap();
                assert_eq!(message(&messages[1]).1, format!("You said: request {number}"));
            });
        }
    });
    let log = live.messages();
    assert_eq!(log.len(), 400);
    let mut runs = Vec::new();
    for turn in log.chunks(2) {
        let [(asks, text, run), (answers, answer, same)] = turn else { panic!("{turn:?}") };
        assert_eq!((asks.as_str(), answers.as_str(), run), ("user", "assistant", same), "{turn:?}");
        assert_eq!(answer, &format!("You said: {text}"));
        runs.push(run.clone());
    }
    assert!(runs.is_sorted(), "they were run in another order than they were accepted");
    let texts: Vec<String> = log.iter().step_by(2).map(|(_, text, _)| text.clone()).collect();
    assert_eq!(live.model.prompts(), texts, "the model got them in the order of the log");
    assert_eq!(texts.iter().collect::<BTreeSet<_>>().len(), 200);
    for socket in 0..10 {
        let of_it: Vec<&String> = texts.iter().filter(|text| text.starts_with(&format!("socket {socket} "))).collect();
        assert!(of_it.is_sorted(), "one client's messages stay in their order: {of_it:?}");
    }
}

#[test]
fn full_thread_queue_is_reported_only_to_the_sender() {
    // E004-08
    let live = LiveFixture::without_titles("[threads]\nqueue_limit = 3\n");
    let (mut sender, mut other) = (live.socket(), live.subscriber());
    sender.send_message(&live.thread, "hold first");
    live.model.wait_until_held("first");
    for number in 0..5 {
        sender.send_message(&live.thread, &format!("message {number}"));
    }
    let is_reply = |frame: &Value| matches!(frame["type"].as_str(), Some("accepted" | "error"));
    let received: Vec<Value> = (0..6).map(|_| sender.wait_for_match(is_reply)).collect();
    let codes: Vec<&str> = received[1..].iter().map(|frame| frame["code"].as_str().unwrap_or("accepted")).collect();
    assert_eq!(codes, ["accepted", "accepted", "accepted", "queue-full", "queue-full"]);
    let answer =
        live.client.request("POST", &format!("/api/sessions/{}/messages", live.thread), Some(r#"{"text":"one more"}"#));
    assert_eq!(answer.status, 429, "{answer:?}");
    assert!(answer.head.contains("retry-after: ") && answer.body.contains("queue-full"), "{answer:?}");
    live.model.release("first");
    for _ in 0..4 {
        other.wait_for("run_end");
    }
    assert!(!other.frame_types().contains(&"error"), "{:?}", other.frames);
    assert_eq!(live.model.prompts(), ["hold first", "message 0", "message 1", "message 2"]);
}

#[test]
fn server_queue_is_limited() {
    // E004-08
    let live = LiveFixture::without_titles("[serve]\nturns = 1\nqueue = 1\n");
    let threads = [live.new_thread(), live.new_thread(), live.new_thread()];
    let ask = |thread: &str, text: &str| live.client.post_message(thread, &json!({"text": text, "wait": false}));
    assert_eq!(ask(&threads[0], "hold one").0, 202);
    live.model.wait_until_held("one");
    assert_eq!(ask(&threads[1], "two").0, 202);
    let (status, refused) = ask(&threads[2], "three");
    assert_eq!((status, &refused["error"]["code"]), (429, &json!("queue-full")), "{refused}");
    live.model.release("one");
    wait_until("room again", || ask(&threads[2], "three").0 == 202);
}

#[test]
fn busy_thread_does_not_starve_others() {
    let live = LiveFixture::without_titles("[serve]\nturns = 1\n");
    let (busy, other) = (live.new_thread(), live.new_thread());
    let ask = |thread: &str, text: &str| {
        let (status, _) = live.client.post_message(thread, &json!({"text": text, "wait": false}));
        assert_eq!(status, 202);
    };
    ask(&busy, "hold first");
    live.model.wait_until_held("first");
    for text in ["second", "third", "fourth"] {
        ask(&busy, text);
    }
    ask(&other, "hello");
    live.model.release("first");
    // Under load a request may be sent again, so each prompt counts once.
    let prompts = || {
        let mut seen = Vec::new();
        for prompt in live.model.prompts() {
            if !seen.contains(&prompt) {
                seen.push(prompt);
            }
        }
        seen
    };
    wait_until("all of them", || prompts().len() == 5);
    let prompts = prompts();
    let at = prompts.iter().position(|text| text == "hello").unwrap();
    assert!(at <= 2, "{prompts:?}");
}

#[test]
fn turns_of_other_processes_keep_their_place() {
    // L004-19
    let live = LiveFixture::without_titles("");
    let ask = |text: &str| {
        let (status, _) = live.post(&json!({"text": text, "wait": false}));
        assert_eq!(status, 202);
    };
    ask("hold first");
    live.model.wait_until_held("first");
    ask("second, over HTTP");
    let mut command = live.home.command(&["thread", "send", &live.thread, "third, in a terminal", "--json"]);
    let mut terminal = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(terminal.stdout.take().unwrap()).lines();
    let waits: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    crate::frame_schema::check(&waits);
    assert_eq!((&waits["type"], &waits["ahead"]), (&json!("status"), &json!(2)), "{waits}");
    ask("fourth, over HTTP");
    live.model.release("first");
    for line in lines {
        crate::frame_schema::check(&serde_json::from_str(&line.unwrap()).unwrap());
    }
    assert!(terminal.wait().unwrap().success());
    wait_until("all of them", || live.messages().len() == 8);
    let texts: Vec<String> = live.messages().into_iter().step_by(2).map(|(_, text, _)| text).collect();
    assert_eq!(texts, ["hold first", "second, over HTTP", "third, in a terminal", "fourth, over HTTP"]);
}

#[test]
fn turn_that_fails_to_start_leaves_nothing_running() {
    // L004-15
    let live = LiveFixture::without_titles("");
    let mut socket = live.socket();
    socket.send_message(&live.thread, "hold first");
    live.model.wait_until_held("first");
    let second = {
        socket.send_message(&live.thread, "second");
        socket.wait_for_match(|frame| frame["type"] == "accepted" && frame["ahead"] == 1)["runId"].clone()
    };
    // The log is replaced by a symlink when the second turn starts.
    let log = live.home.path(&format!(".rethread/threads/{}/session.jsonl", live.thread));
    let kept = log.with_file_name("kept");
    std::fs::rename(&log, &kept).unwrap();
    std::os::unix::fs::symlink(&kept, &log).unwrap();
    live.model.release("first");
    let failed = socket.wait_for_match(|frame| frame["type"] == "error" && frame["runId"] == second);
    assert_eq!(failed["code"], "thread-disk", "{failed}");
    let ended = socket.wait_for_match(|frame| frame["type"] == "run_end" && frame["runId"] == second);
    assert_eq!(ended["stopReason"], "error");
    std::fs::remove_file(&log).unwrap();
    std::fs::rename(&kept, &log).unwrap();
    socket.send_message(&live.thread, "third");
    let accepted = socket.wait_for("accepted");
    assert_eq!(accepted["ahead"], 0, "nothing is left of the second one");
    socket.wait_for_match(|frame| frame["type"] == "run_end" && frame["runId"] == accepted["runId"]);
    let texts: Vec<String> = live.messages().into_iter().map(|(_, text, _)| text).collect();
    assert_eq!(texts, ["hold first", "You said: hold first", "third", "You said: third"]);
}

#[test]
fn deleting_a_thread_ends_its_turns() {
    let live = LiveFixture::without_titles("");
    let mut socket = live.socket();
    socket.send_message(&live.thread, "hold first");
    live.model.wait_until_held("first");
    socket.send_message(&live.thread, "second");
    socket.wait_for_match(|frame| frame["type"] == "accepted" && frame["ahead"] == 1);
    assert!(live.home.run(&["thread", "delete", &live.thread]).status.success());
    socket.wait_for("run_end");
    socket.wait_for("run_end");
    let (status, _) = live.post(&json!({"text": "third"}));
    assert_eq!(status, 404);
    assert!(!live.home.path(&format!(".rethread/threads/{}", live.thread)).exists());
}
