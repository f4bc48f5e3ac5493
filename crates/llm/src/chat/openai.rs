//! Chat completions as `OpenAI` speaks them. Many others do too, each with less than all of it.

use rethread_model::Tokens;
use rethread_model::thread::{Block, ChatMessage, ChatRole, Stop};
use serde_json::{Value, json};

use super::gathered::{Each, Gathered};
use super::wire::{Asked, Format, Manner, count, fields, list, stop, text, word};
use super::{JsonShape, Tool};

const STOPS: &[(&str, Stop)] = &[
    ("stop", Stop::End),
    ("length", Stop::Length),
    ("content_filter", Stop::Refusal),
    ("tool_calls", Stop::ToolCalls),
    ("function_call", Stop::ToolCalls),
];

pub(super) fn body(asked: &Asked<'_>) -> Value {
    let request = asked.request;
    let system = request.system.as_deref().filter(|text| !text.is_empty());
    let system = system.map(|text| json!({"role": "system", "content": text}));
    let messages: Vec<Value> = system.into_iter().chain(request.messages.iter().filter_map(message)).collect();
    let format = match asked.format {
        Format::Free => None,
        Format::Json => Some(json!({"type": "json_object"})),
        Format::Shape(shape) => Some(json_schema(&shape)),
    };
    let limit = if asked.is_original { "max_completion_tokens" } else { "max_tokens" };
    fields([
        ("model", Some(asked.model.into())),
        ("messages", Some(Value::Array(messages))),
        ("tools", list(request.tools.iter().map(tool).collect())),
        (limit, Some(request.max_output_tokens.into())),
        ("response_format", format),
        ("stream", (asked.manner != Manner::Whole).then_some(true.into())),
        ("stream_options", (asked.manner == Manner::Stream).then(|| json!({"include_usage": true}))),
    ])
}

pub(super) fn read(value: &Value, gathered: &mut Gathered, each: &mut Each<'_>) -> Result<(), String> {
    let choice = value["choices"].get(0).ok_or("no choices")?;
    let message = &choice["message"];
    for text in texts(&message["content"]) {
        gathered.say(text, each);
    }
    for call in message["tool_calls"].as_array().into_iter().flatten() {
        let function = &call["function"];
        let name = function["name"].as_str().unwrap_or_default();
        gathered.whole_call(word(call, "id"), name, &function["arguments"], each);
    }
    gathered.stop = Some(stop(STOPS, choice["finish_reason"].as_str().unwrap_or_default()));
    note_refusal(message, gathered, each);
    note(value, gathered);
    Ok(())
}

pub(super) fn event(value: &Value, gathered: &mut Gathered, each: &mut Each<'_>) {
    note(value, gathered);
    let Some(choice) = value["choices"].get(0) else { return };
    let delta = &choice["delta"];
    for text in texts(&delta["content"]) {
        gathered.say(text, each);
    }
    for call in delta["tool_calls"].as_array().into_iter().flatten() {
        add_call(call, gathered, each);
    }
    if let Some(reason) = word(choice, "finish_reason") {
        gathered.stop = Some(stop(STOPS, reason));
    }
    note_refusal(delta, gathered, each);
}

/// A piece of a call. The first one has a name; where several calls share a number, a new id tells them apart.
fn add_call(call: &Value, gathered: &mut Gathered, each: &mut Each<'_>) {
    let function = &call["function"];
    let (id, name) = (word(call, "id"), word(function, "name"));
    let latest = gathered.call_count().saturating_sub(1);
    let key = call["index"].as_u64().unwrap_or(if name.is_some() { gathered.call_count() } else { latest });
    let is_another = gathered.open_id(key).is_none_or(|known| id.is_some_and(|id| id != known));
    if let Some(name) = name.filter(|_| is_another) {
        gathered.start_call(key, id, name, each);
    }
    match &function["arguments"] {
        Value::String(text) => gathered.add_arguments(key, text),
        Value::Object(fields) => gathered.add_arguments(key, &Value::Object(fields.clone()).to_string()),
        _ => {}
    }
}

/// The texts of a content, which is one text or a list of parts.
fn texts(content: &Value) -> impl Iterator<Item = &str> {
    let parts = content.as_array().into_iter().flatten().filter_map(|part| part["text"].as_str());
    content.as_str().into_iter().chain(parts)
}

fn note_refusal(message: &Value, gathered: &mut Gathered, each: &mut Each<'_>) {
    if let Some(refusal) = word(message, "refusal") {
        gathered.say(refusal, each);
        gathered.stop = gathered.stop.map(|_| Stop::Refusal);
    }
}

fn note(value: &Value, gathered: &mut Gathered) {
    if let Some(model) = word(value, "model") {
        gathered.model = Some(model.to_owned());
    }
    let usage = &value["usage"];
    if usage.is_object() {
        let cache_read = count(&usage["prompt_tokens_details"], "cached_tokens");
        gathered.usage = Some(Tokens {
            // What the cache held is part of the prompt.
            input: count(usage, "prompt_tokens").saturating_sub(cache_read),
            output: count(usage, "completion_tokens"),
            cache_read,
            cache_write: 0,
        });
    }
}

fn message(message: &ChatMessage) -> Option<Value> {
    let said = text(message);
    match message.role {
        ChatRole::User if said.is_empty() => None,
        ChatRole::User => Some(json!({"role": "user", "content": said})),
        ChatRole::ToolResult => Some(json!({"role": "tool", "tool_call_id": message.tool_call_id, "content": said})),
        ChatRole::Assistant => {
            let calls: Vec<Value> = message.content.iter().filter_map(call).collect();
            if said.is_empty() && calls.is_empty() {
                return None;
            }
            Some(fields([
                ("role", Some("assistant".into())),
                ("content", Some(if said.is_empty() { Value::Null } else { said.into() })),
                ("tool_calls", list(calls)),
            ]))
        }
    }
}

fn call(block: &Block) -> Option<Value> {
    let Block::ToolCall { id, name, arguments } = block else { return None };
    let arguments = Value::Object(arguments.clone()).to_string();
    Some(json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}))
}

fn tool(tool: &Tool) -> Value {
    let Tool { name, description, parameters } = tool;
    json!({"type": "function", "function": {"name": name, "description": description, "parameters": parameters}})
}

fn json_schema(shape: &JsonShape<'_>) -> Value {
    let JsonShape { name, schema } = shape;
    // The strict way accepts no field that may be missing.
    let required = schema["required"].as_array().map_or(0, Vec::len);
    let is_strict = schema["additionalProperties"] == false
        && schema["properties"].as_object().map_or(0, serde_json::Map::len) == required;
    json!({"type": "json_schema", "json_schema": {"name": name, "strict": is_strict, "schema": schema}})
}
