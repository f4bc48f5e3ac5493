//! One session to be read: a piece of its conversation, and what is known of all of it.

use std::collections::BTreeMap;

use rethread_model::{Entry, Fact, Predicate, Session, SessionId};
use rethread_recall::{Decision, decisions};
use rethread_store::{
    EntryFilter, FactQuery, Injected, KnownFact, Piece, PieceOfSession, Prompted, SessionKey, SessionNumber, Store,
};

use crate::facts::{KnownError, errors_in};
use crate::{Card, Engine, EngineError, Listed, Used};

/// Entries of a piece.
const MOST_ENTRIES: u64 = 200;
/// Entries of a piece that begins where somebody began to read, and grows at its end.
const MOST_WHILE_READING: u64 = 600;
/// Bytes of text of a piece; at least one entry is shown.
const MOST_BYTES: usize = 1 << 20;
/// Texts it was told that are shown.
const MOST_TOLD: u64 = 20;
/// Facts that are looked at.
const MOST_FACTS: u64 = 5_000;
/// What is told of a session beside its conversation.
const TOLD: [Predicate; 12] = [
    Predicate::FailedWith,
    Predicate::FixedBy,
    Predicate::NotFixedBy,
    Predicate::Decided,
    Predicate::Prefers,
    Predicate::Forbids,
    Predicate::Edited,
    Predicate::Created,
    Predicate::Deleted,
    Predicate::Renamed,
    Predicate::Committed,
    Predicate::Reverted,
];

/// What to read of a session.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadingRequest {
    /// Which piece of it.
    pub piece: Piece,
    /// Also branches that were left, and what machines wrote.
    pub everything: bool,
}

/// A session to be read.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The session.
    pub listed: Listed,
    /// What it is about.
    pub card: Card,
    /// A piece of what was said and done.
    pub piece: PieceOfSession,
    /// All exchanges by what was asked.
    pub asked: Vec<Prompted>,
    /// Errors that were met in it, with what was done about them.
    pub errors: Vec<KnownError>,
    /// What was decided in it.
    pub decisions: Vec<Decision>,
    /// Files that were changed in it, most often changed first.
    pub files: Vec<ChangedFile>,
    /// Commits that were made or taken back in it, oldest first.
    pub commits: Vec<Fact>,
    /// What its messages took and cost.
    pub used: Used,
    /// The last texts it was told, newest first.
    pub told: Vec<Injected>,
    /// The sub-agents it started.
    pub children: Vec<Session>,
    /// The session that started it, if it is a sub-agent's.
    pub parent: Option<Session>,
}

/// A file that was changed in a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    /// Its name, relative to the project.
    pub name: String,
    /// How often it was changed.
    pub times: u64,
    /// Where it was changed last.
    pub line: u64,
}

impl Engine {
    /// A session to be read, and nothing of it is marked as seen.
    pub fn reading(&self, id: SessionId, request: ReadingRequest) -> Result<Reading, EngineError> {
        let unknown = || EngineError::UnknownReference(id.to_string());
        let store = self.reader()?.ok_or_else(unknown)?;
        store.at_one_moment(|store| {
            let (number, session) = store.session_by_id(id)?.ok_or_else(unknown)?;
            self.reading_in(store, number, session, request)
        })
    }

    fn reading_in(
        &self,
        store: &Store,
        number: SessionNumber,
        session: Session,
        request: ReadingRequest,
    ) -> Result<Reading, EngineError> {
        let filter = EntryFilter { abandoned: request.everything, meta: request.everything, last: None };
        let most = if matches!(request.piece, Piece::From(_)) { MOST_WHILE_READING } else { MOST_ENTRIES };
        let mut piece = store.piece(number, filter, request.piece, most)?;
        keep_readable(&mut piece, request.piece);
        let query =
            FactQuery { session: Some(session.id), predicates: &TOLD, limit: Some(MOST_FACTS), ..FactQuery::default() };
        let facts = store.facts(&query)?;
        let parent = session.parent.map(|id| store.session_by_id(id)).transpose()?.flatten();
        let key = SessionKey { agent: session.agent, external_id: &session.external_id };
        Ok(Reading {
            piece,
            asked: store.asked(number)?,
            errors: errors_in(facts.clone()),
            decisions: decisions(&facts),
            files: changed_files(&facts),
            commits: commits(&facts),
            used: Used::of_session(store, number)?,
            told: store.injections(key, MOST_TOLD)?,
            children: store.children(&session)?,
            parent: parent.map(|(_, session)| session),
            card: self.card_of(store, number, session.clone())?,
            listed: self.listed(store, session)?,
        })
    }
}

/// Drops entries at the end that matters least until the texts of the rest are not too much for a page.
fn keep_readable(piece: &mut PieceOfSession, wanted: Piece) {
    let size = |entry: &Entry| {
        let output = entry.tool.as_ref().and_then(|tool| tool.outcome.as_ref()?.output.as_ref());
        entry.text.len() + output.map_or(0, String::len)
    };
    let mut total: usize = piece.entries.iter().map(size).sum();
    while total > MOST_BYTES && piece.entries.len() > 1 {
        let is_middle = |entry: &Entry| Some(entry.seq) == piece.middle;
        let drops_first = match wanted {
            Piece::Last | Piece::Before(_) => true,
            Piece::From(_) => false,
            Piece::Around(_) => piece.entries.last().is_some_and(is_middle),
        };
        let dropped = if drops_first {
            piece.has_earlier = true;
            Some(piece.entries.remove(0))
        } else {
            piece.has_later = true;
            piece.entries.pop()
        };
        total -= dropped.as_ref().map_or(0, size);
    }
}

fn changed_files(facts: &[KnownFact]) -> Vec<ChangedFile> {
    let changes = [Predicate::Edited, Predicate::Created, Predicate::Deleted, Predicate::Renamed];
    let mut files: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for known in facts.iter().filter(|known| changes.contains(&known.fact.predicate)) {
        let (times, line) = files.entry(known.fact.subject.name.as_str()).or_default();
        *times += (known.fact.succeeded + known.fact.failed).max(1);
        *line = known.fact.line.max(*line);
    }
    let mut files: Vec<ChangedFile> =
        files.into_iter().map(|(name, (times, line))| ChangedFile { name: name.to_owned(), times, line }).collect();
    files.sort_by_key(|file| std::cmp::Reverse(file.times));
    files
}

fn commits(facts: &[KnownFact]) -> Vec<Fact> {
    let is_commit = |known: &&KnownFact| matches!(known.fact.predicate, Predicate::Committed | Predicate::Reverted);
    let mut commits: Vec<Fact> = facts.iter().filter(is_commit).map(|known| known.fact.clone()).collect();
    commits.sort_by_key(|fact| fact.line);
    commits
}
