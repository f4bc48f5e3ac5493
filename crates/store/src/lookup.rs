//! Looks up sessions, episodes and entries by number, for search results.

use std::collections::HashSet;
use std::ops::RangeInclusive;

use rethread_model::{Entry, EntryKind, Episode, Session, SessionId};

use crate::sql::values;
use crate::{EpisodeKey, ReadStore, SessionNumber, StoreError, entries, sessions};

impl ReadStore {
    /// The session with that number, even if it was removed.
    pub fn session_by_number(&self, number: SessionNumber) -> Result<Option<Session>, StoreError> {
        Ok(self.select_sessions("session.number = ?2", values![number], sessions::from_row)?.pop())
    }

    /// The number of the session with that id.
    pub fn session_number(&self, id: SessionId) -> Result<Option<SessionNumber>, StoreError> {
        let sql = "SELECT number FROM session WHERE space = ?1 AND id = ?2";
        self.sql.one(sql, values![id.to_string()], |row| row.session("number"))
    }

    /// The entry at a position of a session.
    pub fn entry_at(&self, session: SessionNumber, seq: u64) -> Result<Option<Entry>, StoreError> {
        let sql = format!("SELECT {} FROM entry WHERE space = ?1 AND session = ?2 AND seq = ?3", entries::COLUMNS);
        self.sql.one(&sql, values![session, seq], entries::from_row)
    }

    /// The first characters of the texts of a range of entries, with their sequence numbers.
    pub fn text_starts(
        &self,
        session: SessionNumber,
        seqs: RangeInclusive<u64>,
        chars: u64,
    ) -> Result<Vec<(u64, String)>, StoreError> {
        self.sql.all(
            "SELECT seq, substr(text, 1, CAST(?5 AS INTEGER)) AS text FROM entry
             WHERE space = ?1 AND session = ?2 AND seq BETWEEN ?3 AND ?4 ORDER BY seq",
            values![session, *seqs.start(), *seqs.end(), chars],
            |row| Ok((row.u64("seq")?, row.string("text")?)),
        )
    }

    /// Texts of the last messages of user and agent before an entry, oldest first.
    pub fn messages_before(&self, session: SessionNumber, seq: u64, limit: u64) -> Result<Vec<String>, StoreError> {
        let mut texts = self.sql.all(
            "SELECT text FROM entry WHERE space = ?1 AND session = ?2 AND seq < ?3
             AND NOT (is_abandoned OR is_retracted)
             AND kind IN ('prompt', 'task', 'answer', 'assistant') ORDER BY seq DESC LIMIT ?4",
            values![session, seq, limit],
            |row| row.string("text"),
        )?;
        texts.reverse();
        Ok(texts)
    }

    /// The texts and call targets at the start of a session, in order.
    pub fn first_texts(&self, session: SessionNumber, limit: u64) -> Result<Vec<(EntryKind, String)>, StoreError> {
        self.sql.all(
            "SELECT kind, text || coalesce(target, '') AS text FROM entry WHERE space = ?1 AND session = ?2
             AND NOT (is_abandoned OR is_retracted)
             AND kind IN ('prompt', 'task', 'answer', 'assistant', 'call') ORDER BY seq LIMIT ?3",
            values![session, limit],
            |row| Ok((EntryKind::from_stored(row.text("kind")?), row.string("text")?)),
        )
    }

    /// The highest session number, which is the number of sessions ever stored.
    pub fn max_session_number(&self) -> Result<u64, StoreError> {
        self.sql.count("SELECT max(number) FROM session WHERE space = ?1", &[])
    }

    /// The numbers of the sessions of exactly that project. Uses an index, unlike `session_numbers`.
    pub fn session_numbers_in_project(&self, project: &str) -> Result<Vec<SessionNumber>, StoreError> {
        let index = self.sql.index("session_by_project");
        let sql = format!("SELECT number FROM session {index} WHERE space = ?1 AND project = ?2 ORDER BY number");
        self.sql.all(&sql, values![project], |row| row.session("number"))
    }

    /// Sessions with entries that a rewrite of their transcript dropped.
    pub fn rewritten_sessions(&self) -> Result<HashSet<SessionNumber>, StoreError> {
        let index = self.sql.index("entry_superseded");
        let is_superseded = self.sql.dialect().is_set("is_superseded");
        let sql = format!("SELECT DISTINCT session FROM entry {index} WHERE space = ?1 AND {is_superseded}");
        Ok(self.sql.all(&sql, &[], |row| row.session("session"))?.into_iter().collect())
    }

    /// The episode with that key.
    pub fn episode_at(&self, key: EpisodeKey) -> Result<Option<Episode>, StoreError> {
        let columns = entries::EPISODE_COLUMNS;
        let sql = format!("SELECT {columns} FROM episode WHERE space = ?1 AND session = ?2 AND number = ?3");
        self.sql.one(&sql, values![key.session, key.number], entries::episode)
    }

    /// The entries of an episode, without retracted ones and those on abandoned branches.
    pub fn episode_entries(&self, key: EpisodeKey) -> Result<Vec<Entry>, StoreError> {
        let sql = format!(
            "SELECT {} FROM entry WHERE space = ?1 AND session = ?2
             AND seq BETWEEN (SELECT first_seq FROM episode WHERE space = ?1 AND session = ?2 AND number = ?3)
             AND (SELECT last_seq FROM episode WHERE space = ?1 AND session = ?2 AND number = ?3)
             AND episode = ?3 AND (is_superseded OR NOT (is_abandoned OR is_retracted)) ORDER BY seq",
            entries::COLUMNS
        );
        self.sql.all(&sql, values![key.session, key.number], entries::from_row)
    }
}
