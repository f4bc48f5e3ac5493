//! Pages of entries from anywhere in a long session, and its list of prompts.

use rethread_model::{Entry, Session, SessionId, SessionKind, Timestamp};
use rusqlite::{OptionalExtension, Params, params};

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
        let border = i64::try_from(border).unwrap_or(i64::MAX);
        let values = params![
            self.space.as_str(),
            session.0,
            filter.include_abandoned,
            filter.include_meta,
            border,
            limit as i64
        ];
        let read = || -> rusqlite::Result<Vec<Entry>> {
            self.connection.prepare_cached(&sql)?.query_map(values, entries::from_row)?.collect()
        };
        read().map_err(|cause| self.err(cause))
    }

    /// The last entry at or before a line that the filter accepts.
    fn entry_at_line(&self, session: SessionNumber, filter: EntryFilter, line: u64) -> Result<Option<u64>, StoreError> {
        let line = i64::try_from(line).unwrap_or(i64::MAX);
        let values = params![self.space.as_str(), session.0, filter.include_abandoned, filter.include_meta, line];
        // Several entries may have the same line; the page is around the first of them.
        let read = || {
            self.connection
                .prepare_cached(
                    "SELECT seq FROM entry WHERE space = ?1 AND session = ?2 AND line <= ?5
                     AND (?3 OR NOT (is_abandoned OR is_retracted))
                     AND (?4 OR kind NOT IN ('reasoning', 'command', 'notice', 'injected'))
                     ORDER BY line DESC, seq LIMIT 1",
                )?
                .query_row(values, |row| row.get::<_, i64>(0))
                .optional()
        };
        read().map(|seq| seq.map(|seq| seq as u64)).map_err(|cause| self.err(cause))
    }

    /// The prompts of a session, one per episode of the current branch.
    pub fn episode_prompts(&self, session: SessionNumber) -> Result<Vec<EpisodePrompt>, StoreError> {
        let values = params![self.space.as_str(), session.0, PROMPT_CHARACTERS];
        let read = || -> rusqlite::Result<Vec<EpisodePrompt>> {
            let mut statement = self.connection.prepare_cached(
                "SELECT episode.number, entry.seq, entry.line, entry.at, substr(entry.text, 1, ?3), episode.tool_calls,
                 episode.tool_errors FROM episode JOIN entry ON entry.space = episode.space
                 AND entry.session = episode.session AND entry.seq = episode.first_seq
                 WHERE episode.space = ?1 AND episode.session = ?2 AND entry.kind IN ('prompt', 'task')
                 AND NOT episode.is_abandoned ORDER BY episode.number",
            )?;
            let rows = statement.query_map(values, |row| {
                let count = |at: usize| row.get::<_, i64>(at).map(|number| number as u64);
                Ok(EpisodePrompt {
                    episode: count(0)?,
                    seq: count(1)?,
                    line: count(2)?,
                    at: row.get::<_, Option<i64>>(3)?.map(Timestamp::from_millis),
                    text: row.get(4)?,
                    tool_calls: count(5)?,
                    tool_errors: count(6)?,
                })
            })?;
            rows.collect()
        };
        read().map_err(|cause| self.err(cause))
    }

    /// The files that a session's tools wrote or edited, as counted in the session, most changes first.
    pub fn changed_paths(&self, session: SessionNumber) -> Result<Vec<ChangedPath>, StoreError> {
        let read = || -> rusqlite::Result<Vec<ChangedPath>> {
            let mut statement = self.connection.prepare_cached(
                "SELECT path.value, count(*), max(entry.line) FROM entry, json_each(entry.paths) AS path
                 WHERE entry.space = ?1 AND entry.session = ?2 AND entry.tool_kind IN ('write', 'edit')
                 AND NOT entry.is_abandoned AND NOT entry.is_retracted
                 GROUP BY path.value ORDER BY count(*) DESC, path.value",
            )?;
            let rows = statement.query_map(params![self.space.as_str(), session.0], |row| {
                let count = |at: usize| row.get::<_, i64>(at).map(|number| number as u64);
                Ok(ChangedPath { path: row.get(0)?, times: count(1)?, last_line: count(2)? })
            })?;
            rows.collect()
        };
        read().map_err(|cause| self.err(cause))
    }

    /// The tools that a session called, those of MCP servers included, most calls first.
    pub fn tool_totals(&self, session: SessionNumber) -> Result<Vec<ToolTotal>, StoreError> {
        let read = || -> rusqlite::Result<Vec<ToolTotal>> {
            let mut statement = self.connection.prepare_cached(
                "SELECT tool_name, count(*), count(CASE WHEN status <> 'ok' THEN 1 END) FROM entry
                 WHERE space = ?1 AND session = ?2 AND tool_name IS NOT NULL AND NOT is_abandoned AND NOT is_retracted
                 GROUP BY tool_name ORDER BY count(*) DESC, tool_name",
            )?;
            let rows = statement.query_map(params![self.space.as_str(), session.0], |row| {
                let count = |at: usize| row.get::<_, i64>(at).map(|number| number as u64);
                Ok(ToolTotal { name: row.get(0)?, calls: count(1)?, errors: count(2)? })
            })?;
            rows.collect()
        };
        read().map_err(|cause| self.err(cause))
    }

    /// The session with that id, unless it was removed.
    pub fn session_by_id(&self, id: SessionId) -> Result<Option<(SessionNumber, Session)>, StoreError> {
        let values = params![self.space.as_str(), id.to_string()];
        Ok(self.select_numbered("session.id = ?2 AND session.kind <> 'removed'", values)?.pop())
    }

    /// The sessions of the sub-agents that a session started, by start time.
    pub fn child_sessions(&self, session: &Session) -> Result<Vec<Session>, StoreError> {
        if session.kind == SessionKind::Child {
            return Ok(Vec::new());
        }
        let values = params![self.space.as_str(), session.agent.as_str(), session.external_id];
        let condition = "session.agent = ?2 AND session.kind = 'child' AND session.parent_external_id = ?3
             AND NOT session.is_empty ORDER BY session.started_at, session.number";
        Ok(self.select_numbered(condition, values)?.into_iter().map(|(_, session)| session).collect())
    }

    fn select_numbered(
        &self,
        condition: &str,
        values: impl Params,
    ) -> Result<Vec<(SessionNumber, Session)>, StoreError> {
        let sql = format!(
            "SELECT {}, session.number FROM {} WHERE session.space = ?1 AND {condition}",
            sessions::COLUMNS,
            sessions::TABLES
        );
        let read = || -> rusqlite::Result<Vec<(SessionNumber, Session)>> {
            let mut statement = self.connection.prepare_cached(&sql)?;
            let rows = statement.query_map(values, |row| {
                let number = SessionNumber(row.get(sessions::COLUMN_COUNT)?);
                Ok(sessions::from_row(row)?.map(|session| (number, session)))
            })?;
            rows.filter_map(Result::transpose).collect()
        };
        read().map_err(|cause| self.err(cause))
    }
}
