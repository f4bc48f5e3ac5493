//! Settings of a thread: the part of its metadata that cannot be counted in the log, as a record of the log.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::Timestamp;
use crate::thread::{NameOrigin, ThreadMetadata, ThreadSource};

/// All settings of a thread at one time. The latest record applies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ThreadSettings {
    /// Number of the record before it, 0 at the start of the log. Settings do not use up a number.
    pub seq: u64,
    /// Name of the thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Where the name came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name_from: Option<NameOrigin>,
    /// Whether a model was already asked for a title.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub title_was_asked: bool,
    /// The model chosen for this thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What started the thread.
    #[serde(default)]
    pub source: ThreadSource,
    /// Id of the scheduled job that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cron_job_id: Option<String>,
    /// System prompt of this thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_prompt_override: Option<String>,
    /// Further fields of the metadata, unchanged.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub details: Map<String, Value>,
    /// Time of the change.
    pub timestamp: Timestamp,
    /// Unknown fields, preserved unchanged.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl ThreadSettings {
    /// The settings in a thread's metadata.
    pub fn from_metadata(metadata: &ThreadMetadata, timestamp: Timestamp) -> Self {
        Self {
            seq: metadata.next_seq.saturating_sub(1),
            name: metadata.name.clone(),
            name_from: metadata.name_from,
            title_was_asked: metadata.title_was_asked,
            model: metadata.model_is_chosen.then(|| metadata.model.clone()),
            source: metadata.source,
            cron_job_id: metadata.cron_job_id.clone(),
            system_prompt_override: metadata.system_prompt_override.clone(),
            details: metadata.extra.clone(),
            timestamp,
            extra: Map::new(),
        }
    }

    /// Replaces the settings in a thread's metadata.
    pub fn apply_to(&self, metadata: &mut ThreadMetadata) {
        metadata.name.clone_from(&self.name);
        metadata.name_from = self.name_from;
        metadata.title_was_asked = self.title_was_asked;
        if let Some(model) = &self.model {
            metadata.model.clone_from(model);
        }
        metadata.model_is_chosen = self.model.is_some();
        metadata.source = self.source;
        metadata.cron_job_id.clone_from(&self.cron_job_id);
        metadata.system_prompt_override.clone_from(&self.system_prompt_override);
        metadata.extra.clone_from(&self.details);
    }
}
