//! Arguments of `usage`.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use rethread_engine::UsageGrouping;
use rethread_model::Agent;

use super::search::TimeArgs;
use super::{JsonArgs, ScopeArgs, values};

#[derive(Debug, Args)]
pub(crate) struct UsageArgs {
    /// Group rows by day, agent, model or project
    #[arg(long, value_name = "GROUP", value_parser = values::usage_by(), default_value = "day")]
    pub(crate) by: UsageGrouping,
    #[command(flatten)]
    pub(crate) time: TimeArgs,
    /// Show only this agent, such as codex
    #[arg(long, value_parser = values::agent(), hide_possible_values = true)]
    pub(crate) agent: Option<Agent>,
    /// Also write a bar chart to FILE; `-` prints only the chart
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "json")]
    pub(crate) svg: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}
