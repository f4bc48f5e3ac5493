//! Writes sessions as lines of an export.

use rethread_ingest::RedactionFindings;
use rethread_model::{Agent, Session, SessionId};
use rethread_store::{PortableRow, StoreError};

use super::redact_row::redact_row;
use super::{ExportHeader, ExportLine, FORMAT, VERSION};
use crate::{EngineError, TransferService};

/// What was exported.
#[derive(Clone, Debug, Default)]
pub struct ExportReport {
    /// Number of sessions, with those of sub-agents.
    pub sessions: u64,
    /// Number of entries.
    pub entries: u64,
    /// Threads among the sessions. They are left out: the export of a thread is its log.
    pub threads: Vec<SessionId>,
    /// How many secrets were removed, by kind. Texts were redacted before they were stored; this is what rules of today
    /// find in addition.
    pub redactions: Vec<(&'static str, u64)>,
}

/// An error of the store or of the caller's own work.
enum LineError<E> {
    Store(StoreError),
    Caller(E),
}

impl<E> From<StoreError> for LineError<E> {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl TransferService<'_> {
    /// Calls `write` with each line of an export of these sessions and their sub-agents, as of one moment.
    pub fn export<E: From<EngineError>>(
        self,
        ids: &[SessionId],
        write: &mut dyn FnMut(&str) -> Result<(), E>,
    ) -> Result<ExportReport, E> {
        let Some(store) = self.engine.reader()? else { return Ok(ExportReport::default()) };
        let snapshot = store.snapshot().map_err(EngineError::from)?;
        let mut sessions = snapshot.sessions_with_descendants(ids).map_err(EngineError::from)?;
        sessions.sort_by_key(|(number, _)| *number);
        let (threads, sessions): (Vec<_>, Vec<_>) =
            sessions.into_iter().partition(|(_, session)| session.agent == Agent::Native);
        let count = sessions.len() as u64;
        let mut report = ExportReport { sessions: count, ..ExportReport::default() };
        report.threads = threads.into_iter().map(|(_, session)| session.id).collect();
        let mut findings = RedactionFindings::default();
        write(&json_line(&ExportHeader { format: FORMAT.to_owned(), version: VERSION, sessions: count })?)?;
        for (number, session) in &sessions {
            let written = snapshot.each_portable_row(*number, session, &mut |row| {
                report.entries += u64::from(row.table == "entry");
                let line = row_line(session, row, &mut findings).map_err(|error| LineError::Caller(error.into()))?;
                write(&line).map_err(LineError::Caller)
            });
            written.map_err(|error| match error {
                LineError::Store(error) => E::from(EngineError::from(error)),
                LineError::Caller(error) => error,
            })?;
        }
        report.redactions = findings.iter().collect();
        Ok(report)
    }
}

fn row_line(session: &Session, row: PortableRow, findings: &mut RedactionFindings) -> Result<String, EngineError> {
    let mut columns = row.columns;
    redact_row(row.table, &mut columns, findings);
    json_line(&ExportLine {
        agent: session.agent.as_str().to_owned(),
        session: session.external_id.clone(),
        table: row.table.to_owned(),
        row: columns,
    })
}

fn json_line(value: &impl serde::Serialize) -> Result<String, EngineError> {
    serde_json::to_string(value).map(|line| line + "\n").map_err(EngineError::SerializeState)
}
