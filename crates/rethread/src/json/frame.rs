//! What is told while it happens: the lines of `thread send --json`, the frames of the socket, the events of pages.
//!
//! One definition for all of them; `docs/live.md` is made from it, and every frame that tests receive is held against
//! it. This file knows nothing of how frames come about, so that tests can read it.

use rethread_model::Tokens;
use rethread_model::thread::{Stop, WaitingCall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One thing that is told.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Frame {
    /// The version of these shapes: 1.
    pub(crate) schema: u8,
    /// The session it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) session_id: Option<String>,
    /// The run it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) run_id: Option<String>,
    /// What it is.
    #[serde(flatten)]
    pub(crate) told: Told,
}

/// What is told.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub(crate) enum Told {
    /// A message was accepted and will be run. Only its sender is told.
    Accepted {
        /// Turns that are before it in the session.
        ahead: usize,
        /// What the client called it.
        #[serde(skip_serializing_if = "Option::is_none")]
        client_id: Option<String>,
    },
    /// A run begins.
    RunStart {
        /// What the client called it.
        #[serde(skip_serializing_if = "Option::is_none")]
        client_id: Option<String>,
    },
    /// The model says something.
    StreamDelta {
        /// The next piece of its answer.
        delta: String,
    },
    /// The model calls a tool.
    ToolStart {
        /// The call.
        tool_call_id: String,
        /// The tool.
        tool_name: String,
    },
    /// The result of a tool is in the log.
    ToolResult {
        /// The record, as it stands in the log.
        record: Value,
    },
    /// A message is in the log: the user's text, or an answer of the model.
    MessageComplete {
        /// The record, as it stands in the log.
        record: Value,
    },
    /// Something worth knowing: a message waits, a thread was compacted, a client listens.
    Status {
        /// What it is, in words.
        status: String,
        /// Turns that are before this run in the session.
        #[serde(skip_serializing_if = "Option::is_none")]
        ahead: Option<usize>,
        /// To a client that begins to listen: turns that wait.
        #[serde(skip_serializing_if = "Option::is_none")]
        queued: Option<usize>,
        /// To a client that begins to listen while a model speaks: what it has said so far.
        #[serde(skip_serializing_if = "Option::is_none")]
        said: Option<String>,
    },
    /// A run has ended. It is the last that is told of it, however it ended.
    RunEnd {
        /// Why: `end`, `toolCalls`, `length`, `refusal`, `aborted`, `error` or `other`.
        #[schemars(with = "String")]
        stop_reason: Stop,
        /// Tokens as the provider counted them; null where it did not.
        #[schemars(with = "Option<Value>")]
        usage: Option<Tokens>,
        /// What it cost; null where no price is known.
        cost_usd: Option<f64>,
        /// Calls that wait for results of the caller.
        #[schemars(with = "Vec<Value>")]
        waiting_calls: Vec<WaitingCall>,
        /// Whether the model wanted to go on, and had used tools as often as it may in one run.
        cut_short: bool,
    },
    /// A session is called something else now.
    SessionRenamed {
        /// The name.
        name: String,
    },
    /// Something could not be done. With a run it is told to all who listen, without one to its sender only.
    Error {
        /// The kind of failure, as in the errors of the API.
        code: String,
        /// What went wrong.
        message: String,
        /// What to do next.
        #[serde(skip_serializing_if = "Option::is_none")]
        hint: Option<String>,
        /// What the client called the message that could not be taken.
        #[serde(skip_serializing_if = "Option::is_none")]
        client_id: Option<String>,
    },
    /// Something was stored.
    Changed {
        /// The sessions that changed or are gone, where they can be named; an empty list where something else was
        /// stored, null where everything may have changed.
        sessions: Option<Vec<String>>,
    },
    /// Something was left out, because it was not read as fast as it happened: look again.
    Lagged,
}

/// What a client may ask for.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase", deny_unknown_fields)]
pub(crate) enum Asked {
    /// Run a turn. Who asks for it also listens to the session from now on.
    SendMessage {
        /// The thread.
        session_id: String,
        /// What the user says. Without it the model goes on, for example after results of tools were appended.
        #[serde(default)]
        text: Option<String>,
        /// Tools of the caller.
        #[serde(default)]
        tools: Vec<OfferedTool>,
        /// Whether the model may search memory.
        #[serde(default)]
        memory: bool,
        /// What the client calls it: sent again under the same name, it is still run once.
        #[serde(default)]
        client_id: Option<String>,
    },
    /// Stop a run. What was said is kept.
    Cancel {
        /// The thread.
        session_id: String,
        /// The run; without it the one that runs, or else the next one.
        #[serde(default)]
        run_id: Option<String>,
    },
    /// Listen to a session.
    Subscribe {
        /// The session: a thread, or an agent's.
        session_id: String,
    },
    /// Listen to it no more.
    Unsubscribe {
        /// The session.
        session_id: String,
    },
}

/// A tool as the caller describes it.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct OfferedTool {
    /// Its name.
    pub(crate) name: String,
    /// What it does.
    #[serde(default)]
    pub(crate) description: String,
    /// What it takes: a JSON Schema of an object.
    #[serde(default, alias = "input_schema")]
    pub(crate) parameters: Value,
}

impl Told {
    /// The name of what is told.
    pub(crate) const fn kind(&self) -> &'static str {
        match self {
            Told::Accepted { .. } => "accepted",
            Told::RunStart { .. } => "run_start",
            Told::StreamDelta { .. } => "stream_delta",
            Told::ToolStart { .. } => "tool_start",
            Told::ToolResult { .. } => "tool_result",
            Told::MessageComplete { .. } => "message_complete",
            Told::Status { .. } => "status",
            Told::RunEnd { .. } => "run_end",
            Told::SessionRenamed { .. } => "session_renamed",
            Told::Error { .. } => "error",
            Told::Changed { .. } => "changed",
            Told::Lagged => "lagged",
        }
    }

    /// A status that is nothing but words.
    pub(crate) fn status(words: impl Into<String>) -> Self {
        Told::Status { status: words.into(), ahead: None, queued: None, said: None }
    }
}
