//! The verbs that let agents call Rethread.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

use super::Json;

/// What can be installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Target {
    /// The hooks of Claude Code
    ClaudeCode,
    /// The extension of pi
    Pi,
    /// `rethread serve` as a service of yours, by systemd or launchd
    Service,
}

impl Target {
    /// Its name on the command line.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Target::ClaudeCode => "claude-code",
            Target::Pi => "pi",
            Target::Service => "service",
        }
    }
}

/// Where something is, or shall be.
#[derive(Debug, Args)]
pub(crate) struct Where {
    /// The agent, or the service
    #[arg(value_enum, value_name = "AGENT")]
    pub(crate) agent: Target,
    /// In the project of the current directory, not for the whole user
    #[arg(long)]
    pub(crate) project: bool,
    /// As a plugin in this folder, which Claude Code takes plugins from; its settings are left alone
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with = "project")]
    pub(crate) plugin: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Install {
    #[command(flatten)]
    pub(crate) place: Where,
    /// Show what would change; write nothing
    #[arg(long)]
    pub(crate) print: bool,
    #[command(flatten)]
    pub(crate) json: Json,
}

#[derive(Debug, Args)]
pub(crate) struct Uninstall {
    #[command(flatten)]
    pub(crate) place: Where,
    #[command(flatten)]
    pub(crate) json: Json,
}
