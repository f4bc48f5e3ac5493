//! The verbs about what sessions know of each other and of themselves.

use clap::{Args, ValueEnum};

use super::Json;

/// A session.
#[derive(Debug, Args)]
pub(crate) struct Named {
    /// The session: an id, the beginning of one, an alias, a name, or words of a name
    #[arg(value_name = "REF")]
    pub(crate) reference: String,
}

/// A session; the newest one of this project if none is named.
#[derive(Debug, Args)]
pub(crate) struct Resume {
    /// The session: an id, the beginning of one, an alias, a name, or words of a name [default: the newest one here]
    #[arg(value_name = "REF")]
    pub(crate) reference: Option<String>,
}

/// A session and something to say about it.
#[derive(Debug, Args)]
pub(crate) struct Said {
    #[command(flatten)]
    pub(crate) session: Named,
    /// What to say
    #[arg(value_name = "TEXT")]
    pub(crate) text: String,
}

#[derive(Debug, Args)]
pub(crate) struct Activity {
    /// The session that reads
    #[arg(long, value_name = "REF")]
    pub(crate) session: String,
    /// Leave everything as unread as it is
    #[arg(long)]
    pub(crate) peek: bool,
    #[command(flatten)]
    pub(crate) json: Json,
}

#[derive(Debug, Args)]
pub(crate) struct Inject {
    /// The session that would be told
    #[arg(long, value_name = "REF")]
    pub(crate) session: String,
    /// What is typed
    #[arg(long, value_name = "TEXT", default_value = "go on", hide_default_value = true)]
    pub(crate) prompt: String,
    /// Also say why, and what is not told
    #[arg(long)]
    pub(crate) explain: bool,
    /// What the session was told up to now instead, newest first
    #[arg(long, conflicts_with_all = ["prompt", "explain"])]
    pub(crate) told: bool,
    #[command(flatten)]
    pub(crate) json: Json,
}

/// An agent that calls hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum HookAgent {
    /// Claude Code
    ClaudeCode,
    /// pi
    Pi,
}

#[derive(Debug, Args)]
pub(crate) struct Hook {
    /// The agent that calls
    #[arg(value_enum)]
    pub(crate) agent: HookAgent,
}
