//! Arguments of `sessions`, `show` and `resume`.

use clap::{Args, ValueEnum};
use rethread_engine::LogProfile;
use rethread_model::{Agent, SessionState};

use super::{JsonArgs, ScopeArgs, TableFormat, values};

/// The order of sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum SessionOrder {
    #[default]
    Recent,
    Name,
    Prompts,
    Errors,
    Tokens,
    Cost,
    Duration,
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct SessionsArgs {
    /// List only sessions in this state
    #[arg(long, value_parser = values::state())]
    pub(crate) state: Option<SessionState>,
    /// List only sessions of this agent, such as codex
    #[arg(long, value_parser = values::agent(), hide_possible_values = true)]
    pub(crate) agent: Option<Agent>,
    /// List only sessions active since WHEN: a date, RFC 3339, 7d, 12h, "yesterday", "last week"
    #[arg(long, value_name = "WHEN")]
    pub(crate) since: Option<String>,
    /// List only sessions with this tag; repeat it for sessions with all of them
    #[arg(long = "tag", value_name = "TAG")]
    pub(crate) tags: Vec<String>,
    /// List only pinned sessions
    #[arg(long)]
    pub(crate) pinned: bool,
    /// Sort by recent, name (A to Z), or largest prompts, errors, tokens, cost or duration
    #[arg(long, value_enum, default_value_t, value_name = "ORDER", hide_possible_values = true)]
    pub(crate) sort: SessionOrder,
    /// Print a table, csv or tsv
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT", hide_possible_values = true, conflicts_with_all = ["json", "for_ref"])]
    pub(crate) format: TableFormat,
    /// Show at most N sessions [default: 50 on a terminal, otherwise all]
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u64>,
    /// Include sessions without activity
    #[arg(long)]
    pub(crate) include_empty: bool,
    /// Include sessions of sub-agents
    #[arg(long)]
    pub(crate) children: bool,
    /// Print ID, age, agent and name separated by tabs, for pickers such as fzf
    #[arg(long, conflicts_with = "json")]
    pub(crate) for_ref: bool,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Session: ID or its start or end, alias, name, or words from its name; or a citation REF:LINE
    #[arg(value_name = "REF")]
    pub(crate) reference: String,
    /// Show the last N entries, or N around a citation [default: 50, or 20 around a citation]
    #[arg(long, value_name = "N")]
    pub(crate) lines: Option<u64>,
    /// Show all entries (or those of --lines), with diffs and command output read from the transcript
    #[arg(long)]
    pub(crate) full: bool,
    /// Set the detail: messages only, messages and tool calls, or everything stored
    #[arg(long, value_parser = values::profile(), default_value = "structure")]
    pub(crate) profile: LogProfile,
    /// Show the session episode by episode, as plain text
    #[arg(long, conflicts_with_all = ["lines", "full", "profile", "bytes"])]
    pub(crate) episodes: bool,
    /// Show the last 50 events: start, prompts, tool calls, answers, idle, resume, end
    #[arg(long, conflicts_with_all = ["lines", "full", "profile", "bytes", "episodes"])]
    pub(crate) events: bool,
    /// Show the last N bytes of text, in whole entries
    #[arg(long, value_name = "N")]
    pub(crate) bytes: Option<u64>,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}

#[derive(Debug, Args)]
#[command(mut_arg("json", |arg| arg.conflicts_with_all(["exec", "print"])))]
pub(crate) struct ResumeArgs {
    /// Session: ID or its start or end, alias, name, or words from its name [default: pick one; without a terminal the
    /// newest one here]
    #[arg(value_name = "REF")]
    pub(crate) reference: Option<String>,
    /// Hand over to this agent: start it with a handoff note as its first prompt
    #[arg(long = "in", value_name = "AGENT", value_parser = values::startable_agent(), hide_possible_values = true)]
    pub(crate) agent: Option<Agent>,
    /// Start the agent without asking
    #[arg(long)]
    pub(crate) exec: bool,
    /// Print only the command line, for a shell
    #[arg(long, conflicts_with = "exec")]
    pub(crate) print: bool,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}
