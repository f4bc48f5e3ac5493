//! Arguments of `hook`.

use clap::Args;
use rethread_model::Agent;

use super::values;

#[derive(Debug, Args)]
pub(crate) struct HookArgs {
    /// Agent that sends the event
    #[arg(value_parser = values::host())]
    pub(crate) agent: Agent,
}
