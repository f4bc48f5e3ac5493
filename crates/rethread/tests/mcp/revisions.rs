//! The first messages of clients, in the shapes that they send, for each revision of the protocol.

use serde_json::{Value, json};

use crate::client::{McpClient, home_with_sessions, new_home, text_of, with_metadata};

/// A client with a handshake: its revision, the capabilities and the information it sends.
fn handshake_clients() -> [(&'static str, Value, Value); 6] {
    let codex = json!({"experimental": {"codex/auth-change": {}}, "elicitation": {"form": {}, "url": {}}});
    let qwen = json!({"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}},
        "roots": {}});
    let droid =
        json!({"name": "factory-cli", "title": "Factory CLI", "version": "0.2", "websiteUrl": "https://x.example/"});
    [
        ("2024-11-05", json!({}), json!({"name": "@cline/core", "version": "0.0.0"})),
        ("2025-03-26", json!({"roots": {"listChanged": true}}), json!({"name": "older", "version": "1"})),
        ("2025-06-18", codex, json!({"name": "codex-mcp-client", "title": "Codex", "version": "0.1"})),
        (
            "2025-06-18",
            json!({"roots": {"listChanged": true}}),
            json!({"name": "gemini-cli-mcp-client", "version": "0"}),
        ),
        ("2025-11-25", qwen, json!({"name": "qwen-cli-mcp-client-rethread", "version": "0.0.1"})),
        ("2025-11-25", json!({}), droid),
    ]
}

#[test]
fn each_client_with_a_handshake_is_served() {
    let home = home_with_sessions();
    for (revision, capabilities, info) in handshake_clients() {
        let mut client = McpClient::new(&home, &[], &["--no-sync"]);
        let params = json!({"protocolVersion": revision, "capabilities": capabilities, "clientInfo": info});
        // Some clients put the id last, and count from 0.
        client.send(&json!({"method": "initialize", "params": params, "jsonrpc": "2.0", "id": 0}));
        assert_eq!(client.receive()["result"]["protocolVersion"], revision, "{info}");
        client.send(&json!({"method": "notifications/initialized", "jsonrpc": "2.0"}));
        // Some send no parameters, some empty ones.
        client.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}));
        assert_eq!(client.receive()["result"]["tools"].as_array().unwrap().len(), 8, "{info}");
        let call = json!({"name": "search_memory", "arguments": {"query": "quokka"}, "_meta": {"progressToken": 4}});
        assert!(text_of(&client.request("tools/call", &call)["result"]).contains("quokka buffer"), "{info}");
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}));
        assert_eq!(client.request("ping", &json!({}))["result"], json!({}), "{info}");
    }
}

#[test]
fn a_client_without_a_handshake_is_served() {
    let home = home_with_sessions();
    let mut client = McpClient::new(&home, &[], &["--no-sync"]);
    let found = client.request("server/discover", &with_metadata(&json!({})));
    assert!(found["result"]["supportedVersions"].as_array().unwrap().contains(&json!("2026-07-28")), "{found}");
    let mut call = with_metadata(&json!({"arguments": {"query": "quokka"}, "name": "search_memory"}));
    call["_meta"]["progressToken"] = json!(3);
    assert!(text_of(&client.request("tools/call", &call)["result"]).contains("quokka buffer"));
}

#[test]
fn prompts_and_resources_are_empty_lists() {
    let lists = [
        ("prompts/list", "prompts"),
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
    ];
    for (revision, capabilities, info) in handshake_clients() {
        let mut client = McpClient::new(&new_home(), &[], &["--no-sync"]);
        let params = json!({"protocolVersion": revision, "capabilities": capabilities, "clientInfo": info});
        client.request("initialize", &params);
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        for (method, name) in lists {
            assert_eq!(client.request(method, &json!({}))["result"][name], json!([]), "{revision} {method}");
        }
    }
    let mut client = McpClient::new(&new_home(), &[], &["--no-sync"]);
    client.request("server/discover", &with_metadata(&json!({})));
    for (method, name) in lists {
        let answer = client.request(method, &with_metadata(&json!({})));
        assert_eq!(
            (&answer["result"][name], &answer["result"]["resultType"]),
            (&json!([]), &json!("complete")),
            "{answer}"
        );
    }
}
