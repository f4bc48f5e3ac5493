//! Parses messages of Mistral Vibe, in the form of chat completions.

use rethread_model::{EntryKind, ToolKind, ToolStatus};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::parse::content::{ChatToolCall, MeasuredResult};
use crate::parse::derived_header::DerivedHeader;
use crate::parse::event_builder::EventBuilder;
use crate::parse::lenient::{LenientBool, LenientObject, LenientText, parse_or_default};
use crate::parse::outcome::{labeled_code, outcome_with_code};
use crate::parse::user_text::tag_content;
use crate::parse::{ParseContext, TextSink, content_id, tool_kind};
use crate::{EventBody, TranscriptEvent};

/// Ends the summary with which a compacted session begins.
const SUMMARY_END: &str = "\n\nLast request from user was: ";

#[derive(Default, Deserialize)]
#[serde(default)]
struct VibeMessage<'a> {
    #[serde(borrow)]
    role: LenientText<'a>,
    #[serde(borrow)]
    content: LenientText<'a>,
    injected: LenientBool,
    #[serde(borrow)]
    reasoning_content: LenientText<'a>,
    #[serde(borrow)]
    tool_calls: Option<&'a RawValue>,
    #[serde(borrow)]
    name: LenientText<'a>,
    #[serde(borrow)]
    tool_call_id: LenientText<'a>,
    #[serde(borrow)]
    message_id: LenientText<'a>,
}

pub(super) fn events(text: &str, context: &mut ParseContext<'_>) -> Result<Vec<TranscriptEvent>, serde_json::Error> {
    if context.is_header() {
        return DerivedHeader::events(text, context);
    }
    let message: VibeMessage<'_> = serde_json::from_str(text)?;
    let native_id = message.message_id.clone().non_empty().map_or_else(|| content_id(text), Into::into);
    let mut out = EventBuilder::new(context.location, None, native_id);
    let is_subagent = context.is_subagent();
    let sink = &mut context.sink;
    match message.role.as_str() {
        "user" => add_user(&message, is_subagent, &mut out, sink),
        "assistant" => add_assistant(message, &mut out, sink),
        "tool" => add_result(message, &mut out, sink),
        _ => {}
    }
    Ok(out.events)
}

fn add_user(message: &VibeMessage<'_>, is_subagent: bool, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let text = message.content.as_str();
    if text.contains(SUMMARY_END) {
        out.add_text(EntryKind::Summary, text.to_owned(), None, sink);
    } else if message.injected.0 {
        out.add_injected(text, sink);
    } else {
        out.add_user_text(text, is_subagent, sink);
    }
}

fn add_assistant(message: VibeMessage<'_>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let id = out.native_id.clone();
    if sink.filter.keep_reasoning {
        out.add_text(EntryKind::Reasoning, message.reasoning_content.into_string(), None, sink);
    }
    out.add_text(EntryKind::AssistantText, message.content.into_string(), Some(&id), sink);
    for LenientObject(call) in parse_or_default::<Vec<LenientObject<ChatToolCall<'_>>>>(message.tool_calls) {
        out.add_function_call(call, &id, sink);
    }
}

fn add_result(message: VibeMessage<'_>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let name = message.name.as_str();
    let text = message.content.as_str();
    let is_rejected = text.starts_with("<user_cancellation>");
    let failure = tag_content(text, "tool_error").filter(|_| text.starts_with("<tool_error>"));
    let shown = failure.or(tag_content(text, "user_cancellation").filter(|_| is_rejected)).unwrap_or(text);
    let code = match failure {
        Some(text) => labeled_code(text.lines(), "Return code:"),
        None if tool_kind(name) == ToolKind::Command => labeled_code(text.lines().rev(), "returncode:"),
        None => None,
    };
    let is_error = is_rejected || failure.is_some();
    let mut outcome = outcome_with_code(MeasuredResult::from_text(shown), is_error, code, Some(tool_kind(name)), sink);
    if is_rejected {
        outcome.status = ToolStatus::Rejected;
    }
    let is_question = name.contains("ask_user") && !is_error;
    let answer = is_question.then(|| sink.redact(outcome_text(shown)));
    out.push(EventBody::ToolResult { call_id: message.tool_call_id.into_string(), outcome, answer });
}

/// What a human answered, without the name of the field.
fn outcome_text(text: &str) -> String {
    text.strip_prefix("answers:").unwrap_or(text).trim().to_owned()
}
