//! Handles hook events of agents and returns the text to inject. Invalid input never fails the agent.
//!
//! Each agent has its own event names; they are mapped to one set of events here.

mod claude_code;
mod pi;
mod spool;

use std::path::PathBuf;

use rethread_ingest::tool_kind;
use rethread_model::Agent;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::awareness::{Caller, CollisionIntent, HookToolCall, SessionEvent, preview, prompt_event, start_event};
use crate::{Engine, EngineError};

pub(crate) use spool::SpoolFile;
use spool::SpooledAction;

/// Maximum length of an event's name in the log.
const EVENT_NAME_CHARS: usize = 60;
/// Maximum length of the recorded reason of an end.
const REASON_CHARS: usize = 100;
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
    /// A run without a terminal ended.
    RunEnded { reason: String },
}

impl Engine {
    /// Records an event and returns the text to inject. Excluded sessions are ignored.
    fn handle_event(&self, caller: &Caller, event: HookEvent) -> Result<Option<String>, EngineError> {
        self.config.ensure_usable()?;
        let mut excludes = self.sync().exclude_rules()?;
        let path = caller.transcript.clone().unwrap_or_default();
        let is_agent_read = self.sync().agents_to_read(None)?.contains(&caller.agent);
        if !is_agent_read || excludes.is_excluded(&path, caller.cwd.to_str()) {
            return Ok(None);
        }
        match event {
            HookEvent::SessionStarted { source, is_context_new } => {
                let event = start_event(&source);
                let action = if is_context_new {
                    SpooledAction::StartWithNewContext(event)
                } else {
                    SpooledAction::Event(event)
                };
                self.or_spool(caller, action, || self.inject_on_session_start(caller, &source, is_context_new))
            }
            HookEvent::ContextCompacted => {
                self.or_spool(caller, SpooledAction::ContextReplaced, || self.mark_context_new(caller).map(|()| None))
            }
            HookEvent::Prompt(prompt) => match prompt_event(&prompt) {
                Some(event) => {
                    self.or_spool(caller, SpooledAction::Event(event), || self.inject_on_prompt(caller, &prompt))
                }
                None => self.inject_on_prompt(caller, &prompt),
            },
            HookEvent::ToolStarting { tool, input } => {
                match CollisionIntent::from_call(tool_kind(&tool), call_target(&input)) {
                    Some(intent) => self.inject_before_call(caller, &intent),
                    None => Ok(None),
                }
            }
            HookEvent::ToolFinished(used) => {
                let event = SessionEvent::of_tool_call(&used, &caller.project());
                let is_recorded = self.record_or_spool(caller, &event, false)?.is_some();
                if caller.subagent.is_some() || !is_recorded {
                    return Ok(None);
                }
                self.inject_after_failure(caller, &used)
            }
            HookEvent::TurnFinished(answer) => {
                let event = SessionEvent::new("response_completed", preview(&answer, ANSWER_CHARS));
                match self.record_or_spool(caller, &event, true)? {
                    Some(()) => self.card_after_turn(caller.agent, &caller.external_id).map(|_| None),
                    None => Ok(None),
                }
            }
            HookEvent::ContextCompacting => {
                let event = SessionEvent::new("context_compacted", String::new());
                self.record_or_spool(caller, &event, true).map(|_| None)
            }
            HookEvent::SessionEnded { reason } => {
                let action = SpooledAction::End { reason: preview(&reason, REASON_CHARS) };
                self.or_spool(caller, action, || self.end_caller(caller, &reason)).map(|_| None)
            }
            HookEvent::RunEnded { reason } => {
                let action = SpooledAction::End { reason: preview(&reason, REASON_CHARS) };
                self.or_spool(caller, action, || self.end_run(caller, &reason).map(Some)).map(|_| None)
            }
        }
    }
}

impl Engine {
    /// Records an event, after new lines of the transcript if `reads_transcript`. `None` if it was spooled instead.
    fn record_or_spool(
        &self,
        caller: &Caller,
        event: &SessionEvent,
        reads_transcript: bool,
    ) -> Result<Option<()>, EngineError> {
        self.or_spool(caller, SpooledAction::Event(event.clone()), || {
            let mut store = self.writer()?;
            if reads_transcript {
                self.sync_caller_transcript(&mut store, caller)?;
                self.update_index_quickly(&store);
            }
            self.record_in_store(&mut store, caller.key(), self.now(), event.clone(), None)?;
            // Afterwards: the event must not count as activity before itself.
            self.save_as_session(&mut store, caller, event)?;
            self.write_archives(&mut store);
            Ok(Some(()))
        })
    }

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
