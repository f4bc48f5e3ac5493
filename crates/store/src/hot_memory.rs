//! Hot memory: recent actions of a session and notes users attached to it. Also counts the three memory tiers.

use rethread_model::Timestamp;
use rusqlite::params;

use crate::lifecycle::BY_EXTERNAL_ID;
use crate::{Batch, ReadStore, SessionKey, StoreError};

/// A recent action of a session, or a note attached to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HotMemoryRow {
    /// Time of the action or note.
    pub at: Timestamp,
    /// One line of text.
    pub text: String,
    /// True for a note of a user, false for an action.
    pub is_note: bool,
}

/// Size of the three memory tiers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryTiers {
    /// Actions and notes in hot memory.
    pub hot_entries: u64,
    /// Recently active sessions.
    pub recent_sessions: u64,
    /// Older sessions.
    pub older_sessions: u64,
}

impl ReadStore {
    /// Hot memory of a session since a time, oldest first.
    pub fn hot_memory(&self, key: SessionKey<'_>, since: Timestamp) -> Result<Vec<HotMemoryRow>, StoreError> {
        let sql =
            format!("SELECT at, text, is_note FROM hot_memory WHERE {BY_EXTERNAL_ID} AND at >= ?4 ORDER BY number");
        self.query_by_external_id(&sql, key, since.as_millis(), |row| {
            Ok(HotMemoryRow { at: Timestamp::from_millis(row.get(0)?), text: row.get(1)?, is_note: row.get(2)? })
        })
    }

    /// Size of the memory tiers: hot memory since one time, recent sessions since another.
    pub fn memory_tiers(&self, hot_since: Timestamp, warm_since: Timestamp) -> Result<MemoryTiers, StoreError> {
        let count = |sql: &str, moment: Timestamp| -> Result<u64, StoreError> {
            let values = params![self.space.as_str(), moment.as_millis()];
            let number = self.connection.query_row(sql, values, |row| row.get::<_, i64>(0));
            Ok(number.map_err(|cause| self.err(cause))? as u64)
        };
        let sessions = "SELECT count(*) FROM session WHERE space = ?1 AND kind = 'main' AND NOT is_empty AND";
        Ok(MemoryTiers {
            hot_entries: count("SELECT count(*) FROM hot_memory WHERE space = ?1 AND at >= ?2", hot_since)?,
            recent_sessions: count(&format!("{sessions} last_activity_at >= ?2"), warm_since)?,
            older_sessions: count(&format!("{sessions} coalesce(last_activity_at, ?2 - 1) < ?2"), warm_since)?,
        })
    }
}

impl Batch<'_> {
    /// Adds an action or a note. Only the newest `limit` of the same sort stay, so that actions do not displace notes.
    pub fn add_hot_memory(&mut self, key: SessionKey<'_>, hot: &HotMemoryRow, limit: u64) -> Result<(), StoreError> {
        let (agent, id) = (key.agent.as_str(), key.external_id);
        self.run(
            &format!(
                "INSERT INTO hot_memory (space, agent, external_id, number, at, text, is_note)
                 SELECT ?1, ?2, ?3, coalesce(max(number), 0) + 1, ?4, ?5, ?6 FROM hot_memory WHERE {BY_EXTERNAL_ID}"
            ),
            params![self.space(), agent, id, hot.at.as_millis(), hot.text, hot.is_note],
        )?;
        self.run(
            &format!(
                "DELETE FROM hot_memory WHERE {BY_EXTERNAL_ID} AND number IN (SELECT number FROM hot_memory
                 WHERE {BY_EXTERNAL_ID} AND is_note = ?4 ORDER BY number DESC LIMIT -1 OFFSET ?5)"
            ),
            params![self.space(), agent, id, hot.is_note, limit as i64],
        )
    }

    /// Removes hot memory of all sessions from before a time, and returns how many rows there were.
    pub fn evict_hot_memory(&mut self, before: Timestamp) -> Result<u64, StoreError> {
        self.count_changed(
            "DELETE FROM hot_memory WHERE space = ?1 AND at < ?2",
            params![self.space(), before.as_millis()],
        )
    }
}
