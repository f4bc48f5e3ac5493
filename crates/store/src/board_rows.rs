//! Short rows of all main sessions for the board, which lists thousands, and the latest entries of a few.

use rethread_model::{Agent, Entry, Timestamp};

use crate::sql::values;
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
    /// Number of failed tool calls.
    pub tool_errors: u64,
    /// Number of changed files.
    pub files_edited: u64,
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
        self.sql.known(
            "SELECT session.number, coalesce(session.project, session.cwd) AS place, session.agent,
             session.last_activity_at, session.tool_errors, session.files_edited, lifecycle.touched_at, lifecycle.closed_as,
             lifecycle.closed_at
             FROM session LEFT JOIN lifecycle ON lifecycle.space = session.space AND lifecycle.agent = session.agent
             AND lifecycle.external_id = session.external_id
             WHERE session.space = ?1 AND session.kind = 'main' AND NOT session.is_empty
             ORDER BY session.last_activity_at DESC NULLS LAST, session.number DESC",
            &[],
            |row| {
                let Some(agent) = row.parsed("agent")? else { return Ok(None) };
                let closed = CloseKind::from_stored(row.opt_text("closed_as")?);
                Ok(Some(BoardRow {
                    number: row.session("number")?,
                    project: row.opt_string("place")?,
                    agent,
                    last_activity_at: row.opt_time("last_activity_at")?,
                    touched_at: row.opt_time("touched_at")?,
                    closed: closed.zip(row.opt_time("closed_at")?),
                    tool_errors: row.u64("tool_errors")?,
                    files_edited: row.u64("files_edited")?,
                }))
            },
        )
    }

    /// The projects of all sessions in alphabetical order; a session without a project counts with its directory.
    pub fn projects(&self) -> Result<Vec<String>, StoreError> {
        let sql = format!(
            "SELECT DISTINCT coalesce(project, cwd) AS place FROM session {}
             WHERE space = ?1 AND coalesce(project, cwd) IS NOT NULL ORDER BY place",
            self.sql.index("session_by_project")
        );
        self.sql.all(&sql, &[], |row| row.string("place"))
    }

    /// The last prompt and the last entry on the current branch of a session.
    pub fn session_tail(&self, session: SessionNumber) -> Result<SessionTail, StoreError> {
        // Every episode starts with its prompt, and there are fewer episodes than entries.
        let last_prompt = self.sql.one(
            "SELECT substr(entry.text, 1, CAST(?3 AS INTEGER)) AS text FROM episode JOIN entry ON entry.space = episode.space
             AND entry.session = episode.session AND entry.seq = episode.first_seq
             WHERE episode.space = ?1 AND episode.session = ?2 AND NOT episode.is_abandoned
             AND entry.kind IN ('prompt', 'task') ORDER BY episode.number DESC LIMIT 1",
            values![session, PROMPT_CHARACTERS],
            |row| row.string("text"),
        )?;
        let sql = format!(
            "SELECT {} FROM entry WHERE space = ?1 AND session = ?2 AND NOT (is_abandoned OR is_retracted)
             AND kind IN ('assistant', 'call', 'failure', 'interruption') ORDER BY seq DESC LIMIT 1",
            entries::COLUMNS
        );
        Ok(SessionTail { last_prompt, last_entry: self.sql.one(&sql, values![session], entries::from_row)? })
    }
}
