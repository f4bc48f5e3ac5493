//! Arguments of `init`, `demo` and `config`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use rethread_model::Agent;

use super::{JsonArgs, values};

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Do not ask for confirmation
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// Read only these agents, now and later
    #[arg(long, value_name = "AGENT,…", value_delimiter = ',', value_parser = values::other_agent(), hide_possible_values = true)]
    pub(crate) agents: Vec<Agent>,
    /// Do not install hooks
    #[arg(long)]
    pub(crate) no_hooks: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Keep the demo's home in DIR (new or empty)
    #[arg(long, value_name = "DIR", conflicts_with = "into")]
    pub(crate) keep: Option<PathBuf>,
    /// Write the demo transcripts into DIR, which must be empty, instead of playing the demo
    #[arg(long, value_name = "DIR", hide = true)]
    pub(crate) into: Option<PathBuf>,
}

/// A shell with integration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum IntegratedShell {
    Bash,
    Zsh,
    Fish,
    #[value(name = "powershell")]
    PowerShell,
}

/// The key that opens the picker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum PickerKey {
    /// Alt-R
    #[default]
    AltR,
    /// Ctrl-G
    CtrlG,
    /// No key, only completions
    None,
}

#[derive(Debug, Args)]
pub(crate) struct ShellArgs {
    /// Shell to integrate with
    pub(crate) shell: IntegratedShell,
    /// Open the picker of sessions with this key
    #[arg(long, value_enum, default_value_t, value_name = "KEY")]
    pub(crate) key: PickerKey,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Show all settings.
    ///
    /// Use --origin to find out where a value was set.
    #[command(after_long_help = "Examples:\n  rethread config show --origin")]
    Show {
        /// Show where each value comes from
        #[arg(long)]
        origin: bool,
        #[command(flatten)]
        json: JsonArgs,
    },
    /// Print one setting.
    ///
    /// Prints only the value, for use in scripts.
    #[command(after_long_help = "Examples:\n  rethread config get intake.agents")]
    Get {
        /// Setting, such as intake.agents
        key: String,
    },
    /// Change one setting.
    ///
    /// Writes to your user configuration file. `rethread config show` lists all settings.
    #[command(after_long_help = "Examples:\n  rethread config set intake.exclude '~/private,*.secret'")]
    Set {
        /// Setting, such as intake.agents
        key: String,
        /// New value; separate list items with commas
        value: String,
    },
    /// Remove one setting from your configuration.
    ///
    /// The value of a weaker layer applies again, by default the built-in one. Comments in the file stay.
    #[command(after_long_help = "Examples:\n  rethread config unset intake.mode")]
    Unset {
        /// Setting, such as intake.agents
        key: String,
    },
    /// Edit the configuration in your editor.
    ///
    /// Opens your user configuration file with $VISUAL or $EDITOR and checks it afterwards.
    #[command(after_long_help = "Examples:\n  rethread config edit\n  EDITOR='code --wait' rethread config edit")]
    Edit,
    /// Print the configuration file path.
    ///
    /// The file need not exist yet.
    #[command(after_long_help = "Examples:\n  $EDITOR \"$(rethread config path)\"")]
    Path,
}
