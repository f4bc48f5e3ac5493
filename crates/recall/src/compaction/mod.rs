//! Compacts a thread: where to cut, which summary to request, and the record it becomes.
//!
//! Writes nothing and calls no model. The caller asks a model, or uses the summary built without one.

mod answer;
mod cut;
mod file_lists;
mod files;
mod flat_text;
mod key_sentences;
mod plan;
mod prompt;
mod sections;
mod settings;
mod split_turn;
mod summarize;
mod without_model;

#[cfg(test)]
mod tests;

pub use answer::SummaryError;
pub use plan::{CompactionPlan, plan_compaction, plan_compaction_within};
pub use prompt::SummaryRequest;
pub use settings::CompactionSettings;

pub(crate) use flat_text::{clip_middle, escape_closing_tags};
pub(crate) use key_sentences::{is_filler, planned_steps};
