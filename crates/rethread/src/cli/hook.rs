//! Arguments of `hook`.

use clap::{Args, ValueEnum};

/// An agent that calls hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum HookAgent {
    /// Claude Code
    ClaudeCode,
    /// pi
    Pi,
}

#[derive(Debug, Args)]
pub(crate) struct HookArgs {
    /// Agent that sends the event
    #[arg(value_enum)]
    pub(crate) agent: HookAgent,
}
