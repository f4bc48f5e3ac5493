//! JSON of `rethread store copy`.

use rethread_engine::{CopiedSpace, CopiedTable, CopyReport, StoreCopyRequest};
use serde::Serialize;

use super::SCHEMA;

/// What was copied. Both sides were compared.
#[derive(Serialize)]
pub(crate) struct StoreCopyJson<'a> {
    schema: u8,
    from: String,
    to: String,
    spaces: Vec<SpaceCopyJson<'a>>,
    rows: u64,
    seconds: f64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SpaceCopyJson<'a> {
    from: &'a str,
    to: &'a str,
    tables: Vec<TableCopyJson<'a>>,
    /// Whether members and tokens of the space were not copied.
    members_left_out: bool,
}

#[derive(Serialize)]
struct TableCopyJson<'a> {
    table: &'static str,
    /// Rows on both sides. A thread with its log is one row where it is a file.
    rows: u64,
    /// Hash of the rows, the same on both sides.
    sha256: &'a str,
}

impl<'a> StoreCopyJson<'a> {
    pub(crate) fn new(request: &StoreCopyRequest, report: &'a CopyReport, seconds: f64) -> Self {
        let tables = report.spaces.iter().flat_map(|space| &space.tables);
        Self {
            schema: SCHEMA,
            from: request.from.location.to_string(),
            to: request.to.location.to_string(),
            rows: tables.map(|table| table.rows).sum(),
            spaces: report.spaces.iter().map(space).collect(),
            seconds: (seconds * 1000.0).round() / 1000.0,
        }
    }
}

fn space(space: &CopiedSpace) -> SpaceCopyJson<'_> {
    SpaceCopyJson {
        from: space.from.as_str(),
        to: space.to.as_str(),
        tables: space.tables.iter().map(table).collect(),
        members_left_out: space.has_left_members,
    }
}

fn table(copied: &CopiedTable) -> TableCopyJson<'_> {
    TableCopyJson { table: copied.table, rows: copied.rows, sha256: &copied.sha256 }
}
