//! Parses Claude Code hook input and formats the answer.

use std::path::PathBuf;

use rethread_model::Agent;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{HookEvent, lenient_path, lenient_string, string_or_empty};
use crate::awareness::{Caller, HookToolCall};
use crate::{Engine, EngineError};

/// Hook input of Claude Code. Unknown fields are ignored, missing ones are empty.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ClaudeCodePayload {
    #[serde(deserialize_with = "lenient_string")]
    session_id: String,
    #[serde(deserialize_with = "lenient_path")]
    transcript_path: Option<PathBuf>,
    #[serde(deserialize_with = "lenient_path")]
    cwd: Option<PathBuf>,
    #[serde(deserialize_with = "lenient_string")]
    hook_event_name: String,
    agent_id: Value,
    prompt: Value,
    source: Value,
    reason: Value,
    #[serde(deserialize_with = "lenient_string")]
    tool_name: String,
    tool_input: Value,
    tool_response: Value,
    error: Value,
    is_interrupt: Value,
    last_assistant_message: Value,
}

impl Engine {
    /// Handles a Claude Code hook. Returns the JSON to print, if any.
    pub fn hook_claude_code(&self, input: &[u8]) -> Result<Option<Value>, EngineError> {
        let Some(payload) = self.parse_payload::<ClaudeCodePayload>(Agent::ClaudeCode, input) else { return Ok(None) };
        if payload.session_id.is_empty() {
            self.log_unknown_session(Agent::ClaudeCode, &payload.hook_event_name);
            return Ok(None);
        }
        let Some(event) = payload.event() else { return Ok(None) };
        let caller = Caller {
            agent: Agent::ClaudeCode,
            external_id: payload.session_id,
            cwd: payload.cwd.unwrap_or_else(|| self.environment.cwd.clone()),
            transcript: payload.transcript_path,
            subagent: payload.agent_id.as_str().map(str::to_owned),
        };
        // What a sub-agent does to files counts as done by its session. Everything else is between the two of them.
        let is_tool_event = matches!(event, HookEvent::ToolStarting { .. } | HookEvent::ToolFinished(_));
        if !payload.agent_id.is_null() && !is_tool_event {
            return Ok(None);
        }
        // Claude Code shows no answer to these, so a notice would be lost; the next event brings it.
        let is_shown = !matches!(event, HookEvent::SessionEnded { .. } | HookEvent::RunEnded { .. });
        let text = match self.handle_event(&caller, event) {
            Ok(text) => text,
            Err(error) if !is_shown => return Err(error),
            Err(error) => {
                let notice = self.replace_store_in_hook(&error).ok_or(error)?;
                return Ok(Some(json!({"systemMessage": notice})));
            }
        };
        Ok(text.map(
            |text| json!({"hookSpecificOutput": {"hookEventName": payload.hook_event_name, "additionalContext": text}}),
        ))
    }
}

impl ClaudeCodePayload {
    /// The event, or `None` if it does not concern us.
    fn event(&self) -> Option<HookEvent> {
        let source = self.source.as_str();
        Some(match self.hook_event_name.as_str() {
            "SessionStart" => {
                let source = source.unwrap_or("startup");
                let has_forgotten = matches!(source, "clear" | "compact");
                HookEvent::SessionStarted { source: source.to_owned(), is_context_new: has_forgotten }
            }
            // Newer versions report in `source` that a prompt was not typed by a human.
            "UserPromptSubmit" if source.is_some_and(|source| !matches!(source, "user" | "sdk")) => return None,
            "UserPromptSubmit" => HookEvent::Prompt(string_or_empty(&self.prompt)),
            "PreToolUse" => HookEvent::ToolStarting { tool: self.tool_name.clone(), input: self.tool_input.clone() },
            "PostToolUse" | "PostToolUseFailure" => HookEvent::ToolFinished(self.tool_call()),
            "Stop" => HookEvent::TurnFinished(string_or_empty(&self.last_assistant_message)),
            "PreCompact" => HookEvent::ContextCompacting,
            // In a terminal, the reason says what the user did; `claude -p` gives this one.
            "SessionEnd" if self.reason == "other" => HookEvent::RunEnded { reason: string_or_empty(&self.reason) },
            "SessionEnd" => HookEvent::SessionEnded { reason: string_or_empty(&self.reason) },
            _ => return None,
        })
    }

    fn tool_call(&self) -> HookToolCall {
        let error = match &self.error {
            Value::String(error) => Some(error.clone()),
            _ if self.hook_event_name == "PostToolUseFailure" => Some("failed".to_owned()),
            _ => None,
        };
        HookToolCall {
            name: self.tool_name.clone(),
            input: self.tool_input.clone(),
            output_chars: match &self.tool_response {
                Value::Null => 0,
                Value::String(text) => text.chars().count(),
                other => other.to_string().chars().count(),
            },
            error,
            is_interrupted: self.is_interrupt == true,
        }
    }
}
