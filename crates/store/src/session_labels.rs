//! Labels that users gave a session: its name, its task, its pin and its tags. A label says nothing about whether a
//! session is active.

use rethread_model::{SessionId, Timestamp};

use crate::lifecycle::BY_EXTERNAL_ID;
use crate::sql::{Row, columns, values};
use crate::{Batch, ReadStore, SessionKey, SessionNumber, StoreError};

/// The version of the schema that has pins and tags. Readers also read files of the versions before.
const PINS_SINCE: i64 = 18;

/// What users call a session, what it is working on, and how they find it again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionLabels {
    /// The name the user gave it.
    pub name: Option<String>,
    /// The task the user attached.
    pub task: Option<String>,
    /// When the user pinned it.
    pub pinned_at: Option<Timestamp>,
    /// The user's tags, each on one line, in the order in which they were added.
    pub tags: Vec<String>,
}

/// The pin and the tags of a session that has any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PinAndTags {
    /// Identifies the session.
    pub session: SessionNumber,
    /// Its id.
    pub id: SessionId,
    /// When the user pinned it.
    pub pinned_at: Option<Timestamp>,
    /// The user's tags.
    pub tags: Vec<String>,
}

impl ReadStore {
    /// The labels of a session; empty if users gave it none.
    pub fn session_labels(&self, key: SessionKey<'_>) -> Result<SessionLabels, StoreError> {
        let marks = if self.has_pins()? { "pinned_at, tags" } else { "NULL AS pinned_at, NULL AS tags" };
        let sql = format!("SELECT name, task, {marks} FROM session_label WHERE {BY_EXTERNAL_ID}");
        let found = self.sql.one(&sql, values![key.agent, key.external_id], |row| {
            Ok(SessionLabels {
                name: row.opt_string("name")?,
                task: row.opt_string("task")?,
                pinned_at: row.opt_time("pinned_at")?,
                tags: read_tags(row)?,
            })
        })?;
        Ok(found.unwrap_or_default())
    }

    /// All sessions that are pinned or have tags.
    pub fn pins_and_tags(&self) -> Result<Vec<PinAndTags>, StoreError> {
        if !self.has_pins()? {
            return Ok(Vec::new());
        }
        self.sql.known(
            "SELECT session.number, session.id, session_label.pinned_at, session_label.tags
             FROM session_label JOIN session ON session.space = session_label.space
             AND session.agent = session_label.agent AND session.external_id = session_label.external_id
             WHERE session_label.space = ?1
             AND (session_label.pinned_at IS NOT NULL OR session_label.tags IS NOT NULL)
             ORDER BY session.number",
            &[],
            |row| {
                let (session, pinned_at) = (row.session("number")?, row.opt_time("pinned_at")?);
                let Some(id) = row.parsed("id")? else { return Ok(None) };
                Ok(Some(PinAndTags { session, id, pinned_at, tags: read_tags(row)? }))
            },
        )
    }

    fn has_pins(&self) -> Result<bool, StoreError> {
        self.sql.has_version(PINS_SINCE)
    }
}

impl Batch<'_> {
    /// Stores the labels of a session.
    pub fn save_session_labels(&mut self, key: SessionKey<'_>, labels: &SessionLabels) -> Result<(), StoreError> {
        let tags = (!labels.tags.is_empty()).then(|| labels.tags.join("\n"));
        self.upsert(
            "session_label",
            columns! { agent: key.agent, external_id: key.external_id },
            columns! { name: labels.name, task: labels.task, pinned_at: labels.pinned_at, tags: tags },
        )
    }
}

fn read_tags(row: &Row<'_>) -> Result<Vec<String>, StoreError> {
    Ok(row.opt_text("tags")?.unwrap_or_default().lines().map(str::to_owned).collect())
}
