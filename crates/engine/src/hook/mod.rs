//! Handles hook events of agents and returns the text to inject. Invalid input never fails the agent.
//!
//! Each agent has its own event names; they are mapped to one set of events here.

mod claude_code;
mod pi;

use std::path::PathBuf;

use rethread_ingest::tool_kind;
use rethread_model::Agent;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::awareness::{Caller, CollisionIntent, HookToolCall, preview};
use crate::{Engine, EngineError};

/// Maximum length of an event's name in the log.
const EVENT_NAME_CHARS: usize = 60;
/// Maximum length of an answer in the event log.
const ANSWER_CHARS: usize = 200;

/// An event in a session, independent of the agent.
#[derive(Clone, Debug)]
enum HookEvent {
    /// The session starts or resumes. With a new context, everything may be injected again.
    SessionStarted { source: String, is_context_new: bool },
    /// Its context was compacted, and nothing can be injected before its next prompt.
    ContextCompacted,
    /// A prompt was submitted.
    Prompt(String),
    /// A tool is about to be called.
    ToolStarting { tool: String, input: Value },
    /// A tool call finished.
    ToolFinished(HookToolCall),
    /// The agent finished its turn with this answer.
    TurnFinished(String),
    /// The session's context is about to be compacted.
    ContextCompacting,
    /// The session ended.
    SessionEnded { reason: String },
}

impl Engine {
    /// Records an event and returns the text to inject. Excluded sessions are ignored.
    fn handle_event(&self, caller: &Caller, event: HookEvent) -> Result<Option<String>, EngineError> {
        self.config.ensure_usable()?;
        let mut excludes = self.exclude_rules()?;
        let path = caller.transcript.clone().unwrap_or_default();
        let is_agent_read = self.agents_to_read(None)?.contains(&caller.agent);
        if !is_agent_read || excludes.is_excluded(&path, caller.cwd.to_str()) {
            return Ok(None);
        }
        match event {
            HookEvent::SessionStarted { source, is_context_new: has_forgotten } => {
                self.inject_on_session_start(caller, &source, has_forgotten)
            }
            HookEvent::ContextCompacted => self.mark_context_new(caller).map(|()| None),
            HookEvent::Prompt(prompt) => self.inject_on_prompt(caller, &prompt),
            HookEvent::ToolStarting { tool, input } => {
                match CollisionIntent::from_call(tool_kind(&tool), call_target(&input)) {
                    Some(intent) => self.inject_before_call(caller, &intent),
                    None => Ok(None),
                }
            }
            HookEvent::ToolFinished(used) => {
                self.record_tool_call(caller, &used)?;
                if caller.subagent.is_some() {
                    return Ok(None);
                }
                self.inject_after_failure(caller, &used)
            }
            HookEvent::TurnFinished(answer) => {
                let mut store = self.event_writer()?;
                self.sync_caller_transcript(&mut store, caller)?;
                self.update_index_quickly(&store);
                self.record_event(caller, "response_completed", &preview(&answer, ANSWER_CHARS), None)?;
                self.card_after_turn(caller.agent, &caller.external_id).map(|_| None)
            }
            HookEvent::ContextCompacting => {
                self.sync_caller_transcript(&mut self.event_writer()?, caller)?;
                self.record_event(caller, "context_compacted", "", None).map(|()| None)
            }
            HookEvent::SessionEnded { reason } => self.end_caller(caller, &reason).map(|_| None),
        }
    }
}

impl Engine {
    /// Parses hook input. Invalid input is logged and gives `None`.
    fn parse_payload<T: DeserializeOwned>(&self, agent: Agent, input: &[u8]) -> Option<T> {
        let payload = serde_json::from_slice(input);
        if let Err(error) = &payload {
            let fields =
                [("agent", agent.as_str().into()), ("bytes", input.len().into()), ("why", error.to_string().into())];
            self.log_event("hook_not_understood", None, &fields);
        }
        payload.ok()
    }

    /// Logs an event that names no session: nothing can be injected for it.
    fn log_unknown_session(&self, agent: Agent, event: &str) {
        let fields = [("agent", agent.as_str().into()), ("hook", preview(event, EVENT_NAME_CHARS).into())];
        self.log_event("hook_without_session", None, &fields);
    }
}

/// Reads a string; any other type gives an empty one, so that one unexpected field does not invalidate the input.
fn lenient_string<'de, D: Deserializer<'de>>(value: D) -> Result<String, D::Error> {
    Value::deserialize(value).map(|value| string_or_empty(&value))
}

/// Reads a path; any other type gives `None`.
fn lenient_path<'de, D: Deserializer<'de>>(value: D) -> Result<Option<PathBuf>, D::Error> {
    Value::deserialize(value).map(|value| value.as_str().map(PathBuf::from))
}

/// The string in a value; empty for other types.
fn string_or_empty(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The argument that names the file or command of a call.
fn call_target(input: &Value) -> &str {
    ["file_path", "notebook_path", "path", "command"]
        .iter()
        .find_map(|name| input.get(*name)?.as_str())
        .unwrap_or_default()
}
