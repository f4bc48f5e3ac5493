//! Text that Rethread added to a thread before a user's message, as a record of the log.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Timestamp, estimate_text_tokens};

/// An injection. It belongs to the message with the next number, and models get it in front of that message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ThreadInjection {
    /// Number in the log.
    pub seq: u64,
    /// The text, inside the injection tag.
    pub text: String,
    /// Its sections, such as `activity` and `references`.
    #[serde(default)]
    pub sections: Vec<String>,
    /// Id of the turn it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// Time of the injection.
    pub timestamp: Timestamp,
    /// Unknown fields, preserved unchanged.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl ThreadInjection {
    /// Estimated tokens in a model's context window.
    pub fn estimated_tokens(&self) -> u64 {
        estimate_text_tokens(&self.text)
    }
}
