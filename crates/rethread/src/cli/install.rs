//! Arguments of `install` and `uninstall`.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueHint};
use rethread_engine::{HostInstaller, INSTALLERS};
use rethread_model::Agent;

use super::JsonArgs;

/// What can be installed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum InstallTarget {
    Host(&'static HostInstaller),
    Service,
}

impl InstallTarget {
    /// The spelling on the command line.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            InstallTarget::Host(host) => host.agent.as_str(),
            InstallTarget::Service => "service",
        }
    }

    fn parser() -> impl TypedValueParser<Value = Self> {
        let host_value = |host: &HostInstaller| {
            let (first, rest) = host.component.split_at(1);
            let skill = if host.has_skill() { " and skill" } else { "" };
            let help = format!("{}{rest}{skill} for {}", first.to_uppercase(), host.agent.label());
            PossibleValue::new(host.agent.as_str()).aliases(host.agent.aliases()).help(help)
        };
        let service = PossibleValue::new(InstallTarget::Service.name())
            .help("`rethread serve` as a systemd or launchd user service");
        PossibleValuesParser::new(INSTALLERS.map(host_value).into_iter().chain([service])).map(|name| {
            let agent = name.parse::<Agent>().ok();
            let host = agent.and_then(HostInstaller::of);
            host.map_or(InstallTarget::Service, InstallTarget::Host)
        })
    }
}

#[derive(Debug, Args)]
pub(crate) struct InstallPlaceArgs {
    /// Agent, or `service`
    #[arg(value_parser = InstallTarget::parser(), value_name = "AGENT", required_unless_present = "all")]
    pub(crate) agent: Option<InstallTarget>,
    /// All agents found on this machine
    #[arg(long, conflicts_with_all = ["agent", "project", "plugin"])]
    pub(crate) all: bool,
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
    /// Also set up the MCP server
    #[arg(long, conflicts_with = "plugin")]
    pub(crate) mcp: bool,
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
#[command(mut_arg("project", |arg| arg.help("Remove from the current project's settings")))]
#[command(mut_arg("plugin", |arg| arg.help("Remove the plugin in DIR")))]
// Without --all it is refused, with a better message than that a value is missing.
#[command(mut_arg("agent", |arg| arg.required_unless_present_any(["all", "purge"])))]
pub(crate) struct UninstallArgs {
    #[command(flatten)]
    pub(crate) place: InstallPlaceArgs,
    /// Also delete the memory: sessions, threads, settings and logs; needs --all
    #[arg(long)]
    pub(crate) purge: bool,
    /// Delete the memory without asking
    #[arg(short, long, requires = "purge")]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}
