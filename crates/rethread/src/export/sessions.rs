//! Writes sessions in any of the formats, piece by piece, to wherever the caller wants them.

use std::collections::BTreeMap;

use jiff::tz::TimeZone;
use rethread_engine::{Engine, SessionLog};
use rethread_model::SessionId;

use super::{html_document, markdown_document};
use crate::cli::transfer::ExportFormat;
use crate::failure::Failure;

/// What was exported.
#[derive(Debug, Default)]
pub(crate) struct ExportSummary {
    pub(crate) sessions: u64,
    /// Threads, which only their own export can write as lines.
    pub(crate) left_out: Vec<SessionId>,
    /// How many secrets were removed, by kind.
    pub(crate) redactions: Vec<(&'static str, u64)>,
}

/// Calls `write` with the parts of an export of these sessions.
pub(crate) fn export_sessions(
    engine: &Engine,
    zone: &TimeZone,
    ids: &[SessionId],
    format: ExportFormat,
    write: &mut dyn FnMut(&str) -> Result<(), Failure>,
) -> Result<ExportSummary, Failure> {
    let render = match format {
        ExportFormat::Jsonl => return export_lines(engine, ids, write),
        ExportFormat::Md => markdown_document,
        ExportFormat::Html => html_document,
    };
    let mut logs: Vec<SessionLog> = Vec::with_capacity(ids.len());
    let mut redactions = BTreeMap::new();
    for id in ids {
        let readable = engine.transfer().readable(&id.to_string())?;
        for (kind, count) in readable.redactions {
            *redactions.entry(kind).or_insert(0) += count;
        }
        logs.push(readable.log);
    }
    write(&render(&logs, zone))?;
    let redactions = redactions.into_iter().collect();
    Ok(ExportSummary { sessions: logs.len() as u64, left_out: Vec::new(), redactions })
}

fn export_lines(
    engine: &Engine,
    ids: &[SessionId],
    write: &mut dyn FnMut(&str) -> Result<(), Failure>,
) -> Result<ExportSummary, Failure> {
    let report = engine.transfer().export(ids, write)?;
    Ok(ExportSummary { sessions: report.sessions, left_out: report.threads, redactions: report.redactions })
}
