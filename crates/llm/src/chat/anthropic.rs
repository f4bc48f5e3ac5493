//! Anthropic Messages API. Roles must alternate, and tool results are user messages.

use rethread_model::Tokens;
use rethread_model::thread::{ChatMessage, ChatRole, ContentBlock, StopReason};
use serde_json::{Value, json};

use super::answer_builder::{AnswerBuilder, ChunkHandler};
use super::wire::{
    AnswerFormat, DeliveryMode, RequestSpec, StreamProgress, block_text, count, json_object, message_text,
    non_empty_list, non_empty_str, stop_reason,
};
use super::{AnswerSchema, ToolDefinition};

const STOPS: &[(&str, StopReason)] = &[
    ("end_turn", StopReason::End),
    ("stop_sequence", StopReason::End),
    ("max_tokens", StopReason::Length),
    ("model_context_window_exceeded", StopReason::Length),
    ("tool_use", StopReason::ToolCalls),
    ("refusal", StopReason::Refusal),
];

pub(super) fn body(spec: &RequestSpec<'_>) -> Value {
    let request = spec.request;
    let format = match spec.format {
        AnswerFormat::Schema(AnswerSchema { schema, .. }) => {
            Some(json!({"format": {"type": "json_schema", "schema": schema}}))
        }
        AnswerFormat::Text | AnswerFormat::Json => None,
    };
    json_object([
        ("model", Some(spec.model.into())),
        ("max_tokens", Some(request.max_output_tokens.into())),
        ("system", request.system.as_deref().filter(|text| !text.is_empty()).map(Value::from)),
        ("messages", Some(merged_messages(&request.messages))),
        ("tools", non_empty_list(request.tools.iter().map(tool_json).collect())),
        ("output_config", format),
        ("stream", (spec.delivery != DeliveryMode::Complete).then_some(true.into())),
    ])
}

pub(super) fn read_response(
    value: &Value,
    builder: &mut AnswerBuilder,
    each: &mut ChunkHandler<'_>,
) -> Result<(), String> {
    let blocks = value["content"].as_array().ok_or("no content")?;
    for block in blocks {
        match block["type"].as_str() {
            Some("text") => builder.push_text(block["text"].as_str().unwrap_or_default(), each),
            Some("tool_use") => {
                let name = block["name"].as_str().unwrap_or_default();
                builder.push_call(non_empty_str(block, "id"), name, &block["input"], each);
            }
            // Reasoning is not kept.
            _ => {}
        }
    }
    read_usage(value, builder);
    builder.stop = Some(stop_reason(STOPS, value["stop_reason"].as_str().unwrap_or_default()));
    Ok(())
}

pub(super) fn read_event(value: &Value, builder: &mut AnswerBuilder, each: &mut ChunkHandler<'_>) -> StreamProgress {
    let key = count(value, "index");
    match value["type"].as_str().unwrap_or_default() {
        "message_start" => read_usage(&value["message"], builder),
        "content_block_start" => start_block(key, &value["content_block"], builder, each),
        "content_block_delta" => {
            let delta = &value["delta"];
            match delta["type"].as_str() {
                Some("text_delta") => builder.push_text(delta["text"].as_str().unwrap_or_default(), each),
                Some("input_json_delta") => {
                    builder.add_arguments(key, delta["partial_json"].as_str().unwrap_or_default());
                }
                _ => {}
            }
        }
        "content_block_stop" => builder.end_call(key),
        "message_delta" => {
            read_usage(value, builder);
            if let Some(reason) = non_empty_str(&value["delta"], "stop_reason") {
                builder.stop = Some(stop_reason(STOPS, reason));
            }
        }
        "message_stop" => return StreamProgress::Done,
        _ => {}
    }
    StreamProgress::More
}

fn start_block(key: u64, block: &Value, builder: &mut AnswerBuilder, each: &mut ChunkHandler<'_>) {
    match block["type"].as_str() {
        Some("text") => builder.push_text(block["text"].as_str().unwrap_or_default(), each),
        Some("tool_use") => {
            builder.start_call(key, non_empty_str(block, "id"), block["name"].as_str().unwrap_or_default(), each);
            // Arguments come in later events, but some compatible servers send them here.
            if block["input"].as_object().is_some_and(|input| !input.is_empty()) {
                builder.add_arguments(key, &block["input"].to_string());
            }
        }
        _ => {}
    }
}

/// Reads the model name and the token counts. Later events repeat or complete them.
fn read_usage(value: &Value, builder: &mut AnswerBuilder) {
    if let Some(model) = non_empty_str(value, "model") {
        builder.model = Some(model.to_owned());
    }
    let usage = &value["usage"];
    if usage.is_object() {
        let tokens = Tokens {
            input: count(usage, "input_tokens"),
            output: count(usage, "output_tokens"),
            cache_read: count(usage, "cache_read_input_tokens"),
            cache_write: count(usage, "cache_creation_input_tokens"),
        };
        builder.usage = Some(builder.usage.unwrap_or_default().max(tokens));
    }
}

/// Merges consecutive messages of the same role into one.
fn merged_messages(messages: &[ChatMessage]) -> Value {
    let mut turns: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in messages {
        let role = if message.role == ChatRole::Assistant { "assistant" } else { "user" };
        let blocks = message_blocks(message);
        match turns.last_mut() {
            Some((last, content)) if *last == role => content.extend(blocks),
            _ if blocks.is_empty() => {}
            _ => turns.push((role, blocks)),
        }
    }
    let turns = turns.into_iter().map(|(role, mut content)| {
        // The API accepts tool results only before other user content.
        content.sort_by_key(|block| block["type"] != "tool_result");
        json!({"role": role, "content": content})
    });
    turns.collect()
}

fn message_blocks(message: &ChatMessage) -> Vec<Value> {
    if message.role == ChatRole::ToolResult {
        let content = message_text(message);
        return vec![json_object([
            ("type", Some("tool_result".into())),
            ("tool_use_id", message.tool_call_id.as_deref().map(Value::from)),
            ("content", (!content.is_empty()).then_some(content.into())),
            ("is_error", message.is_error.then_some(true.into())),
        ])];
    }
    let blocks = message.content.iter().filter_map(|block| match block {
        ContentBlock::ToolCall { id, name, arguments } => {
            Some(json!({"type": "tool_use", "id": id, "name": name, "input": arguments}))
        }
        other => {
            block_text(other).filter(|text| !text.trim().is_empty()).map(|text| json!({"type": "text", "text": text}))
        }
    });
    blocks.collect()
}

fn tool_json(tool: &ToolDefinition) -> Value {
    json!({"name": tool.name, "description": tool.description, "input_schema": tool.parameters})
}
