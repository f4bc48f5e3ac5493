//! Which sessions changed recently, for live views.

use rethread_model::{Agent, SessionId, Timestamp};

use crate::sql::{Row, values};
use crate::{ReadStore, StoreError};

/// A session that changed or was removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedSession {
    /// Our id of the session.
    pub id: SessionId,
    /// The agent that wrote the transcript.
    pub agent: Agent,
    /// Its current name.
    pub name: Option<String>,
}

impl ReadStore {
    /// Sessions with a higher change number than `change`, in order of change, removed ones included.
    pub fn sessions_changed_after(&self, change: i64, limit: u64) -> Result<Vec<ChangedSession>, StoreError> {
        let sql = format!(
            "SELECT id, agent, name FROM session {} WHERE space = ?1 AND change > ?2 ORDER BY change LIMIT ?3",
            self.sql.index("session_by_change")
        );
        self.sql.known(&sql, values![change, limit], from_row)
    }

    /// Sessions that a hook or a command touched or closed at that time or later.
    pub fn sessions_touched_since(&self, since: Timestamp, limit: u64) -> Result<Vec<ChangedSession>, StoreError> {
        self.sql.known(
            "SELECT session.id, session.agent, session.name FROM lifecycle
             JOIN session ON session.space = lifecycle.space
             AND session.agent = lifecycle.agent AND session.external_id = lifecycle.external_id
             WHERE lifecycle.space = ?1 AND (lifecycle.touched_at >= ?2 OR lifecycle.closed_at >= ?2)
             ORDER BY lifecycle.agent, lifecycle.external_id LIMIT ?3",
            values![since, limit],
            from_row,
        )
    }

    /// The most recently active sessions that have a name.
    pub fn newest_named_sessions(&self, limit: u64) -> Result<Vec<ChangedSession>, StoreError> {
        let sql = format!(
            "SELECT id, agent, name FROM session {}
             WHERE space = ?1 AND name IS NOT NULL ORDER BY last_activity_at DESC NULLS LAST, number DESC LIMIT ?2",
            self.sql.index("session_by_time")
        );
        self.sql.known(&sql, values![limit], from_row)
    }

    /// When a hook or a command last touched or closed any session.
    pub fn last_touched_at(&self) -> Result<Timestamp, StoreError> {
        let sql = "SELECT max(touched_at) AS touched, max(closed_at) AS closed FROM lifecycle WHERE space = ?1";
        let found = self.sql.one(sql, &[], |row| Ok(row.opt_time("touched")?.max(row.opt_time("closed")?)))?;
        Ok(found.flatten().unwrap_or_default())
    }
}

/// None for a row of an agent that only a newer version of the program knows.
fn from_row(row: &Row<'_>) -> Result<Option<ChangedSession>, StoreError> {
    let (Some(id), Some(agent)) = (row.parsed("id")?, row.parsed("agent")?) else { return Ok(None) };
    Ok(Some(ChangedSession { id, agent, name: row.opt_string("name")? }))
}
