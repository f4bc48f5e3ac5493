//! Messages over HTTP: appended, run and waited for, run without waiting, refused, sent twice.

use std::io::Write;
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::Scene;
use crate::client::{post, post_as};
use crate::house::{House, until};

#[test]
fn a_message_is_appended_as_it_is_and_all_who_listen_hear_of_it() {
    let scene = Scene::unnamed("");
    let mut listener = scene.listener();
    let (status, made) = scene.post(&json!({"role": "user", "content": "hello"}));
    assert_eq!((status, &made["record"]["seq"]), (201, &json!(1)), "{made}");
    let call = json!([{"type": "toolCall", "id": "c1", "name": "weather", "arguments": {}}]);
    assert_eq!(scene.post(&json!({"role": "assistant", "content": call})).0, 201);
    let result = json!({"role": "toolResult", "content": "rain", "toolCallId": "c1", "isError": false});
    let (status, made) = scene.post(&result);
    assert_eq!((status, &made["record"]["toolName"]), (201, &json!("weather")), "{made}");
    assert_eq!(scene.post(&result).1["error"]["code"], "no-such-call");
    for wanted in ["message_complete", "message_complete", "tool_result"] {
        let told = listener.until_so(|frame| frame["record"].is_object());
        assert_eq!((&told["type"], told["runId"].is_null()), (&json!(wanted), true), "{told}");
    }
    // The model goes on from there.
    let (status, turn) = scene.post(&json!({"run": true}));
    assert_eq!((status, turn["messages"].as_array().unwrap().len()), (200, 1), "{turn}");
    assert_eq!(scene.log().len(), 4);
}

#[test]
fn a_turn_is_waited_for_or_not() {
    let scene = Scene::unnamed("");
    let (status, turn) = scene.post(&json!({"text": "how are you?"}));
    assert_eq!(status, 200, "{turn}");
    assert_eq!((&turn["stopReason"], &turn["cutShort"]), (&json!("end"), &json!(false)));
    assert_eq!(turn["usage"], json!({"input": 30, "output": 7, "cacheRead": 0, "cacheWrite": 0}));
    let messages = turn["messages"].as_array().unwrap();
    assert_eq!(crate::said(&messages[1]).1, "You said: how are you?");
    assert_eq!(messages[1]["runId"], turn["runId"]);
    let mut page = scene.page("");
    let (status, queued) = scene.post(&json!({"text": "and now?", "wait": false}));
    assert_eq!((status, &queued["ahead"]), (202, &json!(0)), "{queued}");
    let end = page.until_so(|event| event["type"] == "run_end");
    assert_eq!(end["runId"], queued["runId"]);
}

#[test]
fn e004_07_who_leaves_while_waiting_does_not_stop_the_turn() {
    let scene = Scene::unnamed("");
    let body = r#"{"text":"hold it until I am gone"}"#;
    let (host, thread, token, length) = (scene.server.authority(), &scene.thread, &scene.token, body.len());
    let mut stream = TcpStream::connect(&host).unwrap();
    write!(
        stream,
        "POST /api/sessions/{thread}/messages HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    scene.model.wait_until_it_holds("it");
    drop(stream);
    scene.model.release("it");
    until("the answer", || scene.log().len() == 2);
    assert_eq!(scene.records()[1]["stopReason"], "end");
}

#[test]
fn what_is_neither_a_message_nor_a_turn_is_refused_and_nothing_is_written() {
    let scene = Scene::unnamed("");
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
        let (status, told) = scene.post(&body);
        assert_eq!(status, 400, "{body}: {told}");
        assert!(told["error"]["message"].is_string(), "{told}");
    }
    let twice =
        post_as(&scene.server, &scene.token, &scene.thread, &["Idempotency-Key: a"], r#"{"text":"x","clientId":"b"}"#);
    assert_eq!(twice.status, 400);
    assert!(scene.log().is_empty() && scene.model.heard().is_empty());
}

#[test]
fn without_a_model_or_a_budget_nothing_is_run_or_written() {
    for (settings, code) in [
        ("", "no-model"),
        ("[model]\nprovider = \"openai\"\nname = \"small\"\nendpoint = \"http://127.0.0.1:9/v1\"\n", "budget"),
    ] {
        let house = House::new();
        house.write(".rethread/config.toml", settings);
        let server = house.serve(&["--no-watch"]);
        let thread = String::from_utf8(house.run(&["thread", "new"]).stdout).unwrap();
        let (status, told) = post(&server, &house.token(), thread.trim(), &json!({"text": "hello"}));
        assert_eq!((status, &told["error"]["code"]), (409, &json!(code)), "{told}");
        let log = house.path(&format!(".rethread/threads/{}/session.jsonl", thread.trim()));
        assert_eq!(std::fs::read_to_string(log).unwrap(), "");
        assert_eq!(post(&server, &house.token(), thread.trim(), &json!({"role": "user", "content": "hi"})).0, 201);
    }
}

#[test]
fn a_session_of_an_agent_is_not_spoken_in() {
    let scene = Scene::unnamed("");
    scene.house.write(
        ".claude/projects/-app/9a9eadc8-c1f1-493e-a0f1-884aa996b05b.jsonl",
        "{\"type\":\"user\",\"uuid\":\"u1\",\"cwd\":\"/app\",\"message\":{\"role\":\"user\",\"content\":\"hi\"}}\n",
    );
    assert!(scene.house.run(&["sync"]).status.success());
    let listed = scene.house.run(&["sessions", "--all-projects", "--json"]);
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    let id = listed["sessions"][0]["id"].as_str().unwrap().to_owned();
    for body in [json!({"text": "hello"}), json!({"role": "user", "content": "hello"})] {
        let (status, told) = post(&scene.server, &scene.token, &id, &body);
        assert_eq!((status, &told["error"]["code"]), (409, &json!("not-a-thread")), "{told}");
    }
    // But it can be listened to.
    let mut socket = scene.socket();
    socket.say(&json!({"type": "subscribe", "sessionId": id}));
    assert_eq!(socket.next()["status"], "subscribed");
}

#[test]
fn fault_31_what_is_sent_twice_under_one_name_is_stored_and_run_once() {
    let mut scene = Scene::unnamed("");
    let append = json!({"role": "user", "content": "hello", "clientId": "m-1"});
    let (first, again) = (scene.post(&append), scene.post(&append));
    assert_eq!((first.0, again.0), (201, 200));
    assert_eq!(first.1, again.1);
    assert_eq!(scene.post(&json!({"role": "user", "content": "other", "clientId": "m-1"})).0, 409);

    // While it runs, who sends it again waits for the same run.
    let turn = json!({"text": "hold it once", "clientId": "t-1", "wait": false});
    let (status, queued) = scene.post(&turn);
    assert_eq!(status, 202);
    scene.model.wait_until_it_holds("it");
    assert_eq!(scene.post(&turn).1["runId"], queued["runId"]);
    assert_eq!(scene.post(&json!({"text": "another", "clientId": "t-1"})).0, 409);
    let mut socket = scene.socket();
    socket.say(&json!({"type": "send_message", "sessionId": scene.thread, "text": "hold it once", "clientId": "t-1"}));
    assert_eq!(socket.until("accepted")["runId"], queued["runId"]);
    scene.model.release("it");
    socket.until("run_end");

    // Afterwards, also in another life of the server, it is told what it became.
    let key = "Idempotency-Key: \"t-1\"";
    let check = |scene: &Scene| {
        let told = post_as(&scene.server, &scene.token, &scene.thread, &[key], r#"{"text":"hold it once"}"#);
        assert_eq!(told.status, 200, "{told:?}");
        let told: Value = serde_json::from_str(&told.body).unwrap();
        assert_eq!((&told["runId"], &told["stopReason"]), (&queued["runId"], &json!("end")), "{told}");
        assert_eq!(crate::said(&told["messages"][1]).1, "You said: hold it once");
    };
    check(&scene);
    for other in [
        json!({"run": true, "clientId": "t-1"}),
        json!({"text": "hello", "clientId": "m-1"}),
        json!({"role": "user", "content": "hold it once", "clientId": "t-1"}),
    ] {
        assert_eq!(scene.post(&other).0, 409, "{other} is not what was sent before");
    }
    assert_eq!(scene.server.end().code(), Some(0));
    scene.server = scene.house.serve(&["--no-watch"]);
    check(&scene);
    let mut socket = scene.socket();
    socket.say(&json!({"type": "send_message", "sessionId": scene.thread, "text": "hold it once", "clientId": "t-1"}));
    socket.until("run_end");
    assert_eq!(socket.kinds(), ["status", "accepted", "message_complete", "message_complete", "run_end"]);
    assert_eq!((scene.log().len(), scene.model.heard().len()), (3, 1));
}

#[test]
fn fault_31_a_name_of_a_turn_that_waits_is_taken_and_the_turn_keeps_its_place() {
    let scene = Scene::unnamed("");
    let turn = |text: &str, id: &str| json!({"text": text, "clientId": id, "wait": false});
    assert_eq!(scene.post(&turn("hold first", "q1")).0, 202);
    scene.model.wait_until_it_holds("first");
    for (id, ahead) in [("q2", 1), ("q3", 2)] {
        let (first, again) = (scene.post(&turn("next", id)), scene.post(&turn("next", id)));
        assert_eq!((first.0, &first.1["ahead"]), (202, &json!(ahead)), "{first:?}");
        assert_eq!(first, again);
    }
    for id in ["q1", "q3"] {
        assert_eq!(scene.post(&json!({"role": "user", "content": "next", "clientId": id})).0, 409, "{id}");
    }
    scene.model.release("first");
    until("all of them", || scene.log().len() == 6);
    assert_eq!(scene.model.heard(), ["hold first", "next", "next"]);
}

#[test]
fn fault_31_a_turn_that_got_no_answer_is_no_success_when_it_is_sent_again() {
    let scene = Scene::unnamed("");
    let turn = json!({"text": "fail please", "clientId": "f-1"});
    assert_eq!(scene.post(&turn).0, 502);
    let (status, again) = scene.post(&turn);
    assert_eq!((status, &again["error"]["code"]), (502, &json!("model")), "{again}");
    assert!(again["error"]["hint"].to_string().contains("without a text"), "{again}");
    let mut socket = scene.socket();
    socket.say(&json!({"type": "send_message", "sessionId": scene.thread, "text": "fail please", "clientId": "f-1"}));
    let told = socket.next();
    assert_eq!((&told["type"], &told["code"], &told["clientId"]), (&json!("error"), &json!("model"), &json!("f-1")));
    assert_eq!((scene.log().len(), scene.model.heard().len()), (1, 1), "it was run once");
}

#[test]
fn fault_31_a_turn_that_is_sent_again_names_the_calls_that_still_wait() {
    let scene = Scene::unnamed("");
    let tools = json!([{"name": "weather", "description": "The weather.", "parameters": {"type": "object"}}]);
    let turn = json!({"text": "call it", "clientId": "c-1", "tools": tools});
    let (first, again) = (scene.post(&turn), scene.post(&turn));
    assert_eq!((first.0, again.0, &again.1["stopReason"]), (200, 200, &json!("toolCalls")), "{again:?}");
    assert_eq!(first.1["waitingCalls"].as_array().map(Vec::len), Some(1), "{first:?}");
    assert_eq!(first.1["waitingCalls"], again.1["waitingCalls"]);
    let send = |socket: &mut crate::client::Socket| {
        let mut frame = turn.clone();
        frame["type"] = json!("send_message");
        frame["sessionId"] = json!(scene.thread);
        socket.say(&frame);
        socket.until("run_end")["waitingCalls"].clone()
    };
    let mut socket = scene.socket();
    assert_eq!(send(&mut socket), first.1["waitingCalls"]);
    let call = first.1["waitingCalls"][0]["id"].clone();
    let result = json!({"role": "toolResult", "content": "rain", "toolCallId": call});
    assert_eq!(scene.post(&result).0, 201);
    assert_eq!(scene.post(&turn).1["waitingCalls"], json!([]));
    assert_eq!(send(&mut socket), json!([]));
    assert_eq!(scene.model.heard().len(), 1);
}
