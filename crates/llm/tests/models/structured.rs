//! Answers in JSON of a schema: how each provider is asked for it, and how a model is corrected.

use crate::helpers::{RecordingMeter, client, message, retrying};
use rethread_llm::{AnswerSchema, ChatError, ChatRequest, JsonAnswer, Provider};
use rethread_model::Tokens;
use rethread_testing::{StubModel, StubReply};
use serde_json::{Value, json};

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {"title": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}}},
        "required": ["title", "tags"],
        "additionalProperties": false,
    })
}

const GOOD: &str = r#"{"title":"Tea","tags":["a"]}"#;

fn reply(provider: Provider, text: &str) -> StubReply {
    let body = match provider {
        Provider::Anthropic => json!({
            "content": [{"type": "text", "text": text}],
            "stop_reason": "end_turn", "usage": {"input_tokens": 5, "output_tokens": 3},
        }),
        Provider::OpenAi => json!({
            "choices": [{"message": {"content": text}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 5, "completion_tokens": 3},
        }),
        Provider::Gemini => json!({
            "candidates": [{"content": {"parts": [{"text": text}]}, "finishReason": "STOP"}],
            "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 3},
        }),
    };
    StubReply::http("200 OK", &body.to_string())
}

fn refuses() -> StubReply {
    StubReply::http("400 Bad Request", r#"{"error":{"message":"response_format is not supported"}}"#)
}

fn request() -> ChatRequest {
    ChatRequest { system: Some("Name it.".to_owned()), purpose: "title", ..crate::helpers::request("We drank tea.") }
}

fn ask(server: &StubModel, provider: Provider, meter: &RecordingMeter) -> Result<JsonAnswer, ChatError> {
    let schema = schema();
    let shape = AnswerSchema { name: "heading", schema: &schema };
    client(server, provider, retrying(0)).complete_json(&request(), &shape, meter)
}

#[test]
fn schema_is_requested_in_the_format_of_the_provider() {
    for (provider, at, asked) in [
        (Provider::Anthropic, "/output_config/format", json!({"type": "json_schema", "schema": schema()})),
        (
            Provider::OpenAi,
            "/response_format",
            json!({
                "type": "json_schema",
                "json_schema": {"name": "heading", "strict": true, "schema": schema()},
            }),
        ),
        (Provider::Gemini, "/generationConfig/responseJsonSchema", schema()),
    ] {
        let server = StubModel::with_only(vec![reply(provider, &format!("```json\n{GOOD}\n```"))]);
        let structured = ask(&server, provider, &RecordingMeter::default()).unwrap();
        let usage = Tokens { input: 5, output: 3, ..Tokens::default() };
        assert_eq!(structured, JsonAnswer { value: serde_json::from_str(GOOD).unwrap(), usage, attempts: 1 });
        let body = &server.requests()[0].body;
        assert_eq!(body.pointer(at), Some(&asked), "{provider}");
        assert!(!body.to_string().contains("Answer with JSON only"), "the provider enforces it");
        if provider == Provider::Gemini {
            assert_eq!(body["generationConfig"]["responseMimeType"], "application/json");
        }
    }
}

#[test]
fn unsupported_schema_falls_back_to_json_then_text() {
    let provider = Provider::OpenAi;
    let server = StubModel::with_only(vec![refuses(), refuses(), reply(provider, &format!("Here: {GOOD}"))]);
    let meter = RecordingMeter::default();
    let structured = ask(&server, provider, &meter).unwrap();
    assert_eq!((structured.value["title"].as_str(), structured.attempts), (Some("Tea"), 1));
    let bodies: Vec<Value> = server.requests().into_iter().map(|received| received.body).collect();
    assert_eq!(bodies[1]["response_format"], json!({"type": "json_object"}));
    assert_eq!(bodies[2].get("response_format"), None);
    let system = format!(
        "Name it.\n\nAnswer with JSON only, without any words around it. It must fit this JSON schema:\n{}",
        schema()
    );
    assert_eq!(bodies[0]["messages"][0]["content"], "Name it.");
    assert_eq!(bodies[1]["messages"][0]["content"], system.as_str());
    assert_eq!(bodies[2]["messages"][0]["content"], system.as_str(), "and only once");
    assert_eq!((meter.settled().len(), meter.planned()[2].purpose), (3, "title"));
}

#[test]
fn other_providers_fall_back_to_text() {
    for provider in [Provider::Anthropic, Provider::Gemini] {
        let server = StubModel::with_only(vec![refuses(), reply(provider, GOOD)]);
        assert_eq!(ask(&server, provider, &RecordingMeter::default()).unwrap().value["title"], "Tea", "{provider}");
        let body = &server.requests()[1].body;
        assert!(body.get("output_config").is_none() && body["generationConfig"].get("responseJsonSchema").is_none());
        assert!(body.to_string().contains("Answer with JSON only"));
    }
}

#[test]
fn invalid_json_is_corrected_twice() {
    // S001-10, E001-03
    for provider in Provider::ALL {
        let missing = r#"{"title":"Tea"}"#;
        let server =
            StubModel::with_only(vec![reply(provider, "Tea!"), reply(provider, missing), reply(provider, GOOD)]);
        let meter = RecordingMeter::default();
        let structured = ask(&server, provider, &meter).unwrap();
        assert_eq!((structured.value["title"].as_str(), structured.attempts), (Some("Tea"), 3));
        assert_eq!(structured.usage, Tokens { input: 15, output: 9, ..Tokens::default() }, "of all answers");
        let last = server.requests()[2].body.to_string();
        for reported in
            ["Tea!", "This cannot be used: it is not valid JSON", r#"{\"title\":\"Tea\"}"#, r#"\"tags\" is missing"#]
        {
            assert!(last.contains(reported), "{provider} does not get {reported}: {last}");
        }
        assert_eq!(meter.settled().len(), 3);
    }
}

#[test]
fn three_invalid_answers_are_an_error() {
    // S001-10, E001-03
    let provider = Provider::Anthropic;
    let wrong = r#"{"title":"Tea","tags":"a"}"#;
    let server = StubModel::with_only((0..4).map(|_| reply(provider, wrong)).collect());
    let error = ask(&server, provider, &RecordingMeter::default()).unwrap_err();
    let reason = "not JSON of the requested schema: \"tags\" must be of type array";
    assert_eq!(message(&server, &error), format!("BASE/v1/messages returned an unusable response: {reason}"));
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn correction_needs_admission() {
    let provider = Provider::Anthropic;
    let server = StubModel::with_only(vec![reply(provider, "Tea!"), reply(provider, GOOD)]);
    let error = ask(&server, provider, &RecordingMeter::admitting(1)).unwrap_err();
    assert!(matches!(error, ChatError::Budget(_)), "{error}");
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn server_error_about_the_format_falls_back() {
    let wrong = r#"{"error":{"message":"1 validation error: ('body', 'response_format', 'type')"}}"#;
    let server =
        StubModel::with_only(vec![StubReply::http("500 Internal Server Error", wrong), reply(Provider::OpenAi, GOOD)]);
    let structured = ask(&server, Provider::OpenAi, &RecordingMeter::default()).unwrap();
    assert_eq!(structured.attempts, 1);
    assert_eq!(server.requests()[1].body["response_format"], json!({"type": "json_object"}));
    let server =
        StubModel::with_only(vec![StubReply::http("500 Internal Server Error", r#"{"error":{"message":"on fire"}}"#)]);
    assert!(ask(&server, Provider::OpenAi, &RecordingMeter::default()).is_err(), "any other error is returned");
}
