//! Counts of the work in sessions: messages, tool calls, edits, fixes.

use std::collections::HashMap;

use rethread_model::{ToolKind, estimate_byte_tokens};

use crate::sessions::IN_SCOPE;
use crate::sql::{Row, values};
use crate::{ReadStore, SessionNumber, StoreError, UsageFilter};

/// Up to this many sessions, the calls of each are read; for more, one pass over all calls is faster.
const MAX_READ_ONE_BY_ONE: usize = 200;

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
        let sql = format!(
            "SELECT number, messages, tool_calls, raw_bytes, kept_tokens FROM session
             WHERE space = ?1 AND kind = 'main' AND NOT is_empty AND (?3 IS NULL OR agent = ?3) AND {IN_SCOPE}
             AND (?4 IS NULL OR last_activity_at >= ?4) AND (?5 IS NULL OR started_at < ?5) ORDER BY number"
        );
        let project = filter.scope.project();
        let values = values![project, filter.agent, filter.from, filter.to];
        let selected = self.sql.all(&sql, values, |row| Ok((row.session("number")?, counts_from_row(row)?)))?;
        if selected.len() <= MAX_READ_ONE_BY_ONE {
            let with_edits = |(number, work): (_, WorkCounts)| match work.tool_calls {
                0 => Ok(work),
                _ => self.with_edits(number, work),
            };
            return selected.into_iter().map(with_edits).collect();
        }
        let edits = self.edits_by_session()?;
        let counted = selected.into_iter().map(|(number, work)| match edits.get(&number.0) {
            Some(counted) => WorkCounts { edits: counted.edits, fixes: counted.fixes, ..work },
            None => work,
        });
        Ok(counted.collect())
    }

    /// Edits and fixes of all sessions that have any, from one pass over their calls.
    fn edits_by_session(&self) -> Result<HashMap<i64, EditCounter>, StoreError> {
        let mut counters: HashMap<i64, EditCounter> = HashMap::new();
        self.sql.stream(
            "SELECT session, tool_kind, status FROM entry
             WHERE space = ?1 AND tool_kind IS NOT NULL AND NOT is_abandoned ORDER BY session, seq",
            &[],
            |row| counters.entry(row.int("session")?).or_default().count(row),
        )?;
        Ok(counters)
    }

    /// Counts for one session; `None` if it does not exist.
    pub fn session_work_counts(&self, session: SessionNumber) -> Result<Option<WorkCounts>, StoreError> {
        let sql = "SELECT messages, tool_calls, raw_bytes, kept_tokens FROM session WHERE space = ?1 AND number = ?2";
        self.sql.one(sql, values![session], |row| self.with_edits(session, counts_from_row(row)?))
    }

    fn with_edits(&self, session: SessionNumber, work: WorkCounts) -> Result<WorkCounts, StoreError> {
        let mut counter = EditCounter::default();
        self.sql.each(
            "SELECT tool_kind, status FROM entry
             WHERE space = ?1 AND session = ?2 AND tool_kind IS NOT NULL AND NOT is_abandoned ORDER BY seq",
            values![session],
            |row| counter.count(row),
        )?;
        Ok(WorkCounts { edits: counter.edits, fixes: counter.fixes, ..work })
    }
}

/// Counts the edits of a session call by call.
#[derive(Default)]
struct EditCounter {
    edits: u64,
    fixes: u64,
    /// Whether a command failed since the last edit.
    has_failed: bool,
}

impl EditCounter {
    fn count(&mut self, row: &Row<'_>) -> Result<(), StoreError> {
        let kind = ToolKind::from_stored(row.text("tool_kind")?);
        if kind.changes_files() {
            self.edits += 1;
            self.fixes += u64::from(self.has_failed);
            self.has_failed = false;
        } else if kind == ToolKind::Command && row.opt_text("status")? == Some("error") {
            self.has_failed = true;
        }
        Ok(())
    }
}

fn counts_from_row(row: &Row<'_>) -> Result<WorkCounts, StoreError> {
    Ok(WorkCounts {
        messages: row.u64("messages")?,
        tool_calls: row.u64("tool_calls")?,
        raw_tokens: estimate_byte_tokens(row.u64("raw_bytes")?),
        kept_tokens: row.u64("kept_tokens")?,
        ..WorkCounts::default()
    })
}
