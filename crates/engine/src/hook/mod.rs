//! What agents' hooks say, and what they are told. Whatever is wrong with the input, there is an answer or silence.
//!
//! Each agent has its own words for what happens in a session; here they all mean the same.

mod claude_code;
mod pi;

use std::path::PathBuf;

use rethread_ingest::tool_kind;
use rethread_model::Agent;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::awareness::{Caller, Intent, Used, preview};
use crate::{Engine, EngineError};

/// Characters of an answer that are kept of it.
const ANSWER_CHARS: usize = 200;

/// Something that happens in a session, whatever its agent calls it.
#[derive(Clone, Debug)]
enum Event {
    /// It begins, or begins again. Whoever has forgotten is told again what it was told before.
    Begins { source: String, has_forgotten: bool },
    /// Its context was compacted, which it can only be told with its next prompt.
    HasForgotten,
    /// Somebody typed a prompt.
    Prompt(String),
    /// A tool is about to be called.
    Calls { tool: String, input: Value },
    /// A tool was called.
    Called(Used),
    /// The agent has answered.
    Answered(String),
    /// The session's context is about to be compacted.
    Compacts,
    /// It is over.
    Ends { reason: String },
}

impl Engine {
    /// What to tell a session in which something happens. Who must not be read is not listened to either.
    fn heard(&self, caller: &Caller, event: Event) -> Result<Option<String>, EngineError> {
        self.config.must_be_usable()?;
        let mut excludes = self.excludes()?;
        let path = caller.transcript.clone().unwrap_or_default();
        let is_wanted = self.wanted_agents(None)?.contains(&caller.agent);
        if !is_wanted || excludes.covers(&path, caller.cwd.to_str()) {
            return Ok(None);
        }
        match event {
            Event::Begins { source, has_forgotten } => self.told_on_return(caller, &source, has_forgotten),
            Event::HasForgotten => self.note_new_context(caller).map(|()| None),
            Event::Prompt(prompt) => self.told_with_prompt(caller, &prompt),
            Event::Calls { tool, input } => match Intent::of(tool_kind(&tool), target(&input)) {
                Some(intent) => self.told_before_call(caller, &intent),
                None => Ok(None),
            },
            Event::Called(used) => {
                self.note_call(caller, &used)?;
                self.told_after_failure(caller, &used)
            }
            Event::Answered(words) => {
                let mut store = self.recorder()?;
                self.read_own(&mut store, caller)?;
                self.follow_in_passing(&store);
                self.note_event(caller, "response_completed", &preview(&words, ANSWER_CHARS), None)?;
                self.card_after_turn(caller.agent, &caller.external_id).map(|_| None)
            }
            Event::Compacts => {
                self.read_own(&mut self.recorder()?, caller)?;
                self.note_event(caller, "context_compacted", "", None).map(|()| None)
            }
            Event::Ends { reason } => self.end(caller, &reason).map(|_| None),
        }
    }
}

impl Engine {
    /// What an agent says, or a line in our log that it could not be understood.
    fn understood<T: DeserializeOwned>(&self, agent: Agent, input: &[u8]) -> Option<T> {
        let understood = serde_json::from_slice(input);
        if let Err(error) = &understood {
            let fields =
                [("agent", agent.as_str().into()), ("bytes", input.len().into()), ("why", error.to_string().into())];
            self.note("hook_not_understood", None, &fields);
        }
        understood.ok()
    }
}

/// A text, or nothing where something else stands: one odd field must not make the others unheard.
fn lenient<'de, D: Deserializer<'de>>(value: D) -> Result<String, D::Error> {
    Value::deserialize(value).map(|value| text_of(&value))
}

/// A path, or none.
fn lenient_path<'de, D: Deserializer<'de>>(value: D) -> Result<Option<PathBuf>, D::Error> {
    Value::deserialize(value).map(|value| value.as_str().map(PathBuf::from))
}

/// The text in a value; what is no text is empty.
fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The argument that says what a call is about.
fn target(input: &Value) -> &str {
    ["file_path", "notebook_path", "path", "command"]
        .iter()
        .find_map(|name| input.get(*name)?.as_str())
        .unwrap_or_default()
}
