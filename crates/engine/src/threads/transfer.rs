//! Threads as files: the log byte for byte, out of one home or database and into another.

use std::fmt;
use std::path::Path;

use rethread_model::counted;
use rethread_model::thread::{ThreadId, ThreadMetadata};
use rethread_store::{OWNER_ONLY, ThreadLineProblem, Threads, replace_file};

use crate::EngineError;
use crate::threads::ThreadService;

/// Lines that an error lists.
const MAX_SHOWN_LINES: usize = 10;

/// What to import.
#[derive(Clone, Debug)]
pub struct ImportRequest {
    /// The id of the thread; a new one if there is none.
    pub id: Option<ThreadId>,
    /// The content of an exported log.
    pub log: Vec<u8>,
    /// Whether lines that are not records are imported too. Readers skip them.
    pub allows_damage: bool,
}

/// An imported thread.
#[derive(Clone, Debug)]
pub struct ImportedThread {
    /// What its log says about it.
    pub metadata: ThreadMetadata,
    /// Lines that are not records.
    pub problems: Vec<ThreadLineProblem>,
}

/// Lines of a log that are not records.
#[derive(Debug)]
pub struct InvalidThreadLog {
    /// In the order of the log; at least one.
    pub problems: Vec<ThreadLineProblem>,
}

impl ThreadService<'_> {
    /// The log of a thread, byte for byte.
    pub fn export(self, reference: &str) -> Result<Vec<u8>, EngineError> {
        Ok(self.engine.thread_store().export(self.id(reference)?)?)
    }

    /// Writes the log of a thread to a file that only its owner can read.
    pub fn export_to_file(self, reference: &str, path: &Path) -> Result<(), EngineError> {
        let log = self.export(reference)?;
        let path = self.engine.environment.cwd.join(path);
        replace_file(&path, &log, OWNER_ONLY).map_err(|cause| EngineError::Folder { path, cause })
    }

    /// Creates a thread with this log. Fails if there is or was a thread with its id.
    pub fn import(self, request: &ImportRequest) -> Result<ImportedThread, EngineError> {
        let problems = problems_in(&request.log);
        if !problems.is_empty() && !request.allows_damage {
            return Err(InvalidThreadLog { problems }.into());
        }
        self.engine.ensure_home()?;
        let id = request.id.unwrap_or_else(|| ThreadId::generate(self.engine.now()));
        let metadata = self.engine.thread_store().import(id, &request.log)?;
        self.engine.journal().event("session_created", Some(id), &[]);
        Ok(ImportedThread { metadata, problems })
    }
}

impl std::error::Error for InvalidThreadLog {}

impl fmt::Display for InvalidThreadLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of the log cannot be read:", counted(self.problems.len() as u64, "line", "lines"))?;
        for (number, problem) in self.problems.iter().take(MAX_SHOWN_LINES).enumerate() {
            let separator = if number == 0 { "" } else { ";" };
            write!(f, "{separator} line {}: {}", problem.line, problem.reason)?;
        }
        let more = self.problems.len().saturating_sub(MAX_SHOWN_LINES);
        if more > 0 { write!(f, "; and {more} more") } else { Ok(()) }
    }
}

/// The lines that are not records, an incomplete last one included.
fn problems_in(log: &[u8]) -> Vec<ThreadLineProblem> {
    let parsed = Threads::parse_log(log);
    let mut problems = parsed.problems;
    let last = log.split(|byte| *byte == b'\n').count() as u64;
    if parsed.is_torn && problems.iter().all(|problem| problem.line != last) {
        let reason = "it has no line break at its end".to_owned();
        problems.push(ThreadLineProblem { line: last, reason, is_damage: false });
    }
    problems
}
