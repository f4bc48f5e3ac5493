//! Streamed answers: assembled, stopped and interrupted.

use std::cell::Cell;
use std::time::Duration;

use crate::helpers::{RecordingMeter, client, message, request, retrying};
use rethread_llm::{AnswerChunk, ChatAnswer, ChatError, ChatLimits, Provider, StreamedAnswer};
use rethread_model::Tokens;
use rethread_model::thread::{ContentBlock, StopReason};
use rethread_testing::{StubModel, StubReply, events};
use serde_json::{Value, json};

const ANTHROPIC: &[&str] = &[
    r#"{"type":"message_start","message":{"id":"m","model":"claude-small-1","content":[],"usage":{"input_tokens":25,"cache_read_input_tokens":4,"output_tokens":1}}}"#,
    r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
    r#"{"type": "ping"}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Grüße, "}}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"日本 👋"}}"#,
    r#"{"type":"content_block_stop","index":0}"#,
    r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_1","name":"read","input":{}}}"#,
    r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":""}}"#,
    r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"path\": \"sü"}}"#,
    r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"ß\"}"}}"#,
    r#"{"type":"content_block_stop","index":1}"#,
    r#"{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":15}}"#,
    r#"{"type":"message_stop"}"#,
];
const OPENAI: &[&str] = &[
    r#"{"id":"c","model":"gpt-small-1","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"usage":null}"#,
    r#"{"id":"c","model":"gpt-small-1","choices":[{"index":0,"delta":{"content":"Grüße, "},"finish_reason":null}]}"#,
    r#"{"id":"c","model":"gpt-small-1","choices":[{"index":0,"delta":{"content":"日本 👋"},"finish_reason":null}]}"#,
    r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"toolu_1","type":"function","function":{"name":"read","arguments":""}}]},"finish_reason":null}]}"#,
    r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"path\": \"sü"}}]},"finish_reason":null}]}"#,
    r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"ß\"}"}}]},"finish_reason":null}]}"#,
    r#"{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#,
    r#"{"choices":[],"usage":{"prompt_tokens":29,"completion_tokens":15,"prompt_tokens_details":{"cached_tokens":4}}}"#,
    "[DONE]",
];
const GEMINI: &[&str] = &[
    r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"hm","thought":true},{"text":"Grüße, "}]}}],"usageMetadata":{"promptTokenCount":29},"modelVersion":"gemini-small-1"}"#,
    r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"日本 👋"}]}}]}"#,
    r#"{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"id":"toolu_1","name":"read","args":{"path":"süß"}}}]}}]}"#,
    r#"{"candidates":[{"content":{"role":"model","parts":[{"text":""}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":29,"cachedContentTokenCount":4,"candidatesTokenCount":5,"thoughtsTokenCount":10}}"#,
];

fn events_of(provider: Provider) -> &'static [&'static str] {
    match provider {
        Provider::Anthropic => ANTHROPIC,
        Provider::OpenAi => OPENAI,
        Provider::Gemini => GEMINI,
    }
}

fn call(id: &str, arguments: &Value) -> ContentBlock {
    ContentBlock::ToolCall {
        id: id.to_owned(),
        name: "read".to_owned(),
        arguments: arguments.as_object().cloned().unwrap(),
    }
}

/// Reads one streamed reply; the pieces and the result.
fn listen(
    provider: Provider,
    reply: StubReply,
    meter: &RecordingMeter,
) -> (Vec<String>, Result<StreamedAnswer, String>) {
    let server = StubModel::with_only(vec![reply]);
    let mut pieces = Vec::new();
    let mut each = |piece: AnswerChunk<'_>| {
        pieces.push(match piece {
            AnswerChunk::Text(text) => text.to_owned(),
            AnswerChunk::CallStarted { id, name } => format!("<{name} {id}>"),
        });
    };
    let model = client(&server, provider, ChatLimits::INTERACTIVE);
    let streamed = model.stream(&request("x"), meter, &|| false, &mut each);
    if let Ok(StreamedAnswer { error: Some(error), .. }) = &streamed {
        message(&server, error);
    }
    (pieces, streamed.map_err(|error| message(&server, &error)))
}

#[test]
fn stream_is_parsed_equally_for_any_chunking() {
    for provider in Provider::ALL {
        for size in [1, 2, 3, 7, 64, 100_000] {
            let meter = RecordingMeter::default();
            let (pieces, streamed) =
                listen(provider, StubReply::Events { text: events(events_of(provider)), chunk: size }, &meter);
            let StreamedAnswer { answer, error: failed } = streamed.unwrap();
            assert_eq!(pieces, ["Grüße, ", "日本 👋", "<read toolu_1>"], "{provider} {size}");
            assert_eq!(
                answer.content,
                [ContentBlock::text("Grüße, 日本 👋"), call("toolu_1", &json!({"path": "süß"}))]
            );
            let tokens = Tokens { input: 25, output: 15, cache_read: 4, cache_write: 0 };
            assert_eq!((answer.stop, answer.usage, failed), (StopReason::ToolCalls, Some(tokens), None), "{provider}");
            assert!(answer.model.ends_with("-small-1"), "{}", answer.model);
            let settled = &meter.settled()[0];
            assert_eq!((settled.tokens, settled.cost.unwrap().get()), (Some(tokens), 25 + 15 * 3));
        }
    }
}

#[test]
fn stream_is_requested_in_the_format_of_the_provider() {
    for (provider, path, asked) in [
        (Provider::Anthropic, "/v1/messages", json!([true, null])),
        (Provider::OpenAi, "/v1/chat/completions", json!([true, {"include_usage": true}])),
        (Provider::Gemini, "/v1beta/models/small:streamGenerateContent?alt=sse", json!([null, null])),
    ] {
        let server = StubModel::with_only(vec![StubReply::Events { text: events(events_of(provider)), chunk: 100 }]);
        let model = client(&server, provider, ChatLimits::INTERACTIVE);
        model.stream(&request("x"), &RecordingMeter::default(), &|| false, &mut |_| {}).unwrap();
        let received = server.requests().remove(0);
        assert!(received.head.starts_with(&format!("POST {path} HTTP/1.1\n")), "{}", received.head);
        assert_eq!(json!([received.body["stream"], received.body["stream_options"]]), asked);
    }
}

#[test]
fn usage_option_is_dropped_when_the_server_rejects_it() {
    let refusal = r#"{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"]}]}"#;
    let server = StubModel::with_only(vec![
        StubReply::http("400 Bad Request", refusal),
        StubReply::Events { text: events(&OPENAI[..7]), chunk: 50 },
    ]);
    let meter = RecordingMeter::default();
    let model = client(&server, Provider::OpenAi, ChatLimits::INTERACTIVE);
    let streamed = model.stream(&request("x"), &meter, &|| false, &mut |_| {}).unwrap();
    assert_eq!((streamed.answer.stop, streamed.answer.usage), (StopReason::ToolCalls, None));
    assert_eq!(server.requests()[1].body.get("stream_options"), None);
    let settled = meter.settled();
    assert_eq!((settled[1].tokens, settled[1].cost), (None, meter.planned()[1].cost), "the estimate is kept");
}

#[test]
fn whole_answer_to_a_stream_request_is_parsed() {
    let whole = r#"{"choices":[{"message":{"content":"hello"},"finish_reason":"stop"}]}"#;
    let reply = StubReply::Http {
        status: "200 OK",
        headers: "content-type: application/json; charset=utf-8\r\n".to_owned(),
        body: whole.to_owned(),
    };
    let (pieces, streamed) = listen(Provider::OpenAi, reply, &RecordingMeter::default());
    assert_eq!(pieces, ["hello"]);
    assert_eq!(streamed.unwrap().answer.stop, StopReason::End);
}

#[test]
fn calls_with_equal_or_missing_index_are_separate() {
    let started = |index: &str, id: &str| {
        let function = format!(r#"{{"name":"read","arguments":"{{\"path\":\"{id}\"}}"}}"#);
        format!(r#"{{"choices":[{{"delta":{{"tool_calls":[{{{index}"id":"{id}","function":{function}}}]}}}}]}}"#)
    };
    for index in [r#""index":0,"#, ""] {
        let (first, second) = (started(index, "a"), started(index, "b"));
        let end = r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#;
        let reply = StubReply::Events { text: events(&[&first, &second, end]), chunk: 1_000 };
        let (_, streamed) = listen(Provider::OpenAi, reply, &RecordingMeter::default());
        let ChatAnswer { content, stop, .. } = streamed.unwrap().answer;
        assert_eq!(content, [call("a", &json!({"path": "a"})), call("b", &json!({"path": "b"}))], "{index}");
        assert_eq!(stop, StopReason::ToolCalls, "calls are waited for, whatever the reason given");
    }
}

#[test]
fn invalid_arguments_are_stored_raw() {
    let bad = OPENAI.iter().copied().filter(|event| !event.contains(r"ß\"));
    let reply = StubReply::Events { text: events(&bad.collect::<Vec<_>>()), chunk: 100 };
    let (_, streamed) = listen(Provider::OpenAi, reply, &RecordingMeter::default());
    assert_eq!(streamed.unwrap().answer.content[1], call("toolu_1", &json!({"_raw": "{\"path\": \"sü"})));
}

#[test]
fn stream_stops_while_the_provider_is_silent() {
    for provider in Provider::ALL {
        // Up to the first text, which is the first event of Gemini.
        let count = if provider == Provider::Gemini { 1 } else { 4.min(events_of(provider).len() - 7) };
        let server = StubModel::with_only(vec![StubReply::StalledEvents(events(&events_of(provider)[..count]))]);
        let meter = RecordingMeter::default();
        let is_stopped = Cell::new(false);
        let model = client(&server, provider, ChatLimits::INTERACTIVE);
        let streamed =
            model.stream(&request("x"), &meter, &|| is_stopped.get(), &mut |_| is_stopped.set(true)).unwrap();
        server.wait_for_disconnect();
        assert_eq!(streamed.answer.content, [ContentBlock::text("Grüße, ")], "{provider}");
        assert_eq!((streamed.answer.stop, streamed.error), (StopReason::Aborted, None));
        assert_eq!(meter.errors(), ["stopped"]);
        assert_eq!(meter.settled()[0].tokens, None, "the usage is unknown");
    }
}

#[test]
fn request_stopped_before_it_started_is_not_sent() {
    let server = StubModel::with_only(vec![StubReply::Events { text: events(ANTHROPIC), chunk: 100 }]);
    let meter = RecordingMeter::default();
    let model = client(&server, Provider::Anthropic, ChatLimits::INTERACTIVE);
    let streamed = model.stream(&request("x"), &meter, &|| true, &mut |_| {}).unwrap();
    assert_eq!((streamed.answer.content, streamed.answer.stop), (vec![], StopReason::Aborted));
    assert!(server.requests().is_empty() && meter.planned().is_empty());
}

#[test]
fn broken_stream_keeps_text_but_no_partial_call() {
    for provider in [Provider::Anthropic, Provider::OpenAi] {
        // Ends within the arguments of the call.
        let half = events_of(provider).iter().take_while(|event| !event.contains(r"ß\")).copied().collect::<Vec<_>>();
        for reply in [StubReply::Events { text: events(&half), chunk: 9 }, StubReply::BrokenEvents(events(&half))] {
            let meter = RecordingMeter::default();
            let (pieces, streamed) = listen(provider, reply, &meter);
            let StreamedAnswer { answer, error: failed } = streamed.unwrap();
            assert_eq!(pieces.last().unwrap(), "<read toolu_1>");
            assert_eq!(answer.content, [ContentBlock::text("Grüße, 日本 👋")], "{provider}");
            assert_eq!((answer.stop, answer.usage), (StopReason::Error, None));
            assert!(matches!(failed, Some(ChatError::Interrupted { .. })), "{failed:?}");
            assert_eq!(meter.errors(), ["interrupted"]);
        }
    }
}

#[test]
fn complete_call_before_a_break_is_kept() {
    let (_, streamed) =
        listen(Provider::Anthropic, StubReply::BrokenEvents(events(&ANTHROPIC[..11])), &RecordingMeter::default());
    let answer = streamed.unwrap().answer;
    assert_eq!((answer.content.len(), answer.stop), (2, StopReason::Error));
    let (_, streamed) =
        listen(Provider::Gemini, StubReply::BrokenEvents(events(&GEMINI[..3])), &RecordingMeter::default());
    assert_eq!(streamed.unwrap().answer.content.len(), 2);
}

#[test]
fn error_inside_a_stream_is_reported() {
    let error = r#"{"type":"error","error":{"type":"overloaded_error","message":"Over\u0007loaded"}}"#;
    let data: Vec<&str> = ANTHROPIC[..4].iter().copied().chain([error]).collect();
    let (_, streamed) =
        listen(Provider::Anthropic, StubReply::Events { text: events(&data), chunk: 30 }, &RecordingMeter::default());
    let StreamedAnswer { answer, error: failed } = streamed.unwrap();
    assert_eq!((answer.content, answer.stop), (vec![ContentBlock::text("Grüße, ")], StopReason::Error));
    assert!(failed.unwrap().to_string().ends_with("/v1/messages was interrupted: Over loaded"));

    let (_, streamed) = listen(
        Provider::Anthropic,
        StubReply::Events { text: events(&[error]), chunk: 30 },
        &RecordingMeter::default(),
    );
    assert_eq!(
        streamed.unwrap_err(),
        "the response from BASE/v1/messages was interrupted: Over loaded",
        "nothing came before it"
    );
}

#[test]
fn empty_stream_is_retried_with_patient_limits() {
    // E004-15
    let busy =
        StubReply::Http { status: "529 Overloaded", headers: "retry-after: 0\r\n".to_owned(), body: "{}".to_owned() };
    let server =
        StubModel::with_only(vec![busy, StubReply::Close, StubReply::Events { text: events(ANTHROPIC), chunk: 100 }]);
    let meter = RecordingMeter::default();
    let model = client(&server, Provider::Anthropic, retrying(2));
    let streamed = model.stream(&request("x"), &meter, &|| false, &mut |_| {}).unwrap();
    assert_eq!(streamed.answer.stop, StopReason::ToolCalls);
    assert_eq!(meter.errors(), ["status 529", "unreachable", ""]);
}

#[test]
fn interactive_stream_is_not_retried() {
    // E004-15
    let busy =
        StubReply::Http { status: "529 Overloaded", headers: "retry-after: 0\r\n".to_owned(), body: "{}".to_owned() };
    let server = StubModel::with_only(vec![busy, StubReply::Events { text: events(ANTHROPIC), chunk: 100 }]);
    let model = client(&server, Provider::Anthropic, ChatLimits::INTERACTIVE);
    let error = model.stream(&request("x"), &RecordingMeter::default(), &|| false, &mut |_| {}).unwrap_err();
    assert_eq!(message(&server, &error), "BASE/v1/messages returned HTTP 529");
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn stalled_stream_times_out_and_keeps_its_text() {
    let server = StubModel::with_only(vec![StubReply::StalledEvents(events(&OPENAI[..2]))]);
    // Long enough for the first events to arrive on a busy machine.
    let limits = ChatLimits { idle: Duration::from_secs(4), ..ChatLimits::INTERACTIVE };
    let model = client(&server, Provider::OpenAi, limits);
    let StreamedAnswer { answer, error: failed } =
        model.stream(&request("x"), &RecordingMeter::default(), &|| false, &mut |_| {}).unwrap();
    server.wait_for_disconnect();
    assert_eq!((answer.content, answer.stop), (vec![ContentBlock::text("Grüße, ")], StopReason::Error));
    assert_eq!(message(&server, &failed.unwrap()), "BASE/v1/chat/completions did not answer within 4 s");
}

#[test]
fn endless_stream_is_cut() {
    let event = format!(r#"{{"choices":[{{"delta":{{"content":"{}"}}}}]}}"#, "x".repeat(500_000));
    let many: Vec<&str> = std::iter::repeat_n(event.as_str(), 20).collect();
    let (pieces, streamed) =
        listen(Provider::OpenAi, StubReply::Events { text: events(&many), chunk: 1 << 20 }, &RecordingMeter::default());
    let failed = streamed.unwrap().error.unwrap().to_string();
    assert!(failed.ends_with("returned an unusable response: response too long"), "{failed}");
    assert_eq!(pieces.len(), 16);

    let line = format!("data: {}", "x".repeat(2 << 20));
    let (_, streamed) =
        listen(Provider::OpenAi, StubReply::Events { text: line, chunk: 1 << 20 }, &RecordingMeter::default());
    assert!(streamed.unwrap_err().ends_with("response too long"));
}
