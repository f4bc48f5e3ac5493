//! Parses events of DeepSeek Harness, formats 0 to 4.

use rethread_model::{EntryKind, Tokens};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::parse::content::{MeasuredResult, MessageContent};
use crate::parse::event_builder::EventBuilder;
use crate::parse::lenient::{
    LenientBool, LenientList, LenientNumber, LenientObject, LenientText, LenientTimestamp, parse_or_default,
};
use crate::parse::outcome::{labeled_code, outcome_with_code};
use crate::parse::{ParseContext, TextSink, content_id};
use crate::{EventBody, SessionHeader, TitleRank, TranscriptEvent};

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct DeepSeekLine<'a> {
    #[serde(borrow, rename = "type")]
    kind: LenientText<'a>,
    time: LenientTimestamp,
    #[serde(borrow)]
    data: LenientObject<DeepSeekData<'a>>,
    // Of the header.
    #[serde(borrow)]
    id: LenientText<'a>,
    created_at: LenientTimestamp,
    #[serde(borrow)]
    cwd: LenientText<'a>,
    #[serde(borrow)]
    parent_session: LenientText<'a>,
    #[serde(borrow)]
    origin: LenientText<'a>,
}

/// The fields of all types of events.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct DeepSeekData<'a> {
    #[serde(borrow)]
    id: LenientText<'a>,
    #[serde(borrow)]
    content: MessageContent<'a>,
    #[serde(borrow)]
    source: LenientObject<DeepSeekSource<'a>>,
    #[serde(borrow)]
    message: LenientObject<DeepSeekMessage<'a>>,
    usage: Option<LenientObject<DeepSeekUsage>>,
    #[serde(borrow)]
    stream: LenientList<DeepSeekStreamed<'a>>,
    error: Value,
    meta: Value,
    #[serde(borrow)]
    reason: LenientObject<DeepSeekTurnEnd<'a>>,
    #[serde(borrow)]
    summary: MessageContent<'a>,
    #[serde(borrow)]
    compaction_id: LenientText<'a>,
    #[serde(borrow)]
    model: LenientText<'a>,
    #[serde(borrow)]
    title: LenientText<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct DeepSeekMessage<'a> {
    #[serde(borrow)]
    id: LenientText<'a>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    source: LenientObject<DeepSeekSource<'a>>,
    #[serde(borrow)]
    tool_call_id: LenientText<'a>,
    is_error: LenientBool,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct DeepSeekSource<'a> {
    #[serde(borrow)]
    kind: LenientText<'a>,
    #[serde(borrow)]
    model: LenientText<'a>,
    #[serde(borrow)]
    call_id: LenientText<'a>,
}

/// Blocks of a result until format 3.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct DeepSeekResult<'a> {
    #[serde(borrow, rename = "type")]
    kind: LenientText<'a>,
    #[serde(borrow)]
    tool_call_id: LenientText<'a>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    is_error: LenientBool,
}

/// A piece of the answer's stream; the last one with usage counts.
#[derive(Default, Deserialize)]
#[serde(default)]
struct DeepSeekStreamed<'a> {
    #[serde(borrow)]
    chunk: LenientObject<DeepSeekChunk<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct DeepSeekChunk<'a> {
    #[serde(borrow, rename = "type")]
    kind: LenientText<'a>,
    usage: LenientObject<DeepSeekUsage>,
}

/// Input excludes what was cached; reasoning is part of the output.
#[derive(Default, Deserialize)]
#[serde(default)]
struct DeepSeekUsage {
    #[serde(rename = "inputTokens")]
    input: LenientNumber,
    #[serde(rename = "outputTokens")]
    output: LenientNumber,
    #[serde(rename = "cacheReadTokens")]
    cache_read: LenientNumber,
    #[serde(rename = "cacheWriteTokens")]
    cache_write: LenientNumber,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct DeepSeekTurnEnd<'a> {
    #[serde(borrow)]
    kind: LenientText<'a>,
    error: Value,
}

pub(super) fn events(text: &str, context: &mut ParseContext<'_>) -> Result<Vec<TranscriptEvent>, serde_json::Error> {
    let line: DeepSeekLine<'_> = serde_json::from_str(text)?;
    if line.kind.as_str() == "session" {
        return Ok(header_events(line, context));
    }
    let data = line.data.0;
    let own_id = data.message.0.id.clone().non_empty().or(data.id.clone().non_empty());
    let own_id = own_id.or(data.compaction_id.clone().non_empty());
    let native_id = own_id.map_or_else(|| content_id(text), Into::into);
    let mut out = EventBuilder::new(context.location, line.time.0, native_id);
    let is_subagent = context.header().is_some_and(|header| header.contains("\"origin\":\"subagent\""));
    let sink = &mut context.sink;
    match line.kind.as_str() {
        "user/message" => {
            let texts: Vec<&str> = data.content.0.iter().map(|block| block.text.as_str()).collect();
            match data.source.0.kind.as_str() {
                "user" => out.add_user_text(&texts.join("\n"), is_subagent, sink),
                _ => out.add_injected(&texts.join("\n"), sink),
            }
        }
        "assistant/message" => add_answer(&data, &mut out, sink),
        // An answer that failed and was tried again.
        "assistant/attempt" => add_usage(&data, None, &mut out),
        "tool/result" => add_results(data, &mut out, sink),
        "compaction/summary" => {
            add_usage(&data, data.model.clone().non_empty().map(Into::into), &mut out);
            let texts: Vec<&str> = data.summary.0.iter().map(|block| block.text.as_str()).collect();
            out.add_text(EntryKind::Summary, texts.join("\n"), None, sink);
        }
        "session/title" => {
            let is_users = data.source.0.kind.as_str() == "user";
            out.add_title(if is_users { TitleRank::Custom } else { TitleRank::Generated }, data.title, None, sink);
        }
        "turn/end" => add_turn_end(&data.reason.0, &mut out, sink),
        _ => {}
    }
    Ok(out.events)
}

fn header_events(line: DeepSeekLine<'_>, context: &ParseContext<'_>) -> Vec<TranscriptEvent> {
    let mut out = EventBuilder::new(context.location, line.created_at.0, "header".to_owned());
    let parent = line.parent_session.non_empty().filter(|_| line.origin.as_str() != "subagent");
    out.push(EventBody::Header(SessionHeader {
        external_id: line.id.into_string(),
        cwd: line.cwd.non_empty().map(Into::into),
        parent_id: parent.map(Into::into),
        parent_path: None,
    }));
    out.events
}

fn add_usage(data: &DeepSeekData<'_>, model: Option<String>, out: &mut EventBuilder) {
    let streamed = data.stream.0.iter().rev().map(|piece| &piece.chunk.0).find(|chunk| chunk.kind.as_str() == "usage");
    let usage = data.usage.as_ref().map(|usage| &usage.0).or(streamed.map(|chunk| &chunk.usage.0));
    if usage.is_none() && model.is_none() {
        return;
    }
    let count = |of: fn(&DeepSeekUsage) -> LenientNumber| usage.map_or(0, |usage| of(usage).count());
    out.push(EventBody::Usage {
        message_id: out.native_id.clone(),
        tokens: Tokens {
            input: count(|usage| usage.input),
            output: count(|usage| usage.output),
            cache_read: count(|usage| usage.cache_read),
            cache_write: count(|usage| usage.cache_write),
        },
        hour_write_tokens: 0,
        model,
        cost_usd: None,
    });
}

fn add_answer(data: &DeepSeekData<'_>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let id = out.native_id.clone();
    add_usage(data, data.message.0.source.0.model.clone().non_empty().map(Into::into), out);
    for block in parse_or_default::<MessageContent<'_>>(data.message.0.content).0 {
        match block.kind.as_str() {
            "text" => out.add_text(EntryKind::AssistantText, block.text.into_string(), Some(&id), sink),
            "reasoning" if sink.filter.keep_reasoning => {
                out.add_text(EntryKind::Reasoning, block.text.into_string(), None, sink);
            }
            "tool-call" => out.add_call(block, &id, sink),
            _ => {}
        }
    }
}

fn add_results(data: DeepSeekData<'_>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let message = data.message.0;
    let is_failure = data.error.is_object();
    let field = ["exitCode", "exit_code"].iter().find_map(|name| data.meta.get(name)?.as_i64());
    let code = field.and_then(|code| i32::try_from(code).ok());
    let blocks: LenientList<DeepSeekResult<'_>> = parse_or_default(message.content);
    let (wrapped, _): (Vec<_>, Vec<_>) = blocks.0.into_iter().partition(|block| block.kind.as_str() == "tool-result");
    if wrapped.is_empty() {
        let call = message.tool_call_id.non_empty().or(message.source.0.call_id.non_empty());
        let is_error = is_failure || message.is_error.0;
        add_result(call.unwrap_or_default().into(), message.content, (is_error, code), out, sink);
    }
    for block in wrapped {
        let is_error = is_failure || block.is_error.0;
        add_result(block.tool_call_id.into_string(), block.content, (is_error, code), out, sink);
    }
}

fn add_result(
    call_id: String,
    content: Option<&RawValue>,
    (is_error, code): (bool, Option<i32>),
    out: &mut EventBuilder,
    sink: &mut TextSink<'_>,
) {
    let measured: MeasuredResult = parse_or_default(content);
    // The agent's own last line, in brackets: any command can print such words.
    let last_line = measured.tail.trim_end().lines().next_back().and_then(|line| line.strip_prefix('['));
    let code = code.or_else(|| labeled_code(last_line.into_iter(), "exit code"));
    let outcome = outcome_with_code(measured, is_error, code, None, sink);
    out.push(EventBody::ToolResult { call_id, outcome, answer: None });
}

fn add_turn_end(reason: &DeepSeekTurnEnd<'_>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    match reason.kind.as_str() {
        "aborted" => out.add_interruption(sink),
        "error" => {
            let text = reason.error.get("message").and_then(Value::as_str).unwrap_or("the turn failed");
            out.add_text(EntryKind::Failure, text.to_owned(), None, sink);
        }
        _ => {}
    }
}
