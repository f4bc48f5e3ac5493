//! Arguments of `session …`: names, notes, tasks, cards and states set by hand.

use clap::{Args, Subcommand};

use super::JsonArgs;

#[derive(Debug, Subcommand)]
pub(crate) enum SessionCommand {
    /// Set the name of a session.
    ///
    /// Replaces the name given by the agent. Pass "" to restore the original.
    #[command(
        after_long_help = "Examples:\n  rethread session name 01KHX 'discount rounding'\n  rethread session name 01KHX ''"
    )]
    Name(SessionNameArgs),
    /// Give a session a short alias.
    ///
    /// An alias is one word that works wherever a REF does.
    #[command(after_long_help = "Examples:\n  rethread session alias 01KHX discounts")]
    Alias(SessionAliasArgs),
    /// Set the task of a session.
    ///
    /// The task shows other sessions of the project what this one works on.
    #[command(after_long_help = "Examples:\n  rethread session task discounts 'fix the discount rounding'")]
    Task(SessionTextArgs),
    /// Add a note to a session.
    ///
    /// The note is injected once, with the session's next prompt. For one day, it is also part of what the session is
    /// reminded of after a break or a compaction.
    #[command(after_long_help = "Examples:\n  rethread session note discounts 'staging is down until noon'")]
    Note(SessionTextArgs),
    /// Pin a session.
    ///
    /// Pinned sessions come first on the board of the web UI, which can also show only them, like `sessions --pinned`.
    #[command(after_long_help = "Examples:\n  rethread session pin discounts")]
    Pin(SessionRefArgs),
    /// Remove the pin of a session.
    #[command(after_long_help = "Examples:\n  rethread session unpin discounts")]
    Unpin(SessionRefArgs),
    /// Add tags to a session, or remove them.
    ///
    /// Tags are yours: agents and models do not see or change them. The web UI and `sessions --tag` filter by them.
    #[command(
        after_long_help = "Examples:\n  rethread session tag discounts release 'needs review'\n  rethread session tag discounts --remove release"
    )]
    Tag(SessionTagArgs),
    /// Pause a session until its next prompt.
    ///
    /// Marks it as suspended; the running agent is not affected. It becomes active again with its next prompt.
    #[command(after_long_help = "Examples:\n  rethread session pause discounts")]
    Pause(SessionRefArgs),
    /// End a session and archive it.
    ///
    /// Use it when the work is done and the agent did not report its end. The running agent is not affected; a later
    /// prompt starts a new period.
    #[command(after_long_help = "Examples:\n  rethread session end discounts")]
    End(SessionRefArgs),
    /// Show or refresh a session card.
    ///
    /// A card is the name, description, summary and tags of a session. It is generated without a model. With a model and
    /// a budget configured, --refresh lets the model write it once there are enough new prompts.
    #[command(
        after_long_help = "Examples:\n  rethread session card discounts\n  rethread session card discounts --refresh --dry-run"
    )]
    Card(CardArgs),
}

impl SessionCommand {
    /// Whether `--json` was given.
    pub(crate) fn wants_json(&self) -> bool {
        match self {
            SessionCommand::Card(CardArgs { json, .. }) => json.json,
            _ => false,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct SessionRefArgs {
    /// Session: ID or its start or end, alias, name, or words from its name
    #[arg(value_name = "REF")]
    pub(crate) reference: String,
}

#[derive(Debug, Args)]
pub(crate) struct SessionNameArgs {
    #[command(flatten)]
    pub(crate) session: SessionRefArgs,
    /// New name; "" restores the original
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
}

#[derive(Debug, Args)]
pub(crate) struct SessionAliasArgs {
    #[command(flatten)]
    pub(crate) session: SessionRefArgs,
    /// One word: letters, digits, `-`, `.` and `_`
    #[arg(value_name = "ALIAS")]
    pub(crate) alias: String,
}

#[derive(Debug, Args)]
pub(crate) struct SessionTextArgs {
    #[command(flatten)]
    pub(crate) session: SessionRefArgs,
    /// Text to attach
    #[arg(value_name = "TEXT")]
    pub(crate) text: String,
}

#[derive(Debug, Args)]
pub(crate) struct SessionTagArgs {
    #[command(flatten)]
    pub(crate) session: SessionRefArgs,
    /// Tags: at most 40 characters each, without a comma
    #[arg(value_name = "TAG", required = true)]
    pub(crate) tags: Vec<String>,
    /// Remove the tags instead
    #[arg(long)]
    pub(crate) remove: bool,
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag on the command line")]
pub(crate) struct CardArgs {
    #[command(flatten)]
    pub(crate) session: SessionRefArgs,
    /// Let the model write it, if there are enough new prompts
    #[arg(long)]
    pub(crate) refresh: bool,
    /// Let the model write it, however few prompts are new
    #[arg(long, requires = "refresh")]
    pub(crate) force: bool,
    /// Use this model: NAME or PROVIDER/NAME
    #[arg(long, value_name = "MODEL", requires = "refresh")]
    pub(crate) model: Option<String>,
    /// Show the request and its maximum cost; send nothing
    #[arg(long, requires = "refresh")]
    pub(crate) dry_run: bool,
    /// Also write cards/SESSION.meta.json
    #[arg(long, conflicts_with = "refresh")]
    pub(crate) export: bool,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}
