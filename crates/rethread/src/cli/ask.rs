//! Arguments of `ask` and `handoff`.

use clap::Args;

use super::session::SessionRefArgs;
use super::{JsonArgs, ScopeArgs};

#[derive(Debug, Args)]
pub(crate) struct AskArgs {
    /// Question about this project, best in quotes; or the session to ask about
    #[arg(value_name = "QUESTION or REF")]
    pub(crate) first: String,
    /// Question about that session
    #[arg(value_name = "QUESTION")]
    pub(crate) question: Vec<String>,
    /// Use this model from the configured provider
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Answer from facts and matching passages without asking a model
    #[arg(long, conflicts_with_all = ["model", "dry_run"])]
    pub(crate) no_model: bool,
    /// Show the maximum cost; send nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// ID of the calling agent's turn, for the limit of model calls per turn
    #[arg(long, value_name = "ID")]
    pub(crate) turn: Option<String>,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
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
