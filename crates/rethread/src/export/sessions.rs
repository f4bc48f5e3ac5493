//! Writes sessions in any of the formats, piece by piece, to wherever the caller wants them.

use std::collections::BTreeMap;

use jiff::tz::TimeZone;
use rethread_engine::{Engine, SessionLog};
use rethread_model::{Entry, SessionId};

use super::{ExportedLog, html_document, markdown_document};
use crate::cli::transfer::ExportFormat;
use crate::failure::Failure;
use crate::render::LogOriginals;

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
    let mut logs: Vec<ExportedLog> = Vec::with_capacity(ids.len());
    let mut redactions = BTreeMap::new();
    for id in ids {
        let readable = engine.transfer().readable(&id.to_string())?;
        for (kind, count) in readable.redactions {
            *redactions.entry(kind).or_insert(0) += count;
        }
        logs.push(with_originals(engine, readable.log)?);
    }
    write(&render(&logs, zone))?;
    let redactions = redactions.into_iter().collect();
    Ok(ExportSummary { sessions: logs.len() as u64, left_out: Vec::new(), redactions })
}

/// Reads what the transcripts have about the calls of a session.
fn with_originals(engine: &Engine, log: SessionLog) -> Result<ExportedLog, Failure> {
    let calls: Vec<Entry> = log.entries.iter().filter(|entry| entry.tool.is_some()).cloned().collect();
    let mut originals = LogOriginals::default();
    engine.sessions().originals(&log.listed.session, &calls, &mut |entry, found| originals.add(entry, found))?;
    Ok(ExportedLog { log, originals })
}

fn export_lines(
    engine: &Engine,
    ids: &[SessionId],
    write: &mut dyn FnMut(&str) -> Result<(), Failure>,
) -> Result<ExportSummary, Failure> {
    let report = engine.transfer().export(ids, write)?;
    Ok(ExportSummary { sessions: report.sessions, left_out: report.threads, redactions: report.redactions })
}
