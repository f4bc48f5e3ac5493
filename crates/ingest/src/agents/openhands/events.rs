//! Parses events of OpenHands: messages, actions of the agent and observations.

use rethread_model::{EntryKind, ToolStatus};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::parse::content::{MeasuredResult, MessageContent};
use crate::parse::derived_header::DerivedHeader;
use crate::parse::event_builder::EventBuilder;
use crate::parse::lenient::{
    LenientBool, LenientNumber, LenientObject, LenientText, LenientTimestamp, parse_or_default,
};
use crate::parse::outcome::outcome_with_code;
use crate::parse::{ParseContext, TextSink, content_id, tool_kind};
use crate::{EventBody, TranscriptEvent};

#[derive(Default, Deserialize)]
#[serde(default)]
struct OpenHandsEvent<'a> {
    #[serde(borrow)]
    kind: LenientText<'a>,
    #[serde(borrow)]
    id: LenientText<'a>,
    timestamp: LenientTimestamp,
    #[serde(borrow)]
    source: LenientText<'a>,
    #[serde(borrow)]
    llm_message: LenientObject<OpenHandsMessage<'a>>,
    #[serde(borrow)]
    llm_response_id: LenientText<'a>,
    #[serde(borrow)]
    sender: LenientText<'a>,
    #[serde(borrow)]
    thought: MessageContent<'a>,
    #[serde(borrow)]
    reasoning_content: LenientText<'a>,
    #[serde(borrow)]
    action: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_name: LenientText<'a>,
    #[serde(borrow)]
    tool_call_id: LenientText<'a>,
    #[serde(borrow)]
    tool_call: LenientObject<OpenHandsCall<'a>>,
    #[serde(borrow)]
    observation: LenientObject<OpenHandsObservation<'a>>,
    #[serde(borrow)]
    rejection_reason: LenientText<'a>,
    #[serde(borrow)]
    rejection_source: LenientText<'a>,
    #[serde(borrow)]
    error: LenientText<'a>,
    #[serde(borrow)]
    detail: LenientText<'a>,
    #[serde(borrow)]
    summary: LenientText<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct OpenHandsMessage<'a> {
    #[serde(borrow)]
    role: LenientText<'a>,
    #[serde(borrow)]
    content: MessageContent<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct OpenHandsCall<'a> {
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

/// What an action takes, if it ends the task.
#[derive(Default, Deserialize)]
#[serde(default)]
struct OpenHandsFinish<'a> {
    #[serde(borrow)]
    message: LenientText<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct OpenHandsObservation<'a> {
    #[serde(borrow, alias = "output")]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    error: LenientText<'a>,
    is_error: LenientBool,
    exit_code: LenientNumber,
    metadata: LenientObject<OpenHandsMetadata>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct OpenHandsMetadata {
    exit_code: LenientNumber,
}

pub(super) fn events(text: &str, context: &mut ParseContext<'_>) -> Result<Vec<TranscriptEvent>, serde_json::Error> {
    if context.is_header() {
        return DerivedHeader::events(text, context);
    }
    let event: OpenHandsEvent<'_> = serde_json::from_str(text)?;
    let native_id = event.id.clone().non_empty().map_or_else(|| content_id(text), Into::into);
    let mut out = EventBuilder::new(context.location, event.timestamp.0, native_id);
    let is_subagent = context.is_subagent();
    let sink = &mut context.sink;
    match event.kind.as_str() {
        "MessageEvent" => add_message(event, is_subagent, &mut out, sink),
        "ActionEvent" => add_action(event, &mut out, sink),
        "ObservationEvent" => add_observation(event, &mut out, sink),
        "AgentErrorEvent" => {
            let kind = Some(tool_kind(event.tool_name.as_str()));
            let outcome = outcome_with_code(MeasuredResult::from_text(event.error.as_str()), true, None, kind, sink);
            out.push(EventBody::ToolResult { call_id: event.tool_call_id.into_string(), outcome, answer: None });
        }
        "UserRejectObservation" => add_rejection(event, &mut out, sink),
        "Condensation" => out.add_text(EntryKind::Summary, event.summary.into_string(), None, sink),
        "PauseEvent" | "InterruptEvent" => {
            out.add_interruption(sink);
        }
        "ConversationErrorEvent" => out.add_text(EntryKind::Failure, event.detail.into_string(), None, sink),
        _ => {}
    }
    Ok(out.events)
}

fn add_message(event: OpenHandsEvent<'_>, is_subagent: bool, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let message = event.llm_message.0;
    let texts: Vec<&str> = message.content.0.iter().map(|block| block.text.as_str()).collect();
    let text = texts.join("\n");
    match (event.source.as_str(), message.role.as_str()) {
        // Another agent can send messages in a user's place.
        ("user", _) => out.add_user_text(&text, is_subagent || event.sender.non_empty().is_some(), sink),
        ("agent", _) | (_, "assistant") => {
            let id = event.llm_response_id.non_empty().map_or_else(|| out.native_id.clone(), Into::into);
            out.add_text(EntryKind::AssistantText, text, Some(&id), sink);
        }
        // Hooks and the environment.
        _ => out.add_injected(&text, sink),
    }
}

fn add_action(event: OpenHandsEvent<'_>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let id = event.llm_response_id.non_empty().map_or_else(|| out.native_id.clone(), Into::into);
    if sink.filter.keep_reasoning {
        out.add_text(EntryKind::Reasoning, event.reasoning_content.into_string(), None, sink);
    }
    let name = event.tool_name.as_str();
    // An action is what the agent made of the arguments; without one, the call was not valid.
    let input = event.action.filter(|raw| raw.get() != "null").or(event.tool_call.0.arguments);
    for block in event.thought.0 {
        out.add_text(EntryKind::AssistantText, block.text.into_string(), Some(&id), sink);
    }
    if name == "finish" {
        let finish: OpenHandsFinish<'_> = parse_or_default(input);
        out.add_text(EntryKind::AssistantText, finish.message.into_string(), Some(&id), sink);
    }
    out.add_tool_call(event.tool_call_id, name, input, &id, sink);
}

fn add_observation(event: OpenHandsEvent<'_>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let observation = event.observation.0;
    let mut measured: MeasuredResult = parse_or_default(observation.content);
    let error = observation.error.as_str();
    if measured.bytes == 0 && !error.is_empty() {
        measured = MeasuredResult::from_text(error);
    }
    // -1 means that the command is still running.
    let code = observation.exit_code.0.or(observation.metadata.0.exit_code.0).filter(|code| *code >= 0.0);
    let is_error = observation.is_error.0 || !error.is_empty();
    let kind = Some(tool_kind(event.tool_name.as_str()));
    let outcome = outcome_with_code(measured, is_error, code.map(|code| code as i32), kind, sink);
    out.push(EventBody::ToolResult { call_id: event.tool_call_id.into_string(), outcome, answer: None });
}

fn add_rejection(event: OpenHandsEvent<'_>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let reason = event.rejection_reason.into_string();
    let mut outcome = outcome_with_code(MeasuredResult::from_text(&reason), true, None, None, sink);
    let is_human = event.rejection_source.as_str() != "hook";
    if is_human {
        outcome.status = ToolStatus::Rejected;
    }
    let answer = (is_human && reason != "User rejected the action").then(|| sink.redact(reason));
    out.push(EventBody::ToolResult { call_id: event.tool_call_id.into_string(), outcome, answer });
}
