//! Sessions as rows that another store can take: what is stored of them, without what only this store can use.
//!
//! Left out are numbers of rows, paths of transcripts (they mean other files on another machine), and everything that is
//! derived: episodes, facts, embeddings, cached answers.

mod read;
mod write;

use serde_json::{Map, Value};

pub use read::PortableRow;
pub use write::{ImportedSession, SessionImport};

/// The columns of a row with their values. Null and absent mean the same.
pub type PortableColumns = Map<String, Value>;

/// How the rows of a table belong to a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PortableKey {
    /// It is the row of the session itself.
    Session,
    /// By the session's number.
    Number,
    /// By the agent and its id of the session.
    ExternalId,
}

/// The tables, in the order in which their rows are written, each with the order of its rows.
const PORTABLE_TABLES: [(&str, PortableKey, &str); 10] = [
    ("session", PortableKey::Session, "number"),
    ("entry", PortableKey::Number, "seq"),
    ("usage", PortableKey::Number, "message_key"),
    ("tree_node", PortableKey::Number, "line, node_key"),
    ("queue_step", PortableKey::Number, "step_key"),
    ("session_label", PortableKey::ExternalId, "agent"),
    ("card", PortableKey::ExternalId, "agent"),
    ("hot_memory", PortableKey::ExternalId, "number"),
    ("lifecycle", PortableKey::ExternalId, "agent"),
    ("lifecycle_event", PortableKey::ExternalId, "number"),
];

/// Columns that belong to the store, by table; `*` is every table.
const OWN_COLUMNS: [(&str, &[&str]); 3] = [
    ("*", &["space", "agent", "external_id", "session", "transcript"]),
    ("session", &["number", "transcript_path", "change", "rebuilt_at_change", "fact_rules_version", "generation"]),
    ("entry", &["episode"]),
];

/// Larger numbers are written as texts: many programs read numbers of JSON as floating point.
const MAX_JSON_INTEGER: u64 = 1 << 53;

fn is_portable(table: &str, column: &str) -> bool {
    let own = OWN_COLUMNS.iter().filter(|(of, _)| *of == "*" || *of == table);
    !own.flat_map(|(_, names)| names.iter()).any(|name| *name == column)
}

/// The table with this name, and how its rows belong to a session.
fn portable_table(name: &str) -> Option<(&'static str, PortableKey)> {
    PORTABLE_TABLES.iter().find(|(table, _, _)| *table == name).map(|(table, key, _)| (*table, *key))
}
