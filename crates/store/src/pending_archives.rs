//! Finished periods of work, stored until they are written to the archive.

use rethread_model::Agent;
use rusqlite::params;

use crate::{Batch, ReadStore, SessionKey, StoreError};

/// A finished period, with the archive file that will be written for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingArchive {
    /// The agent that ran the session.
    pub agent: Agent,
    /// The agent's id of the session.
    pub external_id: String,
    /// Number of the period, from 1.
    pub period: u64,
    /// Name of the archive file, without extension.
    pub file_name: String,
    /// Content of the archive file.
    pub content: String,
}

impl ReadStore {
    /// Up to `limit` finished periods that are not in the archive.
    pub fn pending_archives(&self, limit: u64) -> Result<Vec<PendingArchive>, StoreError> {
        let read = || -> rusqlite::Result<Vec<PendingArchive>> {
            let mut statement = self.connection.prepare_cached(
                "SELECT agent, external_id, period, file_name, content FROM pending_archive WHERE space = ?1 LIMIT ?2",
            )?;
            let rows = statement.query_map(params![self.space.as_str(), limit as i64], |row| {
                let Ok(agent) = row.get::<_, String>(0)?.parse() else { return Ok(None) };
                let (external_id, period) = (row.get(1)?, row.get::<_, i64>(2)? as u64);
                Ok(Some(PendingArchive { agent, external_id, period, file_name: row.get(3)?, content: row.get(4)? }))
            })?;
            rows.filter_map(Result::transpose).collect()
        };
        read().map_err(|cause| self.err(cause))
    }
}

impl Batch<'_> {
    /// Stores a finished period until it is archived.
    pub fn add_pending_archive(&mut self, period: &PendingArchive) -> Result<(), StoreError> {
        let PendingArchive { agent, external_id, period, file_name: name, content: text } = period;
        self.run(
            "INSERT OR REPLACE INTO pending_archive (space, agent, external_id, period, file_name, content)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![self.space(), agent.as_str(), external_id, *period as i64, name, text],
        )
    }

    /// Removes a period that was written to the archive.
    pub fn remove_pending_archive(&mut self, key: SessionKey<'_>, period: u64) -> Result<(), StoreError> {
        self.run(
            "DELETE FROM pending_archive WHERE space = ?1 AND agent = ?2 AND external_id = ?3 AND period = ?4",
            params![self.space(), key.agent.as_str(), key.external_id, period as i64],
        )
    }
}
