//! Parses the tasks of a Warp conversation: the dialogue of the agent, and one task for each of its sub-agents. The
//! numbers are those of the fields in Warp's public description of these messages.

use rethread_model::{EntryKind, Timestamp, Tokens, ToolStatus};
use serde::de::Error;
use serde_json::value::to_raw_value;

use super::calls;
use crate::parse::ParseContext;
use crate::parse::TextSink;
use crate::parse::content::MeasuredResult;
use crate::parse::event_builder::EventBuilder;
use crate::parse::lenient::LenientText;
use crate::parse::outcome::outcome_with_code;
use crate::parse::protobuf::ProtobufMessage;
use crate::parse::tool_kind;
use crate::{EventBody, EventScope, TranscriptEvent};

/// All events of a task, which comes as hexadecimal digits.
pub(super) fn events(hex: &str, context: &mut ParseContext<'_>) -> Result<Vec<TranscriptEvent>, serde_json::Error> {
    let bytes = decode_hex(hex).ok_or_else(|| serde_json::Error::custom("the task is not stored as bytes"))?;
    let task = ProtobufMessage(&bytes);
    if task.message(5).is_none() && !task.is_whole() {
        return Err(serde_json::Error::custom("the task is damaged"));
    }
    let is_subagent = task.message(3).is_some_and(|dependencies| !dependencies.text(1).is_empty());
    let mut events = Vec::new();
    let mut previous: Option<String> = None;
    for message in task.messages(5) {
        let id = message.text(1).replace(':', "-");
        let mut out = EventBuilder::new(context.location, time_of(message), id.clone());
        if is_subagent {
            out.scope = EventScope::Subagent { agent_id: Some(task.text(1).to_owned()), parent_id: previous.take() };
        }
        add_message(message, is_subagent, &mut out, &mut context.sink);
        events.extend(out.events);
        previous = Some(id);
    }
    Ok(events)
}

fn decode_hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes().chunks_exact(2);
    digits.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

fn time_of(message: ProtobufMessage<'_>) -> Option<Timestamp> {
    let time = message.message(14)?;
    let seconds = i64::try_from(time.number(1)?).ok()?;
    let millis = i64::try_from(time.number(2).unwrap_or_default() / 1_000_000).ok()?;
    Some(Timestamp::from_millis(seconds.checked_mul(1000)?.checked_add(millis)?))
}

fn add_message(message: ProtobufMessage<'_>, is_subagent: bool, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    // Answers and calls of one request to the model are one message.
    let request = message.text(13);
    let model_message = if request.is_empty() { out.native_id.clone() } else { request.to_owned() };
    for (number, _) in message.fields() {
        let Some(part) = message.message(number).filter(|_| (2..=26).contains(&number)) else { continue };
        match number {
            2 => out.add_user_text(part.text(1), is_subagent, sink),
            3 => out.add_text(EntryKind::AssistantText, part.text(1).to_owned(), Some(&model_message), sink),
            4 => add_call(part, &model_message, out, sink),
            5 => add_result(part, out, sink),
            // What the terminal asks on its own, except for a new project, which the user describes.
            9 => match part.message(5) {
                Some(project) => out.add_user_text(project.text(1), is_subagent, sink),
                None => out.add_injected(part.message(1).map_or("", |query| query.text(1)), sink),
            },
            15 if sink.filter.keep_reasoning => {
                out.add_text(EntryKind::Reasoning, part.text(1).to_owned(), None, sink);
            }
            16 => {
                let summary = part.message(1).map_or("", |summary| summary.text(1));
                out.add_text(EntryKind::Summary, summary.to_owned(), None, sink);
            }
            23 => add_skill(part, is_subagent, out, sink),
            25 => out.push(EventBody::Usage {
                message_id: model_message.clone(),
                tokens: Tokens::default(),
                hour_write_tokens: 0,
                model: Some(part.text(1).to_owned()).filter(|model| !model.is_empty()),
                cost_usd: None,
            }),
            _ => {}
        }
    }
}

/// A skill that the user started, perhaps with words of their own.
fn add_skill(part: ProtobufMessage<'_>, is_subagent: bool, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let typed = part.message(2).map_or("", |query| query.text(1));
    out.add_user_text(typed, is_subagent, sink);
}

fn add_call(call: ProtobufMessage<'_>, message: &str, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let Some((name, input)) = calls::describe(call) else { return };
    let input = to_raw_value(&input).ok();
    let id = call.text(1).to_owned();
    out.add_tool_call(LenientText(Some(id.into())), &name, input.as_deref(), message, sink);
}

fn add_result(result: ProtobufMessage<'_>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let Some(result_of_call) = calls::result(result) else { return };
    let measured = MeasuredResult::from_text(&result_of_call.text);
    let kind = result_of_call.name.map(tool_kind);
    let mut outcome = outcome_with_code(measured, result_of_call.is_error, result_of_call.exit_code, kind, sink);
    if result_of_call.is_rejected {
        outcome.status = ToolStatus::Rejected;
    }
    out.push(EventBody::ToolResult { call_id: result.text(1).to_owned(), outcome, answer: None });
}
