//! The events of pi, as our extension tells them (`install/pi/rethread.ts`).

use std::path::PathBuf;

use rethread_model::Agent;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Event, lenient, lenient_path, text_of};
use crate::awareness::{Caller, Used};
use crate::{Engine, EngineError};

/// The kind of message that our extension adds; the reader of transcripts passes over it.
const CUSTOM_TYPE: &str = "session-update";

/// What the extension says. Unknown fields are ignored, missing ones are empty.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Said {
    #[serde(deserialize_with = "lenient")]
    event: String,
    #[serde(deserialize_with = "lenient")]
    session_id: String,
    #[serde(deserialize_with = "lenient_path")]
    session_file: Option<PathBuf>,
    #[serde(deserialize_with = "lenient_path")]
    cwd: Option<PathBuf>,
    reason: Value,
    prompt: Value,
    message_type: Value,
    #[serde(deserialize_with = "lenient")]
    tool_name: String,
    tool_input: Value,
    is_error: Value,
    error: Value,
    output_chars: Value,
    last_assistant_message: Value,
}

impl Engine {
    /// Answers an event of pi: the message to add, or nothing.
    pub fn hook_pi(&self, input: &[u8]) -> Result<Option<Value>, EngineError> {
        let Some(said) = self.understood::<Said>(Agent::Pi, input) else { return Ok(None) };
        // Without a file nobody is to know of the session (`pi --no-session`), and we are not either.
        if said.session_id.is_empty() || said.session_file.is_none() {
            return Ok(None);
        }
        let Some(event) = said.event() else { return Ok(None) };
        let caller = Caller {
            agent: Agent::Pi,
            external_id: said.session_id,
            cwd: said.cwd.unwrap_or_else(|| self.environment.cwd.clone()),
            transcript: said.session_file,
        };
        let text = self.heard(&caller, event)?;
        Ok(text.map(|text| json!({"customType": CUSTOM_TYPE, "content": text})))
    }
}

impl Said {
    /// What it means; nothing where it means nothing to us.
    fn event(&self) -> Option<Event> {
        Some(match self.event.as_str() {
            // At `session_start` nobody can be told anything; whether a session comes back after a break is seen with
            // its first prompt.
            "session_compact" => Event::HasForgotten,
            // An extension wrote it, and not a human.
            "before_agent_start" if self.message_type == "custom" => return None,
            "before_agent_start" => Event::Prompt(text_of(&self.prompt)),
            "tool_call" => Event::Calls { tool: self.tool_name.clone(), input: self.tool_input.clone() },
            "tool_result" => Event::Called(self.used()),
            "agent_end" => Event::Answered(text_of(&self.last_assistant_message)),
            "session_before_compact" => Event::Compacts,
            // The same session goes on with its extensions read anew.
            "session_shutdown" if self.reason == "reload" => return None,
            "session_shutdown" => Event::Ends { reason: text_of(&self.reason) },
            _ => return None,
        })
    }

    fn used(&self) -> Used {
        let error = (self.is_error == true).then(|| self.error.as_str().unwrap_or("failed").to_owned());
        let (name, input) = (self.tool_name.clone(), self.tool_input.clone());
        Used {
            name,
            input,
            output_chars: self.output_chars.as_u64().unwrap_or(0) as usize,
            error,
            is_interrupted: false,
        }
    }
}
