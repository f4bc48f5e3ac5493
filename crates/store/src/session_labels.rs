//! Labels that users gave a session: its name and its task. A label says nothing about whether a session is active.

use rusqlite::{Connection, OptionalExtension, params};

use crate::lifecycle::BY_EXTERNAL_ID;
use crate::{Batch, ReadStore, SessionKey, StoreError};

/// What users call a session and what it is working on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionLabels {
    /// The name the user gave it.
    pub name: Option<String>,
    /// The task the user attached.
    pub task: Option<String>,
}

impl ReadStore {
    /// The labels of a session; empty if users gave it none.
    pub fn session_labels(&self, key: SessionKey<'_>) -> Result<SessionLabels, StoreError> {
        select_labels(&self.connection, self.space.as_str(), key).map_err(|cause| self.err(cause))
    }
}

impl Batch<'_> {
    /// The labels of a session, including changes of this batch.
    pub fn session_labels(&self, key: SessionKey<'_>) -> Result<SessionLabels, StoreError> {
        select_labels(self.connection(), self.space(), key).map_err(|cause| self.err(cause))
    }

    /// Stores the labels of a session.
    pub fn save_session_labels(&mut self, key: SessionKey<'_>, labels: &SessionLabels) -> Result<(), StoreError> {
        self.run(
            "INSERT OR REPLACE INTO session_label (space, agent, external_id, name, task) VALUES (?1, ?2, ?3, ?4, ?5)",
            params![self.space(), key.agent.as_str(), key.external_id, labels.name, labels.task],
        )
    }
}

fn select_labels(connection: &Connection, space: &str, key: SessionKey<'_>) -> rusqlite::Result<SessionLabels> {
    let sql = format!("SELECT name, task FROM session_label WHERE {BY_EXTERNAL_ID}");
    let mut statement = connection.prepare_cached(&sql)?;
    let values = params![space, key.agent.as_str(), key.external_id];
    let found = statement.query_row(values, |row| Ok(SessionLabels { name: row.get(0)?, task: row.get(1)? }));
    Ok(found.optional()?.unwrap_or_default())
}
