//! One request in the words of its provider, and one answer out of them.

use rethread_model::thread::{Block, ChatMessage, Stop};
use serde_json::{Map, Value};

use super::gathered::{Each, Gathered};
use super::{JsonShape, Request, anthropic, gemini, openai};
use crate::Provider;

/// What goes into one request's body.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) model: &'a str,
    pub(super) request: &'a Request,
    /// The shape to answer in, where the provider is to see to it.
    pub(super) format: Format<'a>,
    pub(super) manner: Manner,
    /// Whether the provider itself is asked, and not one of the many that speak like it.
    pub(super) is_original: bool,
}

/// How the answer is formed.
#[derive(Clone, Copy)]
pub(super) enum Format<'a> {
    /// As the model likes.
    Free,
    /// As some JSON.
    Json,
    /// As JSON of this shape.
    Shape(JsonShape<'a>),
}

/// How the answer is sent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    /// All at once.
    Whole,
    /// Piece by piece, and then the tokens.
    Stream,
    /// Piece by piece, by servers that cannot be asked for the tokens.
    StreamUncounted,
}

/// What an event of a stream says beyond what was gathered from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// There may be more.
    More,
    /// This was all.
    All,
}

/// The body of the request.
pub(super) fn body(provider: Provider, asked: &Asked<'_>) -> Vec<u8> {
    let body = match provider {
        Provider::Anthropic => anthropic::body(asked),
        Provider::OpenAi => openai::body(asked),
        Provider::Gemini => gemini::body(asked),
    };
    body.to_string().into_bytes()
}

/// Reads an answer that came at once.
pub(super) fn read(
    provider: Provider,
    body: &[u8],
    gathered: &mut Gathered,
    each: &mut Each<'_>,
) -> Result<(), String> {
    let value: Value = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    match provider {
        Provider::Anthropic => anthropic::read(&value, gathered, each),
        Provider::OpenAi => openai::read(&value, gathered, each),
        Provider::Gemini => gemini::read(&value, gathered, each),
    }
}

/// Reads one event of a stream. An error is what the provider says went wrong, or what is wrong with the event.
pub(super) fn event(
    provider: Provider,
    data: &str,
    gathered: &mut Gathered,
    each: &mut Each<'_>,
) -> Result<Said, String> {
    if data.trim() == "[DONE]" {
        return Ok(Said::All);
    }
    let value: Value = serde_json::from_str(data).map_err(|error| format!("an event that is no JSON: {error}"))?;
    if value.get("error").is_some_and(|error| !error.is_null()) {
        let told = crate::answer::told(&value);
        return Err(if told.is_empty() { "an error without a message".to_owned() } else { told });
    }
    match provider {
        Provider::Anthropic => Ok(anthropic::event(&value, gathered, each)),
        Provider::OpenAi => {
            openai::event(&value, gathered, each);
            Ok(Said::More)
        }
        Provider::Gemini => {
            gemini::event(&value, gathered, each);
            Ok(Said::More)
        }
    }
}

/// The texts of a message, with a word in place of what cannot be sent.
pub(super) fn text(message: &ChatMessage) -> String {
    let texts = message.content.iter().filter_map(text_of).filter(|text| !text.is_empty());
    texts.collect::<Vec<_>>().join("\n")
}

/// The text a block is sent as. None for a tool call.
pub(super) fn text_of(block: &Block) -> Option<String> {
    match block {
        Block::Text(text) => Some(text.clone()),
        Block::ToolCall { .. } => None,
        Block::Other(value) => Some(format!("[unsupported content: {}]", value["type"].as_str().unwrap_or("unknown"))),
    }
}

/// Fields for an object, those without a value left out.
pub(super) fn fields<const N: usize>(fields: [(&str, Option<Value>); N]) -> Value {
    let present = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Value::Object(present.collect::<Map<_, _>>())
}

/// A list, unless it is empty.
pub(super) fn list(values: Vec<Value>) -> Option<Value> {
    if values.is_empty() { None } else { Some(Value::Array(values)) }
}

/// A count that may be missing.
pub(super) fn count(value: &Value, name: &str) -> u64 {
    value[name].as_u64().unwrap_or(0)
}

/// A text that is there and not empty.
pub(super) fn word<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value[name].as_str().filter(|text| !text.is_empty())
}

/// What a provider gives as the reason to stop, by its own table of words.
pub(super) fn stop(table: &[(&str, Stop)], reason: &str) -> Stop {
    table.iter().find(|(word, _)| *word == reason).map_or(Stop::Other, |(_, stop)| *stop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// The value with each of its parts in turn replaced by this one.
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
    fn no_answer_makes_us_stumble_whatever_stands_in_it() {
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
                let mut gathered = Gathered::new(&[]);
                // Whatever it makes of it, it comes to an end.
                let _ = event(provider, &text, &mut gathered, &mut |_| {});
                let _ = event(provider, &text, &mut gathered, &mut |_| {});
                let _ = read(provider, text.as_bytes(), &mut gathered, &mut |_| {});
                assert!(gathered.finished("m").content.len() <= 9, "{text}");
            }
        }
    }
}
