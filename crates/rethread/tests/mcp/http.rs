//! The same tools at `/mcp`: behind the guard, without sessions, in both kinds of revision.

use rethread_testing::ApiClient;
use serde_json::{Value, json};

use crate::client::{
    ANNA, HANDSHAKE_REVISIONS, STATELESS_REVISION, home_with_sessions, new_home, post, text_of, with_metadata,
};

/// One request of a revision with a handshake.
fn ask(client: &ApiClient, revision: &str, method: &str, params: &Value) -> Value {
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let version = format!("MCP-Protocol-Version: {revision}");
    let answer = post(client, &message, &[&version]);
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(answer.head.contains("content-type: application/json"), "{answer:?}");
    serde_json::from_str(&answer.body).unwrap()
}

#[test]
fn handshake_revisions_work_without_a_session() {
    let home = home_with_sessions();
    let server = home.serve(&["--no-watch"]);
    let client = home.client(&server);
    for revision in HANDSHAKE_REVISIONS {
        let initialized =
            json!({"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialized});
        let answer = post(&client, &message, &[]);
        assert!(answer.status == 200 && !answer.head.contains("mcp-session-id"), "{answer:?}");
        let initialized: Value = serde_json::from_str(&answer.body).unwrap();
        assert_eq!(initialized["result"]["protocolVersion"], revision);
        let begun = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(post(&client, &begun, &[]).status, 202);
        let tools = ask(&client, revision, "tools/list", &json!({}));
        assert_eq!(tools["result"]["tools"].as_array().unwrap().len(), 8);
        let call = json!({"name": "search_memory", "arguments": {"query": "quokka"}});
        let output = ask(&client, revision, "tools/call", &call);
        assert!(text_of(&output["result"]).contains("quokka buffer"), "a server searches all projects: {output}");
        let unknown = ask(&client, revision, "tools/call", &json!({"name": "nothing"}));
        assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    }
}

#[test]
fn stateless_revision_needs_no_handshake() {
    let home = home_with_sessions();
    let server = home.serve(&["--no-watch"]);
    let client = home.client(&server);
    let version = format!("MCP-Protocol-Version: {STATELESS_REVISION}");
    let ask = |method: &str, name: Option<&str>, params: &Value| {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": with_metadata(params)});
        let method = format!("Mcp-Method: {method}");
        let name = name.map(|name| format!("Mcp-Name: {name}"));
        let headers: Vec<&str> = [version.as_str(), &method].into_iter().chain(name.as_deref()).collect();
        let answer = post(&client, &message, &headers);
        (answer.status, serde_json::from_str::<Value>(&answer.body).unwrap_or_default())
    };
    let (status, found) = ask("server/discover", None, &json!({}));
    assert_eq!((status, &found["result"]["supportedVersions"][4]), (200, &json!(STATELESS_REVISION)), "{found}");
    let (status, tools) = ask("tools/list", None, &json!({}));
    assert_eq!((status, &tools["result"]["resultType"]), (200, &json!("complete")), "{tools}");
    let note = json!({"name": "remember", "arguments": {"text": "the lift is slow"}});
    let (_, noted) = ask("tools/call", Some("remember"), &note);
    assert!(text_of(&noted["result"]).contains("about no project"), "{noted}");
    let call = json!({"name": "search_memory", "arguments": {"query": "lift"}});
    let (_, hits) = ask("tools/call", Some("search_memory"), &call);
    assert!(text_of(&hits["result"]).contains("(noted by tester)"), "{hits}");
    let (status, mismatch) = ask("tools/call", Some("remember"), &call);
    assert_eq!(status, 400, "headers that contradict the body: {mismatch}");
}

#[test]
fn auth_guard_covers_the_mcp_route() {
    // T3, T4, T6
    let home = home_with_sessions();
    home.write(".rethread/config.toml", "[serve]\nhosts = [\"memory.example\"]\n");
    let server = home.serve(&["--no-watch"]);
    let token = home.token();
    let call = json!({"name": "search_memory", "arguments": {"query": "quokka"}});
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}).to_string();
    let (json, accept) = ("Content-Type: application/json", "Accept: application/json, text/event-stream");
    let bearer = format!("Authorization: Bearer {token}");
    let own = format!("Origin: http://{}", server.authority());
    for (head, status) in [
        (vec![json, accept], 401),
        (vec!["Authorization: Bearer wrong", json, accept], 401),
        (vec![&bearer, "Host: evil.example", json, accept], 403),
        (vec![&bearer, "Origin: http://evil.example", json, accept], 403),
        (vec![&bearer, "Origin: null", json, accept], 403),
        (vec![&bearer, "Content-Type: text/plain", accept], 415),
        (vec![&bearer, "Content-Type: application/x-www-form-urlencoded", accept], 415),
        (vec![&bearer, json, "Accept: text/html"], 406),
        (vec![&bearer, json, accept, "MCP-Protocol-Version: 1999-01-01"], 400),
        (vec![&bearer, json, accept], 200),
        (vec![&bearer, &own, json, accept], 200),
        (vec![&bearer, "Host: memory.example", json, accept], 200),
        (vec![&bearer, "Host: memory.example:7717", json, accept], 200),
    ] {
        let answer = server.send(&[&["POST /mcp"], &head[..]].concat(), &message);
        assert_eq!(answer.status, status, "{head:?}: {answer:?}");
        assert_eq!(answer.body.contains("quokka buffer"), status == 200, "{answer:?}");
    }
    // The server applies changed settings; it looks several times a second.
    home.write(".rethread/config.toml", "[serve]\nhosts = [\"renamed.example\"]\n");
    let renamed = ["POST /mcp", &bearer, "Host: renamed.example", json, accept];
    while server.send(&renamed, &message).status != 200 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let socket = ["POST /mcp", "Host: anything", json, accept];
    assert_eq!(server.send_over_unix_socket(&socket, &message).status, 200, "the same user needs no token");
    for body in ["", "{", "[]", "null", "{\"jsonrpc\":\"2.0\"}", "\u{0}"] {
        let answer = server.send(&["POST /mcp", &bearer, json, accept], body);
        assert!((400..500).contains(&answer.status), "{body:?}: {answer:?}");
    }
    let large = server.send(&["POST /mcp", &bearer, json, accept], &"x".repeat((2 << 20) + 1));
    assert_eq!(large.status, 413);
}

#[test]
fn mcp_has_no_sessions_and_shutdown_does_not_hang() {
    let home = new_home();
    let mut server = home.serve(&["--no-watch"]);
    let bearer = format!("Authorization: Bearer {}", home.token());
    for method in ["GET", "DELETE", "PUT"] {
        let head = [
            &format!("{method} /mcp"),
            &bearer,
            "Accept: text/event-stream",
            "Mcp-Session-Id: x",
            "Content-Type: application/json",
        ];
        let answer = server.send(&head.map(|line| line as &str), "");
        assert_eq!(answer.status, 405, "{method}: {answer:?}");
        assert!(answer.head.contains("allow: post"), "{answer:?}");
    }
    let output = ask(
        &home.client(&server),
        HANDSHAKE_REVISIONS[2],
        "tools/call",
        &json!({"name": "read_session", "arguments": {"session": ANNA}}),
    );
    assert!(output["result"]["isError"] == true && text_of(&output["result"]).contains("rethread init"), "{output}");
    assert_eq!(server.stop().code(), Some(0));
}
