//! What agents' hooks say, and what they are told. Whatever is wrong with the input, there is an answer or silence.

use std::path::PathBuf;

use rethread_ingest::tool_kind;
use rethread_model::Agent;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::awareness::{Caller, Intent, Used};
use crate::{Engine, EngineError};

/// What Claude Code says. Unknown fields are ignored, missing ones are empty.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Said {
    session_id: String,
    transcript_path: Option<PathBuf>,
    cwd: Option<PathBuf>,
    hook_event_name: String,
    agent_id: Option<String>,
    prompt: Value,
    source: Value,
    tool_name: String,
    tool_input: Value,
    tool_response: Value,
    error: Value,
    last_assistant_message: Value,
}

impl Engine {
    /// Answers a hook of Claude Code: the JSON to print, or nothing.
    pub fn hook_claude_code(&self, input: &[u8]) -> Result<Option<Value>, EngineError> {
        let Ok(said) = serde_json::from_slice::<Said>(input) else { return Ok(None) };
        // A sub-agent is part of its session, which speaks for itself.
        if said.session_id.is_empty() || said.agent_id.is_some() {
            return Ok(None);
        }
        let caller = Caller {
            agent: Agent::ClaudeCode,
            external_id: said.session_id.clone(),
            cwd: said.cwd.clone().unwrap_or_else(|| self.environment.cwd.clone()),
            transcript: said.transcript_path.clone(),
        };
        // Who must not be read is not listened to either.
        self.config.must_be_usable()?;
        let mut excludes = self.excludes()?;
        let path = caller.transcript.clone().unwrap_or_default();
        let is_wanted = self.wanted_agents(None)?.contains(&caller.agent);
        if !is_wanted || excludes.covers(&path, caller.cwd.to_str()) {
            return Ok(None);
        }
        let text = self.answer_claude_code(&caller, &said)?;
        Ok(text.map(
            |text| json!({"hookSpecificOutput": {"hookEventName": said.hook_event_name, "additionalContext": text}}),
        ))
    }

    fn answer_claude_code(&self, caller: &Caller, said: &Said) -> Result<Option<String>, EngineError> {
        match said.hook_event_name.as_str() {
            "SessionStart" => {
                let source = said.source.as_str().unwrap_or("startup");
                self.told_on_return(caller, source, matches!(source, "clear" | "compact"))
            }
            // A machine's prompt says so by its source, where the agent's version tells one.
            "UserPromptSubmit" if said.source.as_str().is_some_and(|source| !matches!(source, "user" | "sdk")) => {
                Ok(None)
            }
            "UserPromptSubmit" => self.told_with_prompt(caller, said.prompt.as_str().unwrap_or_default()),
            "PreToolUse" => match Intent::of(tool_kind(&said.tool_name), target(&said.tool_input)) {
                Some(intent) => self.told_before_call(caller, &intent),
                None => Ok(None),
            },
            "PostToolUse" | "PostToolUseFailure" => {
                let error = match &said.error {
                    Value::String(error) => Some(error.clone()),
                    _ if said.hook_event_name == "PostToolUseFailure" => Some("failed".to_owned()),
                    _ => None,
                };
                let (name, input) = (said.tool_name.clone(), said.tool_input.clone());
                let output_chars = said.tool_response.to_string().chars().count();
                self.note_call(caller, &Used { name, input, output_chars, error }).map(|()| None)
            }
            "Stop" => {
                let words = said.last_assistant_message.as_str().unwrap_or_default();
                let words = rethread_model::clip(&rethread_model::one_line(words), 200).into_owned();
                let mut store = self.writer()?;
                self.read_own(&mut store, caller)?;
                self.follow_in_passing(&store);
                self.note_event(caller, "response_completed", &words, None).map(|()| None)
            }
            "PreCompact" => {
                self.read_own(&mut self.writer()?, caller)?;
                self.note_event(caller, "context_compacted", "", None).map(|()| None)
            }
            "SessionEnd" => self.end(caller).map(|_| None),
            _ => Ok(None),
        }
    }
}

/// The argument that says what a call is about.
fn target(input: &Value) -> &str {
    ["file_path", "notebook_path", "path", "command"]
        .iter()
        .find_map(|name| input.get(*name)?.as_str())
        .unwrap_or_default()
}
