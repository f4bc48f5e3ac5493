//! Periods of work that are over, kept until they are in the archive.

use rethread_model::Agent;
use rusqlite::params;

use crate::{Batch, SessionKey, Store, StoreError};

/// A period that is over, as it will stand in the archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unarchived {
    /// Whose session.
    pub agent: Agent,
    /// The agent's id of it.
    pub external_id: String,
    /// Which period of it.
    pub period: u64,
    /// What the file is called, without an ending.
    pub name: String,
    /// What is in it.
    pub text: String,
}

impl Store {
    /// Some of the periods that are over and not in the archive.
    pub fn unarchived(&self, most: u64) -> Result<Vec<Unarchived>, StoreError> {
        let read = || -> rusqlite::Result<Vec<Unarchived>> {
            let mut statement = self.connection.prepare_cached(
                "SELECT agent, external_id, period, name, text FROM unarchived WHERE space = ?1 LIMIT ?2",
            )?;
            let rows = statement.query_map(params![self.space.as_str(), most as i64], |row| {
                let Ok(agent) = row.get::<_, String>(0)?.parse() else { return Ok(None) };
                let (external_id, period) = (row.get(1)?, row.get::<_, i64>(2)? as u64);
                Ok(Some(Unarchived { agent, external_id, period, name: row.get(3)?, text: row.get(4)? }))
            })?;
            rows.filter_map(Result::transpose).collect()
        };
        read().map_err(|cause| self.err(cause))
    }
}

impl Batch<'_> {
    /// Keeps a period that is over until it is archived.
    pub fn keep_period(&mut self, period: &Unarchived) -> Result<(), StoreError> {
        let Unarchived { agent, external_id, period, name, text } = period;
        self.run(
            "INSERT OR REPLACE INTO unarchived (space, agent, external_id, period, name, text)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![self.space(), agent.as_str(), external_id, *period as i64, name, text],
        )
    }

    /// Notes that a period is in the archive.
    pub fn archived(&mut self, key: SessionKey<'_>, period: u64) -> Result<(), StoreError> {
        self.run(
            "DELETE FROM unarchived WHERE space = ?1 AND agent = ?2 AND external_id = ?3 AND period = ?4",
            params![self.space(), key.agent.as_str(), key.external_id, period as i64],
        )
    }
}
