//! Arguments of `forget`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::JsonArgs;

/// What to erase. Exactly one kind of target is needed; `forget` itself checks that there is one.
#[derive(Debug, Args)]
#[group(skip)]
pub(crate) struct ForgetArgs {
    /// Sessions: IDs or parts of them, aliases or whole names; their sub-agents are included
    #[arg(value_name = "REF")]
    pub(crate) references: Vec<String>,
    /// Erase all sessions of the project at PATH
    #[arg(long, value_name = "PATH", value_hint = ValueHint::DirPath, conflicts_with_all = ["references", "before", "matching"])]
    pub(crate) project: Option<PathBuf>,
    /// Erase all sessions without activity since WHEN: 90d, 'last year', 2026-03
    #[arg(long, value_name = "WHEN", conflicts_with_all = ["references", "matching"])]
    pub(crate) before: Option<String>,
    /// Erase every episode, note, card, name and answer that contains TEXT
    #[arg(long, value_name = "TEXT", conflicts_with = "references")]
    pub(crate) matching: Option<String>,
    /// Show what would be erased; change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask for confirmation
    #[arg(short, long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}
