//! Write transactions: transcripts, sessions and names. Changes become visible together or not at all.

mod apply;
mod forget_session;
mod forget_text;
mod set_aside;
mod tombstones;

pub use forget_text::TextsOf;

use rethread_model::{Agent, EntryOwner, NativeKey, Session, SessionCounts, SessionId, SessionKind, Space, Timestamp};
use rusqlite::{OptionalExtension, Transaction, params};

pub use set_aside::{RereadKind, RestoredEntries};
pub use tombstones::EntryContent;

use crate::forgetting::SESSION_TABLES;
use crate::transcripts::{self, FileFingerprint, ReadCursor, TranscriptNumber, TranscriptRow};
use crate::{StoreError, StoreLocation};

/// Our number of a session, counted from 1 in the order in which sessions were first read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionNumber(pub(crate) i64);

impl SessionNumber {
    /// The plain number, for an index.
    pub const fn get(self) -> u64 {
        self.0 as u64
    }

    /// Inverse of [`SessionNumber::get`].
    pub const fn new(number: u64) -> Self {
        Self(number as i64)
    }
}

const UNDELIVERED_TITLES: &str = "SELECT other_session_title.leaf_key, entry.session, other_session_title.title
     FROM other_session_title
     CROSS JOIN entry INDEXED BY entry_by_native_key ON entry.space = other_session_title.space
     AND entry.native_key = other_session_title.leaf_key
     WHERE other_session_title.space = ?1 AND NOT other_session_title.is_delivered
     ORDER BY entry.session, other_session_title.title";

impl crate::ReadStore {
    /// Whether a title from another file can be given to a session.
    pub fn has_undelivered_titles(&self) -> Result<bool, StoreError> {
        let read = || self.connection.prepare_cached(UNDELIVERED_TITLES)?.exists([self.space.as_str()]);
        read().map_err(|cause| self.err(cause))
    }
}

/// A session that was found or just created.
#[derive(Debug)]
pub struct OpenedSession {
    /// Identifies it in later calls.
    pub number: SessionNumber,
    /// What the session assembler needs to continue, as JSON; `None` for a new session.
    pub assembler_state: Option<String>,
}

/// The columns of a session that its assembler decides. The store itself adds up tokens and costs.
#[derive(Debug)]
pub struct SessionUpdate<'a> {
    /// Whether a user or an agent started it.
    pub kind: SessionKind,
    /// External id of the parent; `None` keeps the stored one.
    pub parent_external_id: Option<&'a str>,
    /// Title from the transcript.
    pub name: Option<&'a str>,
    /// Directory it started in.
    pub cwd: Option<&'a str>,
    /// Project that contains `cwd`.
    pub project: Option<&'a str>,
    /// Name of the project that does not reveal its path.
    pub namespace: Option<&'a str>,
    /// Git branch of the last entry that named one.
    pub branch: Option<&'a str>,
    /// The last model used.
    pub model: Option<&'a str>,
    /// Time of the first entry.
    pub started_at: Option<Timestamp>,
    /// Time of the last entry.
    pub last_activity_at: Option<Timestamp>,
    /// Path of the transcript; `None` keeps the stored one.
    pub transcript_path: Option<&'a str>,
    /// Prompts, messages, tool calls and so on.
    pub counts: SessionCounts,
    /// Estimated tokens of what is stored of the transcript.
    pub kept_tokens: u64,
    /// True if nothing worth listing happened.
    pub is_empty: bool,
    /// What the session assembler needs to continue, as JSON.
    pub assembler_state: &'a str,
    /// Bytes of transcript read since the last update; added to the stored total.
    pub bytes_read: u64,
}

/// A write transaction. Dropped without `commit`, it changes nothing.
#[derive(Debug)]
pub struct Batch<'s> {
    transaction: Transaction<'s>,
    space: &'s str,
    location: &'s StoreLocation,
    change: i64,
}

impl<'s> Batch<'s> {
    pub(crate) fn new(
        transaction: Transaction<'s>,
        space: &'s Space,
        location: &'s StoreLocation,
    ) -> Result<Self, StoreError> {
        let space = space.as_str();
        let change = transaction
            .query_row("SELECT value FROM counter WHERE space = ?1 AND name = 'change'", [space], |row| row.get(0))
            .optional()
            .map_err(|cause| StoreError::at(location, cause))?
            .unwrap_or(0);
        Ok(Self { transaction, space, location, change })
    }

    /// Makes everything written visible to others.
    pub fn commit(self) -> Result<(), StoreError> {
        self.run(
            "INSERT INTO counter (space, name, value) VALUES (?1, 'change', ?2)
             ON CONFLICT DO UPDATE SET value = excluded.value",
            params![self.space, self.change],
        )?;
        let location = self.location;
        self.transaction.commit().map_err(|cause| StoreError::at(location, cause))
    }

    /// The transcript at a path, including changes of this batch.
    pub fn transcript(&self, path: &str) -> Result<Option<TranscriptRow>, StoreError> {
        let sql = format!("SELECT {} FROM transcript WHERE space = ?1 AND path = ?2", transcripts::COLUMNS);
        let mut statement = self.transaction.prepare_cached(&sql).map_err(|cause| self.err(cause))?;
        let found = statement.query_row(params![self.space, path], transcripts::from_row).optional();
        Ok(found.map_err(|cause| self.err(cause))?.flatten())
    }

    /// Adds a transcript that was not known, with nothing read yet.
    pub fn add_transcript(&mut self, path: &str, agent: Agent) -> Result<TranscriptNumber, StoreError> {
        let number = self.next_number("transcript")?;
        self.run(
            "INSERT INTO transcript
             (space, number, path, agent, device, inode, size, mtime, read_offset, read_lines, head_hash,
              tail_hash)
             VALUES (?1, ?2, ?3, ?4, 0, 0, 0, 0, 0, 0, 0, 0)",
            params![self.space, number, path, agent.as_str()],
        )?;
        Ok(TranscriptNumber(number))
    }

    /// Stores how far a transcript was read and which session it belongs to.
    pub fn set_cursor(
        &mut self,
        number: TranscriptNumber,
        session: Option<SessionNumber>,
        fingerprint: FileFingerprint,
        cursor: ReadCursor,
    ) -> Result<(), StoreError> {
        self.run(
            "UPDATE transcript SET session = ?3, device = ?4, inode = ?5, size = ?6, mtime = ?7,
             read_offset = ?8, read_lines = ?9, head_hash = ?10, tail_hash = ?11 WHERE space = ?1 AND number = ?2",
            params![
                self.space,
                number.0,
                session.map(|session| session.0),
                fingerprint.device as i64,
                fingerprint.inode as i64,
                fingerprint.size as i64,
                fingerprint.mtime,
                cursor.offset as i64,
                cursor.lines as i64,
                cursor.head_hash as i64,
                cursor.tail_hash as i64,
            ],
        )
    }

    /// Records a line that could not be parsed.
    pub fn add_transcript_problem(
        &mut self,
        transcript: TranscriptNumber,
        line: u64,
        message: &str,
    ) -> Result<(), StoreError> {
        self.run(
            "INSERT INTO transcript_problem (space, transcript, line, message) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT DO UPDATE SET message = excluded.message",
            params![self.space, transcript.0, line as i64, message],
        )
    }

    /// Removes the problems of a transcript before it is read again.
    pub fn clear_transcript_problems(&mut self, transcript: TranscriptNumber) -> Result<(), StoreError> {
        self.run(
            "DELETE FROM transcript_problem WHERE space = ?1 AND transcript = ?2",
            params![self.space, transcript.0],
        )
    }

    /// Adds to the number of secrets a redaction rule removed.
    pub fn add_redactions(&mut self, rule: &str, count: u64) -> Result<(), StoreError> {
        self.run(
            "INSERT INTO redaction (space, rule, count) VALUES (?1, ?2, ?3)
             ON CONFLICT DO UPDATE SET count = count + excluded.count",
            params![self.space, rule, count as i64],
        )
    }

    /// Resets the redaction counts before everything is read again.
    pub fn clear_redactions(&mut self) -> Result<(), StoreError> {
        self.run("DELETE FROM redaction WHERE space = ?1", params![self.space])
    }

    /// The session with that external id, created if there is none.
    pub fn open_session(&mut self, agent: Agent, external_id: &str) -> Result<OpenedSession, StoreError> {
        if let Some(found) = self.find_session(agent, external_id)? {
            return Ok(found);
        }
        let number = self.next_number("session")?;
        // `date_id` adds the start time as soon as it is known.
        let id = SessionId::derive(agent, external_id, Timestamp::default());
        self.run(
            "INSERT INTO session (space, number, id, agent, external_id, kind, change)
             VALUES (?1, ?2, ?3, ?4, ?5, 'main', ?6)",
            params![self.space, number, id.to_string(), agent.as_str(), external_id, self.change],
        )?;
        Ok(OpenedSession { number: SessionNumber(number), assembler_state: None })
    }

    fn find_session(&self, agent: Agent, external_id: &str) -> Result<Option<OpenedSession>, StoreError> {
        self.one(
            "SELECT number, assembler_state FROM session WHERE space = ?1 AND agent = ?2 AND external_id = ?3",
            params![self.space, agent.as_str(), external_id],
            |row| Ok(OpenedSession { number: SessionNumber(row.get(0)?), assembler_state: row.get(1)? }),
        )
    }

    /// Gives a session a unique alias. Another session that had the alias loses it.
    pub fn set_alias(&mut self, agent: Agent, external_id: &str, alias: &str) -> Result<(), StoreError> {
        self.run(
            "UPDATE session SET alias = NULL WHERE space = ?1 AND alias = ?2 AND NOT (agent = ?3 AND external_id = ?4)",
            params![self.space, alias, agent.as_str(), external_id],
        )?;
        self.run(
            "UPDATE session SET alias = ?2 WHERE space = ?1 AND agent = ?3 AND external_id = ?4 AND alias IS NOT ?2
             AND kind <> 'removed'",
            params![self.space, alias, agent.as_str(), external_id],
        )
    }

    /// Removes the alias of a session.
    pub fn clear_alias(&mut self, agent: Agent, external_id: &str) -> Result<(), StoreError> {
        self.run(
            "UPDATE session SET alias = NULL WHERE space = ?1 AND agent = ?2 AND external_id = ?3",
            params![self.space, agent.as_str(), external_id],
        )
    }

    /// Removes everything derived from a session's transcripts, before they are read again.
    pub fn reset_session(&mut self, session: SessionNumber) -> Result<(), StoreError> {
        for table in SESSION_TABLES {
            let sql = format!("DELETE FROM {table} WHERE space = ?1 AND session = ?2");
            self.run(&sql, params![self.space, session.0])?;
        }
        self.mark_rebuilt(session)?;
        self.run(
            "UPDATE session SET assembler_state = NULL, input_tokens = 0, output_tokens = 0, cache_read_tokens = 0,
             cache_write_tokens = 0, cost_nanos = NULL, raw_bytes = 0 WHERE space = ?1 AND number = ?2",
            params![self.space, session.0],
        )?;
        self.run(
            "UPDATE transcript SET read_offset = 0, read_lines = 0, size = 0, mtime = 0 WHERE space = ?1
             AND session = ?2",
            params![self.space, session.0],
        )
    }

    /// Starts a new generation of a session, because its transcript was replaced: all watermarks on it are void.
    pub fn start_generation(&mut self, session: SessionNumber) -> Result<(), StoreError> {
        self.run(
            "UPDATE session SET generation = generation + 1 WHERE space = ?1 AND number = ?2",
            params![self.space, session.0],
        )
    }

    /// Sub-agent sessions whose entries are in the transcript of their parent.
    pub fn inline_children(&self, agent: Agent, parent_external: &str) -> Result<Vec<SessionNumber>, StoreError> {
        self.all(
            "SELECT number FROM session AS child WHERE space = ?1 AND agent = ?2 AND parent_external_id = ?3
             AND kind <> 'main'
             AND NOT EXISTS (SELECT 1 FROM transcript WHERE space = child.space AND session = child.number)",
            params![self.space, agent.as_str(), parent_external],
            |row| row.get(0).map(SessionNumber),
        )
    }

    /// Which session has an entry with this key: `session`, another one, or one that was forgotten.
    pub fn entry_owner(&self, session: SessionNumber, key: NativeKey) -> Result<Option<EntryOwner>, StoreError> {
        // Names the index because the planner, seeing a single space, would pick the primary key and scan all entries.
        // Entries that are set aside belong to their session as long as their transcript is not read again.
        let owners: Vec<i64> = self.all(
            "SELECT session FROM entry INDEXED BY entry_by_native_key WHERE space = ?1 AND native_key = ?2
             UNION ALL SELECT session FROM set_aside_entry INDEXED BY set_aside_entry_by_native_key
             WHERE space = ?1 AND native_key = ?2 AND NOT EXISTS (SELECT 1 FROM transcript
             WHERE space = ?1 AND number = set_aside_entry.transcript AND reread IS NOT NULL)",
            params![self.space, key.as_stored()],
            |row| row.get(0),
        )?;
        // An entry of the session itself comes first: short ids repeat between sessions.
        let here = owners.contains(&session.0).then_some(EntryOwner::ThisSession);
        let owner = here.or_else(|| (!owners.is_empty()).then_some(EntryOwner::OtherSession));
        match owner {
            None if self.has_forgotten(key)? => Ok(Some(EntryOwner::Forgotten)),
            owner => Ok(owner),
        }
    }

    /// The session that had an entry with this key first.
    pub fn entry_session(&self, key: NativeKey) -> Result<Option<SessionNumber>, StoreError> {
        self.one(
            "SELECT session FROM entry INDEXED BY entry_by_native_key WHERE space = ?1 AND native_key = ?2
             ORDER BY session LIMIT 1",
            params![self.space, key.as_stored()],
            |row| row.get(0).map(SessionNumber),
        )
    }

    /// Whether that step of the session's prompt queue was handled before.
    pub fn has_queue_step(&self, session: SessionNumber, key: NativeKey) -> Result<bool, StoreError> {
        self.exists(
            "SELECT 1 FROM queue_step WHERE space = ?1 AND session = ?2 AND step_key = ?3",
            params![self.space, session.0, key.as_stored()],
        )
    }

    /// Whether the session has a tree node with that id.
    pub fn has_node(&self, session: SessionNumber, id: NativeKey) -> Result<bool, StoreError> {
        self.exists(
            "SELECT 1 FROM tree_node WHERE space = ?1 AND session = ?2 AND node_key = ?3",
            params![self.space, session.0, id.as_stored()],
        )
    }

    /// Whether a tree node with that lineage is in another session, or was in a forgotten one.
    pub fn is_copied_node(&self, session: SessionNumber, lineage: NativeKey) -> Result<bool, StoreError> {
        let is_in_other_session = self.exists(
            "SELECT 1 FROM tree_node WHERE space = ?1 AND lineage_key = ?2 AND session <> ?3",
            params![self.space, lineage.as_stored(), session.0],
        )?;
        Ok(is_in_other_session || self.has_forgotten(lineage)?)
    }

    /// Whether an edit of the path by the session is stored.
    pub fn has_edited(&self, session: SessionNumber, path: &str) -> Result<bool, StoreError> {
        self.exists(
            "SELECT 1 FROM edited_file WHERE space = ?1 AND session = ?2 AND path = ?3",
            params![self.space, session.0, path],
        )
    }

    /// Stores what the session assembler decided about a session.
    pub fn save_session(&mut self, number: SessionNumber, update: &SessionUpdate<'_>) -> Result<(), StoreError> {
        self.date_id(number, update.started_at)?;
        let counts = update.counts;
        let change = self.next_change();
        let kind = match update.kind {
            SessionKind::Main => "main",
            SessionKind::Child => "child",
        };
        self.run(
            "UPDATE session SET kind = ?3, parent_external_id = coalesce(?4, parent_external_id), name = ?5, cwd = ?6,
             project = ?7, namespace = ?8, branch = ?9, model = ?10, started_at = ?11, last_activity_at = ?12,
             transcript_path = coalesce(?13, transcript_path),
             prompts = ?14, messages = ?15, tool_calls = ?16, tool_errors = ?17, files_edited = ?18, episodes = ?19,
             raw_bytes = raw_bytes + ?20, kept_tokens = ?21, is_empty = ?22, assembler_state = ?23, change = ?24
             WHERE space = ?1 AND number = ?2",
            params![
                self.space,
                number.0,
                kind,
                update.parent_external_id,
                update.name,
                update.cwd,
                update.project,
                update.namespace,
                update.branch,
                update.model,
                update.started_at.map(Timestamp::as_millis),
                update.last_activity_at.map(Timestamp::as_millis),
                update.transcript_path,
                counts.prompts as i64,
                counts.messages as i64,
                counts.tool_calls as i64,
                counts.tool_errors as i64,
                counts.files_edited as i64,
                counts.episodes as i64,
                update.bytes_read as i64,
                update.kept_tokens as i64,
                update.is_empty,
                update.assembler_state,
                change,
            ],
        )
    }

    /// Titles from other files that sessions in the store do not have yet: leaf key, session, title.
    pub fn undelivered_titles(&self) -> Result<Vec<(NativeKey, SessionNumber, String)>, StoreError> {
        self.all(UNDELIVERED_TITLES, params![self.space], |row| {
            Ok((NativeKey::from_stored(row.get(0)?), SessionNumber(row.get(1)?), row.get(2)?))
        })
    }

    /// Records that the session has the title from another file.
    pub fn mark_title_delivered(&mut self, leaf: NativeKey) -> Result<(), StoreError> {
        self.run(
            "UPDATE other_session_title SET is_delivered = 1 WHERE space = ?1 AND leaf_key = ?2",
            params![self.space, leaf.as_stored()],
        )
    }

    /// A session and its assembler state, by number.
    pub fn session_with_state(&self, number: SessionNumber) -> Result<Option<(Session, Option<String>)>, StoreError> {
        let sql = format!(
            "SELECT {}, session.assembler_state FROM {} WHERE session.space = ?1 AND session.number = ?2",
            crate::sessions::COLUMNS,
            crate::sessions::TABLES
        );
        let found = self.one(&sql, params![self.space, number.0], |row| {
            let state = row.get(crate::sessions::COLUMN_COUNT)?;
            Ok(crate::sessions::from_row(row)?.map(|session| (session, state)))
        })?;
        Ok(found.flatten())
    }

    /// Changes the name of a session together with its assembler state, which holds the name candidates. Without one
    /// the stored state is kept.
    pub fn rename_session(
        &mut self,
        number: SessionNumber,
        name: &str,
        assembler_state: Option<&str>,
    ) -> Result<(), StoreError> {
        let change = self.next_change();
        self.run(
            "UPDATE session SET name = ?3, assembler_state = coalesce(?4, assembler_state), change = ?5 WHERE space = ?1 AND number = ?2",
            params![self.space, number.0, name, assembler_state, change],
        )
    }

    /// Puts the start time into an id that was made before the time was known.
    fn date_id(&mut self, number: SessionNumber, started: Option<Timestamp>) -> Result<(), StoreError> {
        let Some(started) = started else { return Ok(()) };
        let row: Option<(String, String, String)> = self.one(
            "SELECT id, agent, external_id FROM session WHERE space = ?1 AND number = ?2",
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
        self.run("UPDATE session SET id = ?3 WHERE space = ?1 AND number = ?2", params![self.space, number.0, dated])
    }

    /// Reports to readers of the feed that the session's episodes were cleared.
    fn mark_rebuilt(&mut self, session: SessionNumber) -> Result<(), StoreError> {
        let change = self.next_change();
        self.run(
            "UPDATE session SET rebuilt_at_change = ?3 WHERE space = ?1 AND number = ?2",
            params![self.space, session.0, change],
        )
    }

    pub(crate) fn next_change(&mut self) -> i64 {
        self.change += 1;
        self.change
    }

    pub(crate) fn has_counter(&self, name: &str) -> Result<bool, StoreError> {
        self.exists("SELECT 1 FROM counter WHERE space = ?1 AND name = ?2", params![self.space, name])
    }

    pub(crate) fn set_counter(&self, name: &str) -> Result<(), StoreError> {
        let sql = "INSERT OR REPLACE INTO counter (space, name, value) VALUES (?1, ?2, 1)";
        self.run(sql, params![self.space, name])
    }

    pub(crate) fn next_number(&self, table: &str) -> Result<i64, StoreError> {
        let sql = format!("SELECT coalesce(max(number), 0) + 1 FROM {table} WHERE space = ?1");
        let number = self.one(&sql, params![self.space], |row| row.get(0))?;
        Ok(number.unwrap_or(1))
    }

    pub(crate) fn run(&self, sql: &str, values: impl rusqlite::Params) -> Result<(), StoreError> {
        let run = || -> rusqlite::Result<()> { self.transaction.prepare_cached(sql)?.execute(values).map(drop) };
        run().map_err(|cause| self.err(cause))
    }

    /// Returns the number of changed rows.
    pub(crate) fn count_changed(&self, sql: &str, values: impl rusqlite::Params) -> Result<u64, StoreError> {
        let run = || -> rusqlite::Result<usize> { self.transaction.prepare_cached(sql)?.execute(values) };
        run().map(|rows| rows as u64).map_err(|cause| self.err(cause))
    }

    /// Returns whether a row was inserted or updated.
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
        StoreError::at(self.location, cause)
    }
}
