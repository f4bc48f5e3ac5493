//! The request to each provider, and how its whole answers are parsed.

use crate::helpers::{RecordingMeter, SECRET, client, message, request};
use rethread_llm::{ChatAnswer, ChatLimits, ChatRequest, Provider, ToolDefinition};
use rethread_model::Tokens;
use rethread_model::thread::{ChatMessage, ChatRole, ContentBlock, StopReason};
use rethread_testing::{StubModel, StubReply, StubRequest};
use serde_json::{Value, json};

fn call(id: &str, name: &str, arguments: &Value) -> ContentBlock {
    let arguments = arguments.as_object().cloned().unwrap();
    ContentBlock::ToolCall { id: id.to_owned(), name: name.to_owned(), arguments }
}

fn result(id: &str, text: &str, is_error: bool) -> ChatMessage {
    let message = ChatMessage::new(ChatRole::ToolResult, vec![ContentBlock::text(text)]);
    ChatMessage { tool_call_id: Some(id.to_owned()), is_error, ..message }
}

/// Two calls in one answer, both results, and a user message after them.
fn with_tools() -> ChatRequest {
    let image = ContentBlock::Other(json!({"type": "image", "data": "AAAA"}));
    let content = vec![
        ContentBlock::text("I look."),
        ContentBlock::text(""),
        call("tc_1", "read", &json!({"path": "a", "line": 1})),
        call("tc_2", "bash", &json!({"command": "ls"})),
    ];
    let parameters = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    ChatRequest {
        system: Some("Be brief.".to_owned()),
        messages: vec![
            ChatMessage::new(ChatRole::User, vec![ContentBlock::text("What is in a?"), image]),
            ChatMessage::new(ChatRole::Assistant, content),
            result("tc_1", "content of a", false),
            result("tc_2", "no such command", true),
            ChatMessage::user("Go on."),
        ],
        tools: vec![ToolDefinition { name: "read".to_owned(), description: "Reads a file.".to_owned(), parameters }],
        max_output_tokens: 500,
        purpose: "turn",
    }
}

/// Sends one request; what the stub received and the parsed answer.
fn ask(provider: Provider, request: &ChatRequest, reply: &Value) -> (StubRequest, ChatAnswer) {
    let server = StubModel::with_only(vec![StubReply::http("200 OK", &reply.to_string())]);
    let answer =
        client(&server, provider, ChatLimits::BACKGROUND).complete(request, &RecordingMeter::default()).unwrap();
    (server.requests().remove(0), answer)
}

#[test]
fn anthropic_gets_results_and_following_text_in_one_message() {
    let reply = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-small-1",
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "x"},
            {"type": "text", "text": "It is "}, {"type": "text", "text": "empty."},
            {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"path": "b"}},
        ],
        "stop_reason": "tool_use", "stop_sequence": null,
        "usage": {"input_tokens": 10, "output_tokens": 7, "cache_read_input_tokens": 3, "cache_creation_input_tokens": 2},
    });
    let (received, answer) = ask(Provider::Anthropic, &with_tools(), &reply);
    assert!(received.head.starts_with("POST /v1/messages HTTP/1.1\n"), "{}", received.head);
    assert!(received.head.contains(&format!("x-api-key: {SECRET}\n")));
    assert!(received.head.contains("anthropic-version: 2023-06-01\n"));
    assert!(received.head.contains(concat!("user-agent: rethread/", env!("CARGO_PKG_VERSION"), "\n")));
    assert!(!received.head.contains("authorization"));
    let expected = json!({
        "model": "small",
        "max_tokens": 500,
        "system": "Be brief.",
        "messages": [
            {"role": "user", "content": [
                {"type": "text", "text": "What is in a?"},
                {"type": "text", "text": "[unsupported content: image]"},
            ]},
            {"role": "assistant", "content": [
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "tc_1", "name": "read", "input": {"path": "a", "line": 1}},
                {"type": "tool_use", "id": "tc_2", "name": "bash", "input": {"command": "ls"}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "tc_1", "content": "content of a"},
                {"type": "tool_result", "tool_use_id": "tc_2", "content": "no such command", "is_error": true},
                {"type": "text", "text": "Go on."},
            ]},
        ],
        "tools": [{"name": "read", "description": "Reads a file.", "input_schema": with_tools().tools[0].parameters}],
    });
    assert_eq!(received.body, expected);
    assert_eq!(answer.content, [ContentBlock::text("It is empty."), call("toolu_1", "read", &json!({"path": "b"}))]);
    assert_eq!((answer.stop, answer.model.as_str()), (StopReason::ToolCalls, "claude-small-1"));
    assert_eq!(answer.usage, Some(Tokens { input: 10, output: 7, cache_read: 3, cache_write: 2 }));
}

#[test]
fn openai_gets_arguments_as_text_and_each_result_as_a_message() {
    let reply = json!({
        "id": "chatcmpl-1", "object": "chat.completion", "model": "gpt-small-1",
        "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
            "role": "assistant", "content": null, "refusal": null,
            "tool_calls": [
                {"id": "call_a", "type": "function", "function": {"name": "read", "arguments": "{\"path\":\"b\"}"}},
                {"id": "call_b", "type": "function", "function": {"name": "read", "arguments": "{\"path\":"}},
            ],
        }}],
        "usage": {"prompt_tokens": 20, "completion_tokens": 7, "total_tokens": 27, "prompt_tokens_details": {"cached_tokens": 15}},
    });
    let (received, answer) = ask(Provider::OpenAi, &with_tools(), &reply);
    assert!(received.head.starts_with("POST /v1/chat/completions HTTP/1.1\n"), "{}", received.head);
    assert!(received.head.contains(&format!("authorization: Bearer {SECRET}\n")));
    let function = |name: &str, arguments: &str| json!({"name": name, "arguments": arguments});
    let parameters = &with_tools().tools[0].parameters;
    let expected = json!({
        "model": "small",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "What is in a?\n[unsupported content: image]"},
            {"role": "assistant", "content": "I look.", "tool_calls": [
                {"id": "tc_1", "type": "function", "function": function("read", r#"{"path":"a","line":1}"#)},
                {"id": "tc_2", "type": "function", "function": function("bash", r#"{"command":"ls"}"#)},
            ]},
            {"role": "tool", "tool_call_id": "tc_1", "content": "content of a"},
            {"role": "tool", "tool_call_id": "tc_2", "content": "no such command"},
            {"role": "user", "content": "Go on."},
        ],
        "tools": [{"type": "function", "function": {
            "name": "read", "description": "Reads a file.", "parameters": parameters,
        }}],
        "max_tokens": 500,
    });
    assert_eq!(received.body, expected);
    let whole = call("call_a", "read", &json!({"path": "b"}));
    assert_eq!(answer.content, [whole, call("call_b", "read", &json!({"_raw": "{\"path\":"}))]);
    assert_eq!((answer.stop, answer.model.as_str()), (StopReason::ToolCalls, "gpt-small-1"));
    assert_eq!(answer.usage, Some(Tokens { input: 5, output: 7, cache_read: 15, cache_write: 0 }));
}

#[test]
fn gemini_gets_calls_and_results_by_name() {
    let reply = json!({
        "candidates": [{"index": 0, "finishReason": "STOP", "content": {"role": "model", "parts": [
            {"text": "I think", "thought": true},
            {"text": "It is empty."},
            {"functionCall": {"name": "read", "args": {"path": "b"}}, "thoughtSignature": "x"},
        ]}}],
        "usageMetadata": {"promptTokenCount": 20, "candidatesTokenCount": 5, "thoughtsTokenCount": 4,
            "cachedContentTokenCount": 8, "totalTokenCount": 29},
        "modelVersion": "gemini-small-1",
    });
    let (received, answer) = ask(Provider::Gemini, &with_tools(), &reply);
    assert!(received.head.starts_with("POST /v1beta/models/small:generateContent HTTP/1.1\n"), "{}", received.head);
    assert!(received.head.contains(&format!("x-goog-api-key: {SECRET}\n")));
    let expected = json!({
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "What is in a?"}, {"text": "[unsupported content: image]"}]},
            {"role": "model", "parts": [
                {"text": "I look."},
                {
                    "functionCall": {"name": "read", "args": {"path": "a", "line": 1}},
                    "thoughtSignature": "skip_thought_signature_validator",
                },
                {"functionCall": {"name": "bash", "args": {"command": "ls"}}},
            ]},
            {"role": "user", "parts": [
                {"functionResponse": {"name": "read", "response": {"result": "content of a"}}},
                {"functionResponse": {"name": "bash", "response": {"error": "no such command"}}},
                {"text": "Go on."},
            ]},
        ],
        "tools": [{"functionDeclarations": [{
            "name": "read", "description": "Reads a file.", "parametersJsonSchema": with_tools().tools[0].parameters,
        }]}],
        "generationConfig": {"maxOutputTokens": 500},
    });
    assert_eq!(received.body, expected);
    assert_eq!(answer.content, [ContentBlock::text("It is empty."), call("call_1", "read", &json!({"path": "b"}))]);
    assert_eq!((answer.stop, answer.model.as_str()), (StopReason::ToolCalls, "gemini-small-1"));
    assert_eq!(answer.usage, Some(Tokens { input: 12, output: 9, cache_read: 8, cache_write: 0 }));
}

#[test]
fn every_stop_reason_is_parsed() {
    let anthropic = |reason: &str| json!({"content": [], "stop_reason": reason});
    let openai = |reason: &str| json!({"choices": [{"message": {"content": "x"}, "finish_reason": reason}]});
    let gemini = |reason: &str| json!({"candidates": [{"content": {"parts": []}, "finishReason": reason}]});
    let blocked = json!({"promptFeedback": {"blockReason": "SAFETY"}});
    for (provider, reply, stop) in [
        (Provider::Anthropic, anthropic("end_turn"), StopReason::End),
        (Provider::Anthropic, anthropic("max_tokens"), StopReason::Length),
        (Provider::Anthropic, anthropic("refusal"), StopReason::Refusal),
        (Provider::Anthropic, anthropic("pause_turn"), StopReason::Other),
        (Provider::OpenAi, openai("stop"), StopReason::End),
        (Provider::OpenAi, openai("length"), StopReason::Length),
        (Provider::OpenAi, openai("content_filter"), StopReason::Refusal),
        (Provider::OpenAi, openai("new_reason"), StopReason::Other),
        (Provider::Gemini, gemini("STOP"), StopReason::End),
        (Provider::Gemini, gemini("MAX_TOKENS"), StopReason::Length),
        (Provider::Gemini, gemini("RECITATION"), StopReason::Refusal),
        (Provider::Gemini, blocked, StopReason::Refusal),
    ] {
        let (_, answer) = ask(provider, &request("x"), &reply);
        assert_eq!((answer.stop, answer.usage), (stop, None), "{reply}");
        assert_eq!(answer.model, "small", "nothing else is known");
    }
}

#[test]
fn answer_without_content_is_an_error() {
    for (provider, reason) in
        [(Provider::Anthropic, "no content"), (Provider::OpenAi, "no choices"), (Provider::Gemini, "no candidates")]
    {
        let server = StubModel::with_only(vec![StubReply::http("200 OK", "{}")]);
        let meter = RecordingMeter::default();
        let error = client(&server, provider, ChatLimits::BACKGROUND).complete(&request("x"), &meter).unwrap_err();
        let reported = message(&server, &error);
        assert!(reported.ends_with(&format!(" returned an unusable response: {reason}")), "{reported}");
        assert_eq!(meter.settled()[0].tokens, None, "the estimate is kept");
    }
}

#[test]
fn planned_usage_is_an_upper_bound_with_a_purpose() {
    let server = StubModel::unreachable();
    let model = client(&server, Provider::OpenAi, ChatLimits::BACKGROUND);
    let planned = model.estimate(&request(&"word ".repeat(300)));
    assert_eq!((planned.provider, planned.model.as_str(), planned.purpose), (Provider::OpenAi, "small", "turn"));
    assert!((500..600).contains(&planned.input_tokens), "{}", planned.input_tokens);
    assert_eq!(planned.output_tokens, 100);
    assert_eq!(planned.cost.unwrap().get(), planned.input_tokens + 300);
}
