//! Finds everything stored about sessions or texts to be forgotten, and wipes deleted bytes from the file.

mod mention_matcher;
mod tables;
mod text_matcher;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use rethread_model::{Agent, NativeKey, Session, SessionId, Timestamp};

use crate::lifecycle::BY_EXTERNAL_ID;
use crate::sql::{OwnedValue, SqlValue, values};
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
            let sql = "SELECT number FROM session WHERE space = ?1 AND agent = ?2 AND parent_external_id = ?3
                 AND kind = 'child' ORDER BY number";
            let values = values![session.agent, session.external_id];
            waiting.extend(self.sql.all(sql, values, |row| row.session("number"))?);
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
            self.sql.each(
                "SELECT text FROM entry WHERE space = ?1 AND session = ?2 AND kind IN ('prompt', 'task', 'assistant')",
                values![number],
                |row| row.text("text").map(|text| marks.add(text)),
            )?;
            let first_event = self.first_event_at(session)?;
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
        let mut places = RowCounts::new();
        for (number, session) in sessions {
            self.count_traces(*number, session, &mut places)?;
        }
        let mentioning = self.injections_mentioning(sessions, marks)?;
        *places.entry("injections").or_default() += mentioning.iter().filter(|(_, at)| *at <= until).count() as u64;
        Ok(places)
    }

    /// Where the store contains a text. Episodes that contain it are removed as a whole.
    pub fn find_mentions(&self, needle: &TextMatcher) -> Result<TextMentions, StoreError> {
        let entries = self.entries_containing(needle)?;
        let mut places = RowCounts::new();
        for texts in TEXT_COLUMNS.iter().filter(|texts| texts.action.removes_text()) {
            let rows = self.rows_with(*texts, needle)?;
            *places.entry(texts.row_label()).or_default() += rows.len() as u64;
        }
        places.insert("entries", entries.values().map(|seqs| seqs.len() as u64).sum());
        places.insert("episodes", self.episodes_of(&entries)?);
        Ok(TextMentions { entries, row_counts: places })
    }

    /// How many rows contain a text, in any table.
    pub fn count_rows_containing(&self, needle: &TextMatcher) -> Result<RowCounts, StoreError> {
        let mut places = RowCounts::new();
        for texts in TEXT_COLUMNS {
            *places.entry(texts.row_label()).or_default() += self.rows_with(texts, needle)?.len() as u64;
        }
        Ok(places)
    }

    /// How many rows contain a text but stay, because they hold paths of files that are not ours. Rows of the sessions
    /// in `whole` are not counted: they are removed completely.
    pub fn count_kept_rows_containing(
        &self,
        needle: &TextMatcher,
        whole: &[(SessionNumber, Session)],
    ) -> Result<RowCounts, StoreError> {
        let mut places = RowCounts::new();
        for texts in TEXT_COLUMNS.iter().filter(|texts| texts.action == TextAction::Keep) {
            let column = if texts.table == "session" { "number" } else { "session" };
            let sql = format!("SELECT {column} FROM {} WHERE space = ?1 AND number = ?2", texts.table);
            for key in self.rows_with(*texts, needle)? {
                let session = self.sql.one(&sql, values![key[0]], |row| row.int_at(0))?.flatten();
                if !whole.iter().any(|(number, _)| Some(number.0) == session) {
                    *places.entry(texts.row_label()).or_default() += 1;
                }
            }
        }
        Ok(places)
    }

    /// Sessions whose stored assembler state satisfies the condition.
    pub fn sessions_by_assembler_state(&self, fits: &dyn Fn(&str) -> bool) -> Result<Vec<SessionNumber>, StoreError> {
        self.sql.known(
            "SELECT number, assembler_state FROM session WHERE space = ?1 AND assembler_state IS NOT NULL
             ORDER BY number",
            &[],
            |row| fits(row.text("assembler_state")?).then(|| row.session("number")).transpose(),
        )
    }

    /// Whether the user had the session forgotten.
    pub fn is_forgotten(&self, key: SessionKey<'_>) -> Result<bool, StoreError> {
        let sql = format!("SELECT 1 FROM forgotten_session WHERE {BY_EXTERNAL_ID}");
        self.sql.exists(&sql, values![key.agent, key.external_id])
    }

    /// Whether something with this key was forgotten.
    pub fn is_key_forgotten(&self, key: NativeKey) -> Result<bool, StoreError> {
        self.sql.exists("SELECT 1 FROM forgotten_key WHERE space = ?1 AND key = ?2", values![key])
    }

    /// All forgotten sessions, by agent and external id.
    pub fn forgotten_sessions(&self) -> Result<HashSet<(Agent, String)>, StoreError> {
        let sql = "SELECT agent, external_id FROM forgotten_session WHERE space = ?1";
        let rows = self.sql.known(sql, &[], |row| Ok(row.parsed("agent")?.zip(Some(row.string("external_id")?))))?;
        Ok(rows.into_iter().collect())
    }

    /// Whether bytes of deleted rows may still be in the files, so that [`Store::wipe`] is due.
    pub fn needs_wipe(&self) -> Result<bool, StoreError> {
        Ok(self.counter(UNWIPED)? > 0)
    }

    /// The earliest known time of a hook event; old events are dropped.
    fn first_event_at(&self, session: &Session) -> Result<Option<Timestamp>, StoreError> {
        let sql = "SELECT min(at) AS at FROM
            (SELECT min(at) AS at FROM lifecycle_event WHERE space = ?1 AND agent = ?2 AND external_id = ?3
             UNION ALL SELECT period_started_at FROM lifecycle WHERE space = ?1 AND agent = ?2 AND external_id = ?3)
            AS event";
        Ok(self.sql.one(sql, values![session.agent, session.external_id], |row| row.opt_time("at"))?.flatten())
    }

    fn count_traces(&self, number: SessionNumber, session: &Session, places: &mut RowCounts) -> Result<(), StoreError> {
        let mut add = |table: &str, condition: &str, values: &[SqlValue<'_>]| -> Result<(), StoreError> {
            let sql = format!("SELECT count(*) FROM {table} WHERE {condition}");
            *places.entry(row_label(table)).or_default() += self.sql.count(&sql, values)?;
            Ok(())
        };
        for table in EXTERNAL_ID_TABLES {
            add(table, BY_EXTERNAL_ID, values![session.agent, session.external_id])?;
        }
        let by_session = "space = ?1 AND session = ?2";
        let others = [
            ("watermark", by_session),
            ("transcript", by_session),
            ("session", "space = ?1 AND number = ?2 AND kind <> 'removed'"),
            (
                "transcript_problem",
                "space = ?1 AND transcript IN (SELECT number FROM transcript WHERE space = ?1 AND session = ?2)",
            ),
            (
                "other_session_title",
                "space = ?1 AND leaf_key IN (SELECT native_key FROM entry WHERE space = ?1 AND session = ?2)",
            ),
        ];
        let own = SESSION_TABLES.map(|table| (table, by_session));
        own.into_iter().chain(others).try_for_each(|(table, condition)| add(table, condition, values![number]))
    }

    fn episodes_of(&self, entries: &BTreeMap<SessionNumber, BTreeSet<u64>>) -> Result<u64, StoreError> {
        let mut found = BTreeSet::new();
        let sql = "SELECT episode FROM entry WHERE space = ?1 AND session = ?2 AND seq = ?3";
        for (session, seqs) in entries {
            for seq in seqs {
                let episode = self.sql.one(sql, values![session, seq], |row| row.opt_int("episode"))?;
                found.extend(episode.flatten().map(|episode| (*session, episode)));
            }
        }
        Ok(found.len() as u64)
    }

    /// Numbers and times of injections into other sessions that may mention these.
    pub(crate) fn injections_mentioning(
        &self,
        sessions: &[(SessionNumber, Session)],
        marks: &MentionMatcher,
    ) -> Result<Vec<(i64, Timestamp)>, StoreError> {
        let own: HashSet<(&str, &str)> =
            sessions.iter().map(|(_, session)| (session.agent.as_str(), session.external_id.as_str())).collect();
        self.sql.known(
            "SELECT number, agent, external_id, text, sections, at, (SELECT project FROM session
             WHERE space = injection.space AND agent = injection.agent AND external_id = injection.external_id)
             AS project FROM injection WHERE space = ?1",
            &[],
            |row| {
                if own.contains(&(row.text("agent")?, row.text("external_id")?)) {
                    return Ok(None);
                }
                let at = row.time("at")?;
                let mentions = marks.may_know_of_them(row.opt_text("project")?, at)
                    || marks.is_mentioned_in(row.text("text")?)
                    || marks.is_mentioned_in(row.text("sections")?);
                Ok(mentions.then_some((row.int("number")?, at)))
            },
        )
    }

    /// The entries of every episode that contains a text in any column.
    fn entries_containing(&self, needle: &TextMatcher) -> Result<BTreeMap<SessionNumber, BTreeSet<u64>>, StoreError> {
        let mut found: BTreeMap<SessionNumber, BTreeSet<u64>> = BTreeMap::new();
        for key in self.rows_with(TEXT_COLUMNS[0], needle)? {
            let [OwnedValue::Int(session), OwnedValue::Int(seq)] = key[..] else { continue };
            let entries = found.entry(SessionNumber(session)).or_default();
            if entries.contains(&(seq as u64)) {
                continue;
            }
            entries.extend(self.sql.all(
                "SELECT seq FROM entry WHERE space = ?1 AND session = ?2 AND (seq = ?3 OR episode =
                 (SELECT episode FROM entry WHERE space = ?1 AND session = ?2 AND seq = ?3))",
                values![session, seq],
                |row| row.u64("seq"),
            )?);
        }
        Ok(found)
    }

    /// The primary keys of all rows that contain a text, without the space.
    pub(crate) fn rows_with(
        &self,
        texts: TextColumns,
        needle: &TextMatcher,
    ) -> Result<Vec<Vec<OwnedValue>>, StoreError> {
        let key = self.sql.primary_key(texts.table)?;
        let columns = texts.columns.join(", ");
        let sql = format!("SELECT {}, {columns} FROM {} WHERE space = ?1", key.join(", "), texts.table);
        self.sql.known(&sql, &[], |row| {
            let mut has_text = false;
            for (at, column) in texts.columns.iter().enumerate() {
                let Some(text) = row.text_at(key.len() + at)? else { continue };
                let name = format!("{}.{column}", texts.table);
                has_text |= match name.as_str() {
                    "pending_archive.content" => needle.matches_archive(text),
                    name if JSON_COLUMNS.contains(&name) => needle.matches_json(text),
                    _ => needle.matches(text),
                };
            }
            has_text.then(|| (1..key.len()).map(|at| row.owned(at)).collect()).transpose()
        })
    }
}

impl Store {
    /// Rewrites the database without the deleted bytes and empties the write-ahead log. False if another process is
    /// still reading the old contents: then it has to be done again later.
    pub fn wipe(&mut self) -> Result<bool, StoreError> {
        match self.wipe_file() {
            Err(StoreError::Locked { .. }) => Ok(false),
            other => other,
        }
    }

    fn wipe_file(&self) -> Result<bool, StoreError> {
        // Entities without facts.
        self.sql.run(
            "DELETE FROM entity WHERE space = ?1
             AND NOT EXISTS (SELECT 1 FROM fact WHERE fact.space = entity.space AND fact.subject = entity.number)
             AND NOT EXISTS (SELECT 1 FROM fact WHERE fact.space = entity.space AND fact.object = entity.number)",
            &[],
        )?;
        if !self.sql.wipe()? {
            return Ok(false);
        }
        self.sql.run("DELETE FROM counter WHERE space = ?1 AND name = ?2", values![UNWIPED])?;
        Ok(true)
    }
}
