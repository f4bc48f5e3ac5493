//! A row of the list: a session, a hit, an error with fixes, or a decision.

use std::ops::Range;

use rethread_engine::{Decision, KnownError};
use rethread_model::{Session, SessionId};

use crate::render::Tone;

/// What a row shows, already sanitized, and what it stands for.
#[derive(Clone, Debug)]
pub(super) struct ListRow {
    pub(super) title: String,
    pub(super) title_tone: Tone,
    /// Agent and age, at the right of the title.
    pub(super) aside: String,
    /// The second line.
    pub(super) detail: String,
    /// Byte ranges of `detail` that matched.
    pub(super) matches: Vec<Range<usize>>,
    pub(super) subject: RowSubject,
}

/// What a row stands for.
#[derive(Clone, Debug)]
pub(super) struct RowSubject {
    pub(super) session: SessionId,
    /// Loaded with rows that are sessions or hits.
    pub(super) stored: Option<Box<Session>>,
    /// The transcript line to show. Without one, a running session is shown from its end, another one from its start.
    pub(super) line: Option<u64>,
    pub(super) is_running: bool,
    /// The text that `y` copies.
    pub(super) text: String,
    pub(super) fact: Option<RowFact>,
}

/// What is shown above the conversation.
#[derive(Clone, Debug)]
pub(super) enum RowFact {
    Error(Box<KnownError>),
    Decision(Box<Decision>),
}

impl ListRow {
    /// Whether both stand for the same, so that a selection can survive a reload.
    pub(super) fn is_same(&self, other: &ListRow) -> bool {
        let key = |row: &ListRow| (row.subject.session, row.subject.line);
        key(self) == key(other) && (self.subject.fact.is_none() || self.title == other.title)
    }
}
