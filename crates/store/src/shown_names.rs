//! The names under which a session was shown other sessions: they keep their meaning when a name changes.

use rethread_model::Timestamp;

use crate::lifecycle::BY_EXTERNAL_ID;
use crate::sql::{columns, values};
use crate::{Batch, ReadStore, SessionKey, SessionNumber, StoreError};

impl ReadStore {
    /// The session that a reader was last shown under a name, given as its slug.
    pub fn shown_session(&self, reader: SessionKey<'_>, slug: &str) -> Result<Option<SessionNumber>, StoreError> {
        let sql = format!("SELECT session FROM shown_name WHERE {BY_EXTERNAL_ID} AND slug = ?4");
        self.sql.one(&sql, values![reader.agent, reader.external_id, slug], |row| row.session("session"))
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
        let key = columns! { agent: reader.agent, external_id: reader.external_id, slug: slug };
        self.upsert("shown_name", key, columns! { session: session, at: at })
    }
}
