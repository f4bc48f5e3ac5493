//! Creates live frames from what happens in a turn.

use rethread_engine::{ToolDefinition, TurnEvent, TurnReport};
use rethread_model::SessionId;
use rethread_model::thread::{ChatRole, PendingToolCall, StopReason, ThreadId, ThreadMessage};
use serde_json::Value;

use super::frame::{CallerToolJson, FrameEventJson, FrameJson, RunEndJson};
use super::{SCHEMA, dollars};
use crate::failure::Failure;
use crate::render::compaction_note;

impl FrameJson {
    /// A frame without a session.
    pub(crate) fn without_session(event: FrameEventJson) -> Self {
        Self { schema: SCHEMA, session_id: None, run_id: None, event }
    }

    pub(crate) fn for_session(session: SessionId, event: FrameEventJson) -> Self {
        Self { schema: SCHEMA, session_id: Some(session.to_string()), run_id: None, event }
    }

    pub(crate) fn for_run(thread: ThreadId, run_id: &str, event: FrameEventJson) -> Self {
        Self { schema: SCHEMA, session_id: Some(thread.to_string()), run_id: Some(run_id.to_owned()), event }
    }
}

impl FrameEventJson {
    pub(crate) fn from_turn_event(event: &TurnEvent<'_>) -> Self {
        match event {
            TurnEvent::Queued { ahead } => FrameEventJson::queued_behind(*ahead),
            TurnEvent::Started { .. } => FrameEventJson::RunStart { client_id: None },
            TurnEvent::Delta(delta) => FrameEventJson::StreamDelta { delta: (*delta).to_owned() },
            TurnEvent::ToolCalled { id, name } => {
                FrameEventJson::ToolStart { tool_call_id: (*id).to_owned(), tool_name: (*name).to_owned() }
            }
            TurnEvent::Appended(message) => FrameEventJson::from_message(message),
            TurnEvent::Compacted(report) => FrameEventJson::status_text(compaction_note(report, false)),
        }
    }

    /// A message is queued behind `ahead` turns.
    pub(crate) fn queued_behind(ahead: usize) -> Self {
        FrameEventJson::Status {
            status: format!("queued behind {ahead}"),
            ahead: Some(ahead),
            queued: None,
            partial_text: None,
        }
    }

    /// A message was written to the log.
    pub(crate) fn from_message(message: &ThreadMessage) -> Self {
        let record = message_record(message);
        if message.role == ChatRole::ToolResult {
            FrameEventJson::ToolResult { record }
        } else {
            FrameEventJson::MessageComplete { record }
        }
    }

    pub(crate) fn run_end(report: &TurnReport) -> Self {
        FrameEventJson::RunEnd { end: RunEndJson::from_report(report) }
    }

    pub(crate) fn from_failure(failure: &Failure, client_id: Option<String>) -> Self {
        FrameEventJson::Error {
            code: failure.code.unwrap_or(failure.kind.code()).to_owned(),
            message: failure.source.to_string(),
            hint: (!failure.hints.is_empty()).then(|| failure.hints.join("; ")),
            client_id,
        }
    }
}

impl CallerToolJson {
    /// A tool without a schema takes no parameters.
    pub(crate) fn into_tool(self) -> ToolDefinition {
        let is_described = self.parameters.is_object();
        let nothing = || serde_json::json!({"type": "object", "properties": {}});
        let parameters = if is_described { self.parameters } else { nothing() };
        ToolDefinition { name: self.name, description: self.description, parameters }
    }
}

/// The message exactly as it is stored in the log.
pub(crate) fn message_record(message: &ThreadMessage) -> Value {
    serde_json::to_value(message.as_record()).unwrap_or_default()
}

impl RunEndJson {
    pub(crate) fn from_report(report: &TurnReport) -> Self {
        Self {
            stop_reason: report.stop,
            usage: report.usage,
            cost_usd: report.cost.map(dollars),
            waiting_calls: report.pending_calls.clone(),
            cut_short: report.is_cut_short,
        }
    }

    /// The end of a run without a report, so its usage and cost are unknown.
    pub(crate) fn without_report(stop_reason: StopReason, waiting_calls: Vec<PendingToolCall>) -> Self {
        Self { stop_reason, usage: None, cost_usd: None, waiting_calls, cut_short: false }
    }
}
