//! `@@session` in a prompt: finds references, and tells what they lead to.

mod block;
mod find;

pub use block::{REFERENCE_BYTES, REFERENCE_HEADER, Referenced, reference_block};
pub use find::references;

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
        let name = if self.is_quoted { format!("\"{}\"", self.target) } else { self.target.clone() };
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
    /// Several are: each with its id, name and age.
    Ambiguous(Vec<String>),
    /// It cannot be a reference, and why.
    Invalid(String),
    /// There were too many before it.
    OverLimit,
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
