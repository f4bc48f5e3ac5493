//! The verbs that tell what is known from what happened.

use clap::{Args, ValueHint};
use rethread_model::EntityKind;

use super::{Json, Place, Time, values};

#[derive(Debug, Args)]
pub(crate) struct Fix {
    /// The error as it was printed, a line of it or all; `-` reads it from standard input; a text that begins with a dash
    /// comes after `--`
    #[arg(value_name = "ERROR_TEXT", required = true)]
    pub(crate) error: Vec<String>,
    #[command(flatten)]
    pub(crate) place: Place,
    #[command(flatten)]
    pub(crate) json: Json,
}

#[derive(Debug, Args)]
pub(crate) struct Decisions {
    /// Only those that speak of all these words
    #[arg(value_name = "QUERY")]
    pub(crate) query: Vec<String>,
    /// Also what was rejected, and what something else took the place of
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) then: Then,
    #[command(flatten)]
    pub(crate) place: Place,
    #[command(flatten)]
    pub(crate) json: Json,
}

#[derive(Debug, Args)]
pub(crate) struct Workflows {
    /// At most so many commands and so many sequences of each project
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) limit: u16,
    #[command(flatten)]
    pub(crate) then: Then,
    #[command(flatten)]
    pub(crate) place: Place,
    #[command(flatten)]
    pub(crate) json: Json,
}

#[derive(Debug, Args)]
pub(crate) struct Files {
    /// The file: from here, from the project's root, absolute, or the end of its path
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) path: String,
    #[command(flatten)]
    pub(crate) time: Time,
    /// At most so many exchanges
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) limit: u16,
    #[command(flatten)]
    pub(crate) place: Place,
    #[command(flatten)]
    pub(crate) json: Json,
}

#[derive(Debug, Args)]
pub(crate) struct Facts {
    /// The thing: its name, or a part of it that no other has
    #[arg(value_name = "ENTITY")]
    pub(crate) entity: Vec<String>,
    /// Only things of this kind
    #[arg(long, value_name = "KIND", value_parser = values::entity_kind())]
    pub(crate) kind: Option<EntityKind>,
    /// Draw what surrounds it, in the language of Graphviz
    #[arg(long, requires = "entity", conflicts_with_all = ["svg", "json"])]
    pub(crate) dot: bool,
    /// Draw what surrounds it, as a picture
    #[arg(long, requires = "entity", conflicts_with = "json")]
    pub(crate) svg: bool,
    /// At most so many facts, or so many things of each kind
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) limit: u16,
    #[command(flatten)]
    pub(crate) then: Then,
    #[command(flatten)]
    pub(crate) place: Place,
    #[command(flatten)]
    pub(crate) json: Json,
}

/// As of when.
#[derive(Clone, Debug, Args)]
pub(crate) struct Then {
    /// What was known then: 7d, yesterday, 2026-03, 2026-03-14T12:00; a day or a week counts to its end
    #[arg(long, value_name = "WHEN")]
    pub(crate) as_of: Option<String>,
}
