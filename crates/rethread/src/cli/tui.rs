//! Arguments of `tui`.

use clap::{Args, ValueEnum};

use super::ScopeArgs;

#[derive(Debug, Default, Args)]
pub(crate) struct TuiArgs {
    /// Start with this query
    #[arg(value_name = "QUERY")]
    pub(crate) query: Vec<String>,
    /// Draw below the prompt instead of using the whole screen
    #[arg(long)]
    pub(crate) inline: bool,
    /// Use N rows [default: 40 % of the screen, at least 12]
    #[arg(long, value_name = "N", requires = "inline", value_parser = clap::value_parser!(u16).range(6..))]
    pub(crate) height: Option<u16>,
    /// Print the session's resume command, or its ID, instead of resuming it
    #[arg(long, value_name = "WHAT", num_args = 0..=1, require_equals = true, default_missing_value = "command")]
    pub(crate) print: Option<PrintedChoice>,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
}

/// What Enter prints with `--print`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PrintedChoice {
    /// The agent's own command to resume the session
    Command,
    /// The same command as PowerShell writes it
    #[value(name = "powershell")]
    PowerShell,
    /// The ID of the session
    Id,
}
