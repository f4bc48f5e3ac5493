//! Arguments of `usage`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use rethread_engine::UsageGrouping;
use rethread_model::Agent;

use super::search::TimeArgs;
use super::{JsonArgs, ScopeArgs, TableFormat, values};

/// The order of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum UsageOrder {
    Tokens,
    Cost,
}

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
    /// Sort rows by tokens or cost, largest first [default: days by date, others by cost]
    #[arg(long, value_enum, value_name = "ORDER", hide_possible_values = true)]
    pub(crate) sort: Option<UsageOrder>,
    /// Print a table, csv or tsv
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT", hide_possible_values = true, conflicts_with_all = ["json", "svg"])]
    pub(crate) format: TableFormat,
    /// Also write a bar chart to FILE; `-` prints only the chart
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "json")]
    pub(crate) svg: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}
