//! The verb about tokens and what they cost.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use rethread_engine::UsageBy;
use rethread_model::Agent;

use super::{Json, Place, Time, values};

#[derive(Debug, Args)]
pub(crate) struct Usage {
    /// What to sum up together
    #[arg(long, value_name = "WHAT", value_parser = values::usage_by(), default_value = "day")]
    pub(crate) by: UsageBy,
    #[command(flatten)]
    pub(crate) time: Time,
    /// Only what this agent used
    #[arg(long, value_parser = values::agent())]
    pub(crate) agent: Option<Agent>,
    /// Write a bar chart to this file too, or with - to standard output instead of the tables
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "json")]
    pub(crate) svg: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) place: Place,
    #[command(flatten)]
    pub(crate) json: Json,
}
