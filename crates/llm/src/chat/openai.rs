//! `OpenAI` chat completions. Compatible servers often support only a part of the API.

use rethread_model::Tokens;
use rethread_model::thread::{ChatMessage, ChatRole, ContentBlock, StopReason};
use serde_json::{Value, json};

use super::answer_builder::{AnswerBuilder, ChunkHandler};
use super::wire::{
    AnswerFormat, DeliveryMode, RequestSpec, count, json_object, message_text, non_empty_list, non_empty_str,
    stop_reason,
};
use super::{AnswerSchema, ToolDefinition};

const STOPS: &[(&str, StopReason)] = &[
    ("stop", StopReason::End),
    ("length", StopReason::Length),
    ("content_filter", StopReason::Refusal),
    ("tool_calls", StopReason::ToolCalls),
    ("function_call", StopReason::ToolCalls),
];

pub(super) fn body(spec: &RequestSpec<'_>) -> Value {
    let request = spec.request;
    let system = request.system.as_deref().filter(|text| !text.is_empty());
    let system = system.map(|text| json!({"role": "system", "content": text}));
    let messages: Vec<Value> = system.into_iter().chain(request.messages.iter().filter_map(message_json)).collect();
    let format = match spec.format {
        AnswerFormat::Text => None,
        AnswerFormat::Json => Some(json!({"type": "json_object"})),
        AnswerFormat::Schema(shape) => Some(schema_json(&shape)),
    };
    let limit = if spec.is_official_api { "max_completion_tokens" } else { "max_tokens" };
    json_object([
        ("model", Some(spec.model.into())),
        ("messages", Some(Value::Array(messages))),
        ("tools", non_empty_list(request.tools.iter().map(tool_json).collect())),
        (limit, Some(request.max_output_tokens.into())),
        ("response_format", format),
        ("stream", (spec.delivery != DeliveryMode::Complete).then_some(true.into())),
        ("stream_options", (spec.delivery == DeliveryMode::Stream).then(|| json!({"include_usage": true}))),
    ])
}

pub(super) fn read_response(
    value: &Value,
    builder: &mut AnswerBuilder,
    each: &mut ChunkHandler<'_>,
) -> Result<(), String> {
    let choice = value["choices"].get(0).ok_or("no choices")?;
    let message = &choice["message"];
    for text in texts(&message["content"]) {
        builder.push_text(text, each);
    }
    for call in message["tool_calls"].as_array().into_iter().flatten() {
        let function = &call["function"];
        let name = function["name"].as_str().unwrap_or_default();
        builder.push_call(non_empty_str(call, "id"), name, &function["arguments"], each);
    }
    builder.stop = Some(stop_reason(STOPS, choice["finish_reason"].as_str().unwrap_or_default()));
    read_refusal(message, builder, each);
    read_usage(value, builder);
    Ok(())
}

pub(super) fn read_event(value: &Value, builder: &mut AnswerBuilder, each: &mut ChunkHandler<'_>) {
    read_usage(value, builder);
    let Some(choice) = value["choices"].get(0) else { return };
    let delta = &choice["delta"];
    for text in texts(&delta["content"]) {
        builder.push_text(text, each);
    }
    for call in delta["tool_calls"].as_array().into_iter().flatten() {
        add_call(call, builder, each);
    }
    if let Some(reason) = non_empty_str(choice, "finish_reason") {
        builder.stop = Some(stop_reason(STOPS, reason));
    }
    read_refusal(delta, builder, each);
}

/// Adds a chunk of a call. The first chunk has the name; if several calls share an index, a new id separates them.
fn add_call(call: &Value, builder: &mut AnswerBuilder, each: &mut ChunkHandler<'_>) {
    let function = &call["function"];
    let (id, name) = (non_empty_str(call, "id"), non_empty_str(function, "name"));
    let latest = builder.call_count().saturating_sub(1);
    let key = call["index"].as_u64().unwrap_or(if name.is_some() { builder.call_count() } else { latest });
    let is_another = builder.open_call_id(key).is_none_or(|known| id.is_some_and(|id| id != known));
    if let Some(name) = name.filter(|_| is_another) {
        builder.start_call(key, id, name, each);
    }
    match &function["arguments"] {
        Value::String(text) => builder.add_arguments(key, text),
        Value::Object(fields) => builder.add_arguments(key, &Value::Object(fields.clone()).to_string()),
        _ => {}
    }
}

/// The texts of a content field, which is a string or a list of parts.
fn texts(content: &Value) -> impl Iterator<Item = &str> {
    let parts = content.as_array().into_iter().flatten().filter_map(|part| part["text"].as_str());
    content.as_str().into_iter().chain(parts)
}

fn read_refusal(message: &Value, builder: &mut AnswerBuilder, each: &mut ChunkHandler<'_>) {
    if let Some(refusal) = non_empty_str(message, "refusal") {
        builder.push_text(refusal, each);
        builder.stop = builder.stop.map(|_| StopReason::Refusal);
    }
}

fn read_usage(value: &Value, builder: &mut AnswerBuilder) {
    if let Some(model) = non_empty_str(value, "model") {
        builder.model = Some(model.to_owned());
    }
    let usage = &value["usage"];
    if usage.is_object() {
        let cache_read = count(&usage["prompt_tokens_details"], "cached_tokens");
        builder.usage = Some(Tokens {
            // The prompt count includes cached tokens.
            input: count(usage, "prompt_tokens").saturating_sub(cache_read),
            output: count(usage, "completion_tokens"),
            cache_read,
            cache_write: 0,
        });
    }
}

fn message_json(message: &ChatMessage) -> Option<Value> {
    let text = message_text(message);
    match message.role {
        ChatRole::User if text.is_empty() => None,
        ChatRole::User => Some(json!({"role": "user", "content": text})),
        ChatRole::ToolResult => Some(json!({"role": "tool", "tool_call_id": message.tool_call_id, "content": text})),
        ChatRole::Assistant => {
            let calls: Vec<Value> = message.content.iter().filter_map(call_json).collect();
            if text.is_empty() && calls.is_empty() {
                return None;
            }
            Some(json_object([
                ("role", Some("assistant".into())),
                ("content", Some(if text.is_empty() { Value::Null } else { text.into() })),
                ("tool_calls", non_empty_list(calls)),
            ]))
        }
    }
}

fn call_json(block: &ContentBlock) -> Option<Value> {
    let ContentBlock::ToolCall { id, name, arguments } = block else { return None };
    let arguments = Value::Object(arguments.clone()).to_string();
    Some(json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}))
}

fn tool_json(tool: &ToolDefinition) -> Value {
    let ToolDefinition { name, description, parameters } = tool;
    json!({"type": "function", "function": {"name": name, "description": description, "parameters": parameters}})
}

fn schema_json(shape: &AnswerSchema<'_>) -> Value {
    let AnswerSchema { name, schema } = shape;
    // Strict mode does not allow optional fields.
    let required = schema["required"].as_array().map_or(0, Vec::len);
    let is_strict = schema["additionalProperties"] == false
        && schema["properties"].as_object().map_or(0, serde_json::Map::len) == required;
    json!({"type": "json_schema", "json_schema": {"name": name, "strict": is_strict, "schema": schema}})
}
