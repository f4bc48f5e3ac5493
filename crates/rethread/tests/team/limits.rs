//! Limits, the audit and members over HTTP.

use std::time::Duration;

use rethread_testing::{ApiClient, ApiSocket, EventClient, wait_until};
use serde_json::{Value, json};

use crate::access::node_with_model;
use crate::fixture::{TeamFixture, parsed};

#[test]
fn a_member_is_limited_alone() {
    // T16
    let Some(team) = TeamFixture::start() else { return };
    let token = team.new_token(&["eager", "--role", "member", "--requests-per-minute", "5", "--max-body-bytes", "100"]);
    let eager = team.admin.clone().with_token(&token);
    let long = format!(r#"{{"name":"{}"}}"#, "x".repeat(200));
    assert_eq!(eager.error("POST", "/api/sessions", Some(&long)), (413, "too-large".to_owned()));
    let refused = (0..12).filter(|_| eager.request("GET", "/api/sessions", None).status == 429).count();
    // A minute may begin in between.
    assert!(refused >= 2, "{refused}");
    assert_eq!(team.admin.request("GET", "/api/sessions", None).status, 200, "others are not limited");
    let token = team.new_token(&["daily", "--role", "member", "--max-bytes-per-day", "40"]);
    let daily = team.admin.clone().with_token(&token);
    let statuses: Vec<u16> =
        (0..4).map(|_| daily.request("POST", "/api/sessions", Some(r#"{"name":"12345"}"#)).status).collect();
    assert!(statuses[0] == 201 && statuses.contains(&429), "{statuses:?}");
}

#[test]
fn members_are_managed_over_http_and_everything_is_in_the_audit() {
    let Some(team) = TeamFixture::start() else { return };
    let made = team.admin.json(
        "POST",
        "/api/members",
        Some(r#"{"name":"carol","role":"member","scope":["read"],"expiresDays":30}"#),
    );
    let carol = team.admin.clone().with_token(made["token"].as_str().unwrap());
    assert_eq!(made["member"], "carol");
    assert_eq!(team.admin.error("POST", "/api/members", Some(r#"{"name":"carol","role":"member"}"#)).0, 409);
    assert_eq!(
        team.admin.error("POST", "/api/members", Some(r#"{"name":"x","role":"reader","scope":["admin"]}"#)).0,
        400
    );
    assert_eq!(carol.request("GET", "/api/search?query=walrus", None).status, 200);
    assert_eq!(carol.request("POST", "/api/sessions", Some("{}")).status, 403, "the token is limited");
    let rotated = team.admin.json("POST", "/api/members/carol/rotate", Some("{}"));
    assert_eq!(carol.request("GET", "/api/sessions", None).status, 401, "the old token ends at once");
    let carol = carol.with_token(rotated["token"].as_str().unwrap());
    assert_eq!(carol.request("GET", "/api/sessions", None).status, 200);
    let members = team.admin.json("GET", "/api/members", None);
    assert_eq!(members["members"].as_array().unwrap().len(), 2);
    let limited = team.admin.json("PATCH", "/api/members/carol", Some(r#"{"requestsPerMinute":7}"#));
    assert_eq!(limited["members"][0]["requestsPerMinute"], 7);
    let id = rotated["id"].as_str().unwrap();
    assert_eq!(team.admin.request("DELETE", &format!("/api/tokens/{id}"), None).status, 204);
    assert_eq!(carol.request("GET", "/api/sessions", None).status, 401);
    assert_eq!(team.admin.request("DELETE", "/api/members/carol", None).status, 204);
    assert_eq!(team.admin.error("DELETE", "/api/members/root", None).0, 409, "the last admin stays");
    assert_eq!(team.admin.json("PUT", "/api/retention", Some(r#"{"days":400}"#))["retentionDays"], 400);
    let targets = || {
        let audit = team.admin.json("GET", "/api/audit?limit=500", None);
        let events = audit["events"].as_array().unwrap();
        let shown = |event: &serde_json::Value| {
            format!("{} {} {} {}", event["member"], event["access"], event["target"], event["status"]).replace('"', "")
        };
        events.iter().map(shown).collect::<Vec<_>>()
    };
    wait_until("the audit", || targets().iter().any(|target| target.contains("PUT /api/retention")));
    let targets = targets();
    for expected in [
        "root admin POST /api/members 201",
        "carol read GET /api/search 200",
        "carol write POST /api/sessions 403",
        "root admin POST /api/members/{name}/rotate 201",
        "root admin DELETE /api/tokens/{token} 204",
    ] {
        assert!(targets.iter().any(|target| target == expected), "{expected}: {targets:#?}");
    }
    let numbers: Vec<u64> = team.admin.json("GET", "/api/audit?limit=500", None)["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| event["number"].as_u64().unwrap())
        .collect();
    assert!(numbers.windows(2).all(|pair| pair[0] == pair[1] + 1), "without gaps: {numbers:?}");
}

#[test]
fn tools_are_checked_and_audited_one_by_one() {
    let Some(team) = TeamFixture::start() else { return };
    let reader = team.client(&team.space, "reader");
    let call = |name: &str, arguments: &str| {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{name}","arguments":{arguments}}}}}"#
        );
        reader.request_with("POST", "/mcp", &["Accept: application/json, text/event-stream"], Some(&body))
    };
    let found = call("search_memory", r#"{"query":"walrus"}"#);
    assert!(found.status == 200 && found.body.contains("walrus"), "{found:?}");
    let refused = call("remember", r#"{"text":"x"}"#);
    assert!(refused.status == 403 && refused.body.contains("tools/list"), "{refused:?}");
    let audit = || team.admin.request("GET", "/api/audit?limit=50", None).body;
    wait_until("the audit", || audit().contains("POST /mcp search_memory") && audit().contains("POST /mcp remember"));
    assert!(parsed(&audit())["events"].is_array());
}

#[test]
fn a_model_is_offered_only_the_tools_it_may_call() {
    let Some(team) = TeamFixture::start() else { return };
    let mcp = |client: &ApiClient, body: &str| {
        client.request_with("POST", "/mcp", &["Accept: application/json, text/event-stream"], Some(body))
    };
    let offered = |client: &ApiClient| -> Vec<String> {
        let listed = mcp(client, r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
        let listed = parsed(&listed.body);
        let tools = listed["result"]["tools"].as_array().unwrap_or_else(|| panic!("{listed}"));
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    let all = offered(&team.admin);
    assert_eq!((all.len(), offered(&team.client(&team.space, "member"))), (8, all.clone()));
    let reads: Vec<String> = all.into_iter().filter(|name| name != "remember").collect();
    assert_eq!(offered(&team.client(&team.space, "reader")), reads);
    let service = team.client(&team.space, "service");
    assert_eq!(offered(&service), ["remember"]);
    let remember = |arguments: &str| {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"remember","arguments":{arguments}}}}}"#
        );
        mcp(&service, &body).status
    };
    assert_eq!(remember(r#"{"text":"from CI"}"#), 200);
    assert_eq!(remember(r#"{"text":"from CI","session":"quok"}"#), 403, "a reference is answered with names");
}

#[test]
fn frames_of_a_socket_are_limited_and_audited() {
    // T16
    let Some(team) = TeamFixture::start() else { return };
    let token = team.new_token(&["eager", "--role", "member", "--requests-per-minute", "6", "--max-body-bytes", "200"]);
    let mut socket = team.admin.clone().with_token(&token).web_socket("");
    let cancel = json!({"type": "cancel", "sessionId": team.thread});
    let code = |socket: &mut ApiSocket, frame: &Value| {
        socket.send_json(frame);
        socket.wait_for("error")["code"].as_str().unwrap().to_owned()
    };
    let long = json!({"type": "send_message", "sessionId": team.thread, "text": "x".repeat(200)});
    assert_eq!(code(&mut socket, &long), "too-large");
    let codes: Vec<String> = (0..14).map(|_| code(&mut socket, &cancel)).collect();
    // A minute may begin in between.
    assert!(codes.iter().filter(|code| *code == "queue-full").count() >= 2, "{codes:?}");
    assert!(codes.iter().any(|code| code == "unknown-reference"), "{codes:?}");
    let token = team.new_token(&["daily", "--role", "member", "--max-bytes-per-day", "150"]);
    let mut socket = team.admin.clone().with_token(&token).web_socket("");
    let codes: Vec<String> = (0..3).map(|_| code(&mut socket, &cancel)).collect();
    assert!(codes[0] == "unknown-reference" && codes[2] == "queue-full", "{codes:?}");
    let (home, _model, server) = node_with_model(&team);
    let mut sender = home.client_with_token(&server, &team.client(&team.space, "member").token).web_socket("");
    sender.send_message(&team.thread, "where is it?");
    sender.wait_for("run_end");
    let mut socket = team.client(&team.space, "reader").web_socket("");
    let send = json!({"type": "send_message", "sessionId": team.thread, "text": "intruder"});
    assert_eq!(code(&mut socket, &send), "forbidden");
    let has_event = |target: &str, status: u16| {
        let audit = team.admin.json("GET", "/api/audit?limit=500", None);
        let is_it =
            |event: &Value| event["target"] == target && event["access"] == "write" && event["status"] == status;
        audit["events"].as_array().unwrap().iter().any(is_it)
    };
    wait_until("the audit", || has_event("GET /ws cancel", 404) && has_event("GET /ws send_message", 403));
    wait_until("the audit of the other node", || has_event("GET /ws send_message", 202));
}

#[test]
fn a_revoked_member_gets_no_more_events() {
    let Some(team) = TeamFixture::start() else { return };
    let client = team.admin.clone().with_token(&team.new_token(&["gone", "--role", "reader"]));
    let mut socket = client.web_socket(&format!("?session={}", team.thread));
    assert_eq!(socket.next_frame()["status"], "subscribed");
    let mut events = client.event_stream("");
    let post = |content: &str| {
        let body = json!({"role": "user", "content": content});
        assert_eq!(team.admin.post_message(&team.thread, &body).0, 201);
    };
    post("before");
    assert!(socket.next_frame().to_string().contains("before"));
    team.admin_command(&["member", "revoke", "gone"]);
    // A node may trust a member that it has checked for as long as this.
    std::thread::sleep(Duration::from_millis(5_500));
    post("afterwards");
    let close = socket.read_to_close().unwrap();
    assert_eq!(close.reason.as_str(), "the token is no longer valid");
    let received: Vec<Value> = std::iter::from_fn(|| events.next_event()).collect();
    assert!(received.iter().any(|event| event.to_string().contains("before")), "{received:?}");
    for frame in socket.frames.iter().chain(&received) {
        assert!(!frame.to_string().contains("afterwards"), "{frame}");
    }
}

#[test]
fn a_member_may_not_take_all_connections() {
    let Some(team) = TeamFixture::start() else { return };
    let member = team.client(&team.space, "reader");
    let mut sockets: Vec<ApiSocket> = (0..8).map(|_| member.web_socket("")).collect();
    let streams: Vec<EventClient> = (0..8).map(|_| member.event_stream("")).collect();
    assert_eq!(member.try_web_socket("").err(), Some(429));
    assert_eq!(member.error("GET", "/api/events", None), (429, "queue-full".to_owned()));
    assert!(team.admin.try_web_socket("").is_ok(), "others are not limited");
    assert_eq!(member.request("GET", "/api/sessions", None).status, 200);
    drop(sockets.pop());
    wait_until("a free place", || member.try_web_socket("").map(|socket| sockets.push(socket)).is_ok());
    drop(streams);
    let post = |number: u64| {
        let body = json!({"role": "user", "content": format!("x {number}")});
        assert_eq!(team.admin.post_message(&team.thread, &body).0, 201);
    };
    // A stream ends when its next event cannot be sent.
    let mut number = 0;
    wait_until("free places", || {
        number += 1;
        post(number);
        member.try_web_socket("").map(|socket| sockets.push(socket)).is_ok()
    });
}
