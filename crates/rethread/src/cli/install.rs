//! The verbs that let agents call Rethread.

use clap::Args;

use super::life::HookAgent;

#[derive(Debug, Args)]
pub(crate) struct Install {
    /// The agent
    #[arg(value_enum)]
    pub(crate) agent: HookAgent,
    /// Change the settings of the project of the current directory, not the user's
    #[arg(long)]
    pub(crate) project: bool,
    /// Show what would change; write nothing
    #[arg(long)]
    pub(crate) print: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Uninstall {
    /// The agent
    #[arg(value_enum)]
    pub(crate) agent: HookAgent,
    /// Change the settings of the project of the current directory, not the user's
    #[arg(long)]
    pub(crate) project: bool,
}
