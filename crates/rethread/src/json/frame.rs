//! Live frames: the lines of `thread send --json`, the WebSocket frames and the server-sent events.
//!
//! One definition for all of them: `docs/live.md` is generated from it, and tests check every frame they receive
//! against it. It contains no code that creates frames, so that tests can include this file.

use rethread_model::Tokens;
use rethread_model::thread::{PendingToolCall, StopReason};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One live frame.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FrameJson {
    /// Version of the format: 1.
    pub(crate) schema: u8,
    /// The session it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) session_id: Option<String>,
    /// The run it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) run_id: Option<String>,
    #[serde(flatten)]
    pub(crate) event: FrameEventJson,
}

/// How a run ended.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunEndJson {
    /// Why: `end`, `toolCalls`, `length`, `refusal`, `aborted`, `error` or `other`.
    #[schemars(with = "String")]
    pub(crate) stop_reason: StopReason,
    /// Tokens as counted by the provider; null if it reported none.
    #[schemars(with = "Option<Value>")]
    pub(crate) usage: Option<Tokens>,
    /// Cost in US dollars; null if the price is unknown.
    pub(crate) cost_usd: Option<f64>,
    /// Tool calls that wait for a result from the caller.
    #[schemars(with = "Vec<Value>")]
    pub(crate) waiting_calls: Vec<PendingToolCall>,
    /// Whether the run was stopped at the limit of model answers per run.
    pub(crate) cut_short: bool,
}

/// The event a frame carries.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub(crate) enum FrameEventJson {
    /// A message was accepted and will be run. Sent only to its sender.
    Accepted {
        /// Turns queued before it in the session.
        ahead: usize,
        /// The client's id of the message.
        #[serde(skip_serializing_if = "Option::is_none")]
        client_id: Option<String>,
    },
    /// A run starts.
    RunStart {
        /// The client's id of the message.
        #[serde(skip_serializing_if = "Option::is_none")]
        client_id: Option<String>,
    },
    /// The model produced text.
    StreamDelta {
        /// The next part of its answer.
        delta: String,
    },
    /// The model calls a tool.
    ToolStart {
        /// The id of the call.
        tool_call_id: String,
        /// The name of the tool.
        tool_name: String,
    },
    /// A tool result was written to the log.
    ToolResult {
        /// The record, as stored in the log.
        record: Value,
    },
    /// A message was written to the log: the user's text or an answer of the model.
    MessageComplete {
        /// The record, as stored in the log.
        record: Value,
    },
    /// A message is queued, a thread was compacted, or a client subscribed.
    Status {
        /// Human-readable status.
        status: String,
        /// Turns queued before this run in the session.
        #[serde(skip_serializing_if = "Option::is_none")]
        ahead: Option<usize>,
        /// On subscribing: turns in the queue.
        #[serde(skip_serializing_if = "Option::is_none")]
        queued: Option<usize>,
        /// On subscribing while a model is answering: its answer so far.
        #[serde(skip_serializing_if = "Option::is_none")]
        partial_text: Option<String>,
    },
    /// A run ended. Always the last frame of a run, whatever its outcome.
    RunEnd {
        #[serde(flatten)]
        end: RunEndJson,
    },
    /// A session got a new name.
    SessionRenamed {
        /// The new name.
        name: String,
    },
    /// A request or run failed. With a `runId` it is sent to all subscribers, otherwise only to the sender.
    Error {
        /// The error code, as in the HTTP API.
        code: String,
        /// What went wrong.
        message: String,
        /// What to do next.
        #[serde(skip_serializing_if = "Option::is_none")]
        hint: Option<String>,
        /// The client's id of the message that failed.
        #[serde(skip_serializing_if = "Option::is_none")]
        client_id: Option<String>,
    },
    /// Stored data changed.
    Changed {
        /// Ids of the sessions that changed or were removed; empty if something other than a session changed, null if
        /// everything may have changed.
        sessions: Option<Vec<String>>,
    },
    /// Frames were dropped because the client read too slowly: reload everything.
    Lagged,
}

/// A frame that a client may send.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase", deny_unknown_fields)]
pub(crate) enum ClientFrameJson {
    /// Run a turn. Also subscribes the client to the session.
    SendMessage {
        /// The id of the thread.
        session_id: String,
        /// The user's message. Without it the model continues, for example after tool results were appended.
        #[serde(default)]
        text: Option<String>,
        /// Tools that the caller runs itself.
        #[serde(default)]
        tools: Vec<CallerToolJson>,
        /// Whether the model may search memory.
        #[serde(default)]
        memory: bool,
        /// The client's id of the message. A message sent again with the same id is run only once.
        #[serde(default)]
        client_id: Option<String>,
    },
    /// Stop a run. The answer so far is kept.
    Cancel {
        /// The id of the thread.
        session_id: String,
        /// The id of the run; without it the current run, or else the next one.
        #[serde(default)]
        run_id: Option<String>,
    },
    /// Receive the frames of a session.
    Subscribe {
        /// The id of a thread or of an agent's session.
        session_id: String,
    },
    /// Stop receiving the frames of a session.
    Unsubscribe {
        /// The id of the session.
        session_id: String,
    },
}

/// A tool that the caller runs itself.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct CallerToolJson {
    /// The name the model calls it by.
    pub(crate) name: String,
    /// What it does.
    #[serde(default)]
    pub(crate) description: String,
    /// Its parameters: the JSON Schema of an object.
    #[serde(default, alias = "input_schema")]
    pub(crate) parameters: Value,
}

impl FrameEventJson {
    /// The wire name, as in `type`.
    pub(crate) const fn type_name(&self) -> &'static str {
        match self {
            FrameEventJson::Accepted { .. } => "accepted",
            FrameEventJson::RunStart { .. } => "run_start",
            FrameEventJson::StreamDelta { .. } => "stream_delta",
            FrameEventJson::ToolStart { .. } => "tool_start",
            FrameEventJson::ToolResult { .. } => "tool_result",
            FrameEventJson::MessageComplete { .. } => "message_complete",
            FrameEventJson::Status { .. } => "status",
            FrameEventJson::RunEnd { .. } => "run_end",
            FrameEventJson::SessionRenamed { .. } => "session_renamed",
            FrameEventJson::Error { .. } => "error",
            FrameEventJson::Changed { .. } => "changed",
            FrameEventJson::Lagged => "lagged",
        }
    }

    /// A status with a text only.
    pub(crate) fn status_text(words: impl Into<String>) -> Self {
        FrameEventJson::Status { status: words.into(), ahead: None, queued: None, partial_text: None }
    }
}
