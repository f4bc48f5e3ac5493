//! What an answer to a host looks like.

use serde_json::{Value, json};

/// Where the text is in an answer.
#[derive(Clone, Copy, Debug)]
pub(super) enum AnswerForm {
    /// `{"hookSpecificOutput": {"hookEventName": "…", "additionalContext": "…"}}`.
    Nested,
    /// A field of this name.
    Field(&'static str),
    /// A message of this type: `{"customType": "…", "content": "…"}`.
    Message(&'static str),
    /// The text alone, without JSON.
    Plain,
}

impl AnswerForm {
    /// The answer to an event. A string stands for plain text.
    pub(super) fn encode(self, event: &str, text: &str) -> Value {
        match self {
            Self::Nested => json!({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}),
            Self::Field(name) => json!({name: text}),
            Self::Message(kind) => json!({"customType": kind, "content": text}),
            Self::Plain => text.into(),
        }
    }
}
