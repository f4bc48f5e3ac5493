//! The lives of sessions: periods, events, and what was said to whom.

use rethread_model::{Agent, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::{Batch, SessionNumber, Store, StoreError};

/// Events that are kept of a session.
const EVENTS_KEPT: u64 = 50;
/// Injections that are kept of a session.
const INJECTIONS_KEPT: u64 = 200;

/// A session by the agent's own id, known before its transcript is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SessionKey<'a> {
    /// Whose.
    pub agent: Agent,
    /// The agent's id.
    pub external_id: &'a str,
}

/// How a session was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closed {
    /// Paused on purpose.
    Suspended,
    /// At its end.
    Ended,
}

impl Closed {
    /// From the word in the store. A word that a newer program wrote closes nothing here.
    pub(crate) fn from_stored(word: Option<&str>) -> Option<Self> {
        match word {
            Some("ended") => Some(Self::Ended),
            Some("suspended") => Some(Self::Suspended),
            _ => None,
        }
    }
}

/// What only we know of a session's life.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Life {
    /// Which period of work this is, from 1.
    pub period: u64,
    /// When it began.
    pub period_at: Timestamp,
    /// When a hook or a verb last touched it.
    pub touched_at: Timestamp,
    /// How and when it was closed, if it was.
    pub closed: Option<(Closed, Timestamp)>,
    /// What it is working on.
    pub task: Option<String>,
    /// What the user calls it.
    pub name: Option<String>,
    /// Events in all.
    pub events: u64,
    /// Events of the periods before this one.
    pub events_before: u64,
    /// What its prompts named, newest last.
    pub entities: Vec<String>,
}

impl Life {
    /// A life that begins now.
    pub fn begin(now: Timestamp) -> Self {
        Self {
            period: 1,
            period_at: now,
            touched_at: now,
            closed: None,
            task: None,
            name: None,
            events: 0,
            events_before: 0,
            entities: Vec::new(),
        }
    }

    /// Events of the present period.
    pub fn events_of_period(&self) -> u64 {
        self.events.saturating_sub(self.events_before)
    }
}

/// Something that happened in a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LifeEvent {
    /// When.
    pub at: Timestamp,
    /// What kind of thing, such as `tool_executed`.
    pub kind: String,
    /// More about it; may be empty.
    pub detail: String,
}

/// How far a reader has seen another session, before and after a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watermark {
    /// The other session.
    pub session: SessionNumber,
    /// The last entry seen before; nothing if the session was never seen.
    pub from: Option<u64>,
    /// The last entry seen now.
    pub to: u64,
}

/// A text that was given to an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Injected {
    /// When.
    pub at: Timestamp,
    /// At which event of the agent.
    pub event: String,
    /// The text.
    pub text: String,
    /// Its parts with their reasons, as JSON.
    pub parts: String,
    /// A hash of the text.
    pub hash: u64,
    /// How long it took to make.
    pub micros: u64,
}

const LIFE_COLUMNS: &str =
    "period, period_at, touched_at, closed, closed_at, task, events, name, events_before, entities";
pub(crate) const WHO: &str = "space = ?1 AND agent = ?2 AND external_id = ?3";

impl Store {
    /// What only we know of a session's life.
    pub fn life(&self, key: SessionKey<'_>) -> Result<Option<Life>, StoreError> {
        life(&self.connection, self.space.as_str(), key).map_err(|cause| self.err(cause))
    }

    /// The last events of a session, oldest first.
    pub fn life_events(&self, key: SessionKey<'_>, most: u64) -> Result<Vec<LifeEvent>, StoreError> {
        let sql = format!("SELECT at, kind, detail FROM life_event WHERE {WHO} ORDER BY num DESC LIMIT ?4");
        let mut events = self.of_session(&sql, key, most as i64, |row| {
            Ok(LifeEvent { at: Timestamp::from_millis(row.get(0)?), kind: row.get(1)?, detail: row.get(2)? })
        })?;
        events.reverse();
        Ok(events)
    }

    /// Sessions that nobody closed and nobody touched since a moment: their agents, and the agents' ids.
    pub fn silent_lives(&self, before: Timestamp) -> Result<Vec<(Agent, String)>, StoreError> {
        let read = || -> rusqlite::Result<Vec<(Agent, String)>> {
            let mut statement = self.connection.prepare_cached(
                "SELECT agent, external_id FROM life WHERE space = ?1 AND closed IS NULL AND touched_at < ?2",
            )?;
            let rows = statement.query_map(params![self.space.as_str(), before.as_millis()], |row| {
                let agent = row.get::<_, String>(0)?.parse::<Agent>().ok();
                Ok(agent.zip(Some(row.get::<_, String>(1)?)))
            })?;
            rows.filter_map(Result::transpose).collect()
        };
        read().map_err(|cause| self.err(cause))
    }

    /// How far a reader has seen other sessions.
    pub fn seen(&self, reader: SessionKey<'_>) -> Result<Vec<(SessionNumber, u64)>, StoreError> {
        let sql = format!("SELECT session, seq FROM seen WHERE {WHO} AND seq >= ?4");
        self.of_session(&sql, reader, 0, |row| Ok((SessionNumber(row.get(0)?), row.get::<_, i64>(1)? as u64)))
    }

    /// Whether this was said to a session already.
    pub fn was_told(&self, key: SessionKey<'_>, hash: u64) -> Result<bool, StoreError> {
        let sql = format!("SELECT 1 FROM told WHERE {WHO} AND hash = ?4");
        Ok(!self.of_session(&sql, key, hash as i64, |_| Ok(()))?.is_empty())
    }

    /// The last texts that were given to a session, newest first.
    pub fn injections(&self, key: SessionKey<'_>, most: u64) -> Result<Vec<Injected>, StoreError> {
        let sql = format!(
            "SELECT at, event, text, parts, hash, micros FROM injection WHERE {WHO} ORDER BY num DESC LIMIT ?4"
        );
        self.of_session(&sql, key, most as i64, |row| {
            Ok(Injected {
                at: Timestamp::from_millis(row.get(0)?),
                event: row.get(1)?,
                text: row.get(2)?,
                parts: row.get(3)?,
                hash: row.get::<_, i64>(4)? as u64,
                micros: row.get::<_, i64>(5)? as u64,
            })
        })
    }

    pub(crate) fn of_session<T>(
        &self,
        sql: &str,
        key: SessionKey<'_>,
        last: i64,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let query = || -> rusqlite::Result<Vec<T>> {
            let values = params![self.space.as_str(), key.agent.as_str(), key.external_id, last];
            self.connection.prepare_cached(sql)?.query_map(values, read)?.collect()
        };
        query().map_err(|cause| self.err(cause))
    }
}

impl Batch<'_> {
    /// What only we know of a session's life, as it is now.
    pub fn life(&self, key: SessionKey<'_>) -> Result<Option<Life>, StoreError> {
        life(self.connection(), self.space(), key).map_err(|cause| self.err(cause))
    }

    /// Keeps it.
    pub fn save_life(&mut self, key: SessionKey<'_>, life: &Life) -> Result<(), StoreError> {
        let closed = life.closed.map(|(closed, _)| if closed == Closed::Ended { "ended" } else { "suspended" });
        self.run(
            "INSERT OR REPLACE INTO life (space, agent, external_id, period, period_at, touched_at, closed, closed_at,
             task, events, name, events_before, entities)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
            params![
                self.space(),
                key.agent.as_str(),
                key.external_id,
                life.period as i64,
                life.period_at.as_millis(),
                life.touched_at.as_millis(),
                closed,
                life.closed.map(|(_, at)| at.as_millis()),
                life.task,
                life.events as i64,
                life.name,
                life.events_before as i64,
                life.entities.join("\n"),
            ],
        )
    }

    /// Adds an event under that number; the oldest ones go.
    pub fn add_life_event(&mut self, key: SessionKey<'_>, number: u64, event: &LifeEvent) -> Result<(), StoreError> {
        let (agent, id) = (key.agent.as_str(), key.external_id);
        self.run(
            "INSERT OR REPLACE INTO life_event (space, agent, external_id, num, at, kind, detail)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![self.space(), agent, id, number as i64, event.at.as_millis(), event.kind, event.detail],
        )?;
        let oldest = number.saturating_sub(EVENTS_KEPT) as i64;
        self.run(&format!("DELETE FROM life_event WHERE {WHO} AND num <= ?4"), params![self.space(), agent, id, oldest])
    }

    /// Moves how far a reader has seen another session, from where the reader thinks it is. False if it is elsewhere by
    /// now: then somebody else told the reader meanwhile.
    pub fn see(&mut self, reader: SessionKey<'_>, mark: Watermark) -> Result<bool, StoreError> {
        let (agent, id) = (reader.agent.as_str(), reader.external_id);
        match mark.from {
            None => self.insert(
                "INSERT OR IGNORE INTO seen (space, agent, external_id, session, seq) VALUES (?1, ?2, ?3, ?4, ?5)",
                params![self.space(), agent, id, mark.session.0, mark.to as i64],
            ),
            Some(from) => self.insert(
                &format!("UPDATE seen SET seq = ?5 WHERE {WHO} AND session = ?4 AND seq = ?6"),
                params![self.space(), agent, id, mark.session.0, mark.to as i64, from as i64],
            ),
        }
    }

    /// Notes that this was said to a session; whether it is the first time.
    pub fn tell(&mut self, key: SessionKey<'_>, hash: u64, at: Timestamp) -> Result<bool, StoreError> {
        self.insert(
            "INSERT OR IGNORE INTO told (space, agent, external_id, hash, at) VALUES (?1, ?2, ?3, ?4, ?5)",
            params![self.space(), key.agent.as_str(), key.external_id, hash as i64, at.as_millis()],
        )
    }

    /// Forgets what was said to a session, because it has forgotten it too: its context was compacted or cleared.
    pub fn untell(&mut self, key: SessionKey<'_>) -> Result<(), StoreError> {
        self.run(&format!("DELETE FROM told WHERE {WHO}"), params![self.space(), key.agent.as_str(), key.external_id])
    }

    /// Forgets one thing that was said to a session.
    pub fn untell_one(&mut self, key: SessionKey<'_>, hash: u64) -> Result<(), StoreError> {
        let values = params![self.space(), key.agent.as_str(), key.external_id, hash as i64];
        self.run(&format!("DELETE FROM told WHERE {WHO} AND hash = ?4"), values)
    }

    /// Keeps a text that was given to an agent.
    pub fn add_injection(&mut self, key: SessionKey<'_>, injected: &Injected) -> Result<(), StoreError> {
        let (agent, id) = (key.agent.as_str(), key.external_id);
        let number = self.next_number("injection")?;
        self.run(
            "INSERT INTO injection (space, num, agent, external_id, at, event, text, parts, hash, micros)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            params![
                self.space(),
                number,
                agent,
                id,
                injected.at.as_millis(),
                injected.event,
                injected.text,
                injected.parts,
                injected.hash as i64,
                injected.micros as i64,
            ],
        )?;
        self.run(
            &format!(
                "DELETE FROM injection WHERE space = ?1 AND num IN (SELECT num FROM injection WHERE {WHO}
                 ORDER BY num DESC LIMIT -1 OFFSET ?4)"
            ),
            params![self.space(), agent, id, INJECTIONS_KEPT as i64],
        )
    }
}

fn life(connection: &Connection, space: &str, key: SessionKey<'_>) -> rusqlite::Result<Option<Life>> {
    let sql = format!("SELECT {LIFE_COLUMNS} FROM life WHERE {WHO}");
    let mut statement = connection.prepare_cached(&sql)?;
    statement.query_row(params![space, key.agent.as_str(), key.external_id], life_from_row).optional()
}

fn life_from_row(row: &Row<'_>) -> rusqlite::Result<Life> {
    let closed = Closed::from_stored(row.get_ref(3)?.as_str_or_null()?);
    let closed_at = row.get::<_, Option<i64>>(4)?.map(Timestamp::from_millis);
    Ok(Life {
        period: row.get::<_, i64>(0)? as u64,
        period_at: Timestamp::from_millis(row.get(1)?),
        touched_at: Timestamp::from_millis(row.get(2)?),
        closed: closed.zip(closed_at),
        task: row.get(5)?,
        events: row.get::<_, i64>(6)? as u64,
        name: row.get(7)?,
        events_before: row.get::<_, i64>(8)? as u64,
        entities: row.get::<_, String>(9)?.lines().map(str::to_owned).collect(),
    })
}
