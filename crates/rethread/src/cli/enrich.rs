//! The verb that has a model add facts.

use clap::Args;

use super::Json;

#[derive(Debug, Args)]
pub(crate) struct Enrich {
    /// Only this session, whether or not its time has come: an id, the beginning of one, an alias, a name, or words of a
    /// name
    #[arg(value_name = "REF")]
    pub(crate) reference: Option<String>,
    /// Show which sessions wait and what they may cost; send nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Show sessions that failed for good
    #[arg(long, conflicts_with_all = ["reference", "dry_run"])]
    pub(crate) failed: bool,
    /// Let sessions that failed for good wait again
    #[arg(long, conflicts_with_all = ["reference", "dry_run", "failed"])]
    pub(crate) clear_failed: bool,
    #[command(flatten)]
    pub(crate) json: Json,
}
