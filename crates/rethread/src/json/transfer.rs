//! JSON of `import`, and of a session as a file.

use std::collections::BTreeMap;

use rethread_engine::ImportReport;
use schemars::JsonSchema;
use serde::Serialize;

use super::SCHEMA;

/// What an import changed.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ImportReportJson<'a> {
    schema: u8,
    /// Whether nothing was stored, because only this report was wanted.
    dry_run: bool,
    new_sessions: u64,
    /// Sessions that got entries which the store did not have.
    extended_sessions: u64,
    known_sessions: u64,
    /// Sessions that stayed out, because they were forgotten.
    forgotten_sessions: u64,
    entries: u64,
    /// Secrets that were removed, by kind.
    redactions: BTreeMap<&'static str, u64>,
    /// Lines that were skipped.
    problems: Vec<ImportProblemJson<'a>>,
}

#[derive(Serialize)]
struct ImportProblemJson<'a> {
    line: u64,
    reason: &'a str,
}

impl<'a> ImportReportJson<'a> {
    pub(crate) fn new(report: &'a ImportReport, dry_run: bool) -> Self {
        let problem = |problem: &'a rethread_engine::ImportProblem| ImportProblemJson {
            line: problem.line,
            reason: &problem.reason,
        };
        Self {
            schema: SCHEMA,
            dry_run,
            new_sessions: report.new_sessions,
            extended_sessions: report.extended_sessions,
            known_sessions: report.known_sessions,
            forgotten_sessions: report.forgotten_sessions,
            entries: report.entries,
            redactions: report.redactions.iter().copied().collect(),
            problems: report.problems.iter().map(problem).collect(),
        }
    }
}

/// A session as a file.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportedSessionJson<'a> {
    schema: u8,
    file_name: &'a str,
    content_type: &'static str,
    content: &'a str,
    /// Secrets that were removed, by kind.
    redactions: BTreeMap<&'static str, u64>,
}

impl<'a> ExportedSessionJson<'a> {
    pub(crate) fn new(
        file_name: &'a str,
        content_type: &'static str,
        content: &'a str,
        redactions: Vec<(&'static str, u64)>,
    ) -> Self {
        Self { schema: SCHEMA, file_name, content_type, content, redactions: redactions.into_iter().collect() }
    }
}
