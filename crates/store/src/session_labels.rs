//! Labels that users gave a session: its name and its task. A label says nothing about whether a session is active.

use crate::lifecycle::BY_EXTERNAL_ID;
use crate::sql::{columns, values};
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
        let sql = format!("SELECT name, task FROM session_label WHERE {BY_EXTERNAL_ID}");
        let found = self.sql.one(&sql, values![key.agent, key.external_id], |row| {
            Ok(SessionLabels { name: row.opt_string("name")?, task: row.opt_string("task")? })
        })?;
        Ok(found.unwrap_or_default())
    }
}

impl Batch<'_> {
    /// Stores the labels of a session.
    pub fn save_session_labels(&mut self, key: SessionKey<'_>, labels: &SessionLabels) -> Result<(), StoreError> {
        let key = columns! { agent: key.agent, external_id: key.external_id };
        self.upsert("session_label", key, columns! { name: labels.name, task: labels.task })
    }
}
