//! Hot memory: recent actions of a session and notes users attached to it. Also counts the three memory tiers.

use rethread_model::Timestamp;

use crate::lifecycle::BY_EXTERNAL_ID;
use crate::sql::{columns, values};
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
        self.sql.all(&sql, values![key.agent, key.external_id, since], |row| {
            Ok(HotMemoryRow { at: row.time("at")?, text: row.string("text")?, is_note: row.flag("is_note")? })
        })
    }

    /// Size of the memory tiers: hot memory since one time, recent sessions since another.
    pub fn memory_tiers(&self, hot_since: Timestamp, warm_since: Timestamp) -> Result<MemoryTiers, StoreError> {
        let sessions = "SELECT count(*) FROM session WHERE space = ?1 AND kind = 'main' AND NOT is_empty AND";
        let count = |sql: &str, since: Timestamp| self.sql.count(sql, values![since]);
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
        let (agent, external_id) = (key.agent, key.external_id);
        let last = format!("SELECT max(number) FROM hot_memory WHERE {BY_EXTERNAL_ID}");
        let number = self.sql.count(&last, values![agent, external_id])? + 1;
        let HotMemoryRow { at, text, is_note } = hot;
        let key = columns! { agent: agent, external_id: external_id, number: number };
        self.upsert("hot_memory", key, columns! { at: at, text: text, is_note: is_note })?;
        self.sql.run(
            &format!(
                "DELETE FROM hot_memory WHERE {BY_EXTERNAL_ID} AND is_note = ?4 AND number <= (SELECT number
                 FROM hot_memory WHERE {BY_EXTERNAL_ID} AND is_note = ?4 ORDER BY number DESC LIMIT 1 OFFSET ?5)"
            ),
            values![agent, external_id, is_note, limit],
        )
    }

    /// Removes hot memory of all sessions from before a time, and returns how many rows there were.
    pub fn evict_hot_memory(&mut self, before: Timestamp) -> Result<u64, StoreError> {
        self.sql.change("DELETE FROM hot_memory WHERE space = ?1 AND at < ?2", values![before])
    }
}
