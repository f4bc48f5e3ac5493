//! The hooks of Claude Code.

use std::path::PathBuf;

use rethread_model::Agent;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Event, lenient, lenient_path, text_of};
use crate::awareness::{Caller, Used};
use crate::{Engine, EngineError};

/// What Claude Code says. Unknown fields are ignored, missing ones are empty.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Said {
    #[serde(deserialize_with = "lenient")]
    session_id: String,
    #[serde(deserialize_with = "lenient_path")]
    transcript_path: Option<PathBuf>,
    #[serde(deserialize_with = "lenient_path")]
    cwd: Option<PathBuf>,
    #[serde(deserialize_with = "lenient")]
    hook_event_name: String,
    agent_id: Value,
    prompt: Value,
    source: Value,
    reason: Value,
    #[serde(deserialize_with = "lenient")]
    tool_name: String,
    tool_input: Value,
    tool_response: Value,
    error: Value,
    is_interrupt: Value,
    last_assistant_message: Value,
}

impl Engine {
    /// Answers a hook of Claude Code: the JSON to print, or nothing.
    pub fn hook_claude_code(&self, input: &[u8]) -> Result<Option<Value>, EngineError> {
        let Some(said) = self.understood::<Said>(Agent::ClaudeCode, input) else { return Ok(None) };
        // A sub-agent is part of its session, which speaks for itself.
        if said.session_id.is_empty() || !said.agent_id.is_null() {
            return Ok(None);
        }
        let Some(event) = said.event() else { return Ok(None) };
        let caller = Caller {
            agent: Agent::ClaudeCode,
            external_id: said.session_id,
            cwd: said.cwd.unwrap_or_else(|| self.environment.cwd.clone()),
            transcript: said.transcript_path,
        };
        let text = self.heard(&caller, event)?;
        Ok(text.map(
            |text| json!({"hookSpecificOutput": {"hookEventName": said.hook_event_name, "additionalContext": text}}),
        ))
    }
}

impl Said {
    /// What it means; nothing where it means nothing to us.
    fn event(&self) -> Option<Event> {
        let source = self.source.as_str();
        Some(match self.hook_event_name.as_str() {
            "SessionStart" => {
                let source = source.unwrap_or("startup");
                let has_forgotten = matches!(source, "clear" | "compact");
                Event::Begins { source: source.to_owned(), has_forgotten }
            }
            // A machine's prompt says so by its source, where the agent's version tells one.
            "UserPromptSubmit" if source.is_some_and(|source| !matches!(source, "user" | "sdk")) => return None,
            "UserPromptSubmit" => Event::Prompt(text_of(&self.prompt)),
            "PreToolUse" => Event::Calls { tool: self.tool_name.clone(), input: self.tool_input.clone() },
            "PostToolUse" | "PostToolUseFailure" => Event::Called(self.used()),
            "Stop" => Event::Answered(text_of(&self.last_assistant_message)),
            "PreCompact" => Event::Compacts,
            "SessionEnd" => Event::Ends { reason: text_of(&self.reason) },
            _ => return None,
        })
    }

    fn used(&self) -> Used {
        let error = match &self.error {
            Value::String(error) => Some(error.clone()),
            _ if self.hook_event_name == "PostToolUseFailure" => Some("failed".to_owned()),
            _ => None,
        };
        Used {
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
