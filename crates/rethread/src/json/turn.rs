//! Turns, as they are told while they happen.

use rethread_engine::{Tool, TurnEvent, TurnReport};
use rethread_model::SessionId;
use rethread_model::thread::{ChatRole, Message, ThreadId};
use serde_json::Value;

use super::frame::{Frame, OfferedTool, Told};
use super::{SCHEMA, dollars};
use crate::failure::Failure;
use crate::render::compaction_note;

impl Frame {
    /// Something that belongs to no session.
    pub(crate) fn of_nobody(told: Told) -> Self {
        Self { schema: SCHEMA, session_id: None, run_id: None, told }
    }

    /// Something of a session.
    pub(crate) fn of_session(session: SessionId, told: Told) -> Self {
        Self { schema: SCHEMA, session_id: Some(session.to_string()), run_id: None, told }
    }

    /// Something of a run.
    pub(crate) fn of_run(thread: ThreadId, run_id: &str, told: Told) -> Self {
        Self { schema: SCHEMA, session_id: Some(thread.to_string()), run_id: Some(run_id.to_owned()), told }
    }
}

impl Told {
    /// What happened in a turn.
    pub(crate) fn of(event: &TurnEvent<'_>) -> Self {
        match event {
            TurnEvent::Queued { ahead } => Told::queued(*ahead),
            TurnEvent::Begun { .. } => Told::RunStart { client_id: None },
            TurnEvent::Delta(delta) => Told::StreamDelta { delta: (*delta).to_owned() },
            TurnEvent::ToolCalled { id, name } => {
                Told::ToolStart { tool_call_id: (*id).to_owned(), tool_name: (*name).to_owned() }
            }
            TurnEvent::Appended(message) => Told::appended(message),
            TurnEvent::Compacted(report) => Told::status(compaction_note(report, false)),
        }
    }

    /// A message waits behind others.
    pub(crate) fn queued(ahead: usize) -> Self {
        Told::Status { status: format!("queued behind {ahead}"), ahead: Some(ahead), queued: None, said: None }
    }

    /// A message that is in the log.
    pub(crate) fn appended(message: &Message) -> Self {
        let record = record_of(message);
        if message.role == ChatRole::ToolResult {
            Told::ToolResult { record }
        } else {
            Told::MessageComplete { record }
        }
    }

    /// How a turn ended.
    pub(crate) fn end_of(report: &TurnReport) -> Self {
        Told::RunEnd {
            stop_reason: report.stop,
            usage: report.usage,
            cost_usd: report.cost.map(dollars),
            waiting_calls: report.waiting_calls.clone(),
            cut_short: report.is_cut_short,
        }
    }

    /// What went wrong.
    pub(crate) fn failed(failure: &Failure, client_id: Option<String>) -> Self {
        Told::Error {
            code: failure.code.unwrap_or(failure.kind.code()).to_owned(),
            message: failure.source.to_string(),
            hint: (!failure.hints.is_empty()).then(|| failure.hints.join("; ")),
            client_id,
        }
    }
}

impl OfferedTool {
    /// The tool. One that says nothing of what it takes takes nothing.
    pub(crate) fn into_tool(self) -> Tool {
        let is_described = self.parameters.is_object();
        let nothing = || serde_json::json!({"type": "object", "properties": {}});
        let parameters = if is_described { self.parameters } else { nothing() };
        Tool { name: self.name, description: self.description, parameters }
    }
}

/// A message as it stands in the log.
pub(crate) fn record_of(message: &Message) -> Value {
    serde_json::to_value(message.as_record()).unwrap_or_default()
}
