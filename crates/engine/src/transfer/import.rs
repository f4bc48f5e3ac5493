//! Reads the lines of an export into the store. A line that cannot be used is reported and costs only itself.

use std::collections::HashMap;
use std::io::{self, BufRead};

use rethread_ingest::RedactionFindings;
use rethread_model::Agent;
use rethread_store::{Batch, ImportedSession, SessionImport, SessionKey, SessionNumber, Store};
use serde_json::Value;

use super::import_lines::{ImportLines, ImportText};
use super::redact_row::redact_row;
use super::{ExportHeader, ExportLine, FORMAT, VERSION};
use crate::lifecycle::clean_tags;
use crate::maintenance::rebuild_in_batch;
use crate::sync::{SyncTotals, restore_all_set_aside, restore_set_aside};
use crate::{EngineError, IndexReport, TransferService};

/// Bytes of lines that wait to be stored with the others of their session. A file whose sessions are not in one piece
/// is stored in steps of this size.
const MAX_WAITING_BYTES: u64 = 64 << 20;
/// Bytes of the lines of one session, which is stored in one transaction.
const MAX_SESSION_BYTES: u64 = 1 << 30;

/// Why a file could not be imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// It is not an export of sessions.
    #[error("this is not an export of sessions")]
    NotAnExport,
    /// It is compressed.
    #[error("this file is compressed")]
    Compressed,
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

/// Whether an import changes the store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ImportMode {
    /// Sessions are stored.
    #[default]
    Store,
    /// The report says what would be stored.
    DryRun,
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

/// Agent and external id of a session, as in the file.
type FileKey = (String, String);

/// The lines of one session.
#[derive(Default)]
struct SessionLines {
    lines: Vec<(u64, ExportLine)>,
    bytes: u64,
}

impl TransferService<'_> {
    /// Imports what an export has and the store has not. Importing it again changes nothing. `progress` gets the bytes
    /// that were read.
    pub fn import(
        self,
        input: &mut dyn BufRead,
        mode: ImportMode,
        progress: &mut dyn FnMut(u64),
    ) -> Result<ImportReport, EngineError> {
        let mut lines = ImportLines::new(input);
        check_header(&mut lines)?;
        let is_dry = mode == ImportMode::DryRun;
        // A dry run creates no store.
        let is_empty = is_dry && self.engine.reader()?.is_none();
        let mut store = if is_empty { None } else { Some(self.engine.writer()?) };
        let mut run = ImportRun { mode, ..ImportRun::default() };
        if let Some(store) = &mut store {
            if !is_dry {
                restore_all_set_aside(store, &mut SyncTotals::default())?;
            }
            run.last_known = store.begin()?.last_session_number()?;
        }
        let read = run.read(&mut lines, store.as_mut(), progress);
        let mut report = run.into_report();
        read?;
        if let Some(store) = store.as_mut().filter(|_| !is_dry) {
            self.engine.sync().extract_outdated_facts(store)?;
            report.index = self.engine.index().update(store);
            let fields = [("sessions", report.new_sessions.into()), ("entries", report.entries.into())];
            self.engine.journal().event("imported", None, &fields);
        }
        Ok(report)
    }
}

/// What happened to one session.
#[derive(Default)]
struct SessionOutcome {
    is_new: bool,
    is_forgotten: bool,
    entries: u64,
}

#[derive(Default)]
struct ImportRun {
    mode: ImportMode,
    outcomes: HashMap<FileKey, SessionOutcome>,
    findings: RedactionFindings,
    problems: Vec<ImportProblem>,
    /// The newest session before the import.
    last_known: SessionNumber,
}

impl ImportRun {
    /// Reads all lines. The lines of a session are stored once another one follows; those that come later still are
    /// collected, because ending a session again for every line would take quadratic time.
    fn read(
        &mut self,
        lines: &mut ImportLines<'_>,
        mut store: Option<&mut Store>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), EngineError> {
        let mut current: Option<(FileKey, SessionLines)> = None;
        let mut later: HashMap<FileKey, SessionLines> = HashMap::new();
        let mut later_bytes = 0;
        while let Some((number, text)) = lines.next_line().map_err(ImportError::Read)? {
            let bytes = text.size();
            let Some(line) = self.parse(number, text) else { continue };
            let key = (line.agent.clone(), line.session.clone());
            if let Some((done, session)) = current.take_if(|(current, _)| *current != key) {
                self.store_or_note(store.as_deref_mut(), &done, session)?;
                progress(lines.bytes());
            }
            if self.outcomes.contains_key(&key) {
                later.entry(key).or_default().push(number, line, bytes, &mut self.problems);
                later_bytes += bytes;
            } else {
                let (_, session) = current.get_or_insert_with(|| (key, SessionLines::default()));
                session.push(number, line, bytes, &mut self.problems);
            }
            if later_bytes > MAX_WAITING_BYTES {
                self.store_all(store.as_deref_mut(), &mut later)?;
                later_bytes = 0;
            }
        }
        if let Some((key, session)) = current {
            self.store_or_note(store.as_deref_mut(), &key, session)?;
        }
        self.store_all(store, &mut later)?;
        progress(lines.bytes());
        Ok(())
    }

    fn store_all(
        &mut self,
        mut store: Option<&mut Store>,
        waiting: &mut HashMap<FileKey, SessionLines>,
    ) -> Result<(), EngineError> {
        for (key, session) in waiting.drain() {
            self.store_or_note(store.as_deref_mut(), &key, session)?;
        }
        Ok(())
    }

    /// The row of a line; `None` if it is none, which is noted.
    fn parse(&mut self, line: u64, text: ImportText) -> Option<ExportLine> {
        let parsed = match text {
            ImportText::Blank => return None,
            ImportText::TooLong(_) => Err("it is longer than 64 MB".to_owned()),
            ImportText::Line(text) => serde_json::from_slice::<ExportLine>(&text).map_err(|error| describe(&error)),
        };
        let parsed = parsed.and_then(|line| match line.agent.parse::<Agent>() {
            _ if line.session.is_empty() => Err("the id of the session is empty".to_owned()),
            Ok(Agent::Native) => Err("threads are imported with `rethread thread import`".to_owned()),
            Ok(_) => Ok(line),
            Err(error) => Err(error.to_string()),
        });
        parsed.map_err(|reason| self.problems.push(ImportProblem { line, reason })).ok()
    }

    /// Stores the lines of a session. If the database refuses one of their values, only this session stays out.
    fn store_or_note(
        &mut self,
        store: Option<&mut Store>,
        key: &FileKey,
        session: SessionLines,
    ) -> Result<(), EngineError> {
        let first = session.lines.first().map_or(0, |(number, _)| *number);
        let Some(store) = store else {
            self.count_session(key, &session);
            return Ok(());
        };
        match self.store_session(store, key, session) {
            Err(EngineError::Store(error)) if error.is_about_a_value() => {
                let reason = "the store refuses a value of this session, which stays out".to_owned();
                self.problems.push(ImportProblem { line: first, reason });
                Ok(())
            }
            other => other,
        }
    }

    /// Counts the lines of a session as new.
    fn count_session(&mut self, key: &FileKey, session: &SessionLines) {
        let outcome = self.outcomes.entry(key.clone()).or_default();
        outcome.is_new = true;
        outcome.entries += session.lines.iter().filter(|(_, line)| line.table == "entry").count() as u64;
    }

    /// Stores the lines of a session in one transaction, so that an interruption leaves no half of it.
    fn store_session(&mut self, store: &mut Store, key: &FileKey, session: SessionLines) -> Result<(), EngineError> {
        let (agent, external_id) = key;
        let Ok(agent) = agent.parse::<Agent>() else { return Ok(()) };
        let mut batch = store.begin()?;
        let Some(mut import) = batch.begin_import(SessionKey { agent, external_id }, self.last_known)? else {
            self.outcomes.entry(key.clone()).or_default().is_forgotten = true;
            return Ok(());
        };
        let (mut has_content, mut entries) = (false, 0);
        let known_problems = self.problems.len();
        let first = session.lines.first().map_or(0, |(number, _)| *number);
        for (number, mut line) in session.lines {
            redact_row(&line.table, &mut line.row, &mut self.findings);
            if let Some(Value::String(tags)) = line.row.get_mut("tags") {
                *tags = clean_tags(tags);
            }
            match batch.import_row(&mut import, &line.table, &line.row)? {
                Ok(is_new) => {
                    has_content |= is_new && ["session", "entry"].contains(&line.table.as_str());
                    entries += u64::from(is_new && line.table == "entry");
                }
                Err(reason) => self.problems.push(ImportProblem { line: number, reason }),
            }
        }
        if import.is_new() && !has_content {
            // Labels alone. If a line cannot be used, that was reported.
            if self.problems.len() == known_problems {
                let reason = "nothing of this session can be imported".to_owned();
                self.problems.push(ImportProblem { line: first, reason });
            }
            return Ok(());
        }
        if self.mode == ImportMode::Store {
            finish(&mut batch, &import)?;
            batch.commit()?;
        }
        let outcome = self.outcomes.entry(key.clone()).or_default();
        outcome.is_new |= import.is_new();
        outcome.entries += entries;
        Ok(())
    }

    fn into_report(self) -> ImportReport {
        let mut report = ImportReport { problems: self.problems, ..ImportReport::default() };
        report.problems.sort_by_key(|problem| problem.line);
        report.redactions = self.findings.iter().collect();
        for outcome in self.outcomes.into_values() {
            report.entries += outcome.entries;
            let counter = match outcome {
                SessionOutcome { is_forgotten: true, .. } => &mut report.forgotten_sessions,
                SessionOutcome { is_new: true, .. } => &mut report.new_sessions,
                SessionOutcome { entries: 0, .. } => &mut report.known_sessions,
                SessionOutcome { .. } => &mut report.extended_sessions,
            };
            *counter += 1;
        }
        report
    }
}

impl SessionLines {
    /// Adds a line, unless the session is too long to be stored at once.
    fn push(&mut self, number: u64, line: ExportLine, bytes: u64, problems: &mut Vec<ImportProblem>) {
        let was_full = self.bytes > MAX_SESSION_BYTES;
        self.bytes += bytes;
        if self.bytes <= MAX_SESSION_BYTES {
            self.lines.push((number, line));
        } else if !was_full {
            let reason = format!("its session is longer than {} GB: the rest is left out", MAX_SESSION_BYTES >> 30);
            problems.push(ImportProblem { line: number, reason });
        }
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

/// What is wrong with a line, without its place: the line has a number of its own.
fn describe(error: &serde_json::Error) -> String {
    let text = error.to_string();
    if text.contains("expected a map") {
        return "a row must be a JSON object".to_owned();
    }
    text.rsplit_once(" at line ").map_or(text.as_str(), |(reason, _)| reason).to_owned()
}

fn check_header(lines: &mut ImportLines<'_>) -> Result<(), ImportError> {
    let Some((_, ImportText::Line(first))) = lines.next_line().map_err(ImportError::Read)? else {
        return Err(ImportError::NotAnExport);
    };
    // The first bytes of gzip and of Zstandard.
    if [&[0x1f, 0x8b][..], &[0x28, 0xb5, 0x2f, 0xfd]].iter().any(|magic| first.starts_with(magic)) {
        return Err(ImportError::Compressed);
    }
    match serde_json::from_slice::<ExportHeader>(&first) {
        Ok(header) if header.format != FORMAT => Err(ImportError::NotAnExport),
        Ok(header) if header.version != VERSION => Err(ImportError::Version { found: header.version, known: VERSION }),
        Ok(_) => Ok(()),
        Err(_) => Err(ImportError::NotAnExport),
    }
}
