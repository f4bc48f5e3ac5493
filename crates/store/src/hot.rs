//! Hot memory: what a session did that matters now, and what people noted for it. And how much lies in which tier.

use rethread_model::Timestamp;
use rusqlite::params;

use crate::life::WHO;
use crate::{Batch, SessionKey, Store, StoreError};

/// Something a session has at hand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hot {
    /// When.
    pub at: Timestamp,
    /// What.
    pub text: String,
    /// Whether somebody noted it; otherwise it was done.
    pub is_note: bool,
}

/// How much lies in which tier of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tiers {
    /// Hot entries of the last day, notes among them.
    pub hot: u64,
    /// Sessions of the last week.
    pub warm: u64,
    /// Sessions before that.
    pub cold: u64,
}

impl Store {
    /// What a session has at hand since a moment, oldest first.
    pub fn hot(&self, key: SessionKey<'_>, since: Timestamp) -> Result<Vec<Hot>, StoreError> {
        let sql = format!("SELECT at, text, is_note FROM hot WHERE {WHO} AND at >= ?4 ORDER BY num");
        self.of_session(&sql, key, since.as_millis(), |row| {
            Ok(Hot { at: Timestamp::from_millis(row.get(0)?), text: row.get(1)?, is_note: row.get(2)? })
        })
    }

    /// How much lies in which tier: hot since one moment, warm since another.
    pub fn tiers(&self, hot_since: Timestamp, warm_since: Timestamp) -> Result<Tiers, StoreError> {
        let count = |sql: &str, moment: Timestamp| -> Result<u64, StoreError> {
            let values = params![self.space.as_str(), moment.as_millis()];
            let number = self.connection.query_row(sql, values, |row| row.get::<_, i64>(0));
            Ok(number.map_err(|cause| self.err(cause))? as u64)
        };
        let sessions = "SELECT count(*) FROM session WHERE space = ?1 AND kind = 'main' AND NOT empty AND";
        Ok(Tiers {
            hot: count("SELECT count(*) FROM hot WHERE space = ?1 AND at >= ?2", hot_since)?,
            warm: count(&format!("{sessions} last_at >= ?2"), warm_since)?,
            cold: count(&format!("{sessions} coalesce(last_at, ?2 - 1) < ?2"), warm_since)?,
        })
    }
}

impl Batch<'_> {
    /// Adds a hot entry; of its sort only the newest so many stay, so that deeds push out no notes.
    pub fn add_hot(&mut self, key: SessionKey<'_>, hot: &Hot, most: u64) -> Result<(), StoreError> {
        let (agent, id) = (key.agent.as_str(), key.external_id);
        self.run(
            &format!(
                "INSERT INTO hot (space, agent, external_id, num, at, text, is_note)
                 SELECT ?1, ?2, ?3, coalesce(max(num), 0) + 1, ?4, ?5, ?6 FROM hot WHERE {WHO}"
            ),
            params![self.space(), agent, id, hot.at.as_millis(), hot.text, hot.is_note],
        )?;
        self.run(
            &format!(
                "DELETE FROM hot WHERE {WHO} AND num IN (SELECT num FROM hot WHERE {WHO} AND is_note = ?4
                 ORDER BY num DESC LIMIT -1 OFFSET ?5)"
            ),
            params![self.space(), agent, id, hot.is_note, most as i64],
        )
    }

    /// Removes hot entries of all sessions from before a moment; how many there were.
    pub fn evict_hot(&mut self, before: Timestamp) -> Result<u64, StoreError> {
        self.count_changed("DELETE FROM hot WHERE space = ?1 AND at < ?2", params![self.space(), before.as_millis()])
    }
}
