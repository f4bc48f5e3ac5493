//! Arguments of the verbs that show extracted facts: `fix`, `decisions`, `workflows`, `files`, `facts`.

use clap::{Args, ValueHint};
use rethread_model::EntityKind;

use super::search::TimeArgs;
use super::{JsonArgs, ScopeArgs, values};

#[derive(Debug, Args)]
pub(crate) struct FixArgs {
    /// Error line, error code or whole output; `-` reads stdin. Put text that starts with a dash after `--`
    #[arg(value_name = "ERROR_TEXT", required = true)]
    pub(crate) error: Vec<String>,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}

#[derive(Debug, Args)]
pub(crate) struct DecisionsArgs {
    /// Show only decisions that contain all these words
    #[arg(value_name = "QUERY")]
    pub(crate) query: Vec<String>,
    /// Include superseded decisions
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) as_of: AsOfArgs,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}

#[derive(Debug, Args)]
pub(crate) struct WorkflowsArgs {
    /// Show at most N commands and N sequences per project
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = values::limit())]
    pub(crate) limit: u16,
    #[command(flatten)]
    pub(crate) as_of: AsOfArgs,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}

#[derive(Debug, Args)]
pub(crate) struct FilesArgs {
    /// File: relative to here or to the project root, absolute, or the end of its path
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) path: String,
    #[command(flatten)]
    pub(crate) time: TimeArgs,
    /// Show at most N episodes
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = values::limit())]
    pub(crate) limit: u16,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}

#[derive(Debug, Args)]
pub(crate) struct FactsArgs {
    /// Entity: its name, or a unique part of it
    #[arg(value_name = "ENTITY")]
    pub(crate) entity: Vec<String>,
    /// Show only entities of this kind
    #[arg(long, value_name = "KIND", value_parser = values::entity_kind())]
    pub(crate) kind: Option<EntityKind>,
    /// Print the entity's graph in Graphviz format
    #[arg(long, requires = "entity", conflicts_with_all = ["svg", "json"])]
    pub(crate) dot: bool,
    /// Print the entity's graph as SVG
    #[arg(long, requires = "entity", conflicts_with = "json")]
    pub(crate) svg: bool,
    /// Show at most N facts, or N entities of each kind
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = values::limit())]
    pub(crate) limit: u16,
    #[command(flatten)]
    pub(crate) as_of: AsOfArgs,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct AsOfArgs {
    /// Show what was known at WHEN: 7d, yesterday, 2026-03, 2026-03-14T12:00; a day or week is included whole
    #[arg(long = "as-of", value_name = "WHEN")]
    pub(crate) when: Option<String>,
}
