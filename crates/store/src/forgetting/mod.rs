//! Finds everything stored about sessions or texts to be forgotten, and wipes deleted bytes from the file.

mod mention_matcher;
mod tables;
mod text_matcher;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use rethread_model::{Agent, Session, SessionId, Timestamp};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, params, params_from_iter};

use crate::{ReadStore, SessionKey, SessionNumber, Store, StoreError};

pub use mention_matcher::MentionMatcher;
pub(crate) use tables::{
    EXTERNAL_ID_TABLES, JSON_COLUMNS, KEPT_WHEN_ENTRIES_GO, KEPT_WHEN_READ_AGAIN, SESSION_TABLES, TEXT_COLUMNS,
    TextAction, TextColumns, row_label,
};
pub use text_matcher::TextMatcher;

/// Number of rows by what reports call them, such as "entries".
pub type RowCounts = BTreeMap<&'static str, u64>;

/// Where the store contains a text.
#[derive(Clone, Debug, Default)]
pub struct TextMentions {
    /// The entries of every episode that contains it, by session.
    pub entries: BTreeMap<SessionNumber, BTreeSet<u64>>,
    /// Rows that are deleted or lose the text.
    pub row_counts: RowCounts,
}

/// Counter that is set while bytes of deleted rows may still be in the files.
pub(crate) const UNWIPED: &str = "unwiped";

impl ReadStore {
    /// The sessions and, recursively, those of their sub-agents, each once.
    pub fn sessions_with_descendants(
        &self,
        sessions: &[SessionId],
    ) -> Result<Vec<(SessionNumber, Session)>, StoreError> {
        let mut waiting: Vec<SessionNumber> = Vec::new();
        for id in sessions {
            waiting.extend(self.session_number(*id)?);
        }
        waiting.reverse();
        let (mut found, mut seen) = (Vec::new(), HashSet::new());
        while let Some(number) = waiting.pop() {
            let Some(session) = self.session_by_number(number)?.filter(|_| seen.insert(number)) else { continue };
            let read = || -> rusqlite::Result<Vec<SessionNumber>> {
                let sql = "SELECT number FROM session WHERE space = ?1 AND agent = ?2 AND parent_external_id = ?3
                     AND kind = 'child'";
                let values = params![self.space.as_str(), session.agent.as_str(), session.external_id];
                self.connection.prepare_cached(sql)?.query_map(values, |row| row.get(0).map(SessionNumber))?.collect()
            };
            waiting.extend(read().map_err(|cause| self.err(cause))?);
            found.push((number, session));
        }
        Ok(found)
    }

    /// Recognizes injections into other sessions that mention these.
    pub fn mention_matcher(&self, sessions: &[(SessionNumber, Session)]) -> Result<MentionMatcher, StoreError> {
        let mut marks = MentionMatcher::default();
        for (number, session) in sessions {
            let id = session.id.to_string();
            for name in [Some(&id), Some(&session.external_id), session.name.as_ref(), session.alias.as_ref()] {
                marks.add(name.map_or("", String::as_str));
            }
            let mut read = || -> rusqlite::Result<()> {
                let sql = "SELECT text FROM entry WHERE space = ?1 AND session = ?2 AND kind IN ('prompt', 'task', 'assistant')";
                let mut statement = self.connection.prepare_cached(sql)?;
                let mut rows = statement.query(params![self.space.as_str(), number.0])?;
                while let Some(row) = rows.next()? {
                    marks.add(row.get_ref(0)?.as_str()?);
                }
                Ok(())
            };
            read().map_err(|cause| self.err(cause))?;
            let first_event = self.first_event_at(session).map_err(|cause| self.err(cause))?;
            let since = session.started_at.map(|start| first_event.map_or(start, |event| event.min(start)));
            marks.add_project(session.project.as_deref(), since);
        }
        Ok(marks)
    }

    /// How many rows there are of these sessions, and how many injections into others mentioned them until a time:
    /// later ones are composed without them.
    pub fn count_session_rows(
        &self,
        sessions: &[(SessionNumber, Session)],
        marks: &MentionMatcher,
        until: Timestamp,
    ) -> Result<RowCounts, StoreError> {
        let count = || -> rusqlite::Result<RowCounts> {
            let mut places = RowCounts::new();
            for (number, session) in sessions {
                self.count_traces(*number, session, &mut places)?;
            }
            let mentioning = injections_mentioning(&self.connection, self.space.as_str(), sessions, marks)?;
            *places.entry("injections").or_default() += mentioning.iter().filter(|(_, at)| *at <= until).count() as u64;
            Ok(places)
        };
        count().map_err(|cause| self.err(cause))
    }

    /// Where the store contains a text. Episodes that contain it are removed as a whole.
    pub fn find_mentions(&self, needle: &TextMatcher) -> Result<TextMentions, StoreError> {
        let read = || -> rusqlite::Result<TextMentions> {
            let space = self.space.as_str();
            let entries = entries_containing(&self.connection, space, needle)?;
            let mut places = RowCounts::new();
            for texts in TEXT_COLUMNS.iter().filter(|texts| texts.action.removes_text()) {
                let rows = rows_with(&self.connection, space, *texts, needle)?;
                *places.entry(texts.row_label()).or_default() += rows.len() as u64;
            }
            let removed = entries.values().map(|seqs| seqs.len() as u64).sum();
            places.insert("entries", removed);
            places.insert("episodes", self.episodes_of(&entries)?);
            Ok(TextMentions { entries, row_counts: places })
        };
        read().map_err(|cause| self.err(cause))
    }

    /// How many rows contain a text, in any table.
    pub fn count_rows_containing(&self, needle: &TextMatcher) -> Result<RowCounts, StoreError> {
        let read = || -> rusqlite::Result<RowCounts> {
            let mut places = RowCounts::new();
            for texts in TEXT_COLUMNS {
                let rows = rows_with(&self.connection, self.space.as_str(), texts, needle)?;
                *places.entry(texts.row_label()).or_default() += rows.len() as u64;
            }
            Ok(places)
        };
        read().map_err(|cause| self.err(cause))
    }

    /// How many rows contain a text but stay, because they hold paths of files that are not ours. Rows of the sessions
    /// in `whole` are not counted: they are removed completely.
    pub fn count_kept_rows_containing(
        &self,
        needle: &TextMatcher,
        whole: &[(SessionNumber, Session)],
    ) -> Result<RowCounts, StoreError> {
        let read = || -> rusqlite::Result<RowCounts> {
            let mut places = RowCounts::new();
            for texts in TEXT_COLUMNS.iter().filter(|texts| texts.action == TextAction::Keep) {
                let column = if texts.table == "session" { "number" } else { "session" };
                let sql = format!("SELECT {column} FROM {} WHERE space = ?1 AND number = ?2", texts.table);
                let mut session_of = self.connection.prepare(&sql)?;
                for key in rows_with(&self.connection, self.space.as_str(), *texts, needle)? {
                    let session: Option<i64> = session_of.query_row(params_from_iter(key), |row| row.get(0))?;
                    if !whole.iter().any(|(number, _)| Some(number.0) == session) {
                        *places.entry(texts.row_label()).or_default() += 1;
                    }
                }
            }
            Ok(places)
        };
        read().map_err(|cause| self.err(cause))
    }

    /// Sessions whose stored assembler state satisfies the condition.
    pub fn sessions_by_assembler_state(&self, fits: &dyn Fn(&str) -> bool) -> Result<Vec<SessionNumber>, StoreError> {
        let read = || -> rusqlite::Result<Vec<SessionNumber>> {
            let sql = "SELECT number, assembler_state FROM session WHERE space = ?1
                AND assembler_state IS NOT NULL ORDER BY number";
            let mut statement = self.connection.prepare(sql)?;
            let mut rows = statement.query(params![self.space.as_str()])?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                if fits(row.get_ref(1)?.as_str()?) {
                    found.push(SessionNumber(row.get(0)?));
                }
            }
            Ok(found)
        };
        read().map_err(|cause| self.err(cause))
    }

    /// Whether the user had the session forgotten.
    pub fn is_forgotten(&self, key: SessionKey<'_>) -> Result<bool, StoreError> {
        is_forgotten(&self.connection, self.space.as_str(), key).map_err(|cause| self.err(cause))
    }

    /// All forgotten sessions, by agent and external id.
    pub fn forgotten_sessions(&self) -> Result<HashSet<(Agent, String)>, StoreError> {
        let read = || -> rusqlite::Result<HashSet<(Agent, String)>> {
            let mut statement =
                self.connection.prepare_cached("SELECT agent, external_id FROM forgotten_session WHERE space = ?1")?;
            let rows = statement.query_map(params![self.space.as_str()], |row| {
                let agent = row.get_ref(0)?.as_str()?.parse().ok();
                Ok(agent.zip(Some(row.get::<_, String>(1)?)))
            })?;
            rows.filter_map(Result::transpose).collect()
        };
        read().map_err(|cause| self.err(cause))
    }

    /// Whether bytes of deleted rows may still be in the files, so that [`Store::wipe`] is due.
    pub fn needs_wipe(&self) -> Result<bool, StoreError> {
        let sql = "SELECT value FROM counter WHERE space = ?1 AND name = ?2";
        let found = self.connection.query_row(sql, params![self.space.as_str(), UNWIPED], |row| row.get::<_, i64>(0));
        found.optional().map(|value| value.is_some_and(|value| value > 0)).map_err(|cause| self.err(cause))
    }

    /// The earliest known time of a hook event; old events are dropped.
    fn first_event_at(&self, session: &Session) -> rusqlite::Result<Option<Timestamp>> {
        let sql = "SELECT min(at) FROM
            (SELECT min(at) AS at FROM lifecycle_event WHERE space = ?1 AND agent = ?2 AND external_id = ?3
             UNION ALL SELECT period_started_at FROM lifecycle WHERE space = ?1 AND agent = ?2 AND external_id = ?3)";
        let values = params![self.space.as_str(), session.agent.as_str(), session.external_id];
        self.connection.query_row(sql, values, |row| Ok(row.get::<_, Option<i64>>(0)?.map(Timestamp::from_millis)))
    }

    fn count_traces(&self, number: SessionNumber, session: &Session, places: &mut RowCounts) -> rusqlite::Result<()> {
        let space = self.space.as_str();
        let mut add = |table: &'static str, condition: &str| -> rusqlite::Result<()> {
            let sql = format!("SELECT count(*) FROM {table} WHERE space = ?1 AND {condition}");
            let values = params![space, number.0, session.agent.as_str(), session.external_id];
            let mut statement = self.connection.prepare_cached(&sql)?;
            // rusqlite rejects values that a statement has no parameter for.
            let count: i64 = match statement.parameter_count() {
                2 => statement.query_row(&values[..2], |row| row.get(0))?,
                _ => statement.query_row(values, |row| row.get(0))?,
            };
            *places.entry(row_label(table)).or_default() += count as u64;
            Ok(())
        };
        for table in SESSION_TABLES {
            add(table, "session = ?2")?;
        }
        for table in EXTERNAL_ID_TABLES {
            add(table, "agent = ?3 AND external_id = ?4 AND ?2 IS NOT NULL")?;
        }
        add("watermark", "session = ?2")?;
        add("session", "number = ?2 AND kind <> 'removed'")?;
        add("transcript", "session = ?2")?;
        add("transcript_problem", "transcript IN (SELECT number FROM transcript WHERE space = ?1 AND session = ?2)")?;
        add("other_session_title", "leaf_key IN (SELECT native_key FROM entry WHERE space = ?1 AND session = ?2)")
    }

    fn episodes_of(&self, entries: &BTreeMap<SessionNumber, BTreeSet<u64>>) -> rusqlite::Result<u64> {
        let mut found = BTreeSet::new();
        let sql = "SELECT episode FROM entry WHERE space = ?1 AND session = ?2 AND seq = ?3";
        let mut statement = self.connection.prepare_cached(sql)?;
        for (session, seqs) in entries {
            for seq in seqs {
                let values = params![self.space.as_str(), session.0, *seq as i64];
                let episode: Option<i64> = statement.query_row(values, |row| row.get(0))?;
                found.extend(episode.map(|episode| (*session, episode)));
            }
        }
        Ok(found.len() as u64)
    }
}

impl Store {
    /// Rewrites the database without the deleted bytes and empties the write-ahead log. False if another process is
    /// still reading the old contents: then it has to be done again later.
    pub fn wipe(&mut self) -> Result<bool, StoreError> {
        let result = self.wipe_file();
        match result.map_err(|cause| self.err(cause)) {
            Err(StoreError::Locked { .. }) => Ok(false),
            other => other,
        }
    }

    fn wipe_file(&self) -> rusqlite::Result<bool> {
        // Entities without facts.
        self.connection.execute(
            "DELETE FROM entity WHERE space = ?1
             AND NOT EXISTS (SELECT 1 FROM fact WHERE fact.space = entity.space AND fact.subject = entity.number)
             AND NOT EXISTS (SELECT 1 FROM fact WHERE fact.space = entity.space AND fact.object = entity.number)",
            params![self.space.as_str()],
        )?;
        // VACUUM copies the database, which may be larger than the memory.
        self.connection.execute_batch("PRAGMA temp_store = FILE; VACUUM; PRAGMA temp_store = MEMORY;")?;
        if !self.empty_log()? {
            return Ok(false);
        }
        let sql = "DELETE FROM counter WHERE space = ?1 AND name = ?2";
        self.connection.execute(sql, params![self.space.as_str(), UNWIPED])?;
        Ok(true)
    }

    fn empty_log(&self) -> rusqlite::Result<bool> {
        let busy = self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0))?;
        Ok(busy == 0)
    }
}

pub(crate) fn is_forgotten(connection: &Connection, space: &str, key: SessionKey<'_>) -> rusqlite::Result<bool> {
    let sql = "SELECT 1 FROM forgotten_session WHERE space = ?1 AND agent = ?2 AND external_id = ?3";
    connection.prepare_cached(sql)?.exists(params![space, key.agent.as_str(), key.external_id])
}

/// Numbers and times of injections into other sessions that may mention these.
pub(crate) fn injections_mentioning(
    connection: &Connection,
    space: &str,
    sessions: &[(SessionNumber, Session)],
    marks: &MentionMatcher,
) -> rusqlite::Result<Vec<(i64, Timestamp)>> {
    let own: HashSet<(&str, &str)> =
        sessions.iter().map(|(_, session)| (session.agent.as_str(), session.external_id.as_str())).collect();
    let mut statement = connection.prepare(
        "SELECT number, agent, external_id, text, sections, at, (SELECT project FROM session
         WHERE space = injection.space AND agent = injection.agent AND external_id = injection.external_id)
         FROM injection WHERE space = ?1",
    )?;
    let mut rows = statement.query(params![space])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let text = |at: usize| -> rusqlite::Result<&str> { Ok(row.get_ref(at)?.as_str()?) };
        if own.contains(&(text(1)?, text(2)?)) {
            continue;
        }
        let at = Timestamp::from_millis(row.get(5)?);
        let project = row.get_ref(6)?.as_str_or_null()?;
        if marks.may_know_of_them(project, at) || marks.is_mentioned_in(text(3)?) || marks.is_mentioned_in(text(4)?) {
            found.push((row.get(0)?, at));
        }
    }
    Ok(found)
}

/// The entries of every episode that contains a text in any column.
fn entries_containing(
    connection: &Connection,
    space: &str,
    needle: &TextMatcher,
) -> rusqlite::Result<BTreeMap<SessionNumber, BTreeSet<u64>>> {
    let mut found: BTreeMap<SessionNumber, BTreeSet<u64>> = BTreeMap::new();
    let mut of_episode = connection.prepare(
        "SELECT seq FROM entry WHERE space = ?1 AND session = ?2 AND (seq = ?3 OR episode =
         (SELECT episode FROM entry WHERE space = ?1 AND session = ?2 AND seq = ?3))",
    )?;
    for key in rows_with(connection, space, TEXT_COLUMNS[0], needle)? {
        let (Some(Value::Integer(session)), Some(Value::Integer(seq))) = (key.get(1), key.get(2)) else { continue };
        let entries = found.entry(SessionNumber(*session)).or_default();
        if entries.contains(&(*seq as u64)) {
            continue;
        }
        let seqs = of_episode.query_map(params![space, session, seq], |row| row.get::<_, i64>(0))?;
        for seq in seqs {
            entries.insert(seq? as u64);
        }
    }
    Ok(found)
}

/// The primary keys of all rows that contain a text.
pub(crate) fn rows_with(
    connection: &Connection,
    space: &str,
    texts: TextColumns,
    needle: &TextMatcher,
) -> rusqlite::Result<Vec<Vec<Value>>> {
    let key = primary_key(connection, texts.table)?;
    let columns = texts.columns.join(", ");
    let sql = format!("SELECT {}, {columns} FROM {} WHERE space = ?1", key.join(", "), texts.table);
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query(params![space])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let mut has_text = false;
        for (at, column) in texts.columns.iter().enumerate() {
            let Some(text) = row.get_ref(key.len() + at)?.as_str_or_null()? else { continue };
            let name = format!("{}.{column}", texts.table);
            has_text |= match name.as_str() {
                "pending_archive.content" => needle.matches_archive(text),
                name if JSON_COLUMNS.contains(&name) => needle.matches_json(text),
                _ => needle.matches(text),
            };
        }
        if has_text {
            found.push((0..key.len()).map(|at| row.get(at)).collect::<rusqlite::Result<_>>()?);
        }
    }
    Ok(found)
}

/// The columns of a table's primary key, in key order.
pub(crate) fn primary_key(connection: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare_cached("SELECT name FROM pragma_table_info(?1) WHERE pk > 0 ORDER BY pk")?;
    statement.query_map([table], |row| row.get(0))?.collect()
}
