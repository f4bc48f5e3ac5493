//! `generateContent` of Google. Its assistants are models, and calls are matched by their names.

use rethread_model::Tokens;
use rethread_model::thread::{Block, ChatMessage, ChatRole, Stop};
use serde_json::{Value, json};

use super::gathered::{Each, Gathered};
use super::wire::{Asked, Format, count, fields, list, stop, text, text_of, word};
use super::{JsonShape, Tool};

const STOPS: &[(&str, Stop)] = &[
    ("STOP", Stop::End),
    ("MAX_TOKENS", Stop::Length),
    ("SAFETY", Stop::Refusal),
    ("RECITATION", Stop::Refusal),
    ("BLOCKLIST", Stop::Refusal),
    ("PROHIBITED_CONTENT", Stop::Refusal),
    ("SPII", Stop::Refusal),
];
/// From the third generation on a call must bear the signature of the thoughts before it, or this word if it was made
/// elsewhere. See ai.google.dev/gemini-api/docs/thought-signatures.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

pub(super) fn body(asked: &Asked<'_>) -> Value {
    let request = asked.request;
    let system = request.system.as_deref().filter(|text| !text.is_empty());
    let (mime, schema) = match asked.format {
        Format::Free => (None, None),
        Format::Json => (Some("application/json"), None),
        Format::Shape(JsonShape { schema, .. }) => (Some("application/json"), Some(schema.clone())),
    };
    let config = fields([
        ("maxOutputTokens", Some(request.max_output_tokens.into())),
        ("responseMimeType", mime.map(Value::from)),
        ("responseJsonSchema", schema),
    ]);
    let tools = list(request.tools.iter().map(tool).collect());
    let is_signed = !["gemini-1", "gemini-2"].iter().any(|old| asked.model.starts_with(old));
    fields([
        ("systemInstruction", system.map(|text| json!({"parts": [{"text": text}]}))),
        ("contents", Some(contents(&request.messages, is_signed))),
        ("tools", tools.map(|tools| json!([{"functionDeclarations": tools}]))),
        ("generationConfig", Some(config)),
    ])
}

pub(super) fn read(value: &Value, gathered: &mut Gathered, each: &mut Each<'_>) -> Result<(), String> {
    event(value, gathered, each);
    if gathered.stop.is_none() {
        value["candidates"].get(0).ok_or("no candidates")?;
        gathered.stop = Some(Stop::Other);
    }
    Ok(())
}

/// An event is an answer with a part of the content.
pub(super) fn event(value: &Value, gathered: &mut Gathered, each: &mut Each<'_>) {
    let candidate = &value["candidates"][0];
    for part in candidate["content"]["parts"].as_array().into_iter().flatten() {
        // Thoughts stay where they were thought.
        if part["thought"] == true {
            continue;
        }
        gathered.say(part["text"].as_str().unwrap_or_default(), each);
        let call = &part["functionCall"];
        if let Some(name) = word(call, "name") {
            gathered.whole_call(word(call, "id"), name, &call["args"], each);
        }
    }
    if let Some(reason) = word(candidate, "finishReason") {
        gathered.stop = Some(stop(STOPS, reason));
    } else if word(&value["promptFeedback"], "blockReason").is_some() {
        gathered.stop = Some(Stop::Refusal);
    }
    note(value, gathered);
}

fn note(value: &Value, gathered: &mut Gathered) {
    if let Some(model) = word(value, "modelVersion") {
        gathered.model = Some(model.to_owned());
    }
    let usage = &value["usageMetadata"];
    if usage.is_object() {
        let cache_read = count(usage, "cachedContentTokenCount");
        gathered.usage = Some(Tokens {
            // What the cache held is part of the prompt.
            input: count(usage, "promptTokenCount").saturating_sub(cache_read),
            output: count(usage, "candidatesTokenCount").saturating_add(count(usage, "thoughtsTokenCount")),
            cache_read,
            cache_write: 0,
        });
    }
}

/// One content for each turn, however many were said in a row.
fn contents(messages: &[ChatMessage], is_signed: bool) -> Value {
    let mut turns: Vec<(&str, Vec<Value>)> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let role = if message.role == ChatRole::Assistant { "model" } else { "user" };
        let parts = parts(message, &messages[..at], is_signed);
        match turns.last_mut() {
            Some((last, said)) if *last == role => said.extend(parts),
            _ if parts.is_empty() => {}
            _ => turns.push((role, parts)),
        }
    }
    turns.into_iter().map(|(role, parts)| json!({"role": role, "parts": parts})).collect()
}

fn parts(message: &ChatMessage, before: &[ChatMessage], is_signed: bool) -> Vec<Value> {
    if message.role == ChatRole::ToolResult {
        let field = if message.is_error { "error" } else { "result" };
        let name = tool_name(message, before);
        return vec![json!({"functionResponse": {"name": name, "response": {field: text(message)}}})];
    }
    let mut is_first_call = true;
    let parts = message.content.iter().filter_map(|block| match block {
        Block::ToolCall { name, arguments, .. } => {
            let signature = std::mem::take(&mut is_first_call) && is_signed;
            Some(fields([
                ("functionCall", Some(json!({"name": name, "args": arguments}))),
                ("thoughtSignature", signature.then_some(NO_SIGNATURE.into())),
            ]))
        }
        other => text_of(other).filter(|text| !text.is_empty()).map(|text| json!({"text": text})),
    });
    parts.collect()
}

/// The tool a result is of: as it says itself, or as the call says that it answers.
fn tool_name<'a>(result: &'a ChatMessage, before: &'a [ChatMessage]) -> &'a str {
    let called = || {
        let blocks = before.iter().rev().flat_map(|message| &message.content);
        blocks.into_iter().find_map(|block| match block {
            Block::ToolCall { id, name, .. } if Some(id) == result.tool_call_id.as_ref() => Some(name.as_str()),
            _ => None,
        })
    };
    result.tool_name.as_deref().or_else(called).unwrap_or("unknown")
}

fn tool(tool: &Tool) -> Value {
    json!({"name": tool.name, "description": tool.description, "parametersJsonSchema": tool.parameters})
}
