//! The verbs that let agents call Rethread.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::Json;
use super::life::HookAgent;

/// Where something is, or shall be.
#[derive(Debug, Args)]
pub(crate) struct Where {
    /// The agent
    #[arg(value_enum)]
    pub(crate) agent: HookAgent,
    /// In the project of the current directory, not for the whole user
    #[arg(long)]
    pub(crate) project: bool,
    /// As a plugin in this folder, which Claude Code takes plugins from; its settings are left alone
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with = "project")]
    pub(crate) plugin: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Install {
    #[command(flatten)]
    pub(crate) place: Where,
    /// Show what would change; write nothing
    #[arg(long)]
    pub(crate) print: bool,
    #[command(flatten)]
    pub(crate) json: Json,
}

#[derive(Debug, Args)]
pub(crate) struct Uninstall {
    #[command(flatten)]
    pub(crate) place: Where,
    #[command(flatten)]
    pub(crate) json: Json,
}
