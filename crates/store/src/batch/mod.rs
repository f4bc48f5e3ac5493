//! Write transactions: transcripts, sessions and names. Changes become visible together or not at all.

use crate::cached_answers::PROJECT_QUESTION_MARK;
use crate::facts::KnownEntities;
use crate::forgetting::SESSION_TABLES;
use crate::lifecycle::BY_EXTERNAL_ID;
use crate::sql::{Transaction, columns, values};
use crate::transcripts::{FileFingerprint, ReadCursor, TranscriptNumber};
use crate::{ReadStore, SessionKey, StoreError};

mod apply;
mod forget_session;
mod forget_text;
mod rows;
mod set_aside;
mod tombstones;

pub use forget_text::TextsOf;

use std::ops::Deref;

use rethread_model::{Agent, EntryOwner, NativeKey, Session, SessionCounts, SessionId, SessionKind, Timestamp};

pub(crate) use rows::{KnownRow, insert_sql};
pub use set_aside::{RereadKind, RestoredEntries};
pub use tombstones::EntryContent;
use tombstones::KnownTombstones;

/// Our number of a session, counted from 1 in the order in which sessions were first read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
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

/// A write transaction. Dropped without `commit`, it changes nothing. Its reads see what it wrote.
#[derive(Debug)]
pub struct Batch<'s> {
    store: &'s ReadStore,
    transaction: Transaction<'s>,
    change: i64,
    tombstones: KnownTombstones,
    pub(crate) entities: KnownEntities,
}

impl Deref for Batch<'_> {
    type Target = ReadStore;

    fn deref(&self) -> &ReadStore {
        self.store
    }
}

impl ReadStore {
    /// Whether a title from another file can be given to a session.
    pub fn has_undelivered_titles(&self) -> Result<bool, StoreError> {
        self.sql.exists(&self.undelivered_titles_sql(), &[])
    }

    /// Titles from other files that sessions in the store do not have yet: leaf key, session, title.
    pub fn undelivered_titles(&self) -> Result<Vec<(NativeKey, SessionNumber, String)>, StoreError> {
        self.sql.all(&self.undelivered_titles_sql(), &[], |row| {
            Ok((row.key("leaf_key")?, row.session("session")?, row.string("title")?))
        })
    }

    fn undelivered_titles_sql(&self) -> String {
        format!(
            "SELECT other_session_title.leaf_key, entry.session, other_session_title.title FROM other_session_title
             {} entry {} ON entry.space = other_session_title.space
             AND entry.native_key = other_session_title.leaf_key
             WHERE other_session_title.space = ?1 AND NOT other_session_title.is_delivered
             ORDER BY entry.session, other_session_title.title",
            self.sql.dialect().ordered_join(),
            self.sql.index("entry_by_native_key"),
        )
    }
}

impl<'s> Batch<'s> {
    pub(crate) fn new(store: &'s ReadStore, transaction: Transaction<'s>) -> Result<Self, StoreError> {
        let change = store.counter(CHANGE)?;
        Ok(Self {
            store,
            transaction,
            change,
            tombstones: KnownTombstones::default(),
            entities: KnownEntities::default(),
        })
    }

    /// Makes everything written visible to others.
    pub fn commit(self) -> Result<(), StoreError> {
        self.set_counter(CHANGE, self.change)?;
        self.transaction.commit().map_err(|cause| self.store.sql.error(cause))
    }

    /// Adds a transcript that was not known, with nothing read yet.
    pub fn add_transcript(&mut self, path: &str, agent: Agent) -> Result<TranscriptNumber, StoreError> {
        let number = self.next_number("transcript")?;
        self.insert(
            "transcript",
            columns! {
                number: number,
                path: path,
                agent: agent,
                device: 0,
                inode: 0,
                size: 0,
                mtime: 0,
                read_offset: 0,
                read_lines: 0,
                head_hash: 0,
                tail_hash: 0,
            },
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
        self.sql.run(
            "UPDATE transcript SET session = ?3, device = ?4, inode = ?5, size = ?6, mtime = ?7,
             read_offset = ?8, read_lines = ?9, head_hash = ?10, tail_hash = ?11 WHERE space = ?1 AND number = ?2",
            values![
                number,
                session,
                fingerprint.device,
                fingerprint.inode,
                fingerprint.size,
                fingerprint.mtime,
                cursor.offset,
                cursor.lines,
                cursor.head_hash,
                cursor.tail_hash,
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
        let key = columns! { transcript: transcript, line: line };
        self.upsert("transcript_problem", key, columns! { message: message })
    }

    /// Removes the problems of a transcript before it is read again.
    pub fn clear_transcript_problems(&mut self, transcript: TranscriptNumber) -> Result<(), StoreError> {
        self.sql.run("DELETE FROM transcript_problem WHERE space = ?1 AND transcript = ?2", values![transcript])
    }

    /// Adds to the number of secrets a redaction rule removed.
    pub fn add_redactions(&mut self, rule: &str, count: u64) -> Result<(), StoreError> {
        self.sql.run(
            "INSERT INTO redaction (space, rule, count) VALUES (?1, ?2, ?3)
             ON CONFLICT (space, rule) DO UPDATE SET count = redaction.count + excluded.count",
            values![rule, count],
        )
    }

    /// Resets the redaction counts before everything is read again.
    pub fn clear_redactions(&mut self) -> Result<(), StoreError> {
        self.sql.run("DELETE FROM redaction WHERE space = ?1", &[])
    }

    /// The session with that external id, created if there is none.
    pub fn open_session(&mut self, agent: Agent, external_id: &str) -> Result<OpenedSession, StoreError> {
        if let Some(found) = self.find_session(SessionKey { agent, external_id })? {
            return Ok(found);
        }
        let number = self.next_number("session")?;
        // `date_id` adds the start time as soon as it is known.
        let id = SessionId::derive(agent, external_id, Timestamp::default()).to_string();
        self.insert(
            "session",
            columns! {
                number: number,
                id: id,
                agent: agent,
                external_id: external_id,
                kind: "main",
                change: self.change,
            },
        )?;
        Ok(OpenedSession { number: SessionNumber(number), assembler_state: None })
    }

    /// The session with that external id, even if it was removed.
    pub fn find_session(&self, key: SessionKey<'_>) -> Result<Option<OpenedSession>, StoreError> {
        let sql = format!("SELECT number, assembler_state FROM session WHERE {BY_EXTERNAL_ID}");
        self.sql.one(&sql, values![key.agent, key.external_id], |row| {
            let (number, assembler_state) = (row.session("number")?, row.opt_string("assembler_state")?);
            Ok(OpenedSession { number, assembler_state })
        })
    }

    /// Gives a session a unique alias. Another session that had the alias loses it.
    pub fn set_alias(&mut self, agent: Agent, external_id: &str, alias: &str) -> Result<(), StoreError> {
        self.sql.run(
            "UPDATE session SET alias = NULL WHERE space = ?1 AND alias = ?2 AND NOT (agent = ?3 AND external_id = ?4)",
            values![alias, agent, external_id],
        )?;
        self.sql.run(
            "UPDATE session SET alias = ?2 WHERE space = ?1 AND agent = ?3 AND external_id = ?4
             AND alias IS DISTINCT FROM ?2 AND kind <> 'removed'",
            values![alias, agent, external_id],
        )
    }

    /// Removes the alias of a session.
    pub fn clear_alias(&mut self, agent: Agent, external_id: &str) -> Result<(), StoreError> {
        let sql = format!("UPDATE session SET alias = NULL WHERE {BY_EXTERNAL_ID}");
        self.sql.run(&sql, values![agent, external_id])
    }

    /// Removes everything derived from a session's transcripts, before they are read again.
    pub fn reset_session(&mut self, session: SessionNumber) -> Result<(), StoreError> {
        self.delete_session_rows(SESSION_TABLES, session)?;
        self.mark_rebuilt(session)?;
        self.sql.run(
            "UPDATE session SET assembler_state = NULL, input_tokens = 0, output_tokens = 0, cache_read_tokens = 0,
             cache_write_tokens = 0, cost_nanos = NULL, raw_bytes = 0 WHERE space = ?1 AND number = ?2",
            values![session],
        )?;
        self.sql.run(
            "UPDATE transcript SET read_offset = 0, read_lines = 0, size = 0, mtime = 0 WHERE space = ?1
             AND session = ?2",
            values![session],
        )
    }

    /// Starts a new generation of a session, because its transcript was replaced: all watermarks on it are void.
    pub fn start_generation(&mut self, session: SessionNumber) -> Result<(), StoreError> {
        let sql = "UPDATE session SET generation = generation + 1 WHERE space = ?1 AND number = ?2";
        self.sql.run(sql, values![session])
    }

    /// Sub-agent sessions whose entries are in the transcript of their parent.
    pub fn inline_children(&self, agent: Agent, parent_external: &str) -> Result<Vec<SessionNumber>, StoreError> {
        self.sql.all(
            "SELECT number FROM session AS child WHERE space = ?1 AND agent = ?2 AND parent_external_id = ?3
             AND kind <> 'main'
             AND NOT EXISTS (SELECT 1 FROM transcript WHERE space = child.space AND session = child.number)",
            values![agent, parent_external],
            |row| row.session("number"),
        )
    }

    /// Which session has an entry with this key: `session`, another one, or one that was forgotten.
    pub fn entry_owner(&self, session: SessionNumber, key: NativeKey) -> Result<Option<EntryOwner>, StoreError> {
        // Names the index because the planner, seeing a single space, would pick the primary key and scan all entries.
        // Entries that are set aside belong to their session as long as their transcript is not read again. Imported
        // ones have none; what their own session reads may be what they are.
        let sql = format!(
            "SELECT session FROM entry {} WHERE space = ?1 AND native_key = ?2
             UNION ALL SELECT session FROM set_aside_entry {}
             WHERE space = ?1 AND native_key = ?2 AND NOT EXISTS (SELECT 1 FROM transcript
             WHERE space = ?1 AND number = set_aside_entry.transcript AND reread IS NOT NULL)
             AND NOT (transcript IS NULL AND session = ?3)",
            self.sql.index("entry_by_native_key"),
            self.sql.index("set_aside_entry_by_native_key"),
        );
        let owners = self.sql.all(&sql, values![key, session], |row| row.session("session"))?;
        // An entry of the session itself comes first: short ids repeat between sessions.
        let here = owners.contains(&session).then_some(EntryOwner::ThisSession);
        let owner = here.or_else(|| (!owners.is_empty()).then_some(EntryOwner::OtherSession));
        match owner {
            None if self.has_forgotten(key)? => Ok(Some(EntryOwner::Forgotten)),
            owner => Ok(owner),
        }
    }

    /// The session that had an entry with this key first.
    pub fn entry_session(&self, key: NativeKey) -> Result<Option<SessionNumber>, StoreError> {
        let sql = format!(
            "SELECT session FROM entry {} WHERE space = ?1 AND native_key = ?2 ORDER BY session LIMIT 1",
            self.sql.index("entry_by_native_key")
        );
        self.sql.one(&sql, values![key], |row| row.session("session"))
    }

    /// Whether that step of the session's prompt queue, or that undo step, was handled before.
    pub fn has_queue_step(&self, session: SessionNumber, key: NativeKey) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM queue_step WHERE space = ?1 AND session = ?2 AND step_key = ?3";
        self.sql.exists(sql, values![session, key])
    }

    /// Whether the session has a tree node with that id.
    pub fn has_node(&self, session: SessionNumber, id: NativeKey) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM tree_node WHERE space = ?1 AND session = ?2 AND node_key = ?3";
        self.sql.exists(sql, values![session, id])
    }

    /// Whether a tree node with that lineage is in another session, or was in a forgotten one.
    pub fn is_copied_node(&self, session: SessionNumber, lineage: NativeKey) -> Result<bool, StoreError> {
        let elsewhere = "SELECT 1 FROM tree_node WHERE space = ?1 AND lineage_key = ?2 AND session <> ?3";
        Ok(self.sql.exists(elsewhere, values![lineage, session])? || self.has_forgotten(lineage)?)
    }

    /// The `seq` of the session's last prompts, newest first, without retracted ones.
    pub fn last_prompts(&self, session: SessionNumber, count: u64) -> Result<Vec<u64>, StoreError> {
        let sql = "SELECT seq FROM entry WHERE space = ?1 AND session = ?2 AND kind = 'prompt' AND NOT is_retracted
             ORDER BY seq DESC LIMIT ?3";
        self.sql.all(sql, values![session, count.min(i64::MAX as u64)], |row| row.u64("seq"))
    }

    /// The `seq` of the session's first entry with this key, or from the line with this key.
    pub fn first_seq_of(&self, session: SessionNumber, key: NativeKey) -> Result<Option<u64>, StoreError> {
        let sql = "SELECT min(seq) AS first FROM entry
             WHERE space = ?1 AND session = ?2 AND (native_key = ?3 OR line_key = ?3)";
        Ok(self.sql.one(sql, values![session, key], |row| row.opt_u64("first"))?.flatten())
    }

    /// Whether an edit of the path by the session is stored.
    pub fn has_edited(&self, session: SessionNumber, path: &str) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM edited_file WHERE space = ?1 AND session = ?2 AND path = ?3";
        self.sql.exists(sql, values![session, path])
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
        self.sql.run(
            "UPDATE session SET kind = ?3, parent_external_id = coalesce(?4, parent_external_id), name = ?5, cwd = ?6,
             project = ?7, namespace = ?8, branch = ?9, model = ?10, started_at = ?11, last_activity_at = ?12,
             transcript_path = coalesce(?13, transcript_path),
             prompts = ?14, messages = ?15, tool_calls = ?16, tool_errors = ?17, files_edited = ?18, episodes = ?19,
             raw_bytes = raw_bytes + ?20, kept_tokens = ?21, is_empty = ?22, assembler_state = ?23, change = ?24
             WHERE space = ?1 AND number = ?2",
            values![
                number,
                kind,
                update.parent_external_id,
                update.name,
                update.cwd,
                update.project,
                update.namespace,
                update.branch,
                update.model,
                update.started_at,
                update.last_activity_at,
                update.transcript_path,
                counts.prompts,
                counts.messages,
                counts.tool_calls,
                counts.tool_errors,
                counts.files_edited,
                counts.episodes,
                update.bytes_read,
                update.kept_tokens,
                update.is_empty,
                update.assembler_state,
                change,
            ],
        )
    }

    /// Records that the session has the title from another file.
    pub fn mark_title_delivered(&mut self, leaf: NativeKey) -> Result<(), StoreError> {
        let sql = "UPDATE other_session_title SET is_delivered = TRUE WHERE space = ?1 AND leaf_key = ?2";
        self.sql.run(sql, values![leaf])
    }

    /// A session and its assembler state, by number.
    pub fn session_with_state(&self, number: SessionNumber) -> Result<Option<(Session, Option<String>)>, StoreError> {
        let sql = "SELECT assembler_state FROM session WHERE space = ?1 AND number = ?2";
        let state = self.sql.one(sql, values![number], |row| row.opt_string("assembler_state"))?;
        Ok(self.session_by_number(number)?.zip(state))
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
        self.sql.run(
            "UPDATE session SET name = ?3, assembler_state = coalesce(?4, assembler_state), change = ?5
             WHERE space = ?1 AND number = ?2",
            values![number, name, assembler_state, change],
        )
    }

    /// Puts the start time into an id that was made before the time was known.
    fn date_id(&mut self, number: SessionNumber, started: Option<Timestamp>) -> Result<(), StoreError> {
        let Some(started) = started else { return Ok(()) };
        let sql = "SELECT id, agent, external_id FROM session WHERE space = ?1 AND number = ?2";
        let dated = self.sql.one(sql, values![number], |row| {
            let Some(agent) = row.parsed::<Agent>("agent")? else { return Ok(None) };
            let id_at = |at| row.text("external_id").map(|id| SessionId::derive(agent, id, at).to_string());
            let is_undated = row.text("id")? == id_at(Timestamp::default())?;
            is_undated.then(|| id_at(started)).transpose()
        })?;
        let Some(id) = dated.flatten() else { return Ok(()) };
        let taken = "SELECT 1 FROM session WHERE space = ?1 AND id = ?2";
        if self.sql.exists(taken, values![id])? {
            // By a session that was imported under a wrong id: one is as good as the other.
            return Ok(());
        }
        self.sql.run("UPDATE session SET id = ?3 WHERE space = ?1 AND number = ?2", values![number, id])
    }

    /// Reports to readers of the feed that the session's episodes were cleared.
    fn mark_rebuilt(&mut self, session: SessionNumber) -> Result<(), StoreError> {
        let change = self.next_change();
        let sql = "UPDATE session SET rebuilt_at_change = ?3 WHERE space = ?1 AND number = ?2";
        self.sql.run(sql, values![session, change])
    }

    /// Deletes the rows of a session in tables with a column `session`.
    fn delete_session_rows(
        &self,
        tables: impl IntoIterator<Item = &'static str>,
        session: SessionNumber,
    ) -> Result<(), StoreError> {
        for table in tables {
            self.sql.run(&format!("DELETE FROM {table} WHERE space = ?1 AND session = ?2"), values![session])?;
        }
        self.sql.run(
            "DELETE FROM cached_answer WHERE space = ?1 AND substr(question, 1, length(?2)) = ?2",
            values![PROJECT_QUESTION_MARK],
        )?;
        Ok(())
    }

    pub(crate) fn next_change(&mut self) -> i64 {
        self.change += 1;
        self.change
    }

    pub(crate) fn set_counter(&self, name: &str, value: i64) -> Result<(), StoreError> {
        self.upsert("counter", columns! { name: name }, columns! { value: value })
    }

    pub(crate) fn next_number(&self, table: &str) -> Result<i64, StoreError> {
        let last = self.sql.count(&format!("SELECT max(number) FROM {table} WHERE space = ?1"), &[])?;
        Ok(last as i64 + 1)
    }
}

/// The counter that grows with every stored change.
const CHANGE: &str = "change";
