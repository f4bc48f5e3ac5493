//! Reads and writes rows of entries and episodes.

use rethread_model::{
    Entry, EntryKind, EntryLocation, Episode, NewEntry, SessionId, Timestamp, ToolKind, ToolOutcome, ToolStatus,
    ToolUse,
};
use rusqlite::{Connection, Row, params};

use crate::{ReadStore, SessionNumber, StoreError, TranscriptNumber};

/// Selects entries of a session.
#[derive(Clone, Copy, Debug, Default)]
pub struct EntryFilter {
    /// Include entries on branches the session left, and retracted ones.
    pub include_abandoned: bool,
    /// Include reasoning and what machines wrote: commands, notices, injections.
    pub include_meta: bool,
    /// Only this many, counted from the end.
    pub last: Option<u64>,
}

pub(crate) const COLUMNS: &str = "seq, native_id, line, offset, length, at, kind, text, episode, is_abandoned,
    tool_name, tool_kind, target, arguments, paths, status, summary, error, exit_code, output_lines, output_bytes,
    output, script";

pub(crate) const EPISODE_COLUMNS: &str =
    "id, number, first_seq, last_seq, span_starts, first_line, last_line, first_byte,
    last_byte, started_at, ended_at, tool_calls, tool_errors, kept_tokens, is_open, is_abandoned";

impl ReadStore {
    /// Entries of a session, in transcript order.
    pub fn entries(&self, session: SessionId, filter: EntryFilter) -> Result<Vec<Entry>, StoreError> {
        let read = || -> rusqlite::Result<Vec<Entry>> {
            let sql = format!(
                "SELECT {COLUMNS} FROM entry
                 WHERE space = ?1 AND session = (SELECT number FROM session WHERE space = ?1 AND id = ?2)
                 AND (?3 OR NOT (is_abandoned OR is_retracted))
                 AND (?4 OR kind NOT IN ('reasoning', 'command', 'notice', 'injected'))
                 ORDER BY seq DESC LIMIT ?5"
            );
            let limit = filter.last.map_or(-1, |last| last as i64);
            let mut statement = self.connection.prepare_cached(&sql)?;
            let values =
                params![self.space.as_str(), session.to_string(), filter.include_abandoned, filter.include_meta, limit];
            let mut entries: Vec<Entry> = statement.query_map(values, from_row)?.collect::<Result<_, _>>()?;
            entries.reverse();
            Ok(entries)
        };
        read().map_err(|cause| self.err(cause))
    }

    /// Episodes of a session, in order.
    pub fn episodes(&self, session: SessionId) -> Result<Vec<Episode>, StoreError> {
        let read = || -> rusqlite::Result<Vec<Episode>> {
            let sql = format!(
                "SELECT {EPISODE_COLUMNS} FROM episode
                 WHERE space = ?1 AND session = (SELECT number FROM session WHERE space = ?1 AND id = ?2)
                 ORDER BY number"
            );
            let mut statement = self.connection.prepare_cached(&sql)?;
            statement.query_map(params![self.space.as_str(), session.to_string()], episode)?.collect()
        };
        read().map_err(|cause| self.err(cause))
    }
}

pub(crate) fn insert(
    connection: &Connection,
    space: &str,
    (session, transcript): (SessionNumber, Option<TranscriptNumber>),
    new: &NewEntry,
) -> rusqlite::Result<()> {
    let entry = &new.entry;
    let tool = entry.tool.as_ref();
    let outcome = tool.and_then(|tool| tool.outcome.as_ref());
    let mut statement = connection.prepare_cached(
        "INSERT INTO entry (space, session, seq, native_key, native_id, message_key, node_key, line, offset, length,
         at, kind, text, episode, is_abandoned, tool_name, tool_kind, target, arguments, paths, status, summary,
         error, exit_code, output_lines, output_bytes, output, script, transcript, line_key,
         checksum)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22,
         ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31)",
    )?;
    statement.execute(params![
        space,
        session.0,
        entry.seq as i64,
        new.native_key.as_stored(),
        entry.native_id,
        new.message_key.map(rethread_model::NativeKey::as_stored),
        new.node_key.map(rethread_model::NativeKey::as_stored),
        entry.location.line as i64,
        entry.location.offset as i64,
        entry.location.length as i64,
        entry.at.map(Timestamp::as_millis),
        entry.kind.as_str(),
        entry.text,
        entry.episode.map(|number| number as i64),
        entry.is_abandoned,
        tool.map(|tool| tool.name.as_str()),
        tool.and_then(|tool| tool.kind).map(ToolKind::as_str),
        tool.map(|tool| tool.target.as_str()),
        tool.map(|tool| tool.arguments.as_str()),
        tool.and_then(|tool| write_paths(&tool.paths)),
        outcome.map(|outcome| outcome.status.as_str()),
        outcome.map(|outcome| outcome.summary.as_str()),
        outcome.and_then(|outcome| outcome.error.as_deref()),
        outcome.and_then(|outcome| outcome.exit_code),
        outcome.map(|outcome| outcome.lines as i64),
        outcome.map(|outcome| outcome.bytes as i64),
        outcome.and_then(|outcome| outcome.output.as_deref()),
        tool.and_then(|tool| tool.script.as_deref()),
        transcript.map(|transcript| transcript.0),
        new.line_key.as_stored(),
        checksum(&[
            Some(entry.kind.as_str()),
            Some(&entry.text),
            tool.map(|tool| tool.name.as_str()),
            tool.map(|tool| tool.target.as_str()),
            tool.map(|tool| tool.arguments.as_str()),
            tool.and_then(|tool| tool.script.as_deref()),
        ]),
    ])?;
    Ok(())
}

/// The columns `checksum` is made of, in this order.
const CHECKED_COLUMNS: &str = "kind, text, tool_name, target, arguments, script";

fn checksum(parts: &[Option<&str>]) -> i64 {
    let mut hash = xxhash_rust::xxh3::Xxh3::new();
    for part in parts {
        hash.update(&part.map_or(u64::MAX, |part| part.len() as u64).to_le_bytes());
        hash.update(part.unwrap_or_default().as_bytes());
    }
    hash.digest() as i64
}

impl ReadStore {
    /// Entries whose text is not what was written, as `session N entry M`.
    pub fn changed_entries(&self) -> Result<Vec<String>, StoreError> {
        let read = || -> rusqlite::Result<Vec<String>> {
            let sql = format!(
                "SELECT {CHECKED_COLUMNS}, checksum, session, seq FROM entry WHERE space = ?1 AND checksum IS NOT NULL"
            );
            let mut statement = self.connection.prepare(&sql)?;
            let mut rows = statement.query([self.space.as_str()])?;
            let mut changed = Vec::new();
            while let Some(row) = rows.next()? {
                let mut parts = [None; 6];
                let mut is_readable = true;
                for (at, part) in parts.iter_mut().enumerate() {
                    match row.get_ref(at)?.as_str_or_null() {
                        Ok(text) => *part = text,
                        Err(_) => is_readable = false,
                    }
                }
                if !is_readable || checksum(&parts) != row.get::<_, i64>(6)? {
                    changed.push(format!("session {} entry {}", row.get::<_, i64>(7)?, row.get::<_, i64>(8)?));
                }
            }
            Ok(changed)
        };
        read().map_err(|cause| self.err(cause))
    }
}

/// A JSON list; None for no paths.
fn write_paths(paths: &[String]) -> Option<String> {
    if paths.is_empty() { None } else { serde_json::to_string(paths).ok() }
}

pub(crate) fn read_paths(stored: Option<&str>) -> Vec<String> {
    stored.and_then(|paths| serde_json::from_str(paths).ok()).unwrap_or_default()
}

pub(crate) fn from_row(row: &Row<'_>) -> rusqlite::Result<Entry> {
    let count = |at: usize| row.get::<_, i64>(at).map(|number| number as u64);
    Ok(Entry {
        seq: count(0)?,
        native_id: row.get(1)?,
        location: EntryLocation { line: count(2)?, offset: count(3)?, length: count(4)? },
        at: row.get::<_, Option<i64>>(5)?.map(Timestamp::from_millis),
        kind: EntryKind::from_stored(row.get_ref(6)?.as_str()?),
        text: row.get(7)?,
        episode: row.get::<_, Option<i64>>(8)?.map(|number| number as u64),
        is_abandoned: row.get(9)?,
        tool: tool(row)?,
    })
}

fn tool(row: &Row<'_>) -> rusqlite::Result<Option<ToolUse>> {
    let Some(name) = row.get::<_, Option<String>>(10)? else { return Ok(None) };
    Ok(Some(ToolUse {
        name,
        kind: row.get::<_, Option<String>>(11)?.map(|kind| ToolKind::from_stored(&kind)),
        target: row.get::<_, Option<String>>(12)?.unwrap_or_default(),
        script: row.get(22)?,
        arguments: row.get::<_, Option<String>>(13)?.unwrap_or_default(),
        paths: read_paths(row.get_ref(14)?.as_str_or_null()?),
        outcome: outcome(row)?,
    }))
}

fn outcome(row: &Row<'_>) -> rusqlite::Result<Option<ToolOutcome>> {
    let Some(status) = row.get_ref(15)?.as_str_or_null()? else { return Ok(None) };
    let count = |at: usize| row.get::<_, Option<i64>>(at).map(|number| number.unwrap_or(0) as u64);
    Ok(Some(ToolOutcome {
        status: ToolStatus::from_stored(status),
        summary: row.get::<_, Option<String>>(16)?.unwrap_or_default(),
        error: row.get(17)?,
        exit_code: row.get(18)?,
        lines: count(19)?,
        bytes: count(20)?,
        output: row.get(21)?,
    }))
}

pub(crate) fn episode(row: &Row<'_>) -> rusqlite::Result<Episode> {
    let count = |at: usize| row.get::<_, i64>(at).map(|number| number as u64);
    let time = |at: usize| row.get::<_, Option<i64>>(at).map(|millis| millis.map(Timestamp::from_millis));
    Ok(Episode {
        id: row.get(0)?,
        number: count(1)?,
        first_seq: count(2)?,
        last_seq: count(3)?,
        part_starts: row.get_ref(4)?.as_str()?.split(',').filter_map(|seq| seq.parse().ok()).collect(),
        lines: (count(5)?, count(6)?),
        bytes: (count(7)?, count(8)?),
        started_at: time(9)?,
        ended_at: time(10)?,
        tool_calls: count(11)?,
        tool_errors: count(12)?,
        kept_tokens: count(13)?,
        is_open: row.get(14)?,
        is_abandoned: row.get(15)?,
    })
}
