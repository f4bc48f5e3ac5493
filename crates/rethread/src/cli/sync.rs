//! Arguments of `sync`, `watch` and `rebuild`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueHint};
use rethread_model::Agent;

use super::{JsonArgs, values};

#[derive(Debug, Args)]
pub(crate) struct SyncArgs {
    /// Read only transcripts of this agent, such as codex
    #[arg(long, value_parser = values::agent(), hide_possible_values = true)]
    pub(crate) agent: Option<Agent>,
    /// Read only this transcript or directory; can be repeated
    #[arg(long = "path", value_name = "PATH", value_hint = ValueHint::AnyPath, num_args = 1..)]
    pub(crate) paths: Vec<PathBuf>,
    /// Read only transcripts changed since WHEN: 30d, 12h, 2026-02-20
    #[arg(long, value_name = "WHEN", value_parser = values::since)]
    pub(crate) since: Option<values::SinceValue>,
    /// Show what would be read, with -v file by file; write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}

#[derive(Debug, Args)]
pub(crate) struct WatchArgs {
    /// Sync at this interval instead of at every change: 90s, 5m, 1h
    #[arg(long, visible_alias = "interval", value_name = "DURATION", value_parser = values::duration)]
    pub(crate) every: Option<Duration>,
    /// Check for changes every few seconds, for file systems that do not report them
    #[arg(long, conflicts_with = "every")]
    pub(crate) poll: bool,
}

#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct RebuildArgs {
    /// Rebuild only the search index, from the store
    #[arg(long)]
    pub(crate) index_only: bool,
}
