//! Messages over HTTP: appended, awaited, queued, refused, repeated.

use crate::fixture::{LiveFixture, message};
use rethread_testing::{ApiSocket, TestHome, TranscriptBuilder, wait_until};
use serde_json::{Value, json};

#[test]
fn appended_message_is_sent_to_all_subscribers() {
    let live = LiveFixture::without_titles("");
    let mut listener = live.subscriber();
    let (status, made) = live.post(&json!({"role": "user", "content": "hello"}));
    assert_eq!((status, &made["record"]["seq"]), (201, &json!(1)), "{made}");
    let call = json!([{"type": "toolCall", "id": "c1", "name": "weather", "arguments": {}}]);
    assert_eq!(live.post(&json!({"role": "assistant", "content": call})).0, 201);
    let result = json!({"role": "toolResult", "content": "rain", "toolCallId": "c1", "isError": false});
    let (status, made) = live.post(&result);
    assert_eq!((status, &made["record"]["toolName"]), (201, &json!("weather")), "{made}");
    assert_eq!(live.post(&result).1["error"]["code"], "unknown-tool-call");
    for wanted in ["message_complete", "message_complete", "tool_result"] {
        let received = listener.wait_for_match(|frame| frame["record"].is_object());
        assert_eq!((&received["type"], received["runId"].is_null()), (&json!(wanted), true), "{received}");
    }
    // The model continues from there.
    let (status, turn) = live.post(&json!({"run": true}));
    assert_eq!((status, turn["messages"].as_array().unwrap().len()), (200, 1), "{turn}");
    assert_eq!(live.messages().len(), 4);
}

#[test]
fn turn_can_be_awaited_or_queued() {
    let live = LiveFixture::without_titles("");
    let (status, turn) = live.post(&json!({"text": "how are you?"}));
    assert_eq!(status, 200, "{turn}");
    assert_eq!((&turn["stopReason"], &turn["cutShort"]), (&json!("end"), &json!(false)));
    assert_eq!(turn["usage"], json!({"input": 30, "output": 7, "cacheRead": 0, "cacheWrite": 0}));
    let messages = turn["messages"].as_array().unwrap();
    assert_eq!(message(&messages[1]).1, "You said: how are you?");
    assert_eq!(messages[1]["runId"], turn["runId"]);
    let mut page = live.client.event_stream("");
    let (status, queued) = live.post(&json!({"text": "and now?", "wait": false}));
    assert_eq!((status, &queued["ahead"]), (202, &json!(0)), "{queued}");
    let end = page.wait_for_match(|event| event["type"] == "run_end");
    assert_eq!(end["runId"], queued["runId"]);
}

#[test]
fn disconnected_request_does_not_stop_the_turn() {
    // E004-07
    let live = LiveFixture::without_titles("");
    let body = r#"{"text":"hold it until I am gone"}"#;
    let path = format!("/api/sessions/{}/messages", live.thread);
    let stream = live.client.start_post(&path, body.len(), body);
    live.model.wait_until_held("it");
    drop(stream);
    live.model.release("it");
    wait_until("the answer", || live.messages().len() == 2);
    assert_eq!(live.records()[1]["stopReason"], "end");
}

#[test]
fn invalid_message_bodies_are_refused_and_not_written() {
    let live = LiveFixture::without_titles("");
    for body in [
        json!({}),
        json!({"text": " "}),
        json!({"text": "x", "run": false}),
        json!({"text": "x", "role": "user"}),
        json!({"role": "user"}),
        json!({"content": "x"}),
        json!({"role": "user", "content": "x", "wait": false}),
        json!({"role": "user", "content": "x", "toolCallId": "c1"}),
        json!({"role": "user", "content": ""}),
        json!({"role": "user", "content": [{"type": "text"}]}),
        json!({"role": "god", "content": "x"}),
        json!({"role": "toolResult", "content": "x"}),
        json!({"role": "user", "content": [{"type": "toolCall", "id": "a", "name": "b", "arguments": {}}]}),
        json!({"run": true}),
        json!({"text": "x", "clientId": ""}),
        json!({"text": "x", "clientId": "x".repeat(129)}),
        json!({"text": "x", "surprise": 1}),
        json!([]),
    ] {
        let (status, received) = live.post(&body);
        assert_eq!(status, 400, "{body}: {received}");
        assert!(received["error"]["message"].is_string(), "{received}");
    }
    let path = format!("/api/sessions/{}/messages", live.thread);
    let body = Some(r#"{"text":"x","clientId":"b"}"#);
    let twice = live.client.request_with("POST", &path, &["Idempotency-Key: a"], body);
    assert_eq!(twice.status, 400);
    assert!(live.messages().is_empty() && live.model.prompts().is_empty());
}

#[test]
fn no_model_or_budget_runs_and_writes_nothing() {
    for (settings, code) in [
        ("", "no-model"),
        ("[model]\nprovider = \"openai\"\nname = \"small\"\nendpoint = \"http://127.0.0.1:9/v1\"\n", "budget"),
    ] {
        let home = TestHome::with_binary(env!("CARGO_BIN_EXE_rethread"));
        home.write(".rethread/config.toml", settings);
        let server = home.serve(&["--no-watch"]);
        let client = home.client(&server);
        let thread = home.run_ok(&["thread", "new"]).trim().to_owned();
        let (status, received) = client.post_message(&thread, &json!({"text": "hello"}));
        assert_eq!((status, &received["error"]["code"]), (409, &json!(code)), "{received}");
        assert_eq!(home.read(&format!(".rethread/threads/{thread}/session.jsonl")), "");
        assert_eq!(client.post_message(&thread, &json!({"role": "user", "content": "hi"})).0, 201);
    }
}

#[test]
fn agent_session_takes_no_messages() {
    let live = LiveFixture::without_titles("");
    let session = "9a9eadc8-c1f1-493e-a0f1-884aa996b05b";
    let transcript = TranscriptBuilder::new(session).user("hi");
    live.home.write(&format!(".claude/projects/-app/{session}.jsonl"), transcript.build());
    assert!(live.home.run(&["sync"]).status.success());
    let listed = live.home.run(&["sessions", "--all-projects", "--json"]);
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    let id = listed["sessions"][0]["id"].as_str().unwrap().to_owned();
    for body in [json!({"text": "hello"}), json!({"role": "user", "content": "hello"})] {
        let (status, received) = live.client.post_message(&id, &body);
        assert_eq!((status, &received["error"]["code"]), (409, &json!("not-a-thread")), "{received}");
    }
    // It can be subscribed to.
    let mut socket = live.socket();
    socket.send_json(&json!({"type": "subscribe", "sessionId": id}));
    assert_eq!(socket.next_frame()["status"], "subscribed");
}

#[test]
fn repeated_client_id_is_stored_and_run_once() {
    // Fault 31
    let mut live = LiveFixture::without_titles("");
    let append = json!({"role": "user", "content": "hello", "clientId": "m-1"});
    let (first, again) = (live.post(&append), live.post(&append));
    assert_eq!((first.0, again.0), (201, 200));
    assert_eq!(first.1, again.1);
    assert_eq!(live.post(&json!({"role": "user", "content": "other", "clientId": "m-1"})).0, 409);

    // While it runs, a repeated request waits for the same run.
    let turn = json!({"text": "hold it once", "clientId": "t-1", "wait": false});
    let (status, queued) = live.post(&turn);
    assert_eq!(status, 202);
    live.model.wait_until_held("it");
    assert_eq!(live.post(&turn).1["runId"], queued["runId"]);
    assert_eq!(live.post(&json!({"text": "another", "clientId": "t-1"})).0, 409);
    let mut socket = live.socket();
    socket.send_json(
        &json!({"type": "send_message", "sessionId": live.thread, "text": "hold it once", "clientId": "t-1"}),
    );
    assert_eq!(socket.wait_for("accepted")["runId"], queued["runId"]);
    live.model.release("it");
    socket.wait_for("run_end");

    // Afterwards, also after a restart, a repeated request returns the result.
    let key = "Idempotency-Key: \"t-1\"";
    let path = format!("/api/sessions/{}/messages", live.thread);
    let check = |live: &LiveFixture| {
        let received = live.client.request_with("POST", &path, &[key], Some(r#"{"text":"hold it once"}"#));
        assert_eq!(received.status, 200, "{received:?}");
        let received: Value = serde_json::from_str(&received.body).unwrap();
        assert_eq!((&received["runId"], &received["stopReason"]), (&queued["runId"], &json!("end")), "{received}");
        assert_eq!(message(&received["messages"][1]).1, "You said: hold it once");
    };
    check(&live);
    for other in [
        json!({"run": true, "clientId": "t-1"}),
        json!({"text": "hello", "clientId": "m-1"}),
        json!({"role": "user", "content": "hold it once", "clientId": "t-1"}),
    ] {
        assert_eq!(live.post(&other).0, 409, "{other} is not what was sent before");
    }
    assert_eq!(live.server.stop().code(), Some(0));
    live.restart();
    check(&live);
    let mut socket = live.socket();
    socket.send_json(
        &json!({"type": "send_message", "sessionId": live.thread, "text": "hold it once", "clientId": "t-1"}),
    );
    socket.wait_for("run_end");
    assert_eq!(socket.frame_types(), ["status", "accepted", "message_complete", "message_complete", "run_end"]);
    assert_eq!((live.messages().len(), live.model.prompts().len()), (3, 1));
}

#[test]
fn client_id_of_a_queued_turn_is_taken() {
    // Fault 31
    let live = LiveFixture::without_titles("");
    let turn = |text: &str, id: &str| json!({"text": text, "clientId": id, "wait": false});
    assert_eq!(live.post(&turn("hold first", "q1")).0, 202);
    live.model.wait_until_held("first");
    for (id, ahead) in [("q2", 1), ("q3", 2)] {
        let (first, again) = (live.post(&turn("next", id)), live.post(&turn("next", id)));
        assert_eq!((first.0, &first.1["ahead"]), (202, &json!(ahead)), "{first:?}");
        assert_eq!(first, again);
    }
    for id in ["q1", "q3"] {
        assert_eq!(live.post(&json!({"role": "user", "content": "next", "clientId": id})).0, 409, "{id}");
    }
    live.model.release("first");
    wait_until("all of them", || live.messages().len() == 6);
    assert_eq!(live.model.prompts(), ["hold first", "next", "next"]);
}

#[test]
fn repeating_a_failed_turn_is_not_a_success() {
    // Fault 31
    let live = LiveFixture::without_titles("");
    let turn = json!({"text": "fail please", "clientId": "f-1"});
    assert_eq!(live.post(&turn).0, 502);
    let (status, again) = live.post(&turn);
    assert_eq!((status, &again["error"]["code"]), (502, &json!("model")), "{again}");
    assert!(again["error"]["hint"].to_string().contains("without text"), "{again}");
    let mut socket = live.socket();
    socket.send_json(
        &json!({"type": "send_message", "sessionId": live.thread, "text": "fail please", "clientId": "f-1"}),
    );
    let received = socket.next_frame();
    assert_eq!(
        (&received["type"], &received["code"], &received["clientId"]),
        (&json!("error"), &json!("model"), &json!("f-1"))
    );
    assert_eq!((live.messages().len(), live.model.prompts().len()), (1, 1), "it was run once");
}

#[test]
fn repeated_turn_names_the_waiting_calls() {
    // Fault 31
    let live = LiveFixture::without_titles("");
    let tools = json!([{"name": "weather", "description": "The weather.", "parameters": {"type": "object"}}]);
    let turn = json!({"text": "call it", "clientId": "c-1", "tools": tools});
    let (first, again) = (live.post(&turn), live.post(&turn));
    assert_eq!((first.0, again.0, &again.1["stopReason"]), (200, 200, &json!("toolCalls")), "{again:?}");
    assert_eq!(first.1["waitingCalls"].as_array().map(Vec::len), Some(1), "{first:?}");
    assert_eq!(first.1["waitingCalls"], again.1["waitingCalls"]);
    let send = |socket: &mut ApiSocket| {
        let mut frame = turn.clone();
        frame["type"] = json!("send_message");
        frame["sessionId"] = json!(live.thread);
        socket.send_json(&frame);
        socket.wait_for("run_end")["waitingCalls"].clone()
    };
    let mut socket = live.socket();
    assert_eq!(send(&mut socket), first.1["waitingCalls"]);
    let call = first.1["waitingCalls"][0]["id"].clone();
    let result = json!({"role": "toolResult", "content": "rain", "toolCallId": call});
    assert_eq!(live.post(&result).0, 201);
    assert_eq!(live.post(&turn).1["waitingCalls"], json!([]));
    assert_eq!(send(&mut socket), json!([]));
    assert_eq!(live.model.prompts().len(), 1);
}
