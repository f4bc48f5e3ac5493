//! Short rows of all main sessions for the board, which lists thousands, and the latest entries of a few.

use rethread_model::{Agent, Entry, Timestamp};
use rusqlite::{OptionalExtension, params};

use crate::{CloseKind, ReadStore, SessionNumber, StoreError, entries};

/// What the board needs to sort and group a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoardRow {
    /// Identifies the session.
    pub number: SessionNumber,
    /// Its project, or the directory it started in.
    pub project: Option<String>,
    /// The agent that wrote the transcript.
    pub agent: Agent,
    /// Time of its last entry.
    pub last_activity_at: Option<Timestamp>,
    /// Time of the last hook or command that concerned it.
    pub touched_at: Option<Timestamp>,
    /// How and when it was closed; `None` while it is open.
    pub closed: Option<(CloseKind, Timestamp)>,
}

/// The last prompt and the last entry of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionTail {
    /// The last prompt, cut to 600 characters.
    pub last_prompt: Option<String>,
    /// The last answer, call, failure or interruption.
    pub last_entry: Option<Entry>,
}

/// Enough of a prompt to recognize it.
const PROMPT_CHARACTERS: i64 = 600;

impl ReadStore {
    /// Every main session that is not empty, most recently active first.
    pub fn board_rows(&self) -> Result<Vec<BoardRow>, StoreError> {
        let read = || -> rusqlite::Result<Vec<BoardRow>> {
            let mut statement = self.connection.prepare_cached(
                "SELECT session.number, coalesce(session.project, session.cwd), session.agent, session.last_activity_at,
                 lifecycle.touched_at, lifecycle.closed_as, lifecycle.closed_at
                 FROM session LEFT JOIN lifecycle ON lifecycle.space = session.space AND lifecycle.agent = session.agent
                 AND lifecycle.external_id = session.external_id
                 WHERE session.space = ?1 AND session.kind = 'main' AND NOT session.is_empty
                 ORDER BY session.last_activity_at DESC, session.number DESC",
            )?;
            let rows = statement.query_map([self.space.as_str()], |row| {
                let Ok(agent) = row.get_ref(2)?.as_str()?.parse() else { return Ok(None) };
                let time = |at: usize| row.get::<_, Option<i64>>(at).map(|millis| millis.map(Timestamp::from_millis));
                let closed = CloseKind::from_stored(row.get_ref(5)?.as_str_or_null()?);
                Ok(Some(BoardRow {
                    number: SessionNumber(row.get(0)?),
                    project: row.get(1)?,
                    agent,
                    last_activity_at: time(3)?,
                    touched_at: time(4)?,
                    closed: closed.zip(time(6)?),
                }))
            })?;
            rows.filter_map(Result::transpose).collect()
        };
        read().map_err(|cause| self.err(cause))
    }

    /// The projects of all sessions in alphabetical order; a session without a project counts with its directory.
    pub fn projects(&self) -> Result<Vec<String>, StoreError> {
        let read = || -> rusqlite::Result<Vec<String>> {
            let mut statement = self.connection.prepare_cached(
                "SELECT DISTINCT coalesce(project, cwd) AS place FROM session INDEXED BY session_by_project
                 WHERE space = ?1 AND place IS NOT NULL ORDER BY place",
            )?;
            statement.query_map([self.space.as_str()], |row| row.get(0))?.collect()
        };
        read().map_err(|cause| self.err(cause))
    }

    /// The last prompt and the last entry on the current branch of a session.
    pub fn session_tail(&self, session: SessionNumber) -> Result<SessionTail, StoreError> {
        let read = || -> rusqlite::Result<SessionTail> {
            let values = params![self.space.as_str(), session.0, PROMPT_CHARACTERS];
            // Every episode starts with its prompt, and there are fewer episodes than entries.
            let prompt = self
                .connection
                .prepare_cached(
                    "SELECT substr(entry.text, 1, ?3) FROM episode JOIN entry ON entry.space = episode.space
                     AND entry.session = episode.session AND entry.seq = episode.first_seq
                     WHERE episode.space = ?1 AND episode.session = ?2 AND NOT episode.is_abandoned
                     AND entry.kind IN ('prompt', 'task') ORDER BY episode.number DESC LIMIT 1",
                )?
                .query_row(values, |row| row.get(0))
                .optional()?;
            let sql = format!(
                "SELECT {} FROM entry WHERE space = ?1 AND session = ?2 AND NOT (is_abandoned OR is_retracted)
                 AND kind IN ('assistant', 'call', 'failure', 'interruption') ORDER BY seq DESC LIMIT 1",
                entries::COLUMNS
            );
            let values = params![self.space.as_str(), session.0];
            let entry = self.connection.prepare_cached(&sql)?.query_row(values, entries::from_row).optional()?;
            Ok(SessionTail { last_prompt: prompt, last_entry: entry })
        };
        read().map_err(|cause| self.err(cause))
    }
}
