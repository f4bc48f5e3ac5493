//! Pieces of long sessions: some entries from somewhere in it, and its exchanges by what was asked.

use rethread_model::{Entry, Session, SessionId, SessionKind, Timestamp};
use rusqlite::{OptionalExtension, Params, params};

use crate::{EntryFilter, SessionNumber, Store, StoreError, entries, sessions};

/// Where a piece of a session lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Piece {
    /// At the end.
    #[default]
    Last,
    /// From this entry on.
    From(u64),
    /// Up to this entry, which is not part of it.
    Before(u64),
    /// Around the entry that stands at this line, or at the last one before it.
    Around(u64),
}

/// Some entries of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PieceOfSession {
    /// In transcript order.
    pub entries: Vec<Entry>,
    /// Whether there are others before them.
    pub has_earlier: bool,
    /// Whether there are others after them.
    pub has_later: bool,
    /// The entry that the piece lies around.
    pub middle: Option<u64>,
}

/// One exchange by what was asked in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompted {
    /// Its number.
    pub episode: u64,
    /// The entry it begins with.
    pub seq: u64,
    /// Where that stands.
    pub line: u64,
    /// When it began.
    pub at: Option<Timestamp>,
    /// The beginning of what was asked.
    pub text: String,
    /// Tool calls in it.
    pub tool_calls: u64,
    /// How many of those failed.
    pub tool_errors: u64,
}

/// So many characters of what was asked are enough for a list.
const ASKED_CHARACTERS: i64 = 200;

impl Store {
    /// At most so many entries of a session; `last` of the filter does not count here.
    pub fn piece(
        &self,
        session: SessionNumber,
        filter: EntryFilter,
        piece: Piece,
        most: u64,
    ) -> Result<PieceOfSession, StoreError> {
        let (border, before, after, middle) = match piece {
            Piece::Last => (u64::MAX, most, 0, None),
            Piece::Before(seq) => (seq, most, 0, None),
            Piece::From(seq) => (seq, 0, most, None),
            Piece::Around(line) => {
                let seq = self.entry_at_line(session, filter, line)?.unwrap_or(0);
                // Whoever follows a citation wants to see what led there, and more of what came of it.
                (seq, most / 3, most - most / 3, Some(seq))
            }
        };
        // One more than is wanted tells whether there are more.
        let mut earlier = self.some(session, filter, ("seq < ?5", "DESC"), border, before + 1)?;
        let mut later = self.some(session, filter, ("seq >= ?5", "ASC"), border, after + 1)?;
        let has_earlier = earlier.len() as u64 > before;
        let has_later = later.len() as u64 > after;
        earlier.truncate(before as usize);
        later.truncate(after as usize);
        earlier.reverse();
        earlier.extend(later);
        Ok(PieceOfSession { entries: earlier, has_earlier, has_later, middle })
    }

    fn some(
        &self,
        session: SessionNumber,
        filter: EntryFilter,
        (condition, order): (&str, &str),
        border: u64,
        most: u64,
    ) -> Result<Vec<Entry>, StoreError> {
        let sql = format!(
            "SELECT {} FROM entry WHERE space = ?1 AND session = ?2 AND (?3 OR NOT (abandoned OR taken_back))
             AND (?4 OR speech NOT IN ('reasoning', 'command', 'notice', 'injected')) AND {condition}
             ORDER BY seq {order} LIMIT ?6",
            entries::COLUMNS
        );
        let border = i64::try_from(border).unwrap_or(i64::MAX);
        let values = params![self.space.as_str(), session.0, filter.abandoned, filter.meta, border, most as i64];
        let read = || -> rusqlite::Result<Vec<Entry>> {
            self.connection.prepare_cached(&sql)?.query_map(values, entries::from_row)?.collect()
        };
        read().map_err(|cause| self.err(cause))
    }

    /// The last shown entry that begins at a line or before it.
    fn entry_at_line(&self, session: SessionNumber, filter: EntryFilter, line: u64) -> Result<Option<u64>, StoreError> {
        let line = i64::try_from(line).unwrap_or(i64::MAX);
        let values = params![self.space.as_str(), session.0, filter.abandoned, filter.meta, line];
        // Several entries may stand at one line; the first of them is where reading begins.
        let read = || {
            self.connection
                .prepare_cached(
                    "SELECT seq FROM entry WHERE space = ?1 AND session = ?2 AND line <= ?5
                     AND (?3 OR NOT (abandoned OR taken_back))
                     AND (?4 OR speech NOT IN ('reasoning', 'command', 'notice', 'injected'))
                     ORDER BY line DESC, seq LIMIT 1",
                )?
                .query_row(values, |row| row.get::<_, i64>(0))
                .optional()
        };
        read().map(|seq| seq.map(|seq| seq as u64)).map_err(|cause| self.err(cause))
    }

    /// What was asked in a session, exchange by exchange.
    pub fn asked(&self, session: SessionNumber) -> Result<Vec<Prompted>, StoreError> {
        let values = params![self.space.as_str(), session.0, ASKED_CHARACTERS];
        let read = || -> rusqlite::Result<Vec<Prompted>> {
            let mut statement = self.connection.prepare_cached(
                "SELECT episode.number, entry.seq, entry.line, entry.at, substr(entry.text, 1, ?3), episode.tool_calls,
                 episode.tool_errors FROM episode JOIN entry ON entry.space = episode.space
                 AND entry.session = episode.session AND entry.seq = episode.first_seq
                 WHERE episode.space = ?1 AND episode.session = ?2 AND NOT episode.abandoned ORDER BY episode.number",
            )?;
            let rows = statement.query_map(values, |row| {
                let count = |at: usize| row.get::<_, i64>(at).map(|number| number as u64);
                Ok(Prompted {
                    episode: count(0)?,
                    seq: count(1)?,
                    line: count(2)?,
                    at: row.get::<_, Option<i64>>(3)?.map(Timestamp::from_millis),
                    text: row.get(4)?,
                    tool_calls: count(5)?,
                    tool_errors: count(6)?,
                })
            })?;
            rows.collect()
        };
        read().map_err(|cause| self.err(cause))
    }

    /// The session with that id.
    pub fn session_by_id(&self, id: SessionId) -> Result<Option<(SessionNumber, Session)>, StoreError> {
        let values = params![self.space.as_str(), id.to_string()];
        Ok(self.numbered("session.id = ?2 AND session.kind <> 'gone'", values)?.pop())
    }

    /// The sub-agents that a session started, in the order they began.
    pub fn children(&self, session: &Session) -> Result<Vec<Session>, StoreError> {
        if session.kind == SessionKind::Child {
            return Ok(Vec::new());
        }
        let values = params![self.space.as_str(), session.agent.as_str(), session.external_id];
        let condition = "session.agent = ?2 AND session.kind = 'child' AND session.parent_external = ?3
             AND NOT session.empty ORDER BY session.started_at, session.num";
        Ok(self.numbered(condition, values)?.into_iter().map(|(_, session)| session).collect())
    }

    fn numbered(&self, condition: &str, values: impl Params) -> Result<Vec<(SessionNumber, Session)>, StoreError> {
        let sql = format!(
            "SELECT {}, session.num FROM {} WHERE session.space = ?1 AND {condition}",
            sessions::COLUMNS,
            sessions::TABLES
        );
        let read = || -> rusqlite::Result<Vec<(SessionNumber, Session)>> {
            let mut statement = self.connection.prepare_cached(&sql)?;
            let rows = statement.query_map(values, |row| {
                let number = SessionNumber(row.get(sessions::COLUMN_COUNT)?);
                Ok(sessions::from_row(row)?.map(|session| (number, session)))
            })?;
            rows.filter_map(Result::transpose).collect()
        };
        read().map_err(|cause| self.err(cause))
    }
}
