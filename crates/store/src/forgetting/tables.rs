//! Lists which tables belong to sessions, and which columns hold text that may have to be forgotten.
//!
//! Every new table must be listed here; the tests below check it. Threads are not: their texts are bytes, and a thread
//! that contains a text to be forgotten is deleted as a whole (`Threads::contains_text`).

/// Tables keyed by session number. All of them are derived from transcripts and can be rebuilt.
pub(crate) const SESSION_TABLES: [&str; 13] = [
    "entry",
    "episode",
    "usage",
    "edited_file",
    "tree_node",
    "queue_step",
    "embedding",
    "cached_answer",
    "fact",
    "fact_span",
    "enrichment",
    "set_aside_entry",
    "set_aside_session",
];

/// Session tables that are not cleared when single entries are removed from a session whose transcript no longer
/// exists: they hold no text, or lose their rows one by one.
pub(crate) const KEPT_WHEN_ENTRIES_GO: [&str; 4] = ["entry", "usage", "tree_node", "queue_step"];

/// Session tables that keep the rows of transcripts that cannot be read again.
pub(crate) const KEPT_WHEN_READ_AGAIN: [&str; 3] = ["usage", "tree_node", "queue_step"];

/// Tables keyed by agent and external id, holding what only Rethread knows. `Batch` refuses rows of
/// forgotten sessions for each of them.
pub(crate) const EXTERNAL_ID_TABLES: [&str; 11] = [
    "card",
    "lifecycle",
    "session_label",
    "lifecycle_event",
    "hot_memory",
    "watermark",
    "shown_name",
    "injected_content",
    "context_state",
    "injection",
    "pending_archive",
];

/// Tables that refer to sessions and are handled one by one.
#[cfg(test)]
pub(crate) const OTHER_TABLES: [&str; 3] = ["session", "transcript", "forgotten_session"];

/// What happens to a row that contains text to be forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextAction {
    DeleteRow,
    ClearColumn,
    /// Nothing here: the row is derived and gets rebuilt without the text.
    Rebuild,
    /// The row stays, because it holds the path of a file that is not ours.
    Keep,
}

impl TextAction {
    pub(crate) const fn removes_text(self) -> bool {
        matches!(self, TextAction::DeleteRow | TextAction::ClearColumn)
    }
}

/// A table and its columns with free text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextColumns {
    pub(crate) table: &'static str,
    pub(crate) columns: &'static [&'static str],
    pub(crate) action: TextAction,
}

const fn texts(table: &'static str, columns: &'static [&'static str], action: TextAction) -> TextColumns {
    TextColumns { table, columns, action }
}

/// All columns with free text. The entries come first: `entries_containing` relies on it.
pub(crate) const TEXT_COLUMNS: [TextColumns; 22] = [
    texts(
        "entry",
        &["text", "target", "arguments", "paths", "summary", "error", "output", "script"],
        TextAction::Rebuild,
    ),
    // Only while transcripts are read again; forgetting waits for that to finish.
    texts(
        "set_aside_entry",
        &["text", "target", "arguments", "paths", "summary", "error", "output", "script"],
        TextAction::DeleteRow,
    ),
    texts("session", &["name"], TextAction::Rebuild),
    texts("session", &["cwd", "project", "transcript_path"], TextAction::Keep),
    texts("session", &["alias", "branch"], TextAction::ClearColumn),
    texts("edited_file", &["path"], TextAction::Rebuild),
    texts("transcript", &["path"], TextAction::Keep),
    texts("lifecycle", &["prompt_entities", "recent_files", "recent_tools"], TextAction::ClearColumn),
    texts("session_label", &["name", "task", "tags"], TextAction::ClearColumn),
    texts("lifecycle_event", &["detail"], TextAction::DeleteRow),
    texts("hot_memory", &["text"], TextAction::DeleteRow),
    texts("card", &["fields"], TextAction::DeleteRow),
    texts("shown_name", &["slug"], TextAction::DeleteRow),
    texts("injection", &["text", "sections"], TextAction::DeleteRow),
    texts("pending_archive", &["content"], TextAction::DeleteRow),
    texts("cached_answer", &["question", "text"], TextAction::DeleteRow),
    texts("other_session_title", &["title"], TextAction::DeleteRow),
    texts("transcript_problem", &["message"], TextAction::DeleteRow),
    texts("fact", &["detail", "reason", "quote"], TextAction::DeleteRow),
    texts("fact_span", &["extractor_state"], TextAction::DeleteRow),
    texts("enrichment", &["error"], TextAction::ClearColumn),
    // Entities without facts are deleted when the file is wiped.
    texts("entity", &["name"], TextAction::Rebuild),
];

impl TextColumns {
    /// What reports call the rows.
    pub(crate) fn row_label(self) -> &'static str {
        match (self.action, self.table) {
            (TextAction::Keep, "session") => "paths of sessions",
            (TextAction::Keep, "transcript") => "paths of transcripts",
            (_, table) => row_label(table),
        }
    }
}

/// Columns that hold JSON: only values are searched, not field names. Pending archives have rules of their own, the
/// same as archive files.
pub(crate) const JSON_COLUMNS: [&str; 2] = ["card.fields", "injection.sections"];

/// What reports call the rows of a table: in words that users know. Rows without a meaning of their own are counted
/// together.
pub(crate) fn row_label(table: &str) -> &'static str {
    match table {
        "entry" => "entries",
        "episode" => "episodes",
        "edited_file" => "edited files",
        "usage" => "usage records",
        "embedding" => "vectors",
        "cached_answer" => "answers",
        "card" => "cards",
        "lifecycle" => "states",
        "session_label" => "names, tasks and tags",
        "lifecycle_event" => "events",
        "hot_memory" => "notes and hot memory",
        "injection" => "injections",
        "pending_archive" => "archives",
        "other_session_title" | "shown_name" => "names",
        "transcript_problem" => "transcript problems",
        "transcript" => "transcripts",
        "session" => "sessions",
        "fact" => "facts",
        "entity" => "entities",
        "set_aside_entry" | "set_aside_session" => "entries set aside",
        _ => "internal records",
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rethread_model::{Agent, Timestamp};

    use super::*;
    use crate::sql::{Column, SqlValue, values};
    use crate::{AuthorizedSpace, Batch, MentionMatcher, Store};

    /// Columns with ids, enum values or names of models.
    const NOT_FREE_TEXT: [&str; 31] = [
        "space",
        "reread",
        "agent",
        "external_id",
        "id",
        "native_id",
        "parent_external_id",
        "status",
        "tool_name",
        "tool_kind",
        "kind",
        "event",
        "model",
        "closed_as",
        "provider",
        "purpose",
        "rule",
        "leaf_id",
        "failed_leaf_id",
        "turn_id",
        "namespace",
        "span_starts",
        "assembler_state",
        "predicate",
        "state",
        "trust",
        "evidence_lines",
        "file_name",
        "thread",
        "append_id",
        "owner",
    ];

    fn columns(store: &Store, condition: &str) -> BTreeSet<(String, String)> {
        let sql = format!(
            "SELECT m.name, c.name FROM sqlite_master AS m, pragma_table_info(m.name) AS c
             WHERE m.type = 'table' AND {condition}"
        );
        let read = |file: &crate::sql::sqlite::Connection| {
            let mut statement = file.prepare(&sql)?;
            statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        };
        store.sql.on_sqlite(read).unwrap().unwrap()
    }

    #[test]
    fn every_table_that_refers_to_a_session_is_listed() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&crate::StoreLocation::in_folder(folder.path()), AuthorizedSpace::local()).unwrap();
        for (table, column) in columns(&store, "c.name IN ('session', 'external_id')") {
            let lists: [&[&str]; 3] = [&SESSION_TABLES, &EXTERNAL_ID_TABLES, &OTHER_TABLES];
            let is_listed = lists.iter().any(|list| list.contains(&table.as_str()));
            assert!(is_listed, "{table}.{column} is not listed in forgetting/tables.rs");
        }
    }

    // L003-14
    #[test]
    fn no_table_takes_rows_of_a_forgotten_session() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(&crate::StoreLocation::in_folder(folder.path()), AuthorizedSpace::local()).unwrap();
        let mut batch = store.begin().unwrap();
        let number = batch.open_session(Agent::Pi, "gone").unwrap().number;
        let session = batch.session_by_number(number).unwrap().unwrap();
        batch.forget_sessions(&[(number, session)], &MentionMatcher::default(), Timestamp::from_millis(1)).unwrap();
        for table in EXTERNAL_ID_TABLES {
            for (external_id, rows) in [("gone", 0), ("kept", 1)] {
                batch.add_any_row(table, external_id);
                let sql = format!("SELECT count(*) FROM {table} WHERE space = ?1 AND external_id = ?2");
                assert_eq!(batch.sql.count(&sql, values![external_id]).unwrap(), rows, "{table} of {external_id}");
            }
        }
    }

    #[test]
    fn no_statement_inserts_past_the_guard() {
        let mut folders = vec![std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src")];
        while let Some(folder) = folders.pop() {
            for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let text = std::fs::read_to_string(&path).unwrap();
                for table in EXTERNAL_ID_TABLES {
                    let insert = format!("INTO {table} (");
                    assert!(!text.contains(&insert), "{}: use `Batch::upsert` for {table}", path.display());
                }
            }
        }
    }

    impl Batch<'_> {
        /// Adds a row with neutral values.
        fn add_any_row(&self, table: &str, external_id: &str) {
            let catalog = self.sql.catalog(table).unwrap();
            let columns: Vec<Column<'_>> = catalog
                .iter()
                .filter(|column| column.name != "space" && (column.is_required || column.key_place > 0))
                .map(|column| match (column.name.as_str(), column.kind.as_str()) {
                    ("external_id", _) => ("external_id", SqlValue::Text(external_id)),
                    (name, "TEXT") => (name, SqlValue::Text("pi")),
                    (name, _) => (name, SqlValue::Int(1)),
                })
                .collect();
            self.insert(table, &columns).unwrap();
        }
    }

    // D56
    #[test]
    fn reports_name_no_tables() {
        let tables = SESSION_TABLES.iter().chain(&EXTERNAL_ID_TABLES).chain(&OTHER_TABLES).copied();
        for table in tables.chain(TEXT_COLUMNS.map(|texts| texts.table)) {
            assert_ne!(row_label(table), table);
            assert!(!row_label(table).contains('_'), "{table}");
        }
    }

    #[test]
    fn every_text_column_is_searched() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&crate::StoreLocation::in_folder(folder.path()), AuthorizedSpace::local()).unwrap();
        for (table, column) in columns(&store, "c.type = 'TEXT'") {
            let is_listed =
                TEXT_COLUMNS.iter().any(|texts| texts.table == table && texts.columns.contains(&column.as_str()));
            let is_exempt = ["counter", "ledger", "space", "member", "token", "audit"].contains(&table.as_str())
                || NOT_FREE_TEXT.contains(&column.as_str());
            assert!(is_listed || is_exempt, "{table}.{column} is not listed in forgetting/tables.rs");
        }
    }
}
