//! Reads the parts of stored entries that are needed to rebuild the episodes of a session.

use rethread_model::{
    EntryKind, EntryLocation, EntryOutline, NativeKey, SessionId, Timestamp, ToolKind, ToolStatus, TreeNode,
};
use rusqlite::{Connection, Row, params};

use crate::{Batch, ReadStore, SessionNumber, StoreError, entries};

/// Entries and tree nodes, both in transcript order.
pub type EntryOutlines = (Vec<EntryOutline>, Vec<TreeNode>);

impl ReadStore {
    /// Everything needed to rebuild the episodes of a session.
    pub fn entry_outlines(&self, session: SessionId) -> Result<EntryOutlines, StoreError> {
        let read = || -> rusqlite::Result<EntryOutlines> {
            let number = self.connection.query_row(
                "SELECT number FROM session WHERE space = ?1 AND id = ?2",
                params![self.space.as_str(), session.to_string()],
                |row| row.get(0),
            )?;
            select_outlines(&self.connection, self.space.as_str(), SessionNumber(number))
        };
        read().map_err(|cause| self.err(cause))
    }
}

impl Batch<'_> {
    /// Everything needed to rebuild the episodes of a session, including changes of this batch.
    pub fn entry_outlines(&self, session: SessionNumber) -> Result<EntryOutlines, StoreError> {
        select_outlines(self.connection(), self.space(), session).map_err(|cause| self.err(cause))
    }
}

fn select_outlines(connection: &Connection, space: &str, session: SessionNumber) -> rusqlite::Result<EntryOutlines> {
    let mut statement = connection.prepare_cached(
        "SELECT seq, native_id, line, offset, length, at, kind, message_key, node_key,
         length(CAST(text AS BLOB)) + coalesce(length(CAST(arguments AS BLOB)), 0),
         status, tool_kind, paths, is_retracted, is_superseded
         FROM entry WHERE space = ?1 AND session = ?2 ORDER BY seq",
    )?;
    let entries = statement.query_map(params![space, session.0], outline_from_row)?.collect::<Result<_, _>>()?;
    let mut statement = connection.prepare_cached(
        "SELECT line, node_key, parent_key, lineage_key FROM tree_node WHERE space = ?1 AND session = ?2 ORDER BY line",
    )?;
    let nodes = statement.query_map(params![space, session.0], node_from_row)?.collect::<Result<_, _>>()?;
    Ok((entries, nodes))
}

fn node_from_row(row: &Row<'_>) -> rusqlite::Result<TreeNode> {
    Ok(TreeNode {
        line: row.get::<_, i64>(0)? as u64,
        id: NativeKey::from_stored(row.get(1)?),
        parent: row.get::<_, Option<i64>>(2)?.map(NativeKey::from_stored),
        lineage: NativeKey::from_stored(row.get(3)?),
    })
}

fn outline_from_row(row: &Row<'_>) -> rusqlite::Result<EntryOutline> {
    let count = |at: usize| row.get::<_, i64>(at).map(|number| number as u64);
    let key = |at: usize| row.get::<_, Option<i64>>(at).map(|key| key.map(NativeKey::from_stored));
    let text = |at: usize| row.get_ref(at).and_then(|value| Ok(value.as_str_or_null()?));
    let changes_files = text(11)?.is_some_and(|kind| ToolKind::from_stored(kind).changes_files());
    Ok(EntryOutline {
        seq: count(0)?,
        native_id: row.get(1)?,
        location: EntryLocation { line: count(2)?, offset: count(3)?, length: count(4)? },
        at: row.get::<_, Option<i64>>(5)?.map(Timestamp::from_millis),
        kind: EntryKind::from_stored(row.get_ref(6)?.as_str()?),
        message_key: key(7)?,
        node_key: key(8)?,
        kept_bytes: count(9)?,
        is_error: text(10)?.is_some_and(|status| ToolStatus::from_stored(status).is_error()),
        edited_paths: if changes_files { entries::read_paths(text(12)?) } else { Vec::new() },
        is_retracted: row.get(13)?,
        is_superseded: row.get(14)?,
    })
}
