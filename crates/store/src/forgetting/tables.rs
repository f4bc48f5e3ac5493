//! Which tables hold something of a session, and where texts stand in them. Whoever adds a table adds it here.

/// What is derived from transcripts, by our number of the session. All of it can be told again.
pub(crate) const OF_SESSION: [&str; 11] = [
    "entry",
    "episode",
    "usage",
    "edited_file",
    "node",
    "queued",
    "vector",
    "answer",
    "fact",
    "fact_unit",
    "enrichment",
];

/// Of these, what stays when single entries are taken out of a session whose transcript is gone: it holds no text, or is
/// taken out row by row.
pub(crate) const KEPT_IN_PLACE: [&str; 4] = ["entry", "usage", "node", "queued"];

/// What only we know, by agent and the agent's own id. A trigger for each keeps forgotten sessions out.
pub(crate) const OF_AGENT_ID: [&str; 8] =
    ["card", "life", "life_event", "hot", "seen", "told", "injection", "unarchived"];

/// Tables that name sessions and are neither: the sessions themselves, their files, and who was forgotten.
#[cfg(test)]
pub(crate) const APART: [&str; 3] = ["session", "transcript", "tombstone"];

/// What becomes of a row that holds a text to be forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Then {
    /// It goes.
    Delete,
    /// It loses the text.
    Clear,
    /// It is told again without the text.
    Leave,
    /// It stays, because it says where somebody else's files are.
    Stay,
}

/// A table with texts, and the columns they stand in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Texts {
    pub(crate) table: &'static str,
    pub(crate) columns: &'static [&'static str],
    pub(crate) then: Then,
}

const fn texts(table: &'static str, columns: &'static [&'static str], then: Then) -> Texts {
    Texts { table, columns, then }
}

/// Everywhere texts stand.
pub(crate) const TEXTS: [Texts; 19] = [
    texts("entry", &["text", "target", "arguments", "paths", "summary", "error", "output", "script"], Then::Leave),
    texts("session", &["name"], Then::Leave),
    texts("session", &["cwd", "project", "transcript"], Then::Stay),
    texts("session", &["alias", "branch"], Then::Clear),
    texts("edited_file", &["path"], Then::Leave),
    texts("transcript", &["path"], Then::Stay),
    texts("life", &["task", "name", "entities"], Then::Clear),
    texts("life_event", &["detail"], Then::Delete),
    texts("hot", &["text"], Then::Delete),
    texts("card", &["fields"], Then::Delete),
    texts("injection", &["text", "parts"], Then::Delete),
    texts("unarchived", &["text"], Then::Delete),
    texts("answer", &["question", "text"], Then::Delete),
    texts("title_elsewhere", &["text"], Then::Delete),
    texts("problem", &["message"], Then::Delete),
    texts("fact", &["detail", "reason", "quote"], Then::Delete),
    texts("fact_unit", &["carry"], Then::Delete),
    texts("enrichment", &["error"], Then::Clear),
    // Things of which nothing is said any more go when the bytes are wiped.
    texts("entity", &["name"], Then::Leave),
];

impl Texts {
    /// What people call the rows.
    pub(crate) fn place(self) -> &'static str {
        match (self.then, self.table) {
            (Then::Stay, "session") => "paths of sessions",
            (Then::Stay, "transcript") => "paths of transcripts",
            (_, table) => place_of(table),
        }
    }
}

/// Columns whose texts are JSON of ours: only values count, or the names of fields would be found. Archives that are
/// not written yet are searched as those that are.
pub(crate) const JSON: [&str; 2] = ["card.fields", "injection.parts"];

/// What people call the rows of a table.
pub(crate) fn place_of(table: &'static str) -> &'static str {
    match table {
        "entry" => "entries",
        "episode" => "episodes",
        "edited_file" => "edited files",
        "node" => "tree nodes",
        "queued" => "queued texts",
        "vector" => "vectors",
        "answer" => "answers",
        "card" => "cards",
        "life" => "lives",
        "life_event" => "events",
        "hot" => "notes and hot memory",
        "seen" => "watermarks",
        "injection" => "injections",
        "unarchived" => "unwritten archives",
        "title_elsewhere" => "names",
        "problem" => "problems",
        "transcript" => "transcripts known",
        "session" => "sessions",
        "fact" => "facts",
        "fact_unit" => "stretches",
        "entity" => "things",
        "enrichment" => "enrichments",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rethread_model::Space;

    use super::*;
    use crate::Store;

    /// Columns with ids, words of ours, or names of models.
    const NOT_SAID: [&str; 27] = [
        "space",
        "agent",
        "external_id",
        "id",
        "native_id",
        "parent_external",
        "speech",
        "status",
        "tool",
        "tool_kind",
        "kind",
        "event",
        "model",
        "closed",
        "provider",
        "purpose",
        "rule",
        "leaf",
        "tried",
        "turn",
        "namespace",
        "parts",
        "memory",
        "predicate",
        "state",
        "trust",
        "evidence",
    ];

    fn columns(store: &Store, condition: &str) -> BTreeSet<(String, String)> {
        let sql = format!(
            "SELECT m.name, c.name FROM sqlite_master AS m, pragma_table_info(m.name) AS c
             WHERE m.type = 'table' AND {condition}"
        );
        let mut statement = store.connection.prepare(&sql).unwrap();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        rows.map(Result::unwrap).collect()
    }

    #[test]
    fn every_table_that_names_a_session_is_known_to_be_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("memory.db"), Space::local()).unwrap();
        for (table, column) in columns(&store, "c.name IN ('session', 'external_id')") {
            let lists: [&[&str]; 3] = [&OF_SESSION, &OF_AGENT_ID, &APART];
            let is_listed = lists.iter().any(|list| list.contains(&table.as_str()));
            assert!(is_listed, "{table}.{column} is in no list of forgetting/tables.rs");
        }
        let triggers: i64 = store
            .connection
            .query_row(
                "SELECT count(*) FROM sqlite_master WHERE type = 'trigger' AND name LIKE '%_stays_forgotten'",
                [],
                |row| row.get(0),
            )
            .unwrap();
        assert_eq!(triggers, OF_AGENT_ID.len() as i64, "each has a trigger");
    }

    #[test]
    fn every_column_with_text_is_known_to_be_searched() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("memory.db"), Space::local()).unwrap();
        for (table, column) in columns(&store, "c.type = 'TEXT'") {
            let is_listed = TEXTS.iter().any(|texts| texts.table == table && texts.columns.contains(&column.as_str()));
            let is_ours = ["counter", "ledger"].contains(&table.as_str())
                || (table, column.as_str()) == ("unarchived".to_owned(), "name");
            assert!(
                is_listed || is_ours || NOT_SAID.contains(&column.as_str()),
                "{column} is in no list of forgetting/tables.rs"
            );
        }
    }
}
