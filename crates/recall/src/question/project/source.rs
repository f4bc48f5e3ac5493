//! Where a sentence of an answer comes from: a line of a session, or of a file with rules for agents.

use rethread_model::{Session, SessionId, Timestamp};

use crate::FactSource;

/// Where a sentence of an answer comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentenceSource {
    /// What says it.
    pub place: SourcePlace,
    /// Line in the transcript or in the file.
    pub line: u64,
    /// Time of the line; unknown for a file.
    pub at: Option<Timestamp>,
}

/// What says a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourcePlace {
    /// A session.
    Session {
        /// Its ID.
        id: SessionId,
        /// Its name.
        name: Option<String>,
    },
    /// A file with rules for agents, as it is now.
    RuleFile {
        /// Relative to the project, or to the home directory with `~/`.
        path: String,
    },
}

impl SentenceSource {
    /// `SESSION:LINE`, as accepted by `show`, or `FILE:LINE`.
    pub fn citation(&self) -> String {
        match &self.place {
            SourcePlace::Session { id, .. } => format!("{id}:{}", self.line),
            SourcePlace::RuleFile { path } => format!("{path}:{}", self.line),
        }
    }

    /// The session that says it, unless a file does.
    pub fn session(&self) -> Option<SessionId> {
        match &self.place {
            SourcePlace::Session { id, .. } => Some(*id),
            SourcePlace::RuleFile { .. } => None,
        }
    }

    pub(super) fn of_fact(source: &FactSource) -> Self {
        let place = SourcePlace::Session { id: source.session, name: source.session_name.clone() };
        Self { place, line: source.line, at: source.at }
    }

    pub(super) fn in_session(session: &Session, line: u64, at: Option<Timestamp>) -> Self {
        Self { place: SourcePlace::Session { id: session.id, name: session.name.clone() }, line, at }
    }

    pub(super) fn in_rule_file(path: &str, line: u64) -> Self {
        Self { place: SourcePlace::RuleFile { path: path.to_owned() }, line, at: None }
    }
}
