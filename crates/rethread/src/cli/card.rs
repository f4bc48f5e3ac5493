//! The verb about cards of sessions.

use clap::Args;

use super::Json;
use super::life::Named;

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag on the command line")]
pub(crate) struct Card {
    #[command(flatten)]
    pub(crate) session: Named,
    /// Have the model write it, if enough prompts are new
    #[arg(long)]
    pub(crate) refresh: bool,
    /// Have the model write it, however little is new
    #[arg(long, requires = "refresh")]
    pub(crate) force: bool,
    /// Ask this model: a name, or provider/name
    #[arg(long, value_name = "MODEL", requires = "refresh")]
    pub(crate) model: Option<String>,
    /// Show what the model would be asked and what it may cost; send nothing
    #[arg(long, requires = "refresh")]
    pub(crate) dry_run: bool,
    /// Write it to cards/SESSION.meta.json too, whoever made it
    #[arg(long, conflicts_with = "refresh")]
    pub(crate) export: bool,
    #[command(flatten)]
    pub(crate) json: Json,
}
