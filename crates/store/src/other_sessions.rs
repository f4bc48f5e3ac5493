//! Other sessions of a project, and what they did since a reader last saw them.

use rethread_model::{Entry, Session, Timestamp};
use rusqlite::params;

use crate::{SessionKey, SessionNumber, Store, StoreError, entries, sessions};

/// Entries read per session: more than fit into any summary.
const MAX_ENTRIES: i64 = 400;

/// What a session did since a reader last saw it.
#[derive(Clone, Debug, Default)]
pub struct EntriesSince {
    /// New entries on the current branch, oldest first.
    pub entries: Vec<Entry>,
    /// Prompts and answers among them; entries of the same API message count once.
    pub message_count: u64,
    /// Seq of the last entry of the session.
    pub last_seq: Option<u64>,
}

impl Store {
    /// Runs several reads in one transaction: they see the same state, and the lock is taken once.
    pub fn in_read_transaction<T, E: From<StoreError>>(
        &self,
        read: impl FnOnce(&Self) -> Result<T, E>,
    ) -> Result<T, E> {
        if !self.connection.is_autocommit() {
            // A caller has already started the transaction.
            return read(self);
        }
        let transaction = self.connection.unchecked_transaction().map_err(|cause| self.err(cause))?;
        let found = read(self)?;
        transaction.finish().map_err(|cause| self.err(cause))?;
        Ok(found)
    }

    /// Main sessions of a project that were active since a time, most recent first.
    pub fn active_sessions(
        &self,
        project: &str,
        since: Timestamp,
    ) -> Result<Vec<(SessionNumber, Session)>, StoreError> {
        let read = || -> rusqlite::Result<Vec<(SessionNumber, Session)>> {
            let sql = format!(
                "SELECT {}, session.number FROM {} WHERE session.space = ?1 AND session.project = ?2
                 AND session.last_activity_at >= ?3 AND session.kind = 'main' AND NOT session.is_empty
                 ORDER BY session.last_activity_at DESC",
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

    /// The numbers of main sessions of a project that were active since a time.
    pub fn active_session_numbers(&self, project: &str, since: Timestamp) -> Result<Vec<SessionNumber>, StoreError> {
        let read = || -> rusqlite::Result<Vec<SessionNumber>> {
            let mut statement = self.connection.prepare_cached(
                "SELECT number FROM session WHERE space = ?1 AND project = ?2 AND last_activity_at >= ?3
                 AND kind = 'main'",
            )?;
            let values = params![self.space.as_str(), project, since.as_millis()];
            statement.query_map(values, |row| row.get(0).map(SessionNumber))?.collect()
        };
        read().map_err(|cause| self.err(cause))
    }

    /// The session with that external id; `None` until its transcript was read, and if it was removed.
    pub fn session_by_external_id(&self, key: SessionKey<'_>) -> Result<Option<(SessionNumber, Session)>, StoreError> {
        let read = || -> rusqlite::Result<Option<(SessionNumber, Session)>> {
            let sql = format!(
                "SELECT {}, session.number FROM {} WHERE session.space = ?1 AND session.agent = ?2
                 AND session.external_id = ?3 AND session.kind <> 'removed'",
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

    /// What a session did after an entry and since a time.
    pub fn entries_since(
        &self,
        session: SessionNumber,
        after: Option<u64>,
        moment: Timestamp,
    ) -> Result<EntriesSince, StoreError> {
        let read = || -> rusqlite::Result<EntriesSince> {
            let sql = format!(
                "SELECT {} FROM entry WHERE space = ?1 AND session = ?2 AND seq > ?3 AND coalesce(at, ?4) >= ?4
                 AND NOT (is_abandoned OR is_retracted) AND kind NOT IN ('reasoning', 'command', 'notice', 'injected')
                 ORDER BY seq DESC LIMIT ?5",
                entries::COLUMNS
            );
            let after = after.map_or(-1, |seq| seq as i64);
            let moment = moment.as_millis();
            let values = params![self.space.as_str(), session.0, after, moment, MAX_ENTRIES];
            let mut entries: Vec<Entry> = self
                .connection
                .prepare_cached(&sql)?
                .query_map(values, entries::from_row)?
                .collect::<Result<_, _>>()?;
            entries.reverse();
            let messages = self
                .connection
                .prepare_cached(
                    "SELECT count(CASE WHEN kind = 'prompt' THEN 1 END)
                 + count(DISTINCT CASE WHEN kind IN ('assistant', 'call') THEN message_key END)
                 FROM entry WHERE space = ?1 AND session = ?2 AND seq > ?3 AND coalesce(at, ?4) >= ?4
                 AND NOT (is_abandoned OR is_retracted)",
                )?
                .query_row(params![self.space.as_str(), session.0, after, moment], |row| row.get::<_, i64>(0))?;
            let last_seq = self
                .connection
                .prepare_cached("SELECT max(seq) FROM entry WHERE space = ?1 AND session = ?2")?
                .query_row(params![self.space.as_str(), session.0], |row| row.get::<_, Option<i64>>(0))?;
            Ok(EntriesSince { entries, message_count: messages as u64, last_seq: last_seq.map(|seq| seq as u64) })
        };
        read().map_err(|cause| self.err(cause))
    }
}
