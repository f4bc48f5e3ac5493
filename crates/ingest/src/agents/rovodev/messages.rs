//! Parses messages of Pydantic AI: requests and responses, each a list of parts.

use rethread_model::{EntryKind, Tokens};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::parse::content::{MeasuredResult, MessageContent};
use crate::parse::derived_header::DerivedHeader;
use crate::parse::event_builder::EventBuilder;
use crate::parse::lenient::{
    LenientList, LenientNumber, LenientObject, LenientText, LenientTimestamp, parse_or_default,
};
use crate::parse::outcome::{labeled_code, outcome_with_code};
use crate::parse::{ParseContext, TextSink, content_id, tool_kind};
use crate::{EventBody, TranscriptEvent};

#[derive(Default, Deserialize)]
#[serde(default)]
struct RovoMessage<'a> {
    #[serde(borrow)]
    role: LenientText<'a>,
    #[serde(borrow)]
    parts: LenientList<RovoPart<'a>>,
    #[serde(alias = "created_at")]
    timestamp: LenientTimestamp,
    #[serde(borrow)]
    model_name: LenientText<'a>,
    usage: Option<LenientObject<RovoUsage>>,
}

/// A part of a message. Older versions name some of the fields differently.
#[derive(Default, Deserialize)]
#[serde(default)]
struct RovoPart<'a> {
    #[serde(borrow, alias = "kind")]
    part_kind: LenientText<'a>,
    #[serde(borrow, alias = "text")]
    content: Option<&'a RawValue>,
    #[serde(borrow, alias = "name")]
    tool_name: LenientText<'a>,
    #[serde(borrow, alias = "input")]
    args: Option<&'a RawValue>,
    #[serde(borrow, alias = "id")]
    tool_call_id: LenientText<'a>,
    #[serde(borrow)]
    outcome: LenientText<'a>,
    timestamp: LenientTimestamp,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RovoUsage {
    #[serde(alias = "request_tokens")]
    input_tokens: LenientNumber,
    #[serde(alias = "response_tokens")]
    output_tokens: LenientNumber,
    cache_read_tokens: LenientNumber,
    cache_write_tokens: LenientNumber,
    details: LenientObject<RovoUsageDetails>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RovoUsageDetails {
    cache_read_input_tokens: LenientNumber,
    cache_creation_input_tokens: LenientNumber,
}

pub(super) fn events(text: &str, context: &mut ParseContext<'_>) -> Result<Vec<TranscriptEvent>, serde_json::Error> {
    if context.is_header() {
        return DerivedHeader::events(text, context);
    }
    let message: RovoMessage<'_> = serde_json::from_str(text)?;
    let at = message.timestamp.0.or_else(|| message.parts.0.iter().find_map(|part| part.timestamp.0));
    // Messages have no ids, but times.
    let mut out = EventBuilder::new(context.location, at, content_id(text));
    let id = out.native_id.clone();
    let sink = &mut context.sink;
    if let Some(LenientObject(usage)) = &message.usage {
        out.push(EventBody::Usage {
            message_id: id.clone(),
            tokens: tokens_of(usage),
            hour_write_tokens: 0,
            model: message.model_name.clone().non_empty().map(Into::into),
            cost_usd: None,
        });
    }
    for part in message.parts.0 {
        match part.part_kind.as_str() {
            "user-prompt" => out.add_user_text(&text_of(part.content), false, sink),
            "text" if message.role.as_str() == "user" => out.add_user_text(&text_of(part.content), false, sink),
            "text" => out.add_text(EntryKind::AssistantText, text_of(part.content), Some(&id), sink),
            "thinking" if sink.filter.keep_reasoning => {
                out.add_text(EntryKind::Reasoning, text_of(part.content), None, sink);
            }
            "tool-call" | "tool_use" => {
                out.add_tool_call(part.tool_call_id, part.tool_name.as_str(), part.args, &id, sink);
            }
            "tool-return" | "tool_result" => add_result(part, false, &mut out, sink),
            // What the framework answers to a call that it could not make.
            "retry-prompt" if part.tool_name.0.is_some() => add_result(part, true, &mut out, sink),
            _ => {}
        }
    }
    Ok(out.events)
}

/// A text, or the texts of a list that also has images.
fn text_of(content: Option<&RawValue>) -> String {
    let content: MessageContent<'_> = parse_or_default(content);
    content.0.iter().map(|block| block.text.as_str()).collect::<Vec<_>>().join("\n")
}

fn add_result(part: RovoPart<'_>, is_retry: bool, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let value: Value = parse_or_default(part.content);
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let kind = tool_kind(part.tool_name.as_str());
    let field = ["exit_code", "returncode"].iter().find_map(|name| value.get(name)?.as_i64());
    let stated = || labeled_code(text.lines(), "Exit code").or_else(|| labeled_code(text.lines(), "Return code"));
    let code = match field {
        Some(code) => i32::try_from(code).ok(),
        None if kind == rethread_model::ToolKind::Command => stated(),
        None => None,
    };
    let is_error = is_retry || matches!(part.outcome.as_str(), "failed" | "denied" | "error");
    let outcome = outcome_with_code(MeasuredResult::from_text(&text), is_error, code, Some(kind), sink);
    out.push(EventBody::ToolResult { call_id: part.tool_call_id.into_string(), outcome, answer: None });
}

/// Pydantic AI counts cached tokens as input.
fn tokens_of(usage: &RovoUsage) -> Tokens {
    let details = &usage.details.0;
    let cache_read = usage.cache_read_tokens.count().max(details.cache_read_input_tokens.count());
    let cache_write = usage.cache_write_tokens.count().max(details.cache_creation_input_tokens.count());
    Tokens {
        input: usage.input_tokens.count().saturating_sub(cache_read + cache_write),
        output: usage.output_tokens.count(),
        cache_read,
        cache_write,
    }
}
