//! Finished periods of work, stored until they are written to the archive.

use rethread_model::Agent;

use crate::lifecycle::BY_EXTERNAL_ID;
use crate::sql::{columns, values};
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
        self.sql.known(
            "SELECT agent, external_id, period, file_name, content FROM pending_archive WHERE space = ?1
             ORDER BY agent, external_id, period LIMIT ?2",
            values![limit],
            |row| {
                let Some(agent) = row.parsed("agent")? else { return Ok(None) };
                Ok(Some(PendingArchive {
                    agent,
                    external_id: row.string("external_id")?,
                    period: row.u64("period")?,
                    file_name: row.string("file_name")?,
                    content: row.string("content")?,
                }))
            },
        )
    }
}

impl Batch<'_> {
    /// Stores a finished period until it is archived.
    pub fn add_pending_archive(&mut self, period: &PendingArchive) -> Result<(), StoreError> {
        let PendingArchive { agent, external_id, period, file_name, content } = period;
        self.upsert(
            "pending_archive",
            columns! { agent: agent, external_id: external_id, period: period },
            columns! { file_name: file_name, content: content },
        )
    }

    /// Removes a period that was written to the archive.
    pub fn remove_pending_archive(&mut self, key: SessionKey<'_>, period: u64) -> Result<(), StoreError> {
        let sql = format!("DELETE FROM pending_archive WHERE {BY_EXTERNAL_ID} AND period = ?4");
        self.sql.run(&sql, values![key.agent, key.external_id, period])
    }
}
