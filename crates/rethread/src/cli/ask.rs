//! The verbs that ask a session and hand its work on.

use clap::Args;

use super::Json;
use super::life::Named;

#[derive(Debug, Args)]
pub(crate) struct Ask {
    #[command(flatten)]
    pub(crate) session: Named,
    /// The question
    #[arg(value_name = "QUESTION", required = true)]
    pub(crate) question: Vec<String>,
    /// Ask this model of the configured provider
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Ask no model: quote the passages that fit best
    #[arg(long, conflicts_with_all = ["model", "dry_run"])]
    pub(crate) no_model: bool,
    /// Show what it would cost at most; send nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// The agent's turn in which it is asked, by an id of its own: a model is asked only so often in one
    #[arg(long, value_name = "ID")]
    pub(crate) turn: Option<String>,
    #[command(flatten)]
    pub(crate) json: Json,
}

#[derive(Debug, Args)]
pub(crate) struct Handoff {
    #[command(flatten)]
    pub(crate) session: Named,
    #[command(flatten)]
    pub(crate) json: Json,
}

#[derive(Debug, Args)]
pub(crate) struct Resolve {
    /// The text
    #[arg(value_name = "TEXT", required = true)]
    pub(crate) text: Vec<String>,
    #[command(flatten)]
    pub(crate) json: Json,
}
