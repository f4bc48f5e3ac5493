//! Parses pi events sent by our extension (`install/pi/rethread.ts`) and formats the answer.

use std::path::PathBuf;

use rethread_model::Agent;
use serde::Deserialize;
use serde_json::Value;

use super::{HookEvent, lenient_path, lenient_string, string_or_empty};
use crate::awareness::{Caller, HookToolCall};
use crate::{Engine, EngineError};

/// Type of the messages our extension adds; the transcript reader skips them.
const CUSTOM_TYPE: &str = "session-update";

/// Event sent by the extension. Unknown fields are ignored, missing ones are empty.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PiPayload {
    #[serde(deserialize_with = "lenient_string")]
    event: String,
    #[serde(deserialize_with = "lenient_string")]
    session_id: String,
    #[serde(deserialize_with = "lenient_path")]
    session_file: Option<PathBuf>,
    #[serde(deserialize_with = "lenient_path")]
    cwd: Option<PathBuf>,
    reason: Value,
    /// How pi runs: `tui`, `rpc`, or `json` and `print` for a single prompt.
    mode: Value,
    prompt: Value,
    message_type: Value,
    #[serde(deserialize_with = "lenient_string")]
    tool_name: String,
    tool_input: Value,
    is_error: Value,
    error: Value,
    output_chars: Value,
    last_assistant_message: Value,
}

impl Engine {
    /// Handles a pi event. Returns the message to add, if any; with a prompt also the name on the session's card, under
    /// which pi shows a session that has no name.
    pub fn hook_pi(&self, input: &[u8]) -> Result<Option<Value>, EngineError> {
        let Some(payload) = self.parse_payload::<PiPayload>(Agent::Pi, input) else { return Ok(None) };
        // Without a file the session is private (`pi --no-session`), so it is ignored.
        if payload.session_file.is_none() {
            return Ok(None);
        }
        if payload.session_id.is_empty() {
            self.log_unknown_session(Agent::Pi, &payload.event);
            return Ok(None);
        }
        let Some(event) = payload.event() else { return Ok(None) };
        let caller = Caller {
            agent: Agent::Pi,
            external_id: payload.session_id,
            cwd: payload.cwd.unwrap_or_else(|| self.environment.cwd.clone()),
            transcript: payload.session_file,
            subagent: None,
        };
        let is_prompt = matches!(event, HookEvent::Prompt(_));
        // The extension shows no answer to other events, so a notice would be lost; the next prompt brings it.
        let is_shown = is_prompt || matches!(event, HookEvent::ToolStarting { .. });
        let text = match self.handle_event(&caller, event) {
            Ok(text) => text,
            Err(error) if !is_shown => return Err(error),
            Err(error) => Some(self.replace_store_in_hook(&error).ok_or(error)?),
        };
        let name = if is_prompt { self.name_on_written_card(caller.key())? } else { None };
        let mut answer = serde_json::Map::new();
        if let Some(text) = text {
            answer.insert("customType".to_owned(), CUSTOM_TYPE.into());
            answer.insert("content".to_owned(), text.into());
        }
        answer.extend(name.map(|name| ("name".to_owned(), name.into())));
        Ok((!answer.is_empty()).then_some(Value::Object(answer)))
    }
}

impl PiPayload {
    /// The event, or `None` if it does not concern us.
    fn event(&self) -> Option<HookEvent> {
        Some(match self.event.as_str() {
            // Nothing can be injected at `session_start`; a break is detected with the first prompt.
            "session_compact" => HookEvent::ContextCompacted,
            // Written by an extension, not by a human.
            "before_agent_start" if self.message_type == "custom" => return None,
            "before_agent_start" => HookEvent::Prompt(string_or_empty(&self.prompt)),
            "tool_call" => HookEvent::ToolStarting { tool: self.tool_name.clone(), input: self.tool_input.clone() },
            "tool_result" => HookEvent::ToolFinished(self.tool_call()),
            "agent_end" => HookEvent::TurnFinished(string_or_empty(&self.last_assistant_message)),
            "session_before_compact" => HookEvent::ContextCompacting,
            // The same session continues; pi only reloads its extensions.
            "session_shutdown" if self.reason == "reload" => return None,
            "session_shutdown" if self.mode == "print" || self.mode == "json" => {
                HookEvent::RunEnded { reason: string_or_empty(&self.reason) }
            }
            "session_shutdown" => HookEvent::SessionEnded { reason: string_or_empty(&self.reason) },
            _ => return None,
        })
    }

    fn tool_call(&self) -> HookToolCall {
        let error = (self.is_error == true).then(|| self.error.as_str().unwrap_or("failed").to_owned());
        let (name, input) = (self.tool_name.clone(), self.tool_input.clone());
        HookToolCall {
            name,
            input,
            output_chars: self.output_chars.as_u64().unwrap_or(0) as usize,
            error,
            is_interrupted: false,
        }
    }
}
