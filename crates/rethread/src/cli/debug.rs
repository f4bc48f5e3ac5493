//! Arguments of `debug …`: what hooks inject, and whether the store is consistent.

use clap::{Args, Subcommand};

use super::JsonArgs;

#[derive(Debug, Subcommand)]
pub(crate) enum DebugCommand {
    /// Show what the prompt hook would inject.
    ///
    /// Use it to see why an agent did or did not get some context. Changes nothing.
    #[command(
        after_long_help = "Examples:\n  rethread debug inject --session 01KHX --prompt 'fix the tests' --explain\n  rethread debug inject --session 01KHX --history"
    )]
    Inject(InjectArgs),
    /// Show what other sessions did since.
    ///
    /// Prints the activity block that the session would get, and marks it as read unless --peek is given.
    #[command(after_long_help = "Examples:\n  rethread debug activity --session 'flaky parser' --peek")]
    Activity(ActivityArgs),
    /// Show what `@@` references expand to.
    ///
    /// A reference is `@@` followed by an ID, its start or end, an alias, the name as one-word-with-dashes, or `"the name"`.
    /// `~2` after it adds two sessions it came from; `@@name: what did we decide?` asks it a question. References inside
    /// code are ignored.
    #[command(after_long_help = "Examples:\n  rethread debug resolve 'do it as in @@flaky-parser'")]
    Resolve(ResolveArgs),
    /// Check the store for consistency.
    ///
    /// Run it after a crash or a full disk. Exits with 1 if it finds damage; `rethread rebuild` repairs it.
    #[command(after_long_help = "Examples:\n  rethread debug verify")]
    Verify(JsonArgs),
}

impl DebugCommand {
    /// Whether `--json` was given.
    pub(crate) fn wants_json(&self) -> bool {
        match self {
            DebugCommand::Inject(InjectArgs { json, .. })
            | DebugCommand::Activity(ActivityArgs { json, .. })
            | DebugCommand::Resolve(ResolveArgs { json, .. })
            | DebugCommand::Verify(json) => json.json,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct InjectArgs {
    /// Session that would get the injection
    #[arg(long, value_name = "REF")]
    pub(crate) session: String,
    /// Prompt to inject context for
    #[arg(long, value_name = "TEXT", default_value = "go on", hide_default_value = true)]
    pub(crate) prompt: String,
    /// Explain what was included and what was skipped
    #[arg(long)]
    pub(crate) explain: bool,
    /// Show past injections instead, newest first
    #[arg(long, alias = "told", conflicts_with_all = ["prompt", "explain"])]
    pub(crate) history: bool,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ActivityArgs {
    /// Session that reads the activity
    #[arg(long, value_name = "REF")]
    pub(crate) session: String,
    /// Do not mark as read
    #[arg(long)]
    pub(crate) peek: bool,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ResolveArgs {
    /// Text with `@@` references
    #[arg(value_name = "TEXT", required = true)]
    pub(crate) text: Vec<String>,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}
