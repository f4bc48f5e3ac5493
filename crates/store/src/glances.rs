//! All sessions of humans in a few words, for looking over thousands of them, and the last words of a few.

use rethread_model::{Agent, Entry, Timestamp};
use rusqlite::{OptionalExtension, params};

use crate::{Closed, SessionNumber, Store, StoreError, entries};

/// A session as far as it must be known to be put in its place among others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glance {
    /// The session.
    pub number: SessionNumber,
    /// Its project, or the directory it began in.
    pub project: Option<String>,
    /// Whose session.
    pub agent: Agent,
    /// Time of its last entry.
    pub last_at: Option<Timestamp>,
    /// When a hook or a verb last touched it, if one did.
    pub touched_at: Option<Timestamp>,
    /// How and when it was closed, if it was.
    pub closed: Option<(Closed, Timestamp)>,
}

/// What was asked and done last in a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LastWords {
    /// The beginning of the last prompt.
    pub prompt: Option<String>,
    /// The last entry, whatever it is.
    pub entry: Option<Entry>,
}

/// So many characters of a prompt are enough to recognise it.
const PROMPT_CHARACTERS: i64 = 600;

impl Store {
    /// Every session of a human in which something happened, newest first.
    pub fn glances(&self) -> Result<Vec<Glance>, StoreError> {
        let read = || -> rusqlite::Result<Vec<Glance>> {
            let mut statement = self.connection.prepare_cached(
                "SELECT session.num, coalesce(session.project, session.cwd), session.agent, session.last_at,
                 life.touched_at, life.closed, life.closed_at
                 FROM session LEFT JOIN life ON life.space = session.space AND life.agent = session.agent
                 AND life.external_id = session.external_id
                 WHERE session.space = ?1 AND session.kind = 'main' AND NOT session.empty
                 ORDER BY session.last_at DESC, session.num DESC",
            )?;
            let rows = statement.query_map([self.space.as_str()], |row| {
                let Ok(agent) = row.get_ref(2)?.as_str()?.parse() else { return Ok(None) };
                let time = |at: usize| row.get::<_, Option<i64>>(at).map(|millis| millis.map(Timestamp::from_millis));
                let closed = Closed::from_stored(row.get_ref(5)?.as_str_or_null()?);
                Ok(Some(Glance {
                    number: SessionNumber(row.get(0)?),
                    project: row.get(1)?,
                    agent,
                    last_at: time(3)?,
                    touched_at: time(4)?,
                    closed: closed.zip(time(6)?),
                }))
            })?;
            rows.filter_map(Result::transpose).collect()
        };
        read().map_err(|cause| self.err(cause))
    }

    /// The projects of all sessions, by name; where there is no project, the directory.
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

    /// What was asked and done last in a session, on the branch it is on.
    pub fn last_words(&self, session: SessionNumber) -> Result<LastWords, StoreError> {
        let read = || -> rusqlite::Result<LastWords> {
            let values = params![self.space.as_str(), session.0, PROMPT_CHARACTERS];
            // Every exchange begins with its prompt, and there are fewer exchanges than entries.
            let prompt = self
                .connection
                .prepare_cached(
                    "SELECT substr(entry.text, 1, ?3) FROM episode JOIN entry ON entry.space = episode.space
                     AND entry.session = episode.session AND entry.seq = episode.first_seq
                     WHERE episode.space = ?1 AND episode.session = ?2 AND NOT episode.abandoned
                     AND entry.speech IN ('prompt', 'task') ORDER BY episode.number DESC LIMIT 1",
                )?
                .query_row(values, |row| row.get(0))
                .optional()?;
            let sql = format!(
                "SELECT {} FROM entry WHERE space = ?1 AND session = ?2 AND NOT (abandoned OR taken_back)
                 AND speech IN ('said', 'call', 'failure', 'interruption') ORDER BY seq DESC LIMIT 1",
                entries::COLUMNS
            );
            let values = params![self.space.as_str(), session.0];
            let entry = self.connection.prepare_cached(&sql)?.query_row(values, entries::from_row).optional()?;
            Ok(LastWords { prompt, entry })
        };
        read().map_err(|cause| self.err(cause))
    }
}
