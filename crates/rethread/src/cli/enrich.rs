//! Arguments of `enrich`.

use clap::Args;

use super::JsonArgs;

#[derive(Debug, Args)]
pub(crate) struct EnrichArgs {
    /// Process only this session, even if it is not due
    #[arg(value_name = "REF")]
    pub(crate) reference: Option<String>,
    /// Show queued sessions and their maximum cost; send nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// List sessions that failed permanently
    #[arg(long, conflicts_with_all = ["reference", "dry_run"])]
    pub(crate) failed: bool,
    /// Queue permanently failed sessions again
    #[arg(long, conflicts_with_all = ["reference", "dry_run", "failed"])]
    pub(crate) clear_failed: bool,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}
