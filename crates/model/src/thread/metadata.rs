//! What is known about a thread beside its log. All but name, system prompt and chosen model can be read from the log.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::thread::ThreadId;
use crate::{Timestamp, Tokens};

/// What started a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ThreadSource {
    /// Somebody who talks.
    #[default]
    Interactive,
    /// A job that runs by the clock.
    Cron,
}

/// Who named a thread, from the least to the most binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum NameOrigin {
    /// The first words said in it.
    FirstWords,
    /// A model.
    Model,
    /// The user.
    User,
}

/// A tool call that has no result yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitingCall {
    /// The model's id of the call.
    pub id: String,
    /// The tool.
    pub name: String,
}

/// Sums over all turns of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Metrics {
    /// Turns: texts of the user.
    pub turns: u64,
    /// Tool calls of the model.
    pub tool_calls: u64,
    /// Tokens as providers counted them.
    pub tokens: Tokens,
    /// Milliseconds from a user's text to the end of the answer, summed up.
    pub duration_ms: u64,
}

/// `metadata.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Metadata {
    /// The thread.
    pub id: ThreadId,
    /// Its name: given by the user, made by a model, or the first words said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Who named it; a better name may replace a lesser one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name_from: Option<NameOrigin>,
    /// Whether a model was asked for a name; once is enough.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub title_was_asked: bool,
    /// When it was made.
    pub created_at: Timestamp,
    /// When something was last said.
    pub last_message_at: Timestamp,
    /// The model it is talked to with; empty where none is configured.
    #[serde(default)]
    pub model: String,
    /// Whether that model was chosen for this thread, so that the configured one is not used.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub model_is_chosen: bool,
    /// Messages in the log.
    pub message_count: u64,
    /// What started it.
    #[serde(default)]
    pub source: ThreadSource,
    /// The job, if it was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cron_job_id: Option<String>,
    /// Instructions of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_prompt_override: Option<String>,
    /// Sums over its turns.
    #[serde(default)]
    pub metrics: Metrics,
    /// Calls of the model that have no result yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waiting_calls: Vec<WaitingCall>,
    /// The number the next record gets.
    #[serde(default)]
    pub next_seq: u64,
    /// Bytes of the log that all of this was counted from.
    #[serde(default)]
    pub log_bytes: u64,
    /// Fields unknown here.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl Metadata {
    /// Of a thread that was made just now.
    pub fn new(id: ThreadId, now: Timestamp) -> Self {
        Self {
            id,
            name: None,
            name_from: None,
            title_was_asked: false,
            created_at: now,
            last_message_at: now,
            model: String::new(),
            model_is_chosen: false,
            message_count: 0,
            source: ThreadSource::Interactive,
            cron_job_id: None,
            system_prompt_override: None,
            metrics: Metrics::default(),
            waiting_calls: Vec::new(),
            next_seq: 1,
            log_bytes: 0,
            extra: Map::new(),
        }
    }
}
