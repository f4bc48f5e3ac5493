//! Sessions at work beside another one, and what they did since they were last looked at.

use rethread_model::{Entry, Session, Timestamp};
use rusqlite::params;

use crate::{SessionKey, SessionNumber, Store, StoreError, entries, sessions};

/// Entries that are read of one session: more than fit into any summary.
const MOST_ENTRIES: i64 = 400;

/// What a session did since it was last looked at.
#[derive(Clone, Debug, Default)]
pub struct Deeds {
    /// Oldest first, without what lies on branches that were left.
    pub entries: Vec<Entry>,
    /// Prompts and answers among them, those of one API message counted once.
    pub messages: u64,
    /// The last entry of the session.
    pub last_seq: Option<u64>,
}

impl Store {
    /// Reads as of one moment, and without asking for a lock at every question.
    pub fn at_one_moment<T, E: From<StoreError>>(&self, read: impl FnOnce(&Self) -> Result<T, E>) -> Result<T, E> {
        if !self.connection.is_autocommit() {
            // Somebody further out already holds the moment.
            return read(self);
        }
        let moment = self.connection.unchecked_transaction().map_err(|cause| self.err(cause))?;
        let found = read(self)?;
        moment.finish().map_err(|cause| self.err(cause))?;
        Ok(found)
    }

    /// Sessions of humans in a project in which something happened since a moment, newest first.
    pub fn live_sessions(&self, project: &str, since: Timestamp) -> Result<Vec<(SessionNumber, Session)>, StoreError> {
        let read = || -> rusqlite::Result<Vec<(SessionNumber, Session)>> {
            let sql = format!(
                "SELECT {}, session.num FROM {} WHERE session.space = ?1 AND session.project = ?2
                 AND session.last_at >= ?3 AND session.kind = 'main' AND NOT session.empty
                 ORDER BY session.last_at DESC",
                sessions::COLUMNS,
                sessions::TABLES
            );
            let mut statement = self.connection.prepare_cached(&sql)?;
            let rows = statement.query_map(params![self.space.as_str(), project, since.as_millis()], |row| {
                let number = SessionNumber(row.get(sessions::COLUMN_COUNT)?);
                Ok(sessions::from_row(row)?.map(|session| (number, session)))
            })?;
            rows.filter_map(Result::transpose).collect()
        };
        read().map_err(|cause| self.err(cause))
    }

    /// The numbers of sessions of a project in which something happened since a moment. No sub-agents.
    pub fn sessions_since(&self, project: &str, since: Timestamp) -> Result<Vec<SessionNumber>, StoreError> {
        let read = || -> rusqlite::Result<Vec<SessionNumber>> {
            let mut statement = self.connection.prepare_cached(
                "SELECT num FROM session WHERE space = ?1 AND project = ?2 AND last_at >= ?3 AND kind = 'main'",
            )?;
            let values = params![self.space.as_str(), project, since.as_millis()];
            statement.query_map(values, |row| row.get(0).map(SessionNumber))?.collect()
        };
        read().map_err(|cause| self.err(cause))
    }

    /// The session with that id of the agent, once its transcript was read.
    pub fn session_of(&self, key: SessionKey<'_>) -> Result<Option<(SessionNumber, Session)>, StoreError> {
        let read = || -> rusqlite::Result<Option<(SessionNumber, Session)>> {
            let sql = format!(
                "SELECT {}, session.num FROM {} WHERE session.space = ?1 AND session.agent = ?2
                 AND session.external_id = ?3 AND session.kind <> 'gone'",
                sessions::COLUMNS,
                sessions::TABLES
            );
            let values = params![self.space.as_str(), key.agent.as_str(), key.external_id];
            let mut statement = self.connection.prepare_cached(&sql)?;
            let mut rows = statement.query_map(values, |row| {
                let number = SessionNumber(row.get(sessions::COLUMN_COUNT)?);
                Ok(sessions::from_row(row)?.map(|session| (number, session)))
            })?;
            Ok(rows.next().transpose()?.flatten())
        };
        read().map_err(|cause| self.err(cause))
    }

    /// What a session did after an entry and since a moment.
    pub fn deeds_since(
        &self,
        session: SessionNumber,
        after: Option<u64>,
        moment: Timestamp,
    ) -> Result<Deeds, StoreError> {
        let read = || -> rusqlite::Result<Deeds> {
            let sql = format!(
                "SELECT {} FROM entry WHERE space = ?1 AND session = ?2 AND seq > ?3 AND coalesce(at, ?4) >= ?4
                 AND NOT (abandoned OR taken_back) AND speech NOT IN ('reasoning', 'command', 'notice', 'injected')
                 ORDER BY seq DESC LIMIT ?5",
                entries::COLUMNS
            );
            let after = after.map_or(-1, |seq| seq as i64);
            let moment = moment.as_millis();
            let values = params![self.space.as_str(), session.0, after, moment, MOST_ENTRIES];
            let mut found: Vec<Entry> = self
                .connection
                .prepare_cached(&sql)?
                .query_map(values, entries::from_row)?
                .collect::<Result<_, _>>()?;
            found.reverse();
            let messages = self
                .connection
                .prepare_cached(
                    "SELECT count(CASE WHEN speech = 'prompt' THEN 1 END)
                 + count(DISTINCT CASE WHEN speech IN ('said', 'call') THEN message END)
                 FROM entry WHERE space = ?1 AND session = ?2 AND seq > ?3 AND coalesce(at, ?4) >= ?4
                 AND NOT (abandoned OR taken_back)",
                )?
                .query_row(params![self.space.as_str(), session.0, after, moment], |row| row.get::<_, i64>(0))?;
            let last_seq = self
                .connection
                .prepare_cached("SELECT max(seq) FROM entry WHERE space = ?1 AND session = ?2")?
                .query_row(params![self.space.as_str(), session.0], |row| row.get::<_, Option<i64>>(0))?;
            Ok(Deeds { entries: found, messages: messages as u64, last_seq: last_seq.map(|seq| seq as u64) })
        };
        read().map_err(|cause| self.err(cause))
    }
}
