//! Which sessions changed lately, for whoever shows them while they change.

use rethread_model::{Agent, SessionId, Timestamp};
use rusqlite::{Params, Row, params};

use crate::{Store, StoreError};

/// A session that changed, or is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedSession {
    /// The session.
    pub id: SessionId,
    /// Whose it is.
    pub agent: Agent,
    /// What it is called now.
    pub name: Option<String>,
}

impl Store {
    /// Sessions that changed after a change, so many at most; also those that are gone since.
    pub fn sessions_after(&self, change: i64, most: u64) -> Result<Vec<ChangedSession>, StoreError> {
        self.changed(
            "SELECT id, agent, name FROM session INDEXED BY session_by_change
             WHERE space = ?1 AND change > ?2 ORDER BY change LIMIT ?3",
            params![self.space.as_str(), change, most as i64],
        )
    }

    /// Sessions that a hook or a verb touched or closed at that moment or later, so many at most.
    pub fn sessions_touched(&self, since: Timestamp, most: u64) -> Result<Vec<ChangedSession>, StoreError> {
        self.changed(
            "SELECT session.id, session.agent, session.name FROM life JOIN session ON session.space = life.space
             AND session.agent = life.agent AND session.external_id = life.external_id
             WHERE life.space = ?1 AND max(life.touched_at, coalesce(life.closed_at, 0)) >= ?2 LIMIT ?3",
            params![self.space.as_str(), since.as_millis(), most as i64],
        )
    }

    /// The sessions that were at work last and have a name, so many at most.
    pub fn newest_named(&self, most: u64) -> Result<Vec<ChangedSession>, StoreError> {
        self.changed(
            "SELECT id, agent, name FROM session INDEXED BY session_by_time
             WHERE space = ?1 AND name IS NOT NULL ORDER BY last_at DESC LIMIT ?2",
            params![self.space.as_str(), most as i64],
        )
    }

    /// When a hook or a verb last touched or closed a session.
    pub fn last_touch(&self) -> Result<Timestamp, StoreError> {
        let read = || -> rusqlite::Result<i64> {
            let mut statement = self.connection.prepare_cached(
                "SELECT coalesce(max(max(touched_at, coalesce(closed_at, 0))), 0) FROM life WHERE space = ?1",
            )?;
            statement.query_row([self.space.as_str()], |row| row.get(0))
        };
        read().map(Timestamp::from_millis).map_err(|cause| self.err(cause))
    }

    fn changed(&self, sql: &str, values: impl Params) -> Result<Vec<ChangedSession>, StoreError> {
        let read = || -> rusqlite::Result<Vec<ChangedSession>> {
            let mut statement = self.connection.prepare_cached(sql)?;
            let rows = statement.query_map(values, from_row)?;
            rows.filter_map(Result::transpose).collect()
        };
        read().map_err(|cause| self.err(cause))
    }
}

/// A row, or nothing when a newer program wrote it for an agent unknown here.
fn from_row(row: &Row<'_>) -> rusqlite::Result<Option<ChangedSession>> {
    let Ok(id) = row.get_ref(0)?.as_str()?.parse() else { return Ok(None) };
    let Ok(agent) = row.get_ref(1)?.as_str()?.parse() else { return Ok(None) };
    Ok(Some(ChangedSession { id, agent, name: row.get(2)? }))
}
