//! Records that a loader makes of sessions which cannot be parsed record by record.
//!
//! Their own form is several files, chunks of messages, or text that is not JSON.

use std::collections::HashMap;
use std::io;

use rethread_model::{EntryKind, Timestamp, Tokens, ToolStatus};
use serde::{Deserialize, Serialize};
use serde_json::value::to_raw_value;
use xxhash_rust::xxh3::xxh3_64;

use super::content::MeasuredResult;
use super::event_builder::{EventBuilder, INTERRUPTED};
use super::lenient::LenientText;
use super::outcome::outcome_with_code;
use super::{ParseContext, TextSink, tool_kind, user_text};
use crate::source::SessionDocument;
use crate::{EventBody, SessionHeader, TitleRank, TranscriptEvent, UndoStep};

/// What is known about the session as a whole. The names are those that `TranscriptHead::usual_fields` looks for.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct FoldedHeader {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) session_id: Option<String>,
    /// The session that started this one as its sub-agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) parent_session_id: Option<String>,
    /// The session that this one was forked from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) forked_from: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cwd: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) branch: Option<String>,
    /// A title that the agent made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    /// When the session began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) timestamp: Option<Timestamp>,
    /// When it changed last, if its records have no times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) changed_at: Option<Timestamp>,
}

/// A message, or a part of one that has its own id.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct FoldedRecord {
    /// The same whenever the session is loaded.
    pub(crate) id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) at: Option<Timestamp>,
    /// The model's message that the parts belong to, if several records do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<String>,
    /// The record before it, for agents with branches: this one is then a node of the tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) previous: Option<FoldedNode>,
    pub(crate) parts: Vec<FoldedPart>,
    /// A record of the agent that cannot be read, to be reported in its place.
    #[serde(skip)]
    pub(crate) unreadable: Option<String>,
}

/// The place of a record in the agent's tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum FoldedNode {
    First,
    After(String),
    /// Not a record of its own: the conversation goes on after this one.
    Leaf(String),
}

/// What a record consists of.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum FoldedPart {
    /// A text. Of a prompt, what programs added is removed.
    Text(EntryKind, String),
    Call {
        id: String,
        name: String,
        /// The arguments as JSON.
        input: String,
    },
    Result(FoldedResult),
    Usage {
        tokens: Tokens,
        model: Option<String>,
        cost_usd: Option<f64>,
    },
    Workspace {
        cwd: Option<String>,
        branch: Option<String>,
    },
    /// The record with this id and everything after it was undone.
    Undo(String),
}

impl FoldedPart {
    /// The user stopped the agent.
    pub(crate) fn interruption() -> Self {
        Self::Text(EntryKind::Interruption, INTERRUPTED.to_owned())
    }
}

/// The result of a tool call.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct FoldedResult {
    pub(crate) call: String,
    /// Name of the tool.
    pub(crate) tool: String,
    pub(crate) output: String,
    pub(crate) is_error: bool,
    /// Whether the user did not allow the call.
    pub(crate) is_rejected: bool,
    pub(crate) exit_code: Option<i32>,
    /// What the user said in the result.
    pub(crate) answer: Option<String>,
}

impl FoldedRecord {
    pub(crate) fn new(id: String, at: Option<Timestamp>, parts: Vec<FoldedPart>) -> Self {
        Self { id, at, parts, ..Self::default() }
    }

    /// A record that cannot be read.
    pub(crate) fn unreadable(text: &str) -> Self {
        Self { unreadable: Some(text.to_owned()), ..Self::default() }
    }

    fn to_json(&self) -> Option<serde_json::Result<String>> {
        let is_used = !self.parts.is_empty() || self.previous.is_some();
        self.unreadable.clone().map(Ok).or_else(|| is_used.then(|| serde_json::to_string(self)))
    }
}

/// A session made of folded records. Records without parts are left out, unless the tree needs them.
pub(crate) fn folded_document(header: &FoldedHeader, records: &[FoldedRecord]) -> io::Result<SessionDocument> {
    let records: Result<Vec<String>, _> = records.iter().filter_map(FoldedRecord::to_json).collect();
    let header = serde_json::to_string(header).map_err(io::Error::other)?;
    Ok(SessionDocument::new(header, &records.map_err(io::Error::other)?))
}

/// Ids for records that have none, made from their content: they stay the same when records before them are removed.
#[derive(Debug, Default)]
pub(crate) struct ContentIds(HashMap<u64, u32>);

impl ContentIds {
    /// The id of the next record with this content.
    pub(crate) fn next(&mut self, content: &str) -> String {
        let hash = xxh3_64(content.as_bytes());
        let count = self.0.entry(hash).or_default();
        *count += 1;
        if *count == 1 { format!("text-{hash:016x}") } else { format!("text-{hash:016x}-{count}") }
    }
}

/// The events of a folded record, or of the header.
pub(crate) fn events(text: &str, context: &mut ParseContext<'_>) -> Result<Vec<TranscriptEvent>, serde_json::Error> {
    if context.is_header() {
        return Ok(header_events(serde_json::from_str(text)?, context));
    }
    let record: FoldedRecord = serde_json::from_str(text)?;
    let header: FoldedHeader = context.header().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let is_subagent = header.parent_session_id.is_some();
    let mut out = EventBuilder::new(context.location, record.at, record.id);
    let sink = &mut context.sink;
    match record.previous {
        None => {}
        Some(FoldedNode::First) => out.push(EventBody::Node { id: out.native_id.clone(), parent: None }),
        Some(FoldedNode::After(id)) => out.push(EventBody::Node { id: out.native_id.clone(), parent: Some(id) }),
        Some(FoldedNode::Leaf(target)) => out.push(EventBody::Leaf { target }),
    }
    let message = record.message.unwrap_or_else(|| out.native_id.clone());
    for part in record.parts {
        match part {
            FoldedPart::Text(EntryKind::Prompt, text) => out.add_user_text(&text, is_subagent, sink),
            part => add_part(part, &message, &mut out, sink),
        }
    }
    Ok(out.events)
}

fn header_events(header: FoldedHeader, context: &mut ParseContext<'_>) -> Vec<TranscriptEvent> {
    let mut out = EventBuilder::new(context.location, header.timestamp, "header".to_owned());
    let about = SessionHeader {
        external_id: header.session_id.unwrap_or_default(),
        cwd: header.cwd,
        parent_id: header.forked_from,
        parent_path: None,
    };
    if let Some(changed_at) = header.changed_at {
        // The time of an event is the only way to say when the session was active.
        let mut last = EventBuilder::new(context.location, Some(changed_at), "header".to_owned());
        last.push(EventBody::Header(about.clone()));
        out.push(EventBody::Header(about));
        out.events.append(&mut last.events);
    } else {
        out.push(EventBody::Header(about));
    }
    if header.branch.is_some() {
        out.push(EventBody::Workspace { cwd: None, branch: header.branch });
    }
    if header.model.is_some() {
        out.push(usage("header".to_owned(), Tokens::default(), header.model, None));
    }
    out.add_title(TitleRank::Generated, LenientText(header.title.map(Into::into)), None, &mut context.sink);
    out.events
}

fn add_part(part: FoldedPart, message: &str, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    match part {
        FoldedPart::Text(EntryKind::Injected, text) => out.add_injected(&user_text::strip_added_tags(&text), sink),
        FoldedPart::Text(EntryKind::Reasoning, text) => {
            if sink.filter.keep_reasoning {
                out.add_text(EntryKind::Reasoning, text, None, sink);
            }
        }
        FoldedPart::Text(EntryKind::AssistantText, text) => {
            out.add_text(EntryKind::AssistantText, text, Some(message), sink);
        }
        FoldedPart::Text(kind, text) => out.add_text(kind, text, None, sink),
        FoldedPart::Call { id, name, input } => {
            let input = to_raw_value(&input).ok();
            out.add_tool_call(LenientText(Some(id.into())), &name, input.as_deref(), message, sink);
        }
        FoldedPart::Result(result) => add_result(result, out, sink),
        FoldedPart::Usage { tokens, model, cost_usd } => {
            out.push(usage(message.to_owned(), tokens, model, cost_usd));
        }
        FoldedPart::Workspace { cwd, branch } => out.push(EventBody::Workspace { cwd, branch }),
        FoldedPart::Undo(id) => out.push(EventBody::Undo(UndoStep::From(id))),
    }
}

fn add_result(result: FoldedResult, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let (is_error, kind) = (result.is_error || result.is_rejected, tool_kind(&result.tool));
    let measured = MeasuredResult::from_text(&result.output);
    let mut outcome = outcome_with_code(measured, is_error, result.exit_code, Some(kind), sink);
    if result.is_rejected {
        outcome.status = ToolStatus::Rejected;
    }
    let answer = result.answer.map(|text| sink.redact(text));
    out.push(EventBody::ToolResult { call_id: result.call, outcome, answer });
}

fn usage(message_id: String, tokens: Tokens, model: Option<String>, cost_usd: Option<f64>) -> EventBody {
    EventBody::Usage { message_id, tokens, hour_write_tokens: 0, model, cost_usd }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_made_from_content_do_not_depend_on_the_place() {
        let ids = |texts: &[&str]| {
            let mut ids = ContentIds::default();
            texts.iter().map(|text| ids.next(text)).collect::<Vec<_>>()
        };
        let (all, without_first) = (ids(&["a", "go on", "b", "go on"]), ids(&["go on", "b", "go on"]));
        assert_eq!(all[1..], without_first);
        assert_ne!(all[1], all[3], "the same words twice");
    }

    #[test]
    fn folded_records_survive_being_written() {
        let record = FoldedRecord {
            previous: Some(FoldedNode::After("a".to_owned())),
            ..FoldedRecord::new(
                "b".to_owned(),
                Some(Timestamp::from_millis(1000)),
                vec![
                    FoldedPart::Text(EntryKind::Prompt, "hello".to_owned()),
                    FoldedPart::Call { id: "c".to_owned(), name: "bash".to_owned(), input: "{}".to_owned() },
                    FoldedPart::Result(FoldedResult { call: "c".to_owned(), ..FoldedResult::default() }),
                ],
            )
        };
        let written = serde_json::to_string(&record).unwrap();
        let read: FoldedRecord = serde_json::from_str(&written).unwrap();
        assert_eq!((read.id, read.at, read.previous), (record.id, record.at, record.previous));
        assert_eq!(read.parts, record.parts);
    }
}
