//! Arguments of `ask` and `handoff`.

use clap::Args;

use super::JsonArgs;
use super::session::SessionRefArgs;

#[derive(Debug, Args)]
pub(crate) struct AskArgs {
    #[command(flatten)]
    pub(crate) session: SessionRefArgs,
    /// Question to ask
    #[arg(value_name = "QUESTION", required = true)]
    pub(crate) question: Vec<String>,
    /// Use this model from the configured provider
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Quote matching passages instead of asking a model
    #[arg(long, conflicts_with_all = ["model", "dry_run"])]
    pub(crate) no_model: bool,
    /// Show the maximum cost; send nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// ID of the calling agent's turn, for the limit of model calls per turn
    #[arg(long, value_name = "ID")]
    pub(crate) turn: Option<String>,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}

#[derive(Debug, Args)]
pub(crate) struct HandoffArgs {
    #[command(flatten)]
    pub(crate) session: SessionRefArgs,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}
