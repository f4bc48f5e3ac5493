//! The Messages API of Anthropic. Its users and assistants take turns, and results are said by the user.

use rethread_model::Tokens;
use rethread_model::thread::{Block, ChatMessage, ChatRole, Stop};
use serde_json::{Value, json};

use super::gathered::{Each, Gathered};
use super::wire::{Asked, Format, Manner, Said, count, fields, list, stop, text, text_of, word};
use super::{JsonShape, Tool};

const STOPS: &[(&str, Stop)] = &[
    ("end_turn", Stop::End),
    ("stop_sequence", Stop::End),
    ("max_tokens", Stop::Length),
    ("model_context_window_exceeded", Stop::Length),
    ("tool_use", Stop::ToolCalls),
    ("refusal", Stop::Refusal),
];

pub(super) fn body(asked: &Asked<'_>) -> Value {
    let request = asked.request;
    let format = match asked.format {
        Format::Shape(JsonShape { schema, .. }) => Some(json!({"format": {"type": "json_schema", "schema": schema}})),
        Format::Free | Format::Json => None,
    };
    fields([
        ("model", Some(asked.model.into())),
        ("max_tokens", Some(request.max_output_tokens.into())),
        ("system", request.system.as_deref().filter(|text| !text.is_empty()).map(Value::from)),
        ("messages", Some(messages(&request.messages))),
        ("tools", list(request.tools.iter().map(tool).collect())),
        ("output_config", format),
        ("stream", (asked.manner != Manner::Whole).then_some(true.into())),
    ])
}

pub(super) fn read(value: &Value, gathered: &mut Gathered, each: &mut Each<'_>) -> Result<(), String> {
    let blocks = value["content"].as_array().ok_or("no content")?;
    for block in blocks {
        match block["type"].as_str() {
            Some("text") => gathered.say(block["text"].as_str().unwrap_or_default(), each),
            Some("tool_use") => {
                let name = block["name"].as_str().unwrap_or_default();
                gathered.whole_call(word(block, "id"), name, &block["input"], each);
            }
            // Thoughts stay where they were thought.
            _ => {}
        }
    }
    note(value, gathered);
    gathered.stop = Some(stop(STOPS, value["stop_reason"].as_str().unwrap_or_default()));
    Ok(())
}

pub(super) fn event(value: &Value, gathered: &mut Gathered, each: &mut Each<'_>) -> Said {
    let key = count(value, "index");
    match value["type"].as_str().unwrap_or_default() {
        "message_start" => note(&value["message"], gathered),
        "content_block_start" => start(key, &value["content_block"], gathered, each),
        "content_block_delta" => {
            let delta = &value["delta"];
            match delta["type"].as_str() {
                Some("text_delta") => gathered.say(delta["text"].as_str().unwrap_or_default(), each),
                Some("input_json_delta") => {
                    gathered.add_arguments(key, delta["partial_json"].as_str().unwrap_or_default());
                }
                _ => {}
            }
        }
        "content_block_stop" => gathered.end_call(key),
        "message_delta" => {
            note(value, gathered);
            if let Some(reason) = word(&value["delta"], "stop_reason") {
                gathered.stop = Some(stop(STOPS, reason));
            }
        }
        "message_stop" => return Said::All,
        _ => {}
    }
    Said::More
}

fn start(key: u64, block: &Value, gathered: &mut Gathered, each: &mut Each<'_>) {
    match block["type"].as_str() {
        Some("text") => gathered.say(block["text"].as_str().unwrap_or_default(), each),
        Some("tool_use") => {
            gathered.start_call(key, word(block, "id"), block["name"].as_str().unwrap_or_default(), each);
            // The arguments follow, but some that speak like this provider give them here.
            if block["input"].as_object().is_some_and(|input| !input.is_empty()) {
                gathered.add_arguments(key, &block["input"].to_string());
            }
        }
        _ => {}
    }
}

/// Keeps the model and the tokens. Later events repeat or complete them.
fn note(value: &Value, gathered: &mut Gathered) {
    if let Some(model) = word(value, "model") {
        gathered.model = Some(model.to_owned());
    }
    let usage = &value["usage"];
    if usage.is_object() {
        let tokens = Tokens {
            input: count(usage, "input_tokens"),
            output: count(usage, "output_tokens"),
            cache_read: count(usage, "cache_read_input_tokens"),
            cache_write: count(usage, "cache_creation_input_tokens"),
        };
        gathered.usage = Some(gathered.usage.unwrap_or_default().max(tokens));
    }
}

/// One message for each turn, however many were said in a row.
fn messages(messages: &[ChatMessage]) -> Value {
    let mut turns: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in messages {
        let role = if message.role == ChatRole::Assistant { "assistant" } else { "user" };
        let blocks = blocks(message);
        match turns.last_mut() {
            Some((last, said)) if *last == role => said.extend(blocks),
            _ if blocks.is_empty() => {}
            _ => turns.push((role, blocks)),
        }
    }
    let turns = turns.into_iter().map(|(role, mut content)| {
        // Results are only accepted before anything else the user says.
        content.sort_by_key(|block| block["type"] != "tool_result");
        json!({"role": role, "content": content})
    });
    turns.collect()
}

fn blocks(message: &ChatMessage) -> Vec<Value> {
    if message.role == ChatRole::ToolResult {
        let content = text(message);
        return vec![fields([
            ("type", Some("tool_result".into())),
            ("tool_use_id", message.tool_call_id.as_deref().map(Value::from)),
            ("content", (!content.is_empty()).then_some(content.into())),
            ("is_error", message.is_error.then_some(true.into())),
        ])];
    }
    let blocks = message.content.iter().filter_map(|block| match block {
        Block::ToolCall { id, name, arguments } => {
            Some(json!({"type": "tool_use", "id": id, "name": name, "input": arguments}))
        }
        other => {
            text_of(other).filter(|text| !text.trim().is_empty()).map(|text| json!({"type": "text", "text": text}))
        }
    });
    blocks.collect()
}

fn tool(tool: &Tool) -> Value {
    json!({"name": tool.name, "description": tool.description, "input_schema": tool.parameters})
}
