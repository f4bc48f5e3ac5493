//! Arguments of `forget`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::Json;

/// What to forget, in one way or another.
#[derive(Debug, Args)]
#[group(skip)]
pub(crate) struct Forget {
    /// Sessions: ids, beginnings of ids, aliases or names; their sub-agents go with them
    #[arg(value_name = "REF")]
    pub(crate) references: Vec<String>,
    /// All sessions of the project at this path
    #[arg(long, value_name = "PATH", value_hint = ValueHint::DirPath, conflicts_with_all = ["references", "before", "matching"])]
    pub(crate) project: Option<PathBuf>,
    /// All sessions in which nothing happened since then: 90d, 'last year', 2026-03
    #[arg(long, value_name = "WHEN", conflicts_with_all = ["references", "matching"])]
    pub(crate) before: Option<String>,
    /// Every exchange that contains this text, and notes, cards, names and answers that do
    #[arg(long, value_name = "TEXT", conflicts_with = "references")]
    pub(crate) matching: Option<String>,
    /// Show what would be forgotten; write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do it without asking
    #[arg(short, long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) json: Json,
}
