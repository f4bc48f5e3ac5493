//! Reads the lines of an export into the store. A line that cannot be used is reported and costs only itself.

use std::io::{self, BufRead, Read as _};

use rethread_ingest::RedactionFindings;
use rethread_model::Agent;
use rethread_store::{Batch, ImportedSession, SessionImport, SessionKey, SessionNumber, Store};

use super::redact_row::redact_row;
use super::{ExportHeader, ExportLine, FORMAT, VERSION};
use crate::maintenance::rebuild_in_batch;
use crate::sync::{SyncTotals, restore_all_set_aside, restore_set_aside};
use crate::{EngineError, IndexReport, TransferService};

/// A longer line is not one of ours.
const MAX_LINE_BYTES: u64 = 64 * 1024 * 1024;

/// Why a file could not be imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// It is not an export of sessions.
    #[error("this is not an export of sessions")]
    NotAnExport,
    /// It has another version of the format.
    #[error("this export has version {found} of the format; this program reads version {known}")]
    Version {
        /// The version of the file.
        found: u64,
        /// The version that can be read.
        known: u64,
    },
    /// It could not be read to its end. What was read of it is imported.
    #[error("cannot read the export")]
    Read(#[source] io::Error),
}

/// What was imported.
#[derive(Clone, Debug, Default)]
pub struct ImportReport {
    /// Sessions that the store did not have.
    pub new_sessions: u64,
    /// Sessions that got entries which the store did not have.
    pub extended_sessions: u64,
    /// Sessions that the store has already.
    pub known_sessions: u64,
    /// Sessions that stay out, because they were forgotten.
    pub forgotten_sessions: u64,
    /// New entries.
    pub entries: u64,
    /// How many secrets were removed, by kind.
    pub redactions: Vec<(&'static str, u64)>,
    /// Lines that were not imported.
    pub problems: Vec<ImportProblem>,
    /// What happened to the search index.
    pub index: IndexReport,
}

/// A line that was not imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportProblem {
    /// Its number, from 1.
    pub line: u64,
    /// Why.
    pub reason: String,
}

/// The lines of a file, with their numbers.
struct NumberedLines<'r> {
    input: &'r mut dyn BufRead,
    line: u64,
}

/// The lines of one session that follow each other.
struct SessionLines {
    key: (String, String),
    lines: Vec<(u64, ExportLine)>,
}

impl TransferService<'_> {
    /// Imports what an export has and the store has not. Importing it again changes nothing.
    pub fn import(self, input: &mut dyn BufRead) -> Result<ImportReport, EngineError> {
        let mut lines = NumberedLines { input, line: 0 };
        check_header(&mut lines)?;
        let mut store = self.engine.writer()?;
        restore_all_set_aside(&mut store, &mut SyncTotals::default())?;
        let last_known = store.begin()?.last_session_number()?;
        let mut run = ImportRun { report: ImportReport::default(), findings: RedactionFindings::default(), last_known };
        let mut waiting: Option<SessionLines> = None;
        while let Some((number, text)) = lines.next().map_err(ImportError::Read)? {
            let Some(line) = run.parse(number, &text) else { continue };
            let key = (line.agent.clone(), line.session.clone());
            if let Some(done) = waiting.take_if(|lines| lines.key != key) {
                run.store_session(&mut store, done)?;
            }
            waiting.get_or_insert_with(|| SessionLines { key, lines: Vec::new() }).lines.push((number, line));
        }
        if let Some(done) = waiting {
            run.store_session(&mut store, done)?;
        }
        self.engine.sync().extract_outdated_facts(&mut store)?;
        let ImportRun { mut report, findings, .. } = run;
        report.redactions = findings.iter().collect();
        report.index = self.engine.index().update(&store);
        let fields = [("sessions", report.new_sessions.into()), ("entries", report.entries.into())];
        self.engine.journal().event("imported", None, &fields);
        Ok(report)
    }
}

struct ImportRun {
    report: ImportReport,
    findings: RedactionFindings,
    /// The newest session before the import.
    last_known: SessionNumber,
}

impl ImportRun {
    /// The row of a line; `None` if it is none, which is noted.
    fn parse(&mut self, line: u64, text: &[u8]) -> Option<ExportLine> {
        if text.iter().all(u8::is_ascii_whitespace) {
            return None;
        }
        let parsed = serde_json::from_slice::<ExportLine>(text).map_err(|error| error.to_string());
        let parsed = parsed.and_then(|line| match line.agent.parse::<Agent>() {
            _ if line.session.is_empty() => Err("the id of the session is empty".to_owned()),
            Ok(Agent::Native) => Err("threads are imported with `rethread thread import`".to_owned()),
            Ok(_) => Ok(line),
            Err(error) => Err(error.to_string()),
        });
        parsed.map_err(|reason| self.report.problems.push(ImportProblem { line, reason })).ok()
    }

    /// Stores the lines of a session in one transaction, so that an interruption leaves no half of it.
    fn store_session(&mut self, store: &mut Store, session: SessionLines) -> Result<(), EngineError> {
        let (agent, external_id) = session.key;
        let Ok(agent) = agent.parse::<Agent>() else { return Ok(()) };
        let mut batch = store.begin()?;
        let key = SessionKey { agent, external_id: &external_id };
        let Some(mut import) = batch.begin_import(key, self.last_known)? else {
            self.report.forgotten_sessions += 1;
            return Ok(());
        };
        let (mut rows, mut entries) = (0, 0);
        for (number, mut line) in session.lines {
            redact_row(&line.table, &mut line.row, &mut self.findings);
            match batch.import_row(&mut import, &line.table, &line.row)? {
                Ok(is_new) => {
                    rows += u64::from(is_new);
                    entries += u64::from(is_new && line.table == "entry");
                }
                Err(reason) => self.report.problems.push(ImportProblem { line: number, reason }),
            }
        }
        if import.is_new() && rows == 0 {
            // None of its lines can be used.
            return Ok(());
        }
        finish(&mut batch, &import)?;
        batch.commit()?;
        self.report.entries += entries;
        match (import.is_new(), entries) {
            (true, _) => self.report.new_sessions += 1,
            (false, 0) => self.report.known_sessions += 1,
            (false, _) => self.report.extended_sessions += 1,
        }
        Ok(())
    }
}

/// Derives the episodes of a session from all its entries.
fn finish(batch: &mut Batch<'_>, import: &SessionImport) -> Result<(), EngineError> {
    match batch.end_import(import)? {
        ImportedSession::Derive => rebuild_in_batch(batch, import.number),
        ImportedSession::Restore => restore_set_aside(batch, import.number, &mut SyncTotals::default()),
        ImportedSession::Done => Ok(()),
    }
}

fn check_header(lines: &mut NumberedLines<'_>) -> Result<(), ImportError> {
    let first = lines.next().map_err(ImportError::Read)?.unwrap_or_default().1;
    match serde_json::from_slice::<ExportHeader>(&first) {
        Ok(header) if header.format != FORMAT => Err(ImportError::NotAnExport),
        Ok(header) if header.version != VERSION => Err(ImportError::Version { found: header.version, known: VERSION }),
        Ok(_) => Ok(()),
        Err(_) => Err(ImportError::NotAnExport),
    }
}

impl NumberedLines<'_> {
    /// The next line. One that is too long comes as a text that cannot be parsed.
    fn next(&mut self) -> io::Result<Option<(u64, Vec<u8>)>> {
        let mut text = Vec::new();
        let mut limited = (&mut *self.input).take(MAX_LINE_BYTES);
        if limited.read_until(b'\n', &mut text)? == 0 {
            return Ok(None);
        }
        self.line += 1;
        if text.len() as u64 == MAX_LINE_BYTES && text.last() != Some(&b'\n') {
            self.input.skip_until(b'\n')?;
            text = b"{".to_vec();
        }
        Ok(Some((self.line, text)))
    }
}
