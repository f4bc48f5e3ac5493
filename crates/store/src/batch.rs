//! Writing: what one reading of transcripts changed, made visible together or not at all.

mod apply;
mod forget;
mod forget_text;

use std::path::Path;

use rethread_model::{Agent, Counts, NativeKey, Owner, Session, SessionId, SessionKind, Space, Timestamp};
use rusqlite::{OptionalExtension, Transaction, params};

use crate::StoreError;
use crate::forgetting::OF_SESSION;
use crate::transcripts::{self, Cursor, Fingerprint, TranscriptNumber, TranscriptRow};

/// Our number of a session: short, and in the order sessions were first met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionNumber(pub(crate) i64);

impl SessionNumber {
    /// As a plain number, for an index.
    pub const fn get(self) -> u64 {
        self.0 as u64
    }

    /// From the plain number.
    pub const fn new(number: u64) -> Self {
        Self(number as i64)
    }
}

/// A session that was there or has just been made.
#[derive(Debug)]
pub struct OpenedSession {
    /// Its number.
    pub number: SessionNumber,
    /// What its story left to be remembered; nothing for a new session.
    pub memory: Option<String>,
}

/// The columns of a session that its story decides. Tokens and costs are added up by the store itself.
#[derive(Debug)]
pub struct SessionUpdate<'a> {
    /// How it came to be.
    pub kind: SessionKind,
    /// The parent, by the agent's own id; nothing leaves the known one.
    pub parent_external: Option<&'a str>,
    /// Its name.
    pub name: Option<&'a str>,
    /// Where it began.
    pub cwd: Option<&'a str>,
    /// The project that is part of.
    pub project: Option<&'a str>,
    /// A name of the project that hides its path.
    pub namespace: Option<&'a str>,
    /// Git branch last seen.
    pub branch: Option<&'a str>,
    /// Model last used.
    pub model: Option<&'a str>,
    /// First moment.
    pub started_at: Option<Timestamp>,
    /// Last moment.
    pub last_activity_at: Option<Timestamp>,
    /// The file; nothing leaves the known one.
    pub transcript: Option<&'a str>,
    /// What was counted.
    pub counts: Counts,
    /// Estimated tokens kept.
    pub kept_tokens: u64,
    /// Whether nothing worth listing happened.
    pub empty: bool,
    /// What the story must remember.
    pub memory: &'a str,
    /// Bytes of transcript read since the last update.
    pub bytes_read: u64,
}

/// A transaction that writes. Dropped without `commit`, it leaves no trace.
#[derive(Debug)]
pub struct Batch<'s> {
    transaction: Transaction<'s>,
    space: &'s str,
    path: &'s Path,
    change: i64,
}

impl<'s> Batch<'s> {
    pub(crate) fn new(transaction: Transaction<'s>, space: &'s Space, path: &'s Path) -> Result<Self, StoreError> {
        let space = space.as_str();
        let change = transaction
            .query_row("SELECT value FROM counter WHERE space = ?1 AND name = 'change'", [space], |row| row.get(0))
            .optional()
            .map_err(|cause| StoreError::at(path, cause))?
            .unwrap_or(0);
        Ok(Self { transaction, space, path, change })
    }

    /// Keeps everything written.
    pub fn commit(self) -> Result<(), StoreError> {
        self.run(
            "INSERT INTO counter (space, name, value) VALUES (?1, 'change', ?2)
             ON CONFLICT DO UPDATE SET value = excluded.value",
            params![self.space, self.change],
        )?;
        let path = self.path;
        self.transaction.commit().map_err(|cause| StoreError::at(path, cause))
    }

    /// The transcript at that path, as it is now.
    pub fn transcript(&self, path: &str) -> Result<Option<TranscriptRow>, StoreError> {
        let sql = format!("SELECT {} FROM transcript WHERE space = ?1 AND path = ?2", transcripts::COLUMNS);
        let mut statement = self.transaction.prepare_cached(&sql).map_err(|cause| self.err(cause))?;
        let found = statement.query_row(params![self.space, path], transcripts::from_row).optional();
        Ok(found.map_err(|cause| self.err(cause))?.flatten())
    }

    /// Takes note of a transcript met for the first time.
    pub fn add_transcript(&mut self, path: &str, agent: Agent) -> Result<TranscriptNumber, StoreError> {
        let number = self.next_number("transcript")?;
        self.run(
            "INSERT INTO transcript
             (space, num, path, agent, device, inode, size, mtime, offset, line, head_hash, tail_hash)
             VALUES (?1, ?2, ?3, ?4, 0, 0, 0, 0, 0, 0, 0, 0)",
            params![self.space, number, path, agent.as_str()],
        )?;
        Ok(TranscriptNumber(number))
    }

    /// Notes how far a transcript has been read.
    pub fn set_cursor(
        &mut self,
        number: TranscriptNumber,
        session: Option<SessionNumber>,
        fingerprint: Fingerprint,
        cursor: Cursor,
    ) -> Result<(), StoreError> {
        self.run(
            "UPDATE transcript SET session = ?3, device = ?4, inode = ?5, size = ?6, mtime = ?7,
             offset = ?8, line = ?9, head_hash = ?10, tail_hash = ?11 WHERE space = ?1 AND num = ?2",
            params![
                self.space,
                number.0,
                session.map(|session| session.0),
                fingerprint.device as i64,
                fingerprint.inode as i64,
                fingerprint.size as i64,
                fingerprint.mtime,
                cursor.offset as i64,
                cursor.line as i64,
                cursor.head_hash as i64,
                cursor.tail_hash as i64,
            ],
        )
    }

    /// Notes a line that could not be read.
    pub fn add_problem(&mut self, transcript: TranscriptNumber, line: u64, message: &str) -> Result<(), StoreError> {
        self.run(
            "INSERT INTO problem (space, transcript, line, message) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT DO UPDATE SET message = excluded.message",
            params![self.space, transcript.0, line as i64, message],
        )
    }

    /// Forgets the problems of a transcript that is read anew.
    pub fn clear_problems(&mut self, transcript: TranscriptNumber) -> Result<(), StoreError> {
        self.run("DELETE FROM problem WHERE space = ?1 AND transcript = ?2", params![self.space, transcript.0])
    }

    /// Adds to the number of secrets a rule has found.
    pub fn add_redactions(&mut self, rule: &str, count: u64) -> Result<(), StoreError> {
        self.run(
            "INSERT INTO redaction (space, rule, count) VALUES (?1, ?2, ?3)
             ON CONFLICT DO UPDATE SET count = count + excluded.count",
            params![self.space, rule, count as i64],
        )
    }

    /// Starts the number of redactions over, before everything is read again.
    pub fn clear_redactions(&mut self) -> Result<(), StoreError> {
        self.run("DELETE FROM redaction WHERE space = ?1", params![self.space])
    }

    /// The session with that id of the agent, made if it is not there.
    pub fn open_session(&mut self, agent: Agent, external_id: &str) -> Result<OpenedSession, StoreError> {
        if let Some(found) = self.find_session(agent, external_id)? {
            return Ok(found);
        }
        let number = self.next_number("session")?;
        // The time in the id follows as soon as the session has one.
        let id = SessionId::derive(agent, external_id, Timestamp::default());
        self.run(
            "INSERT INTO session (space, num, id, agent, external_id, kind, change) VALUES (?1, ?2, ?3, ?4, ?5, 'main', ?6)",
            params![self.space, number, id.to_string(), agent.as_str(), external_id, self.change],
        )?;
        Ok(OpenedSession { number: SessionNumber(number), memory: None })
    }

    /// The session with that id of the agent.
    fn find_session(&self, agent: Agent, external_id: &str) -> Result<Option<OpenedSession>, StoreError> {
        self.one(
            "SELECT num, memory FROM session WHERE space = ?1 AND agent = ?2 AND external_id = ?3",
            params![self.space, agent.as_str(), external_id],
            |row| Ok(OpenedSession { number: SessionNumber(row.get(0)?), memory: row.get(1)? }),
        )
    }

    /// Gives a session a unique short name; the name leaves any other session that had it.
    pub fn set_alias(&mut self, agent: Agent, external_id: &str, alias: &str) -> Result<(), StoreError> {
        self.run(
            "UPDATE session SET alias = NULL WHERE space = ?1 AND alias = ?2 AND NOT (agent = ?3 AND external_id = ?4)",
            params![self.space, alias, agent.as_str(), external_id],
        )?;
        self.run(
            "UPDATE session SET alias = ?2 WHERE space = ?1 AND agent = ?3 AND external_id = ?4 AND alias IS NOT ?2
             AND kind <> 'gone'",
            params![self.space, alias, agent.as_str(), external_id],
        )
    }

    /// Takes a session's alias away.
    pub fn clear_alias(&mut self, agent: Agent, external_id: &str) -> Result<(), StoreError> {
        self.run(
            "UPDATE session SET alias = NULL WHERE space = ?1 AND agent = ?2 AND external_id = ?3",
            params![self.space, agent.as_str(), external_id],
        )
    }

    /// Removes everything derived from a session's transcripts, before they are read again.
    pub fn reset_session(&mut self, session: SessionNumber) -> Result<(), StoreError> {
        for table in OF_SESSION {
            let sql = format!("DELETE FROM {table} WHERE space = ?1 AND session = ?2");
            self.run(&sql, params![self.space, session.0])?;
        }
        self.note_retold(session)?;
        self.run(
            "UPDATE session SET memory = NULL, tokens_input = 0, tokens_output = 0, cache_read = 0, cache_write = 0,
             cost_nanos = NULL, raw_bytes = 0 WHERE space = ?1 AND num = ?2",
            params![self.space, session.0],
        )?;
        self.run(
            "UPDATE transcript SET offset = 0, line = 0, size = 0, mtime = 0 WHERE space = ?1 AND session = ?2",
            params![self.space, session.0],
        )
    }

    /// The sub-agent sessions that live inside their parent's file.
    pub fn inline_children(&self, agent: Agent, parent_external: &str) -> Result<Vec<SessionNumber>, StoreError> {
        self.all(
            "SELECT num FROM session AS child WHERE space = ?1 AND agent = ?2 AND parent_external = ?3
             AND NOT EXISTS (SELECT 1 FROM transcript WHERE space = child.space AND session = child.num)",
            params![self.space, agent.as_str(), parent_external],
            |row| row.get(0).map(SessionNumber),
        )
    }

    /// Who has an entry with this key, seen from `session`.
    pub fn owner(&self, session: SessionNumber, key: NativeKey) -> Result<Option<Owner>, StoreError> {
        // The index is named because the planner, knowing only one space, takes the primary key and reads everything.
        let owners: Vec<i64> = self.all(
            "SELECT session FROM entry INDEXED BY entry_by_native WHERE space = ?1 AND native = ?2",
            params![self.space, key.as_stored()],
            |row| row.get(0),
        )?;
        // A session's own entry outweighs another's: short ids repeat between sessions.
        let here = owners.contains(&session.0).then_some(Owner::Here);
        let owner = here.or_else(|| (!owners.is_empty()).then_some(Owner::Elsewhere));
        match owner {
            None if self.has_forgotten(key)? => Ok(Some(Owner::Forgotten)),
            owner => Ok(owner),
        }
    }

    /// Whether this session has met that step of its queue of typed texts.
    pub fn has_queued(&self, session: SessionNumber, key: NativeKey) -> Result<bool, StoreError> {
        self.exists(
            "SELECT 1 FROM queued WHERE space = ?1 AND session = ?2 AND step = ?3",
            params![self.space, session.0, key.as_stored()],
        )
    }

    /// Whether this session has a tree node with that id.
    pub fn has_node(&self, session: SessionNumber, id: NativeKey) -> Result<bool, StoreError> {
        self.exists(
            "SELECT 1 FROM node WHERE space = ?1 AND session = ?2 AND id = ?3",
            params![self.space, session.0, id.as_stored()],
        )
    }

    /// Whether another session has, or had before it was forgotten, a tree node with that lineage.
    pub fn is_copied_node(&self, session: SessionNumber, lineage: NativeKey) -> Result<bool, StoreError> {
        let is_elsewhere = self.exists(
            "SELECT 1 FROM node WHERE space = ?1 AND lineage = ?2 AND session <> ?3",
            params![self.space, lineage.as_stored(), session.0],
        )?;
        Ok(is_elsewhere || self.has_forgotten(lineage)?)
    }

    /// Whether this session is known to have edited the path.
    pub fn has_edited(&self, session: SessionNumber, path: &str) -> Result<bool, StoreError> {
        self.exists(
            "SELECT 1 FROM edited_file WHERE space = ?1 AND session = ?2 AND path = ?3",
            params![self.space, session.0, path],
        )
    }

    /// Stores what a session's story decides about it.
    pub fn save_session(&mut self, number: SessionNumber, update: &SessionUpdate<'_>) -> Result<(), StoreError> {
        self.date_id(number, update.started_at)?;
        let counts = update.counts;
        let change = self.next_change();
        let kind = match update.kind {
            SessionKind::Main => "main",
            SessionKind::Child => "child",
        };
        self.run(
            "UPDATE session SET kind = ?3, parent_external = coalesce(?4, parent_external), name = ?5, cwd = ?6, project = ?7, namespace = ?8,
             branch = ?9, model = ?10, started_at = ?11, last_at = ?12, transcript = coalesce(?13, transcript),
             prompts = ?14, messages = ?15, tool_calls = ?16, tool_errors = ?17, files_edited = ?18, episodes = ?19,
             raw_bytes = raw_bytes + ?20, kept_tokens = ?21, empty = ?22, memory = ?23, change = ?24
             WHERE space = ?1 AND num = ?2",
            params![
                self.space,
                number.0,
                kind,
                update.parent_external,
                update.name,
                update.cwd,
                update.project,
                update.namespace,
                update.branch,
                update.model,
                update.started_at.map(Timestamp::as_millis),
                update.last_activity_at.map(Timestamp::as_millis),
                update.transcript,
                counts.prompts as i64,
                counts.messages as i64,
                counts.tool_calls as i64,
                counts.tool_errors as i64,
                counts.files_edited as i64,
                counts.episodes as i64,
                update.bytes_read as i64,
                update.kept_tokens as i64,
                update.empty,
                update.memory,
                change,
            ],
        )
    }

    /// Names that files hold for sessions in other files, with the session each belongs to.
    pub fn titles_to_deliver(&self) -> Result<Vec<(SessionNumber, String)>, StoreError> {
        self.all(
            "SELECT entry.session, title_elsewhere.text FROM title_elsewhere
             CROSS JOIN entry INDEXED BY entry_by_native ON entry.space = title_elsewhere.space AND entry.native = title_elsewhere.leaf
             WHERE title_elsewhere.space = ?1 ORDER BY entry.session, title_elsewhere.text",
            params![self.space],
            |row| Ok((SessionNumber(row.get(0)?), row.get(1)?)),
        )
    }

    /// A session's row and memory, by number.
    pub fn stored_session(&self, number: SessionNumber) -> Result<Option<(Session, Option<String>)>, StoreError> {
        let sql = format!(
            "SELECT {}, session.memory FROM {} WHERE session.space = ?1 AND session.num = ?2",
            crate::sessions::COLUMNS,
            crate::sessions::TABLES
        );
        let found = self.one(&sql, params![self.space, number.0], |row| {
            let memory = row.get(crate::sessions::COLUMN_COUNT)?;
            Ok(crate::sessions::from_row(row)?.map(|session| (session, memory)))
        })?;
        Ok(found.flatten())
    }

    /// Changes a session's name and what its story remembers of names.
    pub fn rename_session(
        &mut self,
        number: SessionNumber,
        name: Option<&str>,
        memory: &str,
    ) -> Result<(), StoreError> {
        let change = self.next_change();
        self.run(
            "UPDATE session SET name = ?3, memory = ?4, change = ?5 WHERE space = ?1 AND num = ?2",
            params![self.space, number.0, name, memory, change],
        )
    }

    /// Puts the session's start into an id that was given before any time was known.
    fn date_id(&mut self, number: SessionNumber, started: Option<Timestamp>) -> Result<(), StoreError> {
        let Some(started) = started else { return Ok(()) };
        let row: Option<(String, String, String)> = self.one(
            "SELECT id, agent, external_id FROM session WHERE space = ?1 AND num = ?2",
            params![self.space, number.0],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )?;
        let Some((id, Ok(agent), external_id)) =
            row.map(|(id, agent, external)| (id, agent.parse::<Agent>(), external))
        else {
            return Ok(());
        };
        if id != SessionId::derive(agent, &external_id, Timestamp::default()).to_string() {
            return Ok(());
        }
        let dated = SessionId::derive(agent, &external_id, started).to_string();
        self.run("UPDATE session SET id = ?3 WHERE space = ?1 AND num = ?2", params![self.space, number.0, dated])
    }

    /// Whoever follows the store learns from this that the session's episodes were thrown away.
    fn note_retold(&mut self, session: SessionNumber) -> Result<(), StoreError> {
        let change = self.next_change();
        self.run("UPDATE session SET retold = ?3 WHERE space = ?1 AND num = ?2", params![self.space, session.0, change])
    }

    pub(crate) fn next_change(&mut self) -> i64 {
        self.change += 1;
        self.change
    }

    pub(crate) fn next_number(&self, table: &str) -> Result<i64, StoreError> {
        let sql = format!("SELECT coalesce(max(num), 0) + 1 FROM {table} WHERE space = ?1");
        let number = self.one(&sql, params![self.space], |row| row.get(0))?;
        Ok(number.unwrap_or(1))
    }

    pub(crate) fn run(&self, sql: &str, values: impl rusqlite::Params) -> Result<(), StoreError> {
        let run = || -> rusqlite::Result<()> { self.transaction.prepare_cached(sql)?.execute(values).map(drop) };
        run().map_err(|cause| self.err(cause))
    }

    /// How many rows were changed.
    pub(crate) fn count_changed(&self, sql: &str, values: impl rusqlite::Params) -> Result<u64, StoreError> {
        let run = || -> rusqlite::Result<usize> { self.transaction.prepare_cached(sql)?.execute(values) };
        run().map(|rows| rows as u64).map_err(|cause| self.err(cause))
    }

    /// Whether a row was added.
    pub(crate) fn insert(&self, sql: &str, values: impl rusqlite::Params) -> Result<bool, StoreError> {
        self.count_changed(sql, values).map(|rows| rows > 0)
    }

    pub(crate) fn one<T>(
        &self,
        sql: &str,
        values: impl rusqlite::Params,
        read: impl FnOnce(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        let run = || self.transaction.prepare_cached(sql)?.query_row(values, read).optional();
        run().map_err(|cause| self.err(cause))
    }

    pub(crate) fn all<T>(
        &self,
        sql: &str,
        values: impl rusqlite::Params,
        read: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let run =
            || -> rusqlite::Result<Vec<T>> { self.transaction.prepare_cached(sql)?.query_map(values, read)?.collect() };
        run().map_err(|cause| self.err(cause))
    }

    pub(crate) fn exists(&self, sql: &str, values: impl rusqlite::Params) -> Result<bool, StoreError> {
        let run = || -> rusqlite::Result<bool> { self.transaction.prepare_cached(sql)?.exists(values) };
        run().map_err(|cause| self.err(cause))
    }

    pub(crate) fn connection(&self) -> &rusqlite::Connection {
        &self.transaction
    }

    pub(crate) fn space(&self) -> &str {
        self.space
    }

    pub(crate) fn err(&self, cause: rusqlite::Error) -> StoreError {
        StoreError::at(self.path, cause)
    }
}
