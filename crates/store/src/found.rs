//! Looking up what an index found: entries, episodes and sessions by their numbers.

use rethread_model::{Entry, Episode, Session};
use rusqlite::{OptionalExtension, params};

use crate::{EpisodeKey, SessionNumber, Store, StoreError, entries, sessions};

impl Store {
    /// The session with that number.
    pub fn session_by_number(&self, number: SessionNumber) -> Result<Option<Session>, StoreError> {
        let read = || -> rusqlite::Result<Option<Session>> {
            let (columns, tables) = (sessions::COLUMNS, sessions::TABLES);
            let sql = format!("SELECT {columns} FROM {tables} WHERE session.space = ?1 AND session.num = ?2");
            let mut statement = self.connection.prepare_cached(&sql)?;
            let found = statement.query_row(params![self.space.as_str(), number.0], sessions::from_row).optional()?;
            Ok(found.flatten())
        };
        read().map_err(|cause| self.err(cause))
    }

    /// The number of the session with that id.
    pub fn session_number(&self, id: rethread_model::SessionId) -> Result<Option<SessionNumber>, StoreError> {
        let read = || {
            self.connection
                .prepare_cached("SELECT num FROM session WHERE space = ?1 AND id = ?2")?
                .query_row(params![self.space.as_str(), id.to_string()], |row| row.get(0).map(SessionNumber))
                .optional()
        };
        read().map_err(|cause| self.err(cause))
    }

    /// One entry of a session.
    pub fn entry_at(&self, session: SessionNumber, seq: u64) -> Result<Option<Entry>, StoreError> {
        let read = || {
            let sql = format!("SELECT {} FROM entry WHERE space = ?1 AND session = ?2 AND seq = ?3", entries::COLUMNS);
            self.connection
                .prepare_cached(&sql)?
                .query_row(params![self.space.as_str(), session.0, seq as i64], entries::from_row)
                .optional()
        };
        read().map_err(|cause| self.err(cause))
    }

    /// The last texts of human and agent before an entry, oldest first.
    pub fn said_before(&self, session: SessionNumber, seq: u64, most: u64) -> Result<Vec<String>, StoreError> {
        let read = || -> rusqlite::Result<Vec<String>> {
            let mut statement = self.connection.prepare_cached(
                "SELECT text FROM entry WHERE space = ?1 AND session = ?2 AND seq < ?3 AND NOT (abandoned OR taken_back)
                 AND speech IN ('prompt', 'task', 'answer', 'said') ORDER BY seq DESC LIMIT ?4",
            )?;
            let values = params![self.space.as_str(), session.0, seq as i64, most as i64];
            let mut texts =
                statement.query_map(values, |row| row.get(0))?.collect::<rusqlite::Result<Vec<String>>>()?;
            texts.reverse();
            Ok(texts)
        };
        read().map_err(|cause| self.err(cause))
    }

    /// How many sessions there are; they are numbered from 1 on.
    pub fn session_count(&self) -> Result<u64, StoreError> {
        let read = || {
            self.connection
                .prepare_cached("SELECT coalesce(max(num), 0) FROM session WHERE space = ?1")?
                .query_row([self.space.as_str()], |row| row.get::<_, i64>(0))
        };
        read().map(|count| count as u64).map_err(|cause| self.err(cause))
    }

    /// The numbers of the sessions of exactly that project, found without looking at the others.
    pub fn sessions_of_project(&self, project: &str) -> Result<Vec<SessionNumber>, StoreError> {
        let read = || -> rusqlite::Result<Vec<SessionNumber>> {
            let mut statement = self.connection.prepare_cached(
                "SELECT num FROM session INDEXED BY session_by_project WHERE space = ?1 AND project = ?2",
            )?;
            let values = params![self.space.as_str(), project];
            statement.query_map(values, |row| row.get(0).map(SessionNumber))?.collect()
        };
        read().map_err(|cause| self.err(cause))
    }

    /// One episode.
    pub fn episode_at(&self, key: EpisodeKey) -> Result<Option<Episode>, StoreError> {
        let read = || {
            let sql = format!(
                "SELECT {} FROM episode WHERE space = ?1 AND session = ?2 AND number = ?3",
                entries::EPISODE_COLUMNS
            );
            self.connection
                .prepare_cached(&sql)?
                .query_row(params![self.space.as_str(), key.session.0, key.number as i64], entries::episode)
                .optional()
        };
        read().map_err(|cause| self.err(cause))
    }

    /// The entries of one episode, without those that were taken back or lie on a branch that was left.
    pub fn entries_of(&self, key: EpisodeKey) -> Result<Vec<Entry>, StoreError> {
        let read = || -> rusqlite::Result<Vec<Entry>> {
            let sql = format!(
                "SELECT {} FROM entry WHERE space = ?1 AND session = ?2
                 AND seq BETWEEN (SELECT first_seq FROM episode WHERE space = ?1 AND session = ?2 AND number = ?3)
                 AND (SELECT last_seq FROM episode WHERE space = ?1 AND session = ?2 AND number = ?3)
                 AND episode = ?3 AND NOT (abandoned OR taken_back) ORDER BY seq",
                entries::COLUMNS
            );
            let values = params![self.space.as_str(), key.session.0, key.number as i64];
            self.connection.prepare_cached(&sql)?.query_map(values, entries::from_row)?.collect()
        };
        read().map_err(|cause| self.err(cause))
    }
}
