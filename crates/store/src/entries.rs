//! Reads and writes rows of entries and episodes.

use rethread_model::{
    Entry, EntryKind, EntryLocation, Episode, NewEntry, SessionId, ToolKind, ToolOutcome, ToolStatus, ToolUse,
};

use crate::sql::{Row, columns, values};
use crate::{Batch, ReadStore, SessionNumber, StoreError, TranscriptNumber};

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

pub(crate) const COLUMNS: &str = "seq, native_id, line, \"offset\", length, at, kind, text, episode, is_abandoned,
    tool_name, tool_kind, target, arguments, paths, status, summary, error, exit_code, output_lines, output_bytes,
    output, script";

pub(crate) const EPISODE_COLUMNS: &str =
    "id, number, first_seq, last_seq, span_starts, first_line, last_line, first_byte,
    last_byte, started_at, ended_at, tool_calls, tool_errors, kept_tokens, is_open, is_abandoned";

impl ReadStore {
    /// Entries of a session, in transcript order.
    pub fn entries(&self, session: SessionId, filter: EntryFilter) -> Result<Vec<Entry>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM entry
             WHERE space = ?1 AND session = (SELECT number FROM session WHERE space = ?1 AND id = ?2)
             AND (?3 OR NOT (is_abandoned OR is_retracted))
             AND (?4 OR kind NOT IN ('reasoning', 'command', 'notice', 'injected'))
             ORDER BY seq DESC LIMIT ?5"
        );
        let (session, limit) = (session.to_string(), filter.last.unwrap_or(NO_LIMIT));
        let values = values![session, filter.include_abandoned, filter.include_meta, limit];
        let mut entries = self.sql.all(&sql, values, from_row)?;
        entries.reverse();
        Ok(entries)
    }

    /// Episodes of a session, in order.
    pub fn episodes(&self, session: SessionId) -> Result<Vec<Episode>, StoreError> {
        let sql = format!(
            "SELECT {EPISODE_COLUMNS} FROM episode
             WHERE space = ?1 AND session = (SELECT number FROM session WHERE space = ?1 AND id = ?2)
             ORDER BY number"
        );
        self.sql.all(&sql, values![session.to_string()], episode)
    }

    /// Entries whose text is not what was written, as `session N entry M`.
    pub fn changed_entries(&self) -> Result<Vec<String>, StoreError> {
        let sql = format!(
            "SELECT {}, checksum, session, seq FROM entry WHERE space = ?1 AND checksum IS NOT NULL ORDER BY session, seq",
            CHECKED_COLUMNS.join(", ")
        );
        let mut changed = Vec::new();
        self.sql.stream(&sql, &[], |row| {
            // Text that cannot be read was changed, too.
            let parts: Result<Vec<_>, _> = CHECKED_COLUMNS.iter().map(|column| row.opt_text(column)).collect();
            if parts.ok().map(|parts| checksum(&parts)) != Some(row.int("checksum")?) {
                changed.push(format!("session {} entry {}", row.int("session")?, row.int("seq")?));
            }
            Ok::<_, StoreError>(())
        })?;
        Ok(changed)
    }
}

impl Batch<'_> {
    pub(crate) fn insert_entry(
        &self,
        session: SessionNumber,
        transcript: Option<TranscriptNumber>,
        new: &NewEntry,
    ) -> Result<(), StoreError> {
        let entry = &new.entry;
        let tool = entry.tool.as_ref();
        let outcome = tool.and_then(|tool| tool.outcome.as_ref());
        let checked = [
            Some(entry.kind.as_str()),
            Some(&entry.text),
            tool.map(|tool| tool.name.as_str()),
            tool.map(|tool| tool.target.as_str()),
            tool.map(|tool| tool.arguments.as_str()),
            tool.and_then(|tool| tool.body.as_deref()),
        ];
        let [kind, text, tool_name, target, arguments, body] = checked;
        self.insert(
            "entry",
            columns! {
                session: session,
                seq: entry.seq,
                native_key: new.native_key,
                native_id: entry.native_id,
                message_key: new.message_key,
                node_key: new.node_key,
                line: entry.location.line,
                offset: entry.location.offset,
                length: entry.location.length,
                at: entry.at,
                kind: kind,
                text: text,
                episode: entry.episode,
                is_abandoned: entry.is_abandoned,
                tool_name: tool_name,
                tool_kind: tool.and_then(|tool| tool.kind).map(ToolKind::as_str),
                target: target,
                arguments: arguments,
                paths: tool.and_then(|tool| write_paths(&tool.paths)),
                status: outcome.map(|outcome| outcome.status.as_str()),
                summary: outcome.map(|outcome| outcome.summary.as_str()),
                error: outcome.and_then(|outcome| outcome.error.as_deref()),
                exit_code: outcome.and_then(|outcome| outcome.exit_code),
                output_lines: outcome.map(|outcome| outcome.lines),
                output_bytes: outcome.map(|outcome| outcome.bytes),
                output: outcome.and_then(|outcome| outcome.output.as_deref()),
                script: body,
                transcript: transcript,
                line_key: new.line_key,
                checksum: checksum(&checked),
            },
        )
    }
}

/// A limit that no result reaches.
pub(crate) const NO_LIMIT: u64 = i64::MAX as u64;

/// The columns `checksum` is made of, in this order.
const CHECKED_COLUMNS: [&str; 6] = ["kind", "text", "tool_name", "target", "arguments", "script"];

fn checksum(parts: &[Option<&str>]) -> i64 {
    let mut hash = xxhash_rust::xxh3::Xxh3::new();
    for part in parts {
        hash.update(&part.map_or(u64::MAX, |part| part.len() as u64).to_le_bytes());
        hash.update(part.unwrap_or_default().as_bytes());
    }
    hash.digest() as i64
}

/// A JSON list; None for no paths.
fn write_paths(paths: &[String]) -> Option<String> {
    if paths.is_empty() { None } else { serde_json::to_string(paths).ok() }
}

pub(crate) fn read_paths(stored: Option<&str>) -> Vec<String> {
    stored.and_then(|paths| serde_json::from_str(paths).ok()).unwrap_or_default()
}

pub(crate) fn from_row(row: &Row<'_>) -> Result<Entry, StoreError> {
    Ok(Entry {
        seq: row.u64("seq")?,
        native_id: row.string("native_id")?,
        location: location(row)?,
        at: row.opt_time("at")?,
        kind: EntryKind::from_stored(row.text("kind")?),
        text: row.string("text")?,
        episode: row.opt_u64("episode")?,
        is_abandoned: row.flag("is_abandoned")?,
        tool: tool(row)?,
    })
}

pub(crate) fn location(row: &Row<'_>) -> Result<EntryLocation, StoreError> {
    Ok(EntryLocation { line: row.u64("line")?, offset: row.u64("offset")?, length: row.u64("length")? })
}

fn tool(row: &Row<'_>) -> Result<Option<ToolUse>, StoreError> {
    let Some(name) = row.opt_string("tool_name")? else { return Ok(None) };
    Ok(Some(ToolUse {
        name,
        kind: row.opt_text("tool_kind")?.map(ToolKind::from_stored),
        target: row.opt_string("target")?.unwrap_or_default(),
        body: row.opt_string("script")?,
        arguments: row.opt_string("arguments")?.unwrap_or_default(),
        paths: read_paths(row.opt_text("paths")?),
        outcome: outcome(row)?,
    }))
}

fn outcome(row: &Row<'_>) -> Result<Option<ToolOutcome>, StoreError> {
    let Some(status) = row.opt_text("status")? else { return Ok(None) };
    Ok(Some(ToolOutcome {
        status: ToolStatus::from_stored(status),
        summary: row.opt_string("summary")?.unwrap_or_default(),
        error: row.opt_string("error")?,
        exit_code: row.opt_int("exit_code")?.and_then(|code| code.try_into().ok()),
        lines: row.opt_u64("output_lines")?.unwrap_or(0),
        bytes: row.opt_u64("output_bytes")?.unwrap_or(0),
        output: row.opt_string("output")?,
    }))
}

pub(crate) fn episode(row: &Row<'_>) -> Result<Episode, StoreError> {
    Ok(Episode {
        id: row.string("id")?,
        number: row.u64("number")?,
        first_seq: row.u64("first_seq")?,
        last_seq: row.u64("last_seq")?,
        part_starts: row.text("span_starts")?.split(',').filter_map(|seq| seq.parse().ok()).collect(),
        lines: (row.u64("first_line")?, row.u64("last_line")?),
        bytes: (row.u64("first_byte")?, row.u64("last_byte")?),
        started_at: row.opt_time("started_at")?,
        ended_at: row.opt_time("ended_at")?,
        tool_calls: row.u64("tool_calls")?,
        tool_errors: row.u64("tool_errors")?,
        kept_tokens: row.u64("kept_tokens")?,
        is_open: row.flag("is_open")?,
        is_abandoned: row.flag("is_abandoned")?,
    })
}
