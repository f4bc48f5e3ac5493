//! `@@session` in a prompt: finds references, and tells what they lead to.

mod block;
mod find;

pub use block::{REFERENCE_BYTES, REFERENCE_CUT, REFERENCE_HEADER, Referenced, reference_block, reference_reminder};
pub use find::references;

use crate::quote::short;

/// Characters of a reference that is told again.
const TARGET_CHARS: usize = 120;
/// References that are looked up in one prompt.
pub const MOST_REFERENCES: usize = 3;

/// One reference, as it was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// What stands behind `@@`: an id, the beginning of one, an alias, a name or its slug.
    pub target: String,
    /// Whether it stood in quotes, and so is a name as it is.
    pub is_quoted: bool,
    /// How many sessions before it are wanted too.
    pub ancestors: u32,
    /// What is asked about it.
    pub question: Option<String>,
}

impl Reference {
    /// The reference as it can be typed again.
    pub fn typed(&self) -> String {
        let target = short(&self.target, TARGET_CHARS);
        let name = if self.is_quoted { format!("\"{target}\"") } else { target };
        let ancestors = if self.ancestors == 0 { String::new() } else { format!("~{}", self.ancestors) };
        format!("@@{name}{ancestors}")
    }
}

/// What became of a reference.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// These sessions: the one that is meant, then its ancestors where they were asked for.
    Resolved(Vec<Referenced>),
    /// No session is called so.
    NotFound,
    /// Several are.
    Ambiguous(Vec<Candidate>),
    /// It cannot be a reference, and why.
    Invalid(String),
    /// There were too many before it.
    OverLimit,
}

/// A session that may be meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Its id.
    pub id: String,
    /// Its agent, and how old it is.
    pub about: String,
    /// Its name.
    pub name: String,
}

impl Outcome {
    /// The name in records.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Outcome::Resolved(_) => "resolved",
            Outcome::NotFound => "not_found",
            Outcome::Ambiguous(_) => "ambiguous",
            Outcome::Invalid(_) => "invalid",
            Outcome::OverLimit => "over_limit",
        }
    }
}
