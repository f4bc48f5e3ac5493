//! Arguments of `install` and `uninstall`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

use super::JsonArgs;

/// What can be installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum InstallTarget {
    /// Hooks and skill for Claude Code
    ClaudeCode,
    /// Extension and skill for pi
    Pi,
    /// `rethread serve` as a systemd or launchd user service
    Service,
}

impl InstallTarget {
    /// The spelling on the command line.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            InstallTarget::ClaudeCode => "claude-code",
            InstallTarget::Pi => "pi",
            InstallTarget::Service => "service",
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct InstallPlaceArgs {
    /// Agent, or `service`
    #[arg(value_enum, value_name = "AGENT")]
    pub(crate) agent: InstallTarget,
    /// Install into the current project's settings instead of your user settings
    #[arg(long)]
    pub(crate) project: bool,
    /// Write a Claude Code plugin to DIR instead of changing its settings
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with = "project")]
    pub(crate) plugin: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct InstallArgs {
    #[command(flatten)]
    pub(crate) place: InstallPlaceArgs,
    /// Show the changes; write nothing
    #[arg(long)]
    pub(crate) print: bool,
    /// Do not ask before copying this program out of a build directory
    #[arg(short, long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}

#[derive(Debug, Args)]
pub(crate) struct UninstallArgs {
    #[command(flatten)]
    pub(crate) place: InstallPlaceArgs,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}
