//! `@@session` references in a prompt: finds them, and renders what they resolve to.

mod block;
mod find;

pub use block::{REFERENCE_BYTES, REFERENCE_CUT_MARK, REFERENCE_HEADER, ReferencedSession, reference_block};
pub use find::find_references;
pub(crate) use find::without_references;

use rethread_model::{Session, Timestamp};

use crate::quote::{format_age, quote_short};

/// Maximum length of a displayed reference, in characters.
const TARGET_CHARS: usize = 120;
/// Shortest text that is more likely a part of an id than a variable.
const MIN_ID_BYTES: usize = 8;
/// Maximum number of references resolved per prompt.
pub const MAX_REFERENCES: usize = 3;

/// A reference as typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionReference {
    /// Text after `@@`: an id, an id prefix, an alias, a name or its slug.
    pub target: String,
    /// Whether it was quoted; then it is an exact name.
    pub is_quoted: bool,
    /// Number of ancestor sessions to include.
    pub ancestors: u32,
    /// Question asked about the session.
    pub question: Option<String>,
}

impl SessionReference {
    /// Whether the text can also be a variable, as in Ruby (`@@count`) or SQL (`@@session.sql_mode`).
    pub(crate) fn can_be_code(&self) -> bool {
        let is_identifier = self.target.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.".contains(&byte));
        let is_id = self.target.len() >= MIN_ID_BYTES
            && self.target.bytes().any(|byte| byte.is_ascii_digit())
            && self.target.bytes().all(|byte| byte.is_ascii_hexdigit());
        !self.is_quoted && self.question.is_none() && is_identifier && !is_id
    }

    /// The reference in a form that can be typed again.
    pub fn as_typed(&self) -> String {
        let target = quote_short(&self.target, TARGET_CHARS);
        let name = if self.is_quoted { format!("\"{target}\"") } else { target };
        let ancestors = if self.ancestors == 0 { String::new() } else { format!("~{}", self.ancestors) };
        format!("@@{name}{ancestors}")
    }
}

/// Result of resolving a reference.
#[derive(Clone, Debug, PartialEq)]
pub enum ReferenceOutcome {
    /// The session, followed by its ancestors if requested.
    Resolved(Vec<ReferencedSession>),
    /// No session matches; these have a similar name.
    NotFound(Vec<ReferenceCandidate>),
    /// Several sessions match.
    Ambiguous(Vec<ReferenceCandidate>),
    /// The reference is invalid; the text says why.
    Invalid(String),
    /// There were too many references before this one.
    OverLimit,
}

/// A session that a reference may mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReferenceCandidate {
    /// Session id.
    pub id: String,
    /// Agent and age.
    pub details: String,
    /// Session name.
    pub name: String,
}

impl ReferenceCandidate {
    /// A stored session as a candidate.
    pub fn new(session: &Session, now: Timestamp) -> Self {
        Self {
            id: session.id.to_string(),
            details: format!("{}, {}", session.agent, format_age(session.last_activity_at, now)),
            name: session.name.clone().unwrap_or_else(|| "unnamed".to_owned()),
        }
    }
}

impl ReferenceOutcome {
    /// The name in records.
    pub const fn as_str(&self) -> &'static str {
        match self {
            ReferenceOutcome::Resolved(_) => "resolved",
            ReferenceOutcome::NotFound(_) => "not_found",
            ReferenceOutcome::Ambiguous(_) => "ambiguous",
            ReferenceOutcome::Invalid(_) => "invalid",
            ReferenceOutcome::OverLimit => "over_limit",
        }
    }
}
