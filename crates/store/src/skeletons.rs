//! What must be known of stored entries to tell a session's story again.

use rethread_model::{NativeKey, NodeRow, Place, SessionId, Skeleton, Speech, Status, Timestamp, ToolKind};
use rusqlite::{Connection, Row, params};

use crate::{Batch, SessionNumber, Store, StoreError, entries};

/// Entries and tree nodes, both in the order of the transcript.
pub type Skeletons = (Vec<Skeleton>, Vec<NodeRow>);

impl Store {
    /// Everything needed to tell a session's story again.
    pub fn skeletons(&self, session: SessionId) -> Result<Skeletons, StoreError> {
        let read = || -> rusqlite::Result<Skeletons> {
            let number = self.connection.query_row(
                "SELECT num FROM session WHERE space = ?1 AND id = ?2",
                params![self.space.as_str(), session.to_string()],
                |row| row.get(0),
            )?;
            select(&self.connection, self.space.as_str(), SessionNumber(number))
        };
        read().map_err(|cause| self.err(cause))
    }
}

impl Batch<'_> {
    /// Everything needed to tell a session's story again.
    pub fn skeletons(&self, session: SessionNumber) -> Result<Skeletons, StoreError> {
        select(self.connection(), self.space(), session).map_err(|cause| self.err(cause))
    }
}

fn select(connection: &Connection, space: &str, session: SessionNumber) -> rusqlite::Result<Skeletons> {
    let mut statement = connection.prepare_cached(
        "SELECT seq, native_id, line, offset, length, at, speech, message, node,
         length(CAST(text AS BLOB)) + coalesce(length(CAST(arguments AS BLOB)), 0),
         status, tool_kind, paths, taken_back
         FROM entry WHERE space = ?1 AND session = ?2 ORDER BY seq",
    )?;
    let entries = statement.query_map(params![space, session.0], skeleton)?.collect::<Result<_, _>>()?;
    let mut statement = connection
        .prepare_cached("SELECT line, id, parent, lineage FROM node WHERE space = ?1 AND session = ?2 ORDER BY line")?;
    let nodes = statement.query_map(params![space, session.0], node)?.collect::<Result<_, _>>()?;
    Ok((entries, nodes))
}

fn node(row: &Row<'_>) -> rusqlite::Result<NodeRow> {
    Ok(NodeRow {
        line: row.get::<_, i64>(0)? as u64,
        id: NativeKey::from_stored(row.get(1)?),
        parent: row.get::<_, Option<i64>>(2)?.map(NativeKey::from_stored),
        lineage: NativeKey::from_stored(row.get(3)?),
    })
}

fn skeleton(row: &Row<'_>) -> rusqlite::Result<Skeleton> {
    let count = |at: usize| row.get::<_, i64>(at).map(|number| number as u64);
    let key = |at: usize| row.get::<_, Option<i64>>(at).map(|key| key.map(NativeKey::from_stored));
    let text = |at: usize| row.get_ref(at).and_then(|value| Ok(value.as_str_or_null()?));
    let changes_files = text(11)?.is_some_and(|kind| ToolKind::from_stored(kind).changes_files());
    Ok(Skeleton {
        seq: count(0)?,
        native_id: row.get(1)?,
        place: Place { line: count(2)?, offset: count(3)?, length: count(4)? },
        at: row.get::<_, Option<i64>>(5)?.map(Timestamp::from_millis),
        speech: Speech::from_stored(row.get_ref(6)?.as_str()?),
        message: key(7)?,
        node: key(8)?,
        kept_bytes: count(9)?,
        is_error: text(10)?.is_some_and(|status| Status::from_stored(status).is_error()),
        edited: if changes_files { entries::read_paths(text(12)?) } else { Vec::new() },
        taken_back: row.get(13)?,
    })
}
