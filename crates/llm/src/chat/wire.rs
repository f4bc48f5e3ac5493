//! Converts requests to a provider's JSON and responses back. Dispatches to the provider modules.

use rethread_model::thread::{ChatMessage, ContentBlock, StopReason};
use serde_json::{Map, Value};

use super::answer_builder::{AnswerBuilder, ChunkHandler};
use super::{AnswerSchema, ChatRequest, anthropic, gemini, openai};
use crate::Provider;

/// Everything that goes into a request body.
#[derive(Clone, Copy)]
pub(super) struct RequestSpec<'a> {
    pub(super) model: &'a str,
    pub(super) request: &'a ChatRequest,
    /// Answer format that the provider should enforce.
    pub(super) format: AnswerFormat<'a>,
    pub(super) delivery: DeliveryMode,
    /// Whether this is the provider's own API, not a compatible server.
    pub(super) is_official_api: bool,
}

/// Format of the answer.
#[derive(Clone, Copy)]
pub(super) enum AnswerFormat<'a> {
    /// Unrestricted text.
    Text,
    /// Any JSON.
    Json,
    /// JSON that follows this schema.
    Schema(AnswerSchema<'a>),
}

/// How the answer is delivered.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum DeliveryMode {
    /// As one response.
    Complete,
    /// As a stream, with usage at the end.
    Stream,
    /// As a stream, from servers that reject the request for usage.
    StreamWithoutUsage,
}

/// Whether a stream event was the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StreamProgress {
    /// More events may follow.
    More,
    /// The answer is complete.
    Done,
}

/// The request body as JSON bytes.
pub(super) fn body(provider: Provider, spec: &RequestSpec<'_>) -> Vec<u8> {
    let body = match provider {
        Provider::Anthropic => anthropic::body(spec),
        Provider::OpenAi => openai::body(spec),
        Provider::Gemini => gemini::body(spec),
    };
    body.to_string().into_bytes()
}

/// Reads a complete response.
pub(super) fn read_response(
    provider: Provider,
    body: &[u8],
    builder: &mut AnswerBuilder,
    each: &mut ChunkHandler<'_>,
) -> Result<(), String> {
    let value: Value = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    match provider {
        Provider::Anthropic => anthropic::read_response(&value, builder, each),
        Provider::OpenAi => openai::read_response(&value, builder, each),
        Provider::Gemini => gemini::read_response(&value, builder, each),
    }
}

/// Reads one stream event. The error is the provider's error message, or says what is wrong with the event.
pub(super) fn read_event(
    provider: Provider,
    data: &str,
    builder: &mut AnswerBuilder,
    each: &mut ChunkHandler<'_>,
) -> Result<StreamProgress, String> {
    if data.trim() == "[DONE]" {
        return Ok(StreamProgress::Done);
    }
    let value: Value =
        serde_json::from_str(data).map_err(|error| format!("stream event is not valid JSON: {error}"))?;
    if value.get("error").is_some_and(|error| !error.is_null()) {
        let message = crate::response::error_message_in(&value);
        return Err(if message.is_empty() { "error without a message".to_owned() } else { message });
    }
    match provider {
        Provider::Anthropic => Ok(anthropic::read_event(&value, builder, each)),
        Provider::OpenAi => {
            openai::read_event(&value, builder, each);
            Ok(StreamProgress::More)
        }
        Provider::Gemini => {
            gemini::read_event(&value, builder, each);
            Ok(StreamProgress::More)
        }
    }
}

/// The text of a message, with a placeholder for unsupported content.
pub(super) fn message_text(message: &ChatMessage) -> String {
    let texts = message.content.iter().filter_map(block_text).filter(|text| !text.is_empty());
    texts.collect::<Vec<_>>().join("\n")
}

/// The text of a block. `None` for a tool call.
pub(super) fn block_text(block: &ContentBlock) -> Option<String> {
    match block {
        ContentBlock::Text(text) => Some(text.clone()),
        ContentBlock::ToolCall { .. } => None,
        ContentBlock::Other(value) => {
            Some(format!("[unsupported content: {}]", value["type"].as_str().unwrap_or("unknown")))
        }
    }
}

/// A JSON object of the fields that have a value.
pub(super) fn json_object<const N: usize>(fields: [(&str, Option<Value>); N]) -> Value {
    let present = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Value::Object(present.collect::<Map<_, _>>())
}

/// A JSON array, or `None` if it would be empty.
pub(super) fn non_empty_list(values: Vec<Value>) -> Option<Value> {
    if values.is_empty() { None } else { Some(Value::Array(values)) }
}

/// A number field, 0 if missing.
pub(super) fn count(value: &Value, name: &str) -> u64 {
    value[name].as_u64().unwrap_or(0)
}

/// A string field, `None` if missing or empty.
pub(super) fn non_empty_str<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value[name].as_str().filter(|text| !text.is_empty())
}

/// Looks up a provider's stop reason in its table.
pub(super) fn stop_reason(table: &[(&str, StopReason)], reason: &str) -> StopReason {
    table.iter().find(|(word, _)| *word == reason).map_or(StopReason::Other, |(_, stop)| *stop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Copies of `value`, each with one part replaced by `by`.
    fn replaced(value: &Value, by: &Value) -> Vec<Value> {
        let mut all = vec![by.clone()];
        match value {
            Value::Object(fields) => {
                for (name, part) in fields {
                    all.extend(replaced(part, by).into_iter().map(|part| {
                        let mut fields = fields.clone();
                        fields.insert(name.clone(), part);
                        Value::Object(fields)
                    }));
                }
            }
            Value::Array(parts) => {
                for (at, part) in parts.iter().enumerate() {
                    all.extend(replaced(part, by).into_iter().map(|part| {
                        let mut parts = parts.clone();
                        parts[at] = part;
                        Value::Array(parts)
                    }));
                }
            }
            _ => {}
        }
        all
    }

    #[test]
    fn malformed_responses_never_panic() {
        let call = json!({"index": 0, "id": "c", "function": {"name": "n", "arguments": "{}"}});
        let message = json!({"content": [{"text": "x"}], "refusal": "no", "tool_calls": [call]});
        let samples = [
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "input": {"a": 1}}}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "x"}}),
            json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}}),
            json!({"content": [{"type": "tool_use", "id": "x", "name": "y", "input": {}}], "stop_reason": "z"}),
            json!({"choices": [{"delta": message, "message": message, "finish_reason": "stop"}], "usage": {"prompt_tokens": 1}}),
            json!({"candidates": [{"content": {"parts": [{"text": "x", "functionCall": {"name": "n", "args": {}}}]}}],
                "promptFeedback": {"blockReason": "x"}, "usageMetadata": {"promptTokenCount": 1}}),
        ];
        let odd = [
            json!(null),
            json!(-1),
            json!(1e300),
            json!(u64::MAX),
            json!("x"),
            json!([]),
            json!([[]]),
            json!({"a": {}}),
        ];
        for value in samples.iter().flat_map(|sample| odd.iter().flat_map(|by| replaced(sample, by))) {
            for provider in Provider::ALL {
                let text = value.to_string();
                let mut builder = AnswerBuilder::new(&[]);
                // The results do not matter, only that nothing panics.
                let _ = read_event(provider, &text, &mut builder, &mut |_| {});
                let _ = read_event(provider, &text, &mut builder, &mut |_| {});
                let _ = read_response(provider, text.as_bytes(), &mut builder, &mut |_| {});
                assert!(builder.finish("m").content.len() <= 9, "{text}");
            }
        }
    }
}
