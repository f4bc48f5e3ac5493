//! Shortens a thread: says where to cut, asks for a summary of what is before, and makes the record of it. Writes
//! nothing and knows no model; whoever calls it asks one, or takes the summary that is made without.

mod answer;
mod cut;
mod files;
mod flat;
mod plan;
mod prompt;
mod remarks;
mod sections;
mod settings;
mod summarise;
mod tags;
mod turn;
mod without_model;

#[cfg(test)]
mod tests;

pub use answer::SummaryError;
pub use plan::{Plan, plan, plan_within};
pub use prompt::SummaryRequest;
pub use settings::CompactionSettings;

pub(crate) use flat::{protected, without_middle};
pub(crate) use remarks::plans;
