//! Counts of the work in sessions: messages, tool calls, edits, fixes.

use rethread_model::{Agent, Timestamp, ToolKind, estimate_byte_tokens};
use rusqlite::{OptionalExtension, params};

use crate::{ReadStore, SessionNumber, SessionScope, StoreError, UsageFilter};

/// Counts of the work in one session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkCounts {
    /// Prompts and answers.
    pub messages: u64,
    /// Number of tool calls.
    pub tool_calls: u64,
    /// Tool calls that wrote or edited a file.
    pub edits: u64,
    /// Failed commands that were followed by an edit before the next command failed.
    pub fixes: u64,
    /// Estimated tokens of the transcript.
    pub raw_tokens: u64,
    /// Estimated tokens of what is stored of it.
    pub kept_tokens: u64,
}

impl ReadStore {
    /// Counts for each main session that is not empty and was active in the given time.
    pub fn work_counts(&self, filter: &UsageFilter) -> Result<Vec<WorkCounts>, StoreError> {
        let read = || -> rusqlite::Result<Vec<WorkCounts>> {
            let mut statement = self.connection.prepare_cached(
                "SELECT number, messages, tool_calls, raw_bytes, kept_tokens FROM session
                 WHERE space = ?1 AND kind = 'main' AND NOT is_empty AND (?3 IS NULL OR agent = ?3)
                 AND (?2 IS NULL OR project = ?2 OR cwd = ?2 OR substr(cwd, 1, length(?2) + 1) = ?2 || '/')
                 AND (?4 IS NULL OR last_activity_at >= ?4) AND (?5 IS NULL OR started_at < ?5) ORDER BY number",
            )?;
            let project = match &filter.scope {
                SessionScope::AllProjects => None,
                SessionScope::Project(path) => Some(path.as_str()),
            };
            let millis = |at: Option<Timestamp>| at.map(Timestamp::as_millis);
            let agent = filter.agent.map(Agent::as_str);
            let values = params![self.space.as_str(), project, agent, millis(filter.from), millis(filter.to)];
            let rows = statement.query_map(values, |row| {
                let count = |at: usize| row.get::<_, i64>(at).map(|number| number as u64);
                let work = WorkCounts {
                    messages: count(1)?,
                    tool_calls: count(2)?,
                    raw_tokens: estimate_byte_tokens(count(3)?),
                    kept_tokens: count(4)?,
                    ..WorkCounts::default()
                };
                Ok((row.get::<_, i64>(0)?, work))
            })?;
            let mut all = Vec::new();
            for row in rows {
                let (session, work) = row?;
                all.push(if work.tool_calls == 0 { work } else { self.with_edits(session, work)? });
            }
            Ok(all)
        };
        read().map_err(|cause| self.err(cause))
    }

    /// Counts for one session; `None` if there is no such session.
    pub fn session_work_counts(&self, session: SessionNumber) -> Result<Option<WorkCounts>, StoreError> {
        let read = || -> rusqlite::Result<Option<WorkCounts>> {
            let mut statement = self.connection.prepare_cached(
                "SELECT messages, tool_calls, raw_bytes, kept_tokens FROM session WHERE space = ?1 AND number = ?2",
            )?;
            let found = statement.query_row(params![self.space.as_str(), session.0], |row| {
                let count = |at: usize| row.get::<_, i64>(at).map(|number| number as u64);
                let (raw_tokens, kept_tokens) = (estimate_byte_tokens(count(2)?), count(3)?);
                let (messages, tool_calls) = (count(0)?, count(1)?);
                Ok(WorkCounts { messages, tool_calls, raw_tokens, kept_tokens, ..WorkCounts::default() })
            });
            found.optional()?.map(|work| self.with_edits(session.0, work)).transpose()
        };
        read().map_err(|cause| self.err(cause))
    }

    fn with_edits(&self, session: i64, mut work: WorkCounts) -> rusqlite::Result<WorkCounts> {
        let mut statement = self.connection.prepare_cached(
            "SELECT tool_kind, status = 'error' FROM entry
             WHERE space = ?1 AND session = ?2 AND tool_kind IS NOT NULL AND NOT is_abandoned ORDER BY seq",
        )?;
        let mut rows = statement.query(params![self.space.as_str(), session])?;
        let mut has_failed = false;
        while let Some(row) = rows.next()? {
            let kind = ToolKind::from_stored(row.get_ref(0)?.as_str()?);
            if kind.changes_files() {
                work.edits += 1;
                work.fixes += u64::from(has_failed);
                has_failed = false;
            } else if kind == ToolKind::Command && row.get::<_, Option<bool>>(1)? == Some(true) {
                has_failed = true;
            }
        }
        Ok(work)
    }
}
