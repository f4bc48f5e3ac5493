//! What there is of sessions and texts that somebody wants forgotten, who was forgotten, and wiping what is left of them.

mod marks;
mod needle;
mod tables;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use rethread_model::{Agent, Session, SessionId, Timestamp};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, params, params_from_iter};

use crate::{SessionKey, SessionNumber, Store, StoreError};

pub use marks::Marks;
pub use needle::Needle;
pub(crate) use tables::{JSON, KEPT_IN_PLACE, OF_AGENT_ID, OF_SESSION, TEXTS, Texts, Then, place_of};

/// How many rows there are of what, by what people call it.
pub type Places = BTreeMap<&'static str, u64>;

/// Where a text stands.
#[derive(Clone, Debug, Default)]
pub struct Mentions {
    /// The entries of every exchange that contains it.
    pub entries: BTreeMap<SessionNumber, BTreeSet<u64>>,
    /// Rows that go, or lose it.
    pub places: Places,
}

/// The mark of rows that were deleted and whose bytes may still be in files.
pub(crate) const UNWIPED: &str = "unwiped";

impl Store {
    /// Sessions and those of their sub-agents, each once.
    pub fn family(&self, sessions: &[SessionId]) -> Result<Vec<(SessionNumber, Session)>, StoreError> {
        let mut waiting: Vec<SessionNumber> = Vec::new();
        for id in sessions {
            waiting.extend(self.session_number(*id)?);
        }
        waiting.reverse();
        let (mut found, mut seen) = (Vec::new(), HashSet::new());
        while let Some(number) = waiting.pop() {
            let Some(session) = self.session_by_number(number)?.filter(|_| seen.insert(number)) else { continue };
            let read = || -> rusqlite::Result<Vec<SessionNumber>> {
                let sql = "SELECT num FROM session WHERE space = ?1 AND agent = ?2 AND parent_external = ?3 AND kind <> 'gone'";
                let values = params![self.space.as_str(), session.agent.as_str(), session.external_id];
                self.connection.prepare_cached(sql)?.query_map(values, |row| row.get(0).map(SessionNumber))?.collect()
            };
            waiting.extend(read().map_err(|cause| self.err(cause))?);
            found.push((number, session));
        }
        Ok(found)
    }

    /// By what texts given to others are recognised as telling of these sessions.
    pub fn marks_of(&self, sessions: &[(SessionNumber, Session)]) -> Result<Marks, StoreError> {
        let mut marks = Marks::default();
        for (number, session) in sessions {
            let id = session.id.to_string();
            for name in [Some(&id), Some(&session.external_id), session.name.as_ref(), session.alias.as_ref()] {
                marks.add(name.map_or("", String::as_str));
            }
            let mut read = || -> rusqlite::Result<()> {
                let sql =
                    "SELECT text FROM entry WHERE space = ?1 AND session = ?2 AND speech IN ('prompt', 'task', 'said')";
                let mut statement = self.connection.prepare_cached(sql)?;
                let mut rows = statement.query(params![self.space.as_str(), number.0])?;
                while let Some(row) = rows.next()? {
                    marks.add(row.get_ref(0)?.as_str()?);
                }
                Ok(())
            };
            read().map_err(|cause| self.err(cause))?;
            let heard = self.first_heard_of(session).map_err(|cause| self.err(cause))?;
            let since = session.started_at.map(|start| heard.map_or(start, |heard| heard.min(start)));
            marks.add_project(session.project.as_deref(), since);
        }
        Ok(marks)
    }

    /// How much there is of these sessions, and of what was told of them to others until a moment: what is told later
    /// is told without them.
    pub fn traces_of(
        &self,
        sessions: &[(SessionNumber, Session)],
        marks: &Marks,
        until: Timestamp,
    ) -> Result<Places, StoreError> {
        let count = || -> rusqlite::Result<Places> {
            let mut places = Places::new();
            for (number, session) in sessions {
                self.count_traces(*number, session, &mut places)?;
            }
            let told = told_of(&self.connection, self.space.as_str(), sessions, marks)?;
            *places.entry("injections").or_default() += told.iter().filter(|(_, at)| *at <= until).count() as u64;
            Ok(places)
        };
        count().map_err(|cause| self.err(cause))
    }

    /// Where a text stands; its exchanges go whole.
    pub fn mentions(&self, needle: &Needle) -> Result<Mentions, StoreError> {
        let read = || -> rusqlite::Result<Mentions> {
            let space = self.space.as_str();
            let entries = entries_with(&self.connection, space, needle)?;
            let mut places = Places::new();
            for texts in TEXTS.iter().filter(|texts| matches!(texts.then, Then::Delete | Then::Clear)) {
                let rows = rows_with(&self.connection, space, *texts, needle)?;
                *places.entry(texts.place()).or_default() += rows.len() as u64;
            }
            let removed = entries.values().map(|seqs| seqs.len() as u64).sum();
            places.insert("entries", removed);
            places.insert("episodes", self.episodes_of(&entries)?);
            Ok(Mentions { entries, places })
        };
        read().map_err(|cause| self.err(cause))
    }

    /// How many rows contain a text, wherever that is.
    pub fn rows_with(&self, needle: &Needle) -> Result<Places, StoreError> {
        let read = || -> rusqlite::Result<Places> {
            let mut places = Places::new();
            for texts in TEXTS {
                let rows = rows_with(&self.connection, self.space.as_str(), texts, needle)?;
                *places.entry(texts.place()).or_default() += rows.len() as u64;
            }
            Ok(places)
        };
        read().map_err(|cause| self.err(cause))
    }

    /// How many rows contain a text and stay, because they say where somebody else's files are; those of sessions that
    /// go whole do not count.
    pub fn staying_with(&self, needle: &Needle, whole: &[(SessionNumber, Session)]) -> Result<Places, StoreError> {
        let read = || -> rusqlite::Result<Places> {
            let mut places = Places::new();
            for texts in TEXTS.iter().filter(|texts| texts.then == Then::Stay) {
                let column = if texts.table == "session" { "num" } else { "session" };
                let sql = format!("SELECT {column} FROM {} WHERE space = ?1 AND num = ?2", texts.table);
                let mut session_of = self.connection.prepare(&sql)?;
                for key in rows_with(&self.connection, self.space.as_str(), *texts, needle)? {
                    let session: Option<i64> = session_of.query_row(params_from_iter(key), |row| row.get(0))?;
                    if !whole.iter().any(|(number, _)| Some(number.0) == session) {
                        *places.entry(texts.place()).or_default() += 1;
                    }
                }
            }
            Ok(places)
        };
        read().map_err(|cause| self.err(cause))
    }

    /// Sessions whose story's memory fits.
    pub fn sessions_by_memory(&self, fits: &dyn Fn(&str) -> bool) -> Result<Vec<SessionNumber>, StoreError> {
        let read = || -> rusqlite::Result<Vec<SessionNumber>> {
            let sql = "SELECT num, memory FROM session WHERE space = ?1 AND memory IS NOT NULL ORDER BY num";
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

    /// Whether a session was forgotten.
    pub fn is_forgotten(&self, key: SessionKey<'_>) -> Result<bool, StoreError> {
        is_forgotten(&self.connection, self.space.as_str(), key).map_err(|cause| self.err(cause))
    }

    /// All sessions that were forgotten.
    pub fn tombstones(&self) -> Result<HashSet<(Agent, String)>, StoreError> {
        let read = || -> rusqlite::Result<HashSet<(Agent, String)>> {
            let mut statement =
                self.connection.prepare_cached("SELECT agent, external_id FROM tombstone WHERE space = ?1")?;
            let rows = statement.query_map(params![self.space.as_str()], |row| {
                let agent = row.get_ref(0)?.as_str()?.parse().ok();
                Ok(agent.zip(Some(row.get::<_, String>(1)?)))
            })?;
            rows.filter_map(Result::transpose).collect()
        };
        read().map_err(|cause| self.err(cause))
    }

    /// Whether rows were deleted whose bytes may still be in the files.
    pub fn is_unwiped(&self) -> Result<bool, StoreError> {
        let sql = "SELECT value FROM counter WHERE space = ?1 AND name = ?2";
        let found = self.connection.query_row(sql, params![self.space.as_str(), UNWIPED], |row| row.get::<_, i64>(0));
        found.optional().map(|value| value.is_some_and(|value| value > 0)).map_err(|cause| self.err(cause))
    }

    /// Writes the database anew without what was deleted, and empties the log beside it. False if somebody else is
    /// still reading what was there before: then it is to be done again.
    pub fn wipe(&mut self) -> Result<bool, StoreError> {
        let wiped = self.wipe_file();
        match wiped.map_err(|cause| self.err(cause)) {
            Err(StoreError::Locked { .. }) => Ok(false),
            done => done,
        }
    }

    fn wipe_file(&self) -> rusqlite::Result<bool> {
        // Things of which nothing is said any more.
        self.connection.execute(
            "DELETE FROM entity WHERE space = ?1
             AND NOT EXISTS (SELECT 1 FROM fact WHERE fact.space = entity.space AND fact.subject = entity.num)
             AND NOT EXISTS (SELECT 1 FROM fact WHERE fact.space = entity.space AND fact.object = entity.num)",
            params![self.space.as_str()],
        )?;
        // A copy of a large database does not belong into memory.
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

    /// When an agent first told of a session, as far as that is still known.
    fn first_heard_of(&self, session: &Session) -> rusqlite::Result<Option<Timestamp>> {
        let sql = "SELECT min(at) FROM
            (SELECT min(at) AS at FROM life_event WHERE space = ?1 AND agent = ?2 AND external_id = ?3
             UNION ALL SELECT period_at FROM life WHERE space = ?1 AND agent = ?2 AND external_id = ?3)";
        let values = params![self.space.as_str(), session.agent.as_str(), session.external_id];
        self.connection.query_row(sql, values, |row| Ok(row.get::<_, Option<i64>>(0)?.map(Timestamp::from_millis)))
    }

    fn count_traces(&self, number: SessionNumber, session: &Session, places: &mut Places) -> rusqlite::Result<()> {
        let space = self.space.as_str();
        let mut add = |table: &'static str, condition: &str| -> rusqlite::Result<()> {
            let sql = format!("SELECT count(*) FROM {table} WHERE space = ?1 AND {condition}");
            let values = params![space, number.0, session.agent.as_str(), session.external_id];
            let mut statement = self.connection.prepare_cached(&sql)?;
            // Statements are handed only as many values as they ask for.
            let count: i64 = match statement.parameter_count() {
                2 => statement.query_row(&values[..2], |row| row.get(0))?,
                _ => statement.query_row(values, |row| row.get(0))?,
            };
            *places.entry(place_of(table)).or_default() += count as u64;
            Ok(())
        };
        for table in OF_SESSION {
            add(table, "session = ?2")?;
        }
        for table in OF_AGENT_ID {
            add(table, "agent = ?3 AND external_id = ?4 AND ?2 IS NOT NULL")?;
        }
        add("seen", "session = ?2")?;
        add("session", "num = ?2 AND kind <> 'gone'")?;
        add("transcript", "session = ?2")?;
        add("problem", "transcript IN (SELECT num FROM transcript WHERE space = ?1 AND session = ?2)")?;
        add("title_elsewhere", "leaf IN (SELECT native FROM entry WHERE space = ?1 AND session = ?2)")
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

pub(crate) fn is_forgotten(connection: &Connection, space: &str, key: SessionKey<'_>) -> rusqlite::Result<bool> {
    let sql = "SELECT 1 FROM tombstone WHERE space = ?1 AND agent = ?2 AND external_id = ?3";
    connection.prepare_cached(sql)?.exists(params![space, key.agent.as_str(), key.external_id])
}

/// Numbers and moments of the texts given to other sessions that may tell of these.
pub(crate) fn told_of(
    connection: &Connection,
    space: &str,
    sessions: &[(SessionNumber, Session)],
    marks: &Marks,
) -> rusqlite::Result<Vec<(i64, Timestamp)>> {
    let own: HashSet<(&str, &str)> =
        sessions.iter().map(|(_, session)| (session.agent.as_str(), session.external_id.as_str())).collect();
    let mut statement = connection.prepare(
        "SELECT num, agent, external_id, text, parts, at, (SELECT project FROM session WHERE space = injection.space
         AND agent = injection.agent AND external_id = injection.external_id) FROM injection WHERE space = ?1",
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
        if marks.may_be_told(project, at) || marks.are_in(text(3)?) || marks.are_in(text(4)?) {
            found.push((row.get(0)?, at));
        }
    }
    Ok(found)
}

/// The entries of every exchange that contains a text, in any of its columns.
fn entries_with(
    connection: &Connection,
    space: &str,
    needle: &Needle,
) -> rusqlite::Result<BTreeMap<SessionNumber, BTreeSet<u64>>> {
    let mut found: BTreeMap<SessionNumber, BTreeSet<u64>> = BTreeMap::new();
    let mut of_episode = connection.prepare(
        "SELECT seq FROM entry WHERE space = ?1 AND session = ?2 AND (seq = ?3 OR episode =
         (SELECT episode FROM entry WHERE space = ?1 AND session = ?2 AND seq = ?3))",
    )?;
    for key in rows_with(connection, space, TEXTS[0], needle)? {
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

/// The keys of all rows in which a text stands.
pub(crate) fn rows_with(
    connection: &Connection,
    space: &str,
    texts: Texts,
    needle: &Needle,
) -> rusqlite::Result<Vec<Vec<Value>>> {
    let key = key_of(connection, texts.table)?;
    let columns = texts.columns.join(", ");
    let sql = format!("SELECT {}, {columns} FROM {} WHERE space = ?1", key.join(", "), texts.table);
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query(params![space])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let mut is_in = false;
        for (at, column) in texts.columns.iter().enumerate() {
            let Some(text) = row.get_ref(key.len() + at)?.as_str_or_null()? else { continue };
            let name = format!("{}.{column}", texts.table);
            is_in |= match name.as_str() {
                "unarchived.text" => needle.is_in_archive(text),
                name if JSON.contains(&name) => needle.is_in_json(text),
                _ => needle.is_in(text),
            };
        }
        if is_in {
            found.push((0..key.len()).map(|at| row.get(at)).collect::<rusqlite::Result<_>>()?);
        }
    }
    Ok(found)
}

/// The columns of a table's primary key, in its order.
pub(crate) fn key_of(connection: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare_cached("SELECT name FROM pragma_table_info(?1) WHERE pk > 0 ORDER BY pk")?;
    statement.query_map([table], |row| row.get(0))?.collect()
}
