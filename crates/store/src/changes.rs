//! Which sessions changed recently, for live views.

use rethread_model::{Agent, SessionId, Timestamp};
use rusqlite::{Params, Row, params};

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
        self.changed_sessions(
            "SELECT id, agent, name FROM session INDEXED BY session_by_change
             WHERE space = ?1 AND change > ?2 ORDER BY change LIMIT ?3",
            params![self.space.as_str(), change, limit as i64],
        )
    }

    /// Sessions that a hook or a command touched or closed at that time or later.
    pub fn sessions_touched_since(&self, since: Timestamp, limit: u64) -> Result<Vec<ChangedSession>, StoreError> {
        self.changed_sessions(
            "SELECT session.id, session.agent, session.name FROM lifecycle
             JOIN session ON session.space = lifecycle.space
             AND session.agent = lifecycle.agent AND session.external_id = lifecycle.external_id
             WHERE lifecycle.space = ?1 AND max(lifecycle.touched_at, coalesce(lifecycle.closed_at, 0)) >= ?2 LIMIT ?3",
            params![self.space.as_str(), since.as_millis(), limit as i64],
        )
    }

    /// The most recently active sessions that have a name.
    pub fn newest_named_sessions(&self, limit: u64) -> Result<Vec<ChangedSession>, StoreError> {
        self.changed_sessions(
            "SELECT id, agent, name FROM session INDEXED BY session_by_time
             WHERE space = ?1 AND name IS NOT NULL ORDER BY last_activity_at DESC LIMIT ?2",
            params![self.space.as_str(), limit as i64],
        )
    }

    /// When a hook or a command last touched or closed any session.
    pub fn last_touched_at(&self) -> Result<Timestamp, StoreError> {
        let read = || -> rusqlite::Result<i64> {
            let mut statement = self.connection.prepare_cached(
                "SELECT coalesce(max(max(touched_at, coalesce(closed_at, 0))), 0) FROM lifecycle WHERE space = ?1",
            )?;
            statement.query_row([self.space.as_str()], |row| row.get(0))
        };
        read().map(Timestamp::from_millis).map_err(|cause| self.err(cause))
    }

    fn changed_sessions(&self, sql: &str, values: impl Params) -> Result<Vec<ChangedSession>, StoreError> {
        let read = || -> rusqlite::Result<Vec<ChangedSession>> {
            let mut statement = self.connection.prepare_cached(sql)?;
            let rows = statement.query_map(values, from_row)?;
            rows.filter_map(Result::transpose).collect()
        };
        read().map_err(|cause| self.err(cause))
    }
}

/// None for a row of an agent that only a newer version of the program knows.
fn from_row(row: &Row<'_>) -> rusqlite::Result<Option<ChangedSession>> {
    let Ok(id) = row.get_ref(0)?.as_str()?.parse() else { return Ok(None) };
    let Ok(agent) = row.get_ref(1)?.as_str()?.parse() else { return Ok(None) };
    Ok(Some(ChangedSession { id, agent, name: row.get(2)? }))
}
