//! Looks up sessions, episodes and entries by number, for search results.

use std::collections::HashSet;

use rethread_model::{Entry, Episode, Session};
use rusqlite::{OptionalExtension, params};

use crate::{EpisodeKey, ReadStore, SessionNumber, StoreError, entries, sessions};

impl ReadStore {
    /// The session with that number, even if it was removed.
    pub fn session_by_number(&self, number: SessionNumber) -> Result<Option<Session>, StoreError> {
        let read = || -> rusqlite::Result<Option<Session>> {
            let (columns, tables) = (sessions::COLUMNS, sessions::TABLES);
            let sql = format!("SELECT {columns} FROM {tables} WHERE session.space = ?1 AND session.number = ?2");
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
                .prepare_cached("SELECT number FROM session WHERE space = ?1 AND id = ?2")?
                .query_row(params![self.space.as_str(), id.to_string()], |row| row.get(0).map(SessionNumber))
                .optional()
        };
        read().map_err(|cause| self.err(cause))
    }

    /// The entry at a position of a session.
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

    /// Texts of the last messages of user and agent before an entry, oldest first.
    pub fn messages_before(&self, session: SessionNumber, seq: u64, limit: u64) -> Result<Vec<String>, StoreError> {
        let read = || -> rusqlite::Result<Vec<String>> {
            let mut statement = self.connection.prepare_cached(
                "SELECT text FROM entry WHERE space = ?1 AND session = ?2 AND seq < ?3
                 AND NOT (is_abandoned OR is_retracted)
                 AND kind IN ('prompt', 'task', 'answer', 'assistant') ORDER BY seq DESC LIMIT ?4",
            )?;
            let values = params![self.space.as_str(), session.0, seq as i64, limit as i64];
            let mut texts =
                statement.query_map(values, |row| row.get(0))?.collect::<rusqlite::Result<Vec<String>>>()?;
            texts.reverse();
            Ok(texts)
        };
        read().map_err(|cause| self.err(cause))
    }

    /// The highest session number, which is the number of sessions ever stored.
    pub fn max_session_number(&self) -> Result<u64, StoreError> {
        let read = || {
            self.connection
                .prepare_cached("SELECT coalesce(max(number), 0) FROM session WHERE space = ?1")?
                .query_row([self.space.as_str()], |row| row.get::<_, i64>(0))
        };
        read().map(|count| count as u64).map_err(|cause| self.err(cause))
    }

    /// The numbers of the sessions of exactly that project. Uses an index, unlike `session_numbers`.
    pub fn session_numbers_in_project(&self, project: &str) -> Result<Vec<SessionNumber>, StoreError> {
        let read = || -> rusqlite::Result<Vec<SessionNumber>> {
            let mut statement = self.connection.prepare_cached(
                "SELECT number FROM session INDEXED BY session_by_project WHERE space = ?1 AND project = ?2",
            )?;
            let values = params![self.space.as_str(), project];
            statement.query_map(values, |row| row.get(0).map(SessionNumber))?.collect()
        };
        read().map_err(|cause| self.err(cause))
    }

    /// Sessions with entries that a rewrite of their transcript dropped.
    pub fn rewritten_sessions(&self) -> Result<HashSet<SessionNumber>, StoreError> {
        let read = || -> rusqlite::Result<HashSet<SessionNumber>> {
            let mut statement = self.connection.prepare_cached(
                "SELECT DISTINCT session FROM entry INDEXED BY entry_superseded
                 WHERE space = ?1 AND is_superseded = 1",
            )?;
            statement.query_map([self.space.as_str()], |row| row.get(0).map(SessionNumber))?.collect()
        };
        read().map_err(|cause| self.err(cause))
    }

    /// The episode with that key.
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

    /// The entries of an episode, without retracted ones and those on abandoned branches.
    pub fn episode_entries(&self, key: EpisodeKey) -> Result<Vec<Entry>, StoreError> {
        let read = || -> rusqlite::Result<Vec<Entry>> {
            let sql = format!(
                "SELECT {} FROM entry WHERE space = ?1 AND session = ?2
                 AND seq BETWEEN (SELECT first_seq FROM episode WHERE space = ?1 AND session = ?2 AND number = ?3)
                 AND (SELECT last_seq FROM episode WHERE space = ?1 AND session = ?2 AND number = ?3)
                 AND episode = ?3 AND (is_superseded OR NOT (is_abandoned OR is_retracted)) ORDER BY seq",
                entries::COLUMNS
            );
            let values = params![self.space.as_str(), key.session.0, key.number as i64];
            self.connection.prepare_cached(&sql)?.query_map(values, entries::from_row)?.collect()
        };
        read().map_err(|cause| self.err(cause))
    }
}
