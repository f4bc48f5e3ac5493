//! The names under which a session was shown other sessions: they keep their meaning when a name changes.

use rethread_model::Timestamp;
use rusqlite::{OptionalExtension, params};

use crate::lifecycle::BY_EXTERNAL_ID;
use crate::{Batch, ReadStore, SessionKey, SessionNumber, StoreError};

impl ReadStore {
    /// The session that a reader was last shown under a name, given as its slug.
    pub fn shown_session(&self, reader: SessionKey<'_>, slug: &str) -> Result<Option<SessionNumber>, StoreError> {
        let sql = format!("SELECT session FROM shown_name WHERE {BY_EXTERNAL_ID} AND slug = ?4");
        let values = params![self.space.as_str(), reader.agent.as_str(), reader.external_id, slug];
        let read =
            || self.connection.prepare_cached(&sql)?.query_row(values, |row| row.get(0).map(SessionNumber)).optional();
        read().map_err(|cause| self.err(cause))
    }
}

impl Batch<'_> {
    /// Records that a reader was shown a session under a name, given as its slug. The last one under a name counts.
    pub fn record_shown_name(
        &mut self,
        reader: SessionKey<'_>,
        slug: &str,
        session: SessionNumber,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        self.run(
            "INSERT INTO shown_name (space, agent, external_id, slug, session, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT DO UPDATE SET session = excluded.session, at = excluded.at",
            params![self.space(), reader.agent.as_str(), reader.external_id, slug, session.0, at.as_millis()],
        )
    }
}
