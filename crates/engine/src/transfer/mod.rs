//! Sessions as a file that another store can take: JSON lines, a header and then one row per line.
//!
//! The rows are those of the store (`rethread_store::PortableRow`). What is derived from them, such as episodes, facts and
//! the search index, is derived again by the store that imports them.

mod export;
mod import;
mod import_lines;
mod readable;
mod redact_row;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use export::ExportReport;
pub use import::{ImportError, ImportMode, ImportProblem, ImportReport};
pub use readable::ReadableSession;

/// What the first line says the file is.
const FORMAT: &str = "rethread-sessions";
/// Version of the format. A reader refuses others.
const VERSION: u64 = 1;

/// The first line.
#[derive(Serialize, Deserialize)]
struct ExportHeader {
    format: String,
    version: u64,
    sessions: u64,
}

/// Every other line. It names its session, so that a damaged line costs no other one.
#[derive(Serialize, Deserialize)]
struct ExportLine {
    agent: String,
    session: String,
    table: String,
    row: serde_json::Map<String, Value>,
}
