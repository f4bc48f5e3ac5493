//! Pages of entries from anywhere in a long session, and its list of prompts.

use std::collections::BTreeMap;

use rethread_model::{Entry, Session, SessionId, SessionKind, Timestamp};

use crate::entries::NO_LIMIT;
use crate::sql::values;
use crate::{EntryFilter, ReadStore, SessionNumber, StoreError, entries, sessions};

/// Which entries of a session a page holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EntryRange {
    /// The last entries.
    #[default]
    Last,
    /// Entries from this seq on.
    From(u64),
    /// Entries before this seq.
    Before(u64),
    /// Entries around the one at this transcript line, or the last one before it.
    Around(u64),
}

/// Consecutive entries of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EntryPage {
    /// The entries, in transcript order.
    pub entries: Vec<Entry>,
    /// Whether there are entries before them.
    pub has_earlier: bool,
    /// Whether there are entries after them.
    pub has_later: bool,
    /// Seq of the entry the page is around.
    pub center_seq: Option<u64>,
}

/// A file that a session's tools wrote or edited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedPath {
    /// Path as the tool was given it.
    pub path: String,
    /// Number of changes.
    pub times: u64,
    /// Transcript line of the last change.
    pub last_line: u64,
}

/// How often a session called a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolTotal {
    /// The agent's name of the tool, such as `mcp__github__create_issue`.
    pub name: String,
    /// Number of calls.
    pub calls: u64,
    /// Of these, how many failed or were refused.
    pub errors: u64,
}

/// An episode in the list of prompts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EpisodePrompt {
    /// Number of the episode.
    pub episode: u64,
    /// Seq of its first entry.
    pub seq: u64,
    /// Transcript line of that entry.
    pub line: u64,
    /// Time of that entry.
    pub at: Option<Timestamp>,
    /// The prompt, cut to 200 characters.
    pub text: String,
    /// Tool calls in the episode.
    pub tool_calls: u64,
    /// How many of the tool calls failed.
    pub tool_errors: u64,
}

/// Enough of a prompt for a list.
const PROMPT_CHARACTERS: i64 = 200;

impl ReadStore {
    /// At most `limit` entries of a session; ignores `last` of the filter.
    pub fn entry_page(
        &self,
        session: SessionNumber,
        filter: EntryFilter,
        range: EntryRange,
        limit: u64,
    ) -> Result<EntryPage, StoreError> {
        let (border, before, after, middle) = match range {
            EntryRange::Last => (u64::MAX, limit, 0, None),
            EntryRange::Before(seq) => (seq, limit, 0, None),
            EntryRange::From(seq) => (seq, 0, limit, None),
            EntryRange::Around(line) => {
                let seq = self.entry_at_line(session, filter, line)?.unwrap_or(0);
                // A reader who follows a citation needs some of what led to it and more of what followed.
                (seq, limit / 3, limit - limit / 3, Some(seq))
            }
        };
        // One more than needed shows whether there are more.
        let mut earlier = self.select_entries(session, filter, ("seq < ?5", "DESC"), border, before + 1)?;
        let mut later = self.select_entries(session, filter, ("seq >= ?5", "ASC"), border, after + 1)?;
        let has_earlier = earlier.len() as u64 > before;
        let has_later = later.len() as u64 > after;
        earlier.truncate(before as usize);
        later.truncate(after as usize);
        earlier.reverse();
        earlier.extend(later);
        Ok(EntryPage { entries: earlier, has_earlier, has_later, center_seq: middle })
    }

    fn select_entries(
        &self,
        session: SessionNumber,
        filter: EntryFilter,
        (condition, order): (&str, &str),
        border: u64,
        limit: u64,
    ) -> Result<Vec<Entry>, StoreError> {
        let sql = format!(
            "SELECT {} FROM entry WHERE space = ?1 AND session = ?2 AND (?3 OR NOT (is_abandoned OR is_retracted))
             AND (?4 OR kind NOT IN ('reasoning', 'command', 'notice', 'injected')) AND {condition}
             ORDER BY seq {order} LIMIT ?6",
            entries::COLUMNS
        );
        let border = border.min(NO_LIMIT);
        let values = values![session, filter.include_abandoned, filter.include_meta, border, limit];
        self.sql.all(&sql, values, entries::from_row)
    }

    /// The last entry at or before a line that the filter accepts.
    fn entry_at_line(&self, session: SessionNumber, filter: EntryFilter, line: u64) -> Result<Option<u64>, StoreError> {
        // Several entries may have the same line; the page is around the first of them.
        self.sql.one(
            "SELECT seq FROM entry WHERE space = ?1 AND session = ?2 AND line <= ?5
             AND (?3 OR NOT (is_abandoned OR is_retracted))
             AND (?4 OR kind NOT IN ('reasoning', 'command', 'notice', 'injected'))
             ORDER BY line DESC, seq LIMIT 1",
            values![session, filter.include_abandoned, filter.include_meta, line.min(NO_LIMIT)],
            |row| row.u64("seq"),
        )
    }

    /// The prompts of a session, one per episode of the current branch.
    pub fn episode_prompts(&self, session: SessionNumber) -> Result<Vec<EpisodePrompt>, StoreError> {
        self.sql.all(
            "SELECT episode.number, entry.seq, entry.line, entry.at, substr(entry.text, 1, CAST(?3 AS INTEGER)) AS text,
             episode.tool_calls, episode.tool_errors FROM episode JOIN entry ON entry.space = episode.space
             AND entry.session = episode.session AND entry.seq = episode.first_seq
             WHERE episode.space = ?1 AND episode.session = ?2 AND entry.kind IN ('prompt', 'task')
             AND NOT episode.is_abandoned ORDER BY episode.number",
            values![session, PROMPT_CHARACTERS],
            |row| {
                Ok(EpisodePrompt {
                    episode: row.u64("number")?,
                    seq: row.u64("seq")?,
                    line: row.u64("line")?,
                    at: row.opt_time("at")?,
                    text: row.string("text")?,
                    tool_calls: row.u64("tool_calls")?,
                    tool_errors: row.u64("tool_errors")?,
                })
            },
        )
    }

    /// The files that a session's tools wrote or edited, as counted in the session, most changes first.
    pub fn changed_paths(&self, session: SessionNumber) -> Result<Vec<ChangedPath>, StoreError> {
        let mut changes: BTreeMap<String, (u64, u64)> = BTreeMap::new();
        self.sql.each(
            "SELECT paths, line FROM entry WHERE space = ?1 AND session = ?2 AND tool_kind IN ('write', 'edit')
             AND NOT is_abandoned AND NOT is_retracted",
            values![session],
            |row| {
                let line = row.u64("line")?;
                for path in entries::read_paths(row.opt_text("paths")?) {
                    let (times, last_line) = changes.entry(path).or_default();
                    (*times, *last_line) = (*times + 1, line.max(*last_line));
                }
                Ok::<_, StoreError>(())
            },
        )?;
        let changes = changes.into_iter();
        let mut paths: Vec<_> =
            changes.map(|(path, (times, last_line))| ChangedPath { path, times, last_line }).collect();
        paths.sort_by_key(|path| std::cmp::Reverse(path.times));
        Ok(paths)
    }

    /// The tools that a session called, those of MCP servers included, most calls first.
    pub fn tool_totals(&self, session: SessionNumber) -> Result<Vec<ToolTotal>, StoreError> {
        self.sql.all(
            "SELECT tool_name, count(*) AS calls, count(CASE WHEN status <> 'ok' THEN 1 END) AS errors FROM entry
             WHERE space = ?1 AND session = ?2 AND tool_name IS NOT NULL AND NOT is_abandoned AND NOT is_retracted
             GROUP BY tool_name ORDER BY count(*) DESC, tool_name",
            values![session],
            |row| {
                Ok(ToolTotal { name: row.string("tool_name")?, calls: row.u64("calls")?, errors: row.u64("errors")? })
            },
        )
    }

    /// The session with that id, unless it was removed.
    pub fn session_by_id(&self, id: SessionId) -> Result<Option<(SessionNumber, Session)>, StoreError> {
        let condition = "session.id = ?2 AND session.kind <> 'removed'";
        Ok(self.select_sessions(condition, values![id.to_string()], sessions::numbered)?.pop())
    }

    /// The sessions of the sub-agents that a session started, by start time.
    pub fn child_sessions(&self, session: &Session) -> Result<Vec<Session>, StoreError> {
        if session.kind == SessionKind::Child {
            return Ok(Vec::new());
        }
        let condition = "session.agent = ?2 AND session.kind = 'child' AND session.parent_external_id = ?3
             AND NOT session.is_empty ORDER BY session.started_at NULLS FIRST, session.number";
        self.select_sessions(condition, values![session.agent, session.external_id], sessions::from_row)
    }
}
