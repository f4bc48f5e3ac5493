//! Google `generateContent`. The assistant role is called `model`, and results are matched to calls by tool name.

use rethread_model::Tokens;
use rethread_model::thread::{ChatMessage, ChatRole, ContentBlock, StopReason};
use serde_json::{Value, json};

use super::answer_builder::{AnswerBuilder, ChunkHandler};
use super::wire::{
    AnswerFormat, RequestSpec, block_text, count, json_object, message_text, non_empty_list, non_empty_str, stop_reason,
};
use super::{AnswerSchema, ToolDefinition};

const STOPS: &[(&str, StopReason)] = &[
    ("STOP", StopReason::End),
    ("MAX_TOKENS", StopReason::Length),
    ("SAFETY", StopReason::Refusal),
    ("RECITATION", StopReason::Refusal),
    ("BLOCKLIST", StopReason::Refusal),
    ("PROHIBITED_CONTENT", StopReason::Refusal),
    ("SPII", StopReason::Refusal),
];
/// From Gemini 3 on, a call must carry the signature of the reasoning before it, or this value if another model made
/// the call. See ai.google.dev/gemini-api/docs/thought-signatures.
const SKIP_SIGNATURE_CHECK: &str = "skip_thought_signature_validator";

pub(super) fn body(spec: &RequestSpec<'_>) -> Value {
    let request = spec.request;
    let system = request.system.as_deref().filter(|text| !text.is_empty());
    let (mime, schema) = match spec.format {
        AnswerFormat::Text => (None, None),
        AnswerFormat::Json => (Some("application/json"), None),
        AnswerFormat::Schema(AnswerSchema { schema, .. }) => (Some("application/json"), Some(schema.clone())),
    };
    let config = json_object([
        ("maxOutputTokens", Some(request.max_output_tokens.into())),
        ("responseMimeType", mime.map(Value::from)),
        ("responseJsonSchema", schema),
    ]);
    let tools = non_empty_list(request.tools.iter().map(tool_json).collect());
    let is_signed = !["gemini-1", "gemini-2"].iter().any(|old| spec.model.starts_with(old));
    json_object([
        ("systemInstruction", system.map(|text| json!({"parts": [{"text": text}]}))),
        ("contents", Some(contents(&request.messages, is_signed))),
        ("tools", tools.map(|tools| json!([{"functionDeclarations": tools}]))),
        ("generationConfig", Some(config)),
    ])
}

pub(super) fn read_response(
    value: &Value,
    builder: &mut AnswerBuilder,
    each: &mut ChunkHandler<'_>,
) -> Result<(), String> {
    read_event(value, builder, each);
    if builder.stop.is_none() {
        value["candidates"].get(0).ok_or("no candidates")?;
        builder.stop = Some(StopReason::Other);
    }
    Ok(())
}

/// A stream event has the same form as a complete response, with part of the content.
pub(super) fn read_event(value: &Value, builder: &mut AnswerBuilder, each: &mut ChunkHandler<'_>) {
    let candidate = &value["candidates"][0];
    for part in candidate["content"]["parts"].as_array().into_iter().flatten() {
        // Reasoning is not kept.
        if part["thought"] == true {
            continue;
        }
        builder.push_text(part["text"].as_str().unwrap_or_default(), each);
        let call = &part["functionCall"];
        if let Some(name) = non_empty_str(call, "name") {
            builder.push_call(non_empty_str(call, "id"), name, &call["args"], each);
        }
    }
    if let Some(reason) = non_empty_str(candidate, "finishReason") {
        builder.stop = Some(stop_reason(STOPS, reason));
    } else if non_empty_str(&value["promptFeedback"], "blockReason").is_some() {
        builder.stop = Some(StopReason::Refusal);
    }
    read_usage(value, builder);
}

fn read_usage(value: &Value, builder: &mut AnswerBuilder) {
    if let Some(model) = non_empty_str(value, "modelVersion") {
        builder.model = Some(model.to_owned());
    }
    let usage = &value["usageMetadata"];
    if usage.is_object() {
        let cache_read = count(usage, "cachedContentTokenCount");
        builder.usage = Some(Tokens {
            // The prompt count includes cached tokens.
            input: count(usage, "promptTokenCount").saturating_sub(cache_read),
            output: count(usage, "candidatesTokenCount").saturating_add(count(usage, "thoughtsTokenCount")),
            cache_read,
            cache_write: 0,
        });
    }
}

/// Merges consecutive messages of the same role into one.
fn contents(messages: &[ChatMessage], is_signed: bool) -> Value {
    let mut turns: Vec<(&str, Vec<Value>)> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let role = if message.role == ChatRole::Assistant { "model" } else { "user" };
        let parts = message_parts(message, &messages[..at], is_signed);
        match turns.last_mut() {
            Some((last, content)) if *last == role => content.extend(parts),
            _ if parts.is_empty() => {}
            _ => turns.push((role, parts)),
        }
    }
    turns.into_iter().map(|(role, parts)| json!({"role": role, "parts": parts})).collect()
}

fn message_parts(message: &ChatMessage, before: &[ChatMessage], is_signed: bool) -> Vec<Value> {
    if message.role == ChatRole::ToolResult {
        let field = if message.is_error { "error" } else { "result" };
        let name = tool_name(message, before);
        return vec![json!({"functionResponse": {"name": name, "response": {field: message_text(message)}}})];
    }
    let mut is_first_call = true;
    let parts = message.content.iter().filter_map(|block| match block {
        ContentBlock::ToolCall { name, arguments, .. } => {
            let signature = std::mem::take(&mut is_first_call) && is_signed;
            Some(json_object([
                ("functionCall", Some(json!({"name": name, "args": arguments}))),
                ("thoughtSignature", signature.then_some(SKIP_SIGNATURE_CHECK.into())),
            ]))
        }
        other => block_text(other).filter(|text| !text.is_empty()).map(|text| json!({"text": text})),
    });
    parts.collect()
}

/// Name of the tool that gave a result: from the result itself, or from the call it belongs to.
fn tool_name<'a>(result: &'a ChatMessage, before: &'a [ChatMessage]) -> &'a str {
    let called = || {
        let blocks = before.iter().rev().flat_map(|message| &message.content);
        blocks.into_iter().find_map(|block| match block {
            ContentBlock::ToolCall { id, name, .. } if Some(id) == result.tool_call_id.as_ref() => Some(name.as_str()),
            _ => None,
        })
    };
    result.tool_name.as_deref().or_else(called).unwrap_or("unknown")
}

fn tool_json(tool: &ToolDefinition) -> Value {
    json!({"name": tool.name, "description": tool.description, "parametersJsonSchema": tool.parameters})
}
