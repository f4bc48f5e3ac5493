//! Parses the events of Copilot: of the CLI, and of VS Code's agent, which writes the same.

use std::collections::BTreeMap;

use rethread_model::{EntryKind, Tokens};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::calls::{ToolExecution, ToolRequest, add_request, add_result};
use crate::parse::event_builder::EventBuilder;
use crate::parse::lenient::{LenientNumber, LenientObject, LenientText, LenientTimestamp, parse_or_default};
use crate::parse::{ParseContext, TextSink, content_id, is_uuid};
use crate::source::TranscriptHead;
use crate::{EventBody, EventScope, SessionHeader, TitleRank, TranscriptEvent, UndoStep};

/// What the files beside the events say, and what single events do not show.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(in crate::agents) struct CopilotHeader {
    pub(in crate::agents) session_id: Option<String>,
    pub(in crate::agents) cwd: Option<String>,
    pub(in crate::agents) branch: Option<String>,
    pub(in crate::agents) name: Option<String>,
    pub(in crate::agents) is_named_by_user: bool,
    pub(in crate::agents) tokens: TokenSource,
}

/// Which events have the tokens, by version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::agents) enum TokenSource {
    /// The end of the session.
    #[default]
    Totals,
    /// The model's answers have those it wrote, the end of the session the others.
    Answers,
    /// A record per call of the model.
    Records,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct CopilotLine<'a> {
    #[serde(borrow, rename = "type")]
    kind: LenientText<'a>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
    #[serde(borrow)]
    id: LenientText<'a>,
    timestamp: LenientTimestamp,
    #[serde(borrow)]
    agent_id: LenientText<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct CopilotData<'a> {
    /// Names the sub-agent in versions that do not give it an id.
    #[serde(borrow)]
    parent_tool_call_id: LenientText<'a>,
    #[serde(borrow)]
    session_id: LenientText<'a>,
    #[serde(borrow)]
    context: LenientObject<CopilotPlace<'a>>,
    #[serde(borrow)]
    cwd: LenientText<'a>,
    #[serde(borrow)]
    branch: LenientText<'a>,
    #[serde(borrow, alias = "newModel")]
    selected_model: LenientText<'a>,
    #[serde(borrow)]
    content: LenientText<'a>,
    #[serde(borrow)]
    source: LenientText<'a>,
    #[serde(borrow)]
    attachments: Option<&'a RawValue>,
    #[serde(borrow)]
    message_id: LenientText<'a>,
    #[serde(borrow)]
    api_call_id: LenientText<'a>,
    #[serde(borrow)]
    model: LenientText<'a>,
    #[serde(borrow)]
    tool_requests: Option<&'a RawValue>,
    #[serde(borrow)]
    reasoning_text: LenientText<'a>,
    output_tokens: Option<LenientNumber>,
    usage: Option<LenientObject<CopilotUsage>>,
    #[serde(borrow)]
    model_metrics: Option<&'a RawValue>,
    #[serde(borrow)]
    summary_content: LenientText<'a>,
    #[serde(borrow)]
    message: LenientText<'a>,
    #[serde(borrow)]
    title: LenientText<'a>,
    #[serde(borrow)]
    up_to_event_id: LenientText<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CopilotPlace<'a> {
    #[serde(borrow)]
    cwd: LenientText<'a>,
    #[serde(borrow)]
    branch: LenientText<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct CopilotUsage {
    model: Option<String>,
    api_call_id: Option<String>,
    input_tokens: LenientNumber,
    output_tokens: LenientNumber,
    cache_read_tokens: LenientNumber,
    cache_write_tokens: LenientNumber,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CopilotMetrics {
    usage: Option<LenientObject<CopilotUsage>>,
}

/// Whether lines are events of Copilot: a type with a dot, and data.
pub(in crate::agents) fn recognizes(head: &TranscriptHead) -> bool {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct SniffedEvent {
        #[serde(rename = "type")]
        kind: Value,
        data: Value,
    }
    let kinds = ["session.start", "user.message", "assistant.message", "assistant.turn_start"];
    let is_event =
        |line: SniffedEvent| line.data.is_object() && line.kind.as_str().is_some_and(|kind| kinds.contains(&kind));
    head.lines().take(20).any(is_event)
}

/// All events of one line.
pub(in crate::agents) fn events(
    text: &str,
    context: &mut ParseContext<'_>,
) -> Result<Vec<TranscriptEvent>, serde_json::Error> {
    if context.is_header() {
        return Ok(header_events(serde_json::from_str(text)?, context));
    }
    let line: CopilotLine<'_> = serde_json::from_str(text)?;
    // Other ids, as in shortened transcripts, may repeat.
    let id = line.id.non_empty().filter(|id| is_uuid(id)).map_or_else(|| content_id(text), Into::into);
    let mut out = EventBuilder::new(context.location, line.timestamp.0, id);
    let kind = line.kind.as_str();
    // What hooks were given and said is in no conversation.
    if kind.starts_with("hook.") || kind == "system.message" {
        return Ok(Vec::new());
    }
    let data: CopilotData<'_> = match line.data {
        Some(data) => serde_json::from_str(data.get())?,
        None => CopilotData::default(),
    };
    let agent = line.agent_id.non_empty().or(data.parent_tool_call_id.clone().non_empty());
    if let Some(agent) = agent {
        out.scope = EventScope::Subagent { agent_id: Some(agent.into()), parent_id: None };
    }
    if kind == "session.shutdown" {
        let header: CopilotHeader =
            context.header().and_then(|header| serde_json::from_str(header).ok()).unwrap_or_default();
        add_totals(data.model_metrics, header.tokens, &mut out);
    }
    add_event(kind, data, line.data, &mut out, &mut context.sink);
    Ok(out.events)
}

fn header_events(header: CopilotHeader, context: &mut ParseContext<'_>) -> Vec<TranscriptEvent> {
    let mut out = EventBuilder::new(context.location, None, "header".to_owned());
    out.push(EventBody::Workspace { cwd: header.cwd, branch: header.branch });
    let rank = if header.is_named_by_user { TitleRank::Custom } else { TitleRank::Generated };
    let name = LenientText(header.name.map(Into::into));
    out.add_title(rank, name, None, &mut context.sink);
    out.events
}

fn add_event(
    kind: &str,
    data: CopilotData<'_>,
    raw: Option<&RawValue>,
    out: &mut EventBuilder,
    sink: &mut TextSink<'_>,
) {
    match kind {
        "session.start" | "session.resume" | "session.context_changed" => add_place(kind, data, out),
        "session.model_change" => add_model(data.selected_model, out),
        "user.message" => add_user(data, out, sink),
        "assistant.message" => add_answer(data, out, sink),
        "assistant.reasoning" if sink.filter.keep_reasoning => {
            out.add_text(EntryKind::Reasoning, data.content.into_string(), None, sink);
        }
        "tool.execution_start" => {
            let execution: ToolExecution<'_> = parse_or_default(raw);
            let message = out.native_id.clone();
            add_request(execution.into(), &message, out, sink);
        }
        "tool.execution_complete" => add_result(parse_or_default(raw), out, sink),
        "session.usage_record" => {
            if let Some(LenientObject(usage)) = data.usage {
                let id = usage.api_call_id.clone().unwrap_or_else(|| out.native_id.clone());
                out.push(usage_event(id, usage, None));
            }
        }
        "session.compaction_complete" => {
            out.add_text(EntryKind::Summary, data.summary_content.into_string(), None, sink);
        }
        "session.title_changed" => out.add_title(TitleRank::Generated, data.title, None, sink),
        "session.snapshot_rewind" => {
            out.push(EventBody::Undo(UndoStep::From(data.up_to_event_id.into_string())));
        }
        "session.error" => out.add_text(EntryKind::Failure, data.message.into_string(), None, sink),
        "abort" => out.add_interruption(sink),
        "system.notification" => {
            let text = sink.machine_line(data.content.as_str());
            out.add_text(EntryKind::Notice, text, None, sink);
        }
        // Turns, permissions, plans, streamed parts and unknown types.
        _ => {}
    }
}

fn add_place(kind: &str, data: CopilotData<'_>, out: &mut EventBuilder) {
    let place = data.context.0;
    let cwd = place.cwd.non_empty().or(data.cwd.non_empty()).map(String::from);
    let branch = place.branch.non_empty().or(data.branch.non_empty()).map(Into::into);
    if kind == "session.start" {
        let external_id = data.session_id.into_string();
        out.push(EventBody::Header(SessionHeader { external_id, cwd: cwd.clone(), ..SessionHeader::default() }));
    }
    out.push(EventBody::Workspace { cwd, branch });
    add_model(data.selected_model, out);
}

fn add_model(model: LenientText<'_>, out: &mut EventBuilder) {
    let Some(model) = model.non_empty().filter(|model| model != "auto") else { return };
    let (message_id, tokens) = ("model".to_owned(), Tokens::default());
    out.push(EventBody::Usage { message_id, tokens, hour_write_tokens: 0, model: Some(model.into()), cost_usd: None });
}

/// Adds what a user, another agent or a skill wrote.
fn add_user(data: CopilotData<'_>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let text = data.content.into_string();
    if matches!(out.scope, EventScope::Subagent { .. }) {
        return out.add_text(EntryKind::Task, text, None, sink);
    }
    match data.source.as_str() {
        "" | "user" | "human" if text.trim().is_empty() => {
            if data.attachments.is_some_and(|list| list.get().len() > 2) {
                out.add_text(EntryKind::Prompt, "[attachment]".to_owned(), None, sink);
            }
        }
        "" | "user" | "human" => out.add_user_text(&text, false, sink),
        _ => out.add_injected(&text, sink),
    }
}

fn add_answer(data: CopilotData<'_>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let id = data.message_id.non_empty().map_or_else(|| out.native_id.clone(), Into::into);
    if sink.filter.keep_reasoning {
        out.add_text(EntryKind::Reasoning, data.reasoning_text.into_string(), None, sink);
    }
    let output = data.output_tokens.map(LenientNumber::count);
    let model: Option<String> = data.model.non_empty().map(Into::into);
    if output.is_some() || model.is_some() {
        let message_id = data.api_call_id.non_empty().map_or_else(|| id.clone(), Into::into);
        let tokens = Tokens { output: output.unwrap_or_default(), ..Tokens::default() };
        out.push(EventBody::Usage { message_id, tokens, hour_write_tokens: 0, model, cost_usd: None });
    }
    out.add_text(EntryKind::AssistantText, data.content.into_string(), Some(&id), sink);
    for LenientObject(request) in parse_or_default::<Vec<LenientObject<ToolRequest<'_>>>>(data.tool_requests) {
        add_request(request, &id, out, sink);
    }
}

/// Adds the tokens of the whole session, by model: those that its answers do not have. They grow when it is resumed.
fn add_totals(metrics: Option<&RawValue>, source: TokenSource, out: &mut EventBuilder) {
    if source == TokenSource::Records {
        return;
    }
    let metrics: BTreeMap<String, LenientObject<CopilotMetrics>> = parse_or_default(metrics);
    for (model, LenientObject(metrics)) in metrics {
        let Some(LenientObject(mut usage)) = metrics.usage else { continue };
        if source == TokenSource::Answers {
            usage.output_tokens = LenientNumber::default();
        }
        out.push(usage_event(format!("total-{model}"), usage, Some(model)));
    }
}

/// The tokens of a call. Those read from and written to the cache are included in the input.
fn usage_event(message_id: String, usage: CopilotUsage, model: Option<String>) -> EventBody {
    let (read, written) = (usage.cache_read_tokens.count(), usage.cache_write_tokens.count());
    let tokens = Tokens {
        input: usage.input_tokens.count().saturating_sub(read + written),
        output: usage.output_tokens.count(),
        cache_read: read,
        cache_write: written,
    };
    EventBody::Usage { message_id, tokens, hour_write_tokens: 0, model: usage.model.or(model), cost_usd: None }
}
