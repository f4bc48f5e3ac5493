//! Invalid input never crashes the server and never reaches files outside its home.

use std::fs;

use rethread_testing::{TestHome, files_below};
use serde_json::{Value, json};

use crate::client::{HANDSHAKE_REVISIONS, McpClient, home_with_sessions, text_of};

#[test]
fn server_exits_with_its_input_and_prints_only_the_protocol() {
    let home = home_with_sessions();
    let ended = McpClient::new(&home, &[], &[]).finish();
    assert_eq!((ended.code, ended.stdout.as_str(), ended.stderr.as_str()), (Some(0), "", ""));
    let ended = McpClient::initialized(&home).finish();
    assert_eq!((ended.code, ended.stdout.as_str(), ended.stderr.as_str()), (Some(0), "", ""));
    let mut client = McpClient::initialized(&home);
    client.write(b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/");
    assert_eq!(client.finish().code, Some(0), "an incomplete line is ignored");
}

#[test]
fn pending_requests_are_answered_before_the_exit() {
    let home = home_with_sessions();
    let mut client = McpClient::initialized(&home);
    for id in 100..120 {
        let call = json!({"name": "search_memory", "arguments": {"query": "quokka"}});
        client.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": call}));
    }
    let ended = client.finish();
    let mut ids: Vec<u64> = Vec::new();
    for line in ended.stdout.lines() {
        let answer: Value = serde_json::from_str(line).unwrap();
        assert!(text_of(&answer["result"]).contains("quokka buffer"), "{answer}");
        ids.push(answer["id"].as_u64().unwrap());
    }
    ids.sort_unstable();
    assert_eq!(ids, (100..120).collect::<Vec<_>>());
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
}

#[test]
fn invalid_lines_are_skipped_before_and_after_the_handshake() {
    let home = home_with_sessions();
    let mut client = McpClient::new(&home, &[], &["--no-sync"]);
    let giant = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"{}\"}}\n", "x".repeat(5 << 20));
    let deep = format!("{}\n", "[".repeat(200_000));
    let garbage: [&[u8]; 8] = [
        b"\n\n",
        b"hello?\n",
        b"\xff\xfe\x00\x01\n",
        b"{\"jsonrpc\":\"2.0\"\n",
        b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\r\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{}}\n",
        giant.as_bytes(),
        deep.as_bytes(),
    ];
    for bytes in garbage {
        client.write(bytes);
    }
    assert_eq!(client.initialize(HANDSHAKE_REVISIONS[3])["protocolVersion"], HANDSHAKE_REVISIONS[3]);
    for bytes in garbage {
        client.write(bytes);
    }
    assert!(client.text("search_memory", &json!({"query": "quokka"})).contains("quokka buffer"));
    for shape in [json!([1, 2]), json!("x"), json!({"jsonrpc": "2.0", "id": {"a": 1}, "method": "ping"})] {
        client.send(&shape);
        assert_eq!(client.receive()["error"]["code"], -32600, "{shape}");
    }
    assert_eq!(client.request("ping", &json!({}))["result"], json!({}));
    assert_eq!(client.finish().code, Some(0));
}

/// Values that no parameter expects.
fn unexpected_values() -> Vec<Value> {
    let texts = [
        "../../../../etc/passwd",
        "/etc/passwd",
        "..\\..\\secret.txt",
        "file:///etc/passwd",
        "~/secret.txt",
        "secret.txt",
        "%2e%2e%2fsecret.txt",
        "a\u{0}b",
        "\u{0}",
        "",
        " ",
        ":",
        ":1",
        "a:18446744073709551616",
        "a:-1",
        "'; DROP TABLE session; --",
        "\" OR 1=1",
        "NEAR(a b)",
        "*",
        "[a-z]*",
        "%_%",
        "$(touch made-by-a-tool)",
        "`touch made-by-a-tool`",
        "{{7*7}}",
        "</rethread-context>",
        "\u{1b}]52;c;eA==\u{7}",
        "\u{202e}\u{2066}",
        "𝕳𝖊𝖑𝖑𝖔 \u{10ffff}",
        "-",
        "--home=/tmp",
        "since:9999999999d",
        "file: kind: agent: -\"",
    ];
    let mut values: Vec<Value> = texts.iter().map(|text| json!(text)).collect();
    values.extend([json!("x".repeat(300_000)), json!("\u{e000}é".repeat(20_000)), json!("a\n".repeat(50_000))]);
    values.extend([json!(null), json!(true), json!(-1), json!(0), json!(1e308), json!(0.5), json!(u64::MAX)]);
    values.extend([json!([]), json!({}), json!([[]]), json!({"a": {"b": []}}), json!(vec!["x"; 1000])]);
    values
}

#[test]
fn no_argument_breaks_a_tool_or_reaches_an_outside_file() {
    // T7, T9, T15
    let home = home_with_sessions();
    home.write("secret.txt", "swordfish-canary");
    home.write(".ssh/id_rsa", "swordfish-canary");
    let outside = |home: &TestHome| {
        let files = files_below(home.root());
        files.into_iter().filter(|file| !file.to_string_lossy().contains("/.rethread/")).collect::<Vec<_>>()
    };
    let before = outside(&home);
    let mut client = McpClient::initialized(&home);
    let tools = client.request("tools/list", &json!({}))["result"]["tools"].as_array().unwrap().clone();
    for tool in &tools {
        let (name, schema) = (tool["name"].as_str().unwrap(), &tool["inputSchema"]);
        let parameters: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
        for value in unexpected_values() {
            for parameter in &parameters {
                // All other parameters are valid or missing.
                let mut arguments = json!({"query": "quokka", "session": "aaaa1011", "question": "why?", "error": "error: x",
                    "text": "a note", "ids": ["aaaa1011:1"]});
                arguments.as_object_mut().unwrap().retain(|known, _| parameters.contains(&known));
                arguments[parameter.as_str()] = value.clone();
                let output = text_of(&client.call(name, &arguments));
                assert!(output.len() < 25_000, "{name} {parameter}: {} bytes", output.len());
                assert!(!output.contains("swordfish") && !output.contains("root:x:"), "{output}");
                assert!(!output.contains("code: internal-error"), "{name} {parameter}: {output}");
            }
        }
    }
    let whole: Value = unexpected_values().into_iter().map(|value| (value.to_string(), value)).take(20).collect();
    assert!(client.error_text("search_memory", &whole).contains("unknown argument"));
    assert_eq!(outside(&home), before, "nothing was made, and nothing is gone");
    assert!(fs::read_to_string(home.path("secret.txt")).unwrap().contains("canary"));
    let ended = client.finish();
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    assert!(home.run(&["verify"]).status.success());
}
