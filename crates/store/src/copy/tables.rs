//! Lists what a copy does with each table. A test fails if a table is missing here.

/// What a copy does with a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CopyRule {
    /// All rows of the space.
    Rows,
    /// All counters but those of the database itself.
    Counters,
    /// Rows of threads. In a folder of a single machine they are files.
    Threads,
    /// Who may use the space: only from server to server, and only if the space keeps its name.
    Members,
    /// Nothing.
    Never,
}

/// Every table, in the order in which they are copied.
pub(crate) const COPY_RULES: [(&str, CopyRule); 45] = [
    ("counter", CopyRule::Counters),
    // One number per database, so that an index of another one does not match.
    ("store_identity", CopyRule::Never),
    ("session", CopyRule::Rows),
    ("transcript", CopyRule::Rows),
    ("transcript_problem", CopyRule::Rows),
    ("redaction", CopyRule::Rows),
    ("entry", CopyRule::Rows),
    ("set_aside_entry", CopyRule::Rows),
    ("set_aside_session", CopyRule::Rows),
    ("episode", CopyRule::Rows),
    ("usage", CopyRule::Rows),
    ("edited_file", CopyRule::Rows),
    ("queue_step", CopyRule::Rows),
    ("tree_node", CopyRule::Rows),
    ("other_session_title", CopyRule::Rows),
    ("embedding", CopyRule::Rows),
    ("entity", CopyRule::Rows),
    ("fact_span", CopyRule::Rows),
    ("fact", CopyRule::Rows),
    ("enrichment", CopyRule::Rows),
    ("cached_answer", CopyRule::Rows),
    ("turn_call_count", CopyRule::Rows),
    ("ledger", CopyRule::Rows),
    ("lifecycle", CopyRule::Rows),
    ("session_label", CopyRule::Rows),
    ("lifecycle_event", CopyRule::Rows),
    ("hot_memory", CopyRule::Rows),
    ("watermark", CopyRule::Rows),
    ("shown_name", CopyRule::Rows),
    ("injection", CopyRule::Rows),
    ("injected_content", CopyRule::Rows),
    ("context_state", CopyRule::Rows),
    ("pending_archive", CopyRule::Rows),
    ("card", CopyRule::Rows),
    ("delivered_event", CopyRule::Rows),
    ("forgotten_session", CopyRule::Rows),
    ("forgotten_key", CopyRule::Rows),
    ("tombstone_salt", CopyRule::Rows),
    ("space", CopyRule::Members),
    ("member", CopyRule::Members),
    ("token", CopyRule::Members),
    // What members did on one server says nothing about another one.
    ("audit", CopyRule::Never),
    ("thread", CopyRule::Threads),
    ("thread_record", CopyRule::Threads),
    // Turns belong to processes that run.
    ("thread_turn", CopyRule::Never),
];

/// The tables with this rule.
pub(crate) fn tables_with(rule: CopyRule) -> impl Iterator<Item = &'static str> {
    COPY_RULES.into_iter().filter(move |(_, other)| *other == rule).map(|(table, _)| table)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{AuthorizedSpace, Store, StoreLocation};

    #[test]
    fn every_table_has_a_rule() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&StoreLocation::in_folder(folder.path()), AuthorizedSpace::local()).unwrap();
        let read = |file: &crate::sql::sqlite::Connection| {
            let tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
            file.prepare(tables)?.query_map([], |row| row.get(0))?.collect()
        };
        let tables: BTreeSet<String> = store.sql.on_sqlite(read).unwrap().unwrap();
        let listed: BTreeSet<String> = COPY_RULES.iter().map(|(table, _)| (*table).to_owned()).collect();
        assert_eq!(tables, listed, "list the table in copy/tables.rs");
    }

    #[test]
    fn every_copied_table_belongs_to_spaces() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&StoreLocation::in_folder(folder.path()), AuthorizedSpace::local()).unwrap();
        for (table, rule) in COPY_RULES {
            let key = store.sql.primary_key(table).unwrap();
            assert!(rule == CopyRule::Never || key.first().is_some_and(|column| column == "space"), "{table}");
        }
    }
}
