//! Reads the parts of stored entries that are needed to rebuild the episodes of a session.

use rethread_model::{EntryKind, EntryOutline, ToolKind, ToolStatus, TreeNode};

use crate::sql::{Row, values};
use crate::{ReadStore, SessionNumber, StoreError, entries};

/// Entries and tree nodes, both in transcript order.
pub type EntryOutlines = (Vec<EntryOutline>, Vec<TreeNode>);

impl ReadStore {
    /// Everything needed to rebuild the episodes of a session.
    pub fn entry_outlines(&self, session: SessionNumber) -> Result<EntryOutlines, StoreError> {
        let dialect = self.sql.dialect();
        let sql = format!(
            "SELECT seq, native_id, line, \"offset\", length, at, kind, message_key, node_key,
             {} + coalesce({}, 0) AS kept_bytes, status, tool_kind, paths, is_retracted, is_superseded
             FROM entry WHERE space = ?1 AND session = ?2 ORDER BY seq",
            dialect.byte_length("text"),
            dialect.byte_length("arguments"),
        );
        let entries = self.sql.all(&sql, values![session], outline_from_row)?;
        let nodes = self.sql.all(
            "SELECT line, node_key, parent_key, lineage_key FROM tree_node
             WHERE space = ?1 AND session = ?2 ORDER BY line",
            values![session],
            |row| {
                Ok(TreeNode {
                    line: row.u64("line")?,
                    id: row.key("node_key")?,
                    parent: row.opt_key("parent_key")?,
                    lineage: row.key("lineage_key")?,
                })
            },
        )?;
        Ok((entries, nodes))
    }
}

fn outline_from_row(row: &Row<'_>) -> Result<EntryOutline, StoreError> {
    let changes_files = row.opt_text("tool_kind")?.is_some_and(|kind| ToolKind::from_stored(kind).changes_files());
    Ok(EntryOutline {
        seq: row.u64("seq")?,
        native_id: row.string("native_id")?,
        location: entries::location(row)?,
        at: row.opt_time("at")?,
        kind: EntryKind::from_stored(row.text("kind")?),
        message_key: row.opt_key("message_key")?,
        node_key: row.opt_key("node_key")?,
        kept_bytes: row.u64("kept_bytes")?,
        is_error: row.opt_text("status")?.is_some_and(|status| ToolStatus::from_stored(status).is_error()),
        edited_paths: if changes_files { entries::read_paths(row.opt_text("paths")?) } else { Vec::new() },
        is_retracted: row.flag("is_retracted")?,
        is_superseded: row.flag("is_superseded")?,
    })
}
