//! What hooks and users reported about sessions: periods, events, injections.

use rethread_model::{Agent, Session, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::{Batch, ReadStore, StoreError};

/// Stored events per session.
const MAX_EVENTS: u64 = 50;
/// Stored injections per session.
const MAX_INJECTIONS: u64 = 200;

/// Identifies a session by the agent's own id, which is known before the transcript is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SessionKey<'a> {
    /// The agent that runs the session.
    pub agent: Agent,
    /// The agent's id of the session.
    pub external_id: &'a str,
}

impl<'a> SessionKey<'a> {
    /// The key of a session.
    pub fn of(session: &'a Session) -> Self {
        Self { agent: session.agent, external_id: &session.external_id }
    }
}

/// How a session was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseKind {
    /// Paused by the user.
    Suspended,
    /// Ended by the user or the agent.
    Ended,
    /// A run with a single prompt ended. Its period continues if another run follows soon.
    RunEnded,
}

impl CloseKind {
    const fn as_stored(self) -> &'static str {
        match self {
            Self::Suspended => "suspended",
            Self::Ended => "ended",
            Self::RunEnded => "run-ended",
        }
    }

    /// None for null, and for a value that only a newer version of the program knows: then the session counts as open.
    pub(crate) fn from_stored(word: Option<&str>) -> Option<Self> {
        match word {
            Some("ended") => Some(Self::Ended),
            Some("suspended") => Some(Self::Suspended),
            Some("run-ended") => Some(Self::RunEnded),
            _ => None,
        }
    }
}

/// State of a session that is known from hooks and commands, not from its transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LifecycleRow {
    /// Number of the current period of work, from 1.
    pub period: u64,
    /// Start of the current period.
    pub period_started_at: Timestamp,
    /// Time of the last hook or command that concerned it.
    pub touched_at: Timestamp,
    /// How and when it was closed; `None` while it is open.
    pub closed: Option<(CloseKind, Timestamp)>,
    /// Number of events in all periods.
    pub event_count: u64,
    /// Number of events in earlier periods.
    pub event_count_before_period: u64,
    /// Entities named in prompts, newest last.
    pub prompt_entities: Vec<String>,
    /// Files that tool calls of the period named, newest last.
    pub recent_files: Vec<String>,
    /// Tools used in the period, newest last.
    pub recent_tools: Vec<String>,
}

impl LifecycleRow {
    /// A new session whose first period starts now.
    pub fn new(now: Timestamp) -> Self {
        Self {
            period: 1,
            period_started_at: now,
            touched_at: now,
            closed: None,
            event_count: 0,
            event_count_before_period: 0,
            prompt_entities: Vec::new(),
            recent_files: Vec::new(),
            recent_tools: Vec::new(),
        }
    }

    /// Number of events in the current period.
    pub fn period_event_count(&self) -> u64 {
        self.event_count.saturating_sub(self.event_count_before_period)
    }
}

/// An event reported by a hook or a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LifecycleEvent {
    /// Time of the event.
    pub at: Timestamp,
    /// Kind of the event, such as `tool_executed`.
    pub kind: String,
    /// Details for the user; may be empty.
    pub detail: String,
}

impl LifecycleEvent {
    /// An event of a kind such as `session_end`.
    pub fn new(at: Timestamp, kind: &str, detail: String) -> Self {
        Self { at, kind: kind.to_owned(), detail }
    }
}

/// A text that was added to an agent's context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InjectionRow {
    /// Time of the injection.
    pub at: Timestamp,
    /// The agent's hook event that caused it.
    pub event: String,
    /// The injected text.
    pub text: String,
    /// Its sections, and what was left out, with reasons, as JSON.
    pub sections_json: String,
    /// Hash of the text.
    pub text_hash: u64,
    /// Microseconds it took to compose the text.
    pub duration_micros: u64,
}

const LIFECYCLE_COLUMNS: &str =
    "period, period_started_at, touched_at, closed_as, closed_at, events, events_before_period, prompt_entities,
     recent_files, recent_tools";
/// Selects rows of one session in tables keyed by agent and external id.
pub(crate) const BY_EXTERNAL_ID: &str = "space = ?1 AND agent = ?2 AND external_id = ?3";

impl ReadStore {
    /// The lifecycle of a session; `None` if no hook or command concerned it yet.
    pub fn lifecycle(&self, key: SessionKey<'_>) -> Result<Option<LifecycleRow>, StoreError> {
        select_lifecycle(&self.connection, self.space.as_str(), key).map_err(|cause| self.err(cause))
    }

    /// The last events of a session, oldest first.
    pub fn lifecycle_events(&self, key: SessionKey<'_>, limit: u64) -> Result<Vec<LifecycleEvent>, StoreError> {
        let sql = format!(
            "SELECT at, kind, detail FROM lifecycle_event WHERE {BY_EXTERNAL_ID} ORDER BY number DESC LIMIT ?4"
        );
        let mut events = self.query_by_external_id(&sql, key, limit as i64, |row| {
            Ok(LifecycleEvent { at: Timestamp::from_millis(row.get(0)?), kind: row.get(1)?, detail: row.get(2)? })
        })?;
        events.reverse();
        Ok(events)
    }

    /// Sessions of an agent that were closed at or after a time, by external id, newest first.
    pub fn sessions_closed_since(&self, agent: Agent, since: Timestamp) -> Result<Vec<String>, StoreError> {
        let read = || -> rusqlite::Result<Vec<String>> {
            let mut statement = self.connection.prepare_cached(
                "SELECT external_id FROM lifecycle WHERE space = ?1 AND agent = ?2 AND closed_at >= ?3
                 ORDER BY closed_at DESC",
            )?;
            let values = params![self.space.as_str(), agent.as_str(), since.as_millis()];
            statement.query_map(values, |row| row.get(0))?.collect()
        };
        read().map_err(|cause| self.err(cause))
    }

    /// Sessions that are not closed and were last touched before a time, by agent and external id.
    pub fn silent_sessions(&self, before: Timestamp) -> Result<Vec<(Agent, String)>, StoreError> {
        let read = || -> rusqlite::Result<Vec<(Agent, String)>> {
            let mut statement = self.connection.prepare_cached(
                "SELECT agent, external_id FROM lifecycle WHERE space = ?1
                 AND (closed_as IS NULL OR closed_as = 'run-ended') AND touched_at < ?2",
            )?;
            let rows = statement.query_map(params![self.space.as_str(), before.as_millis()], |row| {
                let agent = row.get::<_, String>(0)?.parse::<Agent>().ok();
                Ok(agent.zip(Some(row.get::<_, String>(1)?)))
            })?;
            rows.filter_map(Result::transpose).collect()
        };
        read().map_err(|cause| self.err(cause))
    }

    /// Whether content with this dedupe key is in the session's context already.
    pub fn was_injected(&self, key: SessionKey<'_>, hash: u64) -> Result<bool, StoreError> {
        let sql = format!("SELECT 1 FROM injected_content WHERE {BY_EXTERNAL_ID} AND dedupe_key = ?4");
        Ok(!self.query_by_external_id(&sql, key, hash as i64, |_| Ok(()))?.is_empty())
    }

    /// Whether the session's context was compacted or cleared since its last prompt.
    pub fn has_new_context(&self, key: SessionKey<'_>) -> Result<bool, StoreError> {
        let sql = format!("SELECT 1 FROM context_state WHERE {BY_EXTERNAL_ID} AND is_new_context = ?4");
        Ok(!self.query_by_external_id(&sql, key, 1, |_| Ok(()))?.is_empty())
    }

    /// The last injections into a session, newest first.
    pub fn injections(&self, key: SessionKey<'_>, limit: u64) -> Result<Vec<InjectionRow>, StoreError> {
        let sql = format!(
            "SELECT at, event, text, sections, text_hash, duration_micros FROM injection
             WHERE {BY_EXTERNAL_ID} ORDER BY number DESC LIMIT ?4"
        );
        self.query_by_external_id(&sql, key, limit as i64, |row| {
            Ok(InjectionRow {
                at: Timestamp::from_millis(row.get(0)?),
                event: row.get(1)?,
                text: row.get(2)?,
                sections_json: row.get(3)?,
                text_hash: row.get::<_, i64>(4)? as u64,
                duration_micros: row.get::<_, i64>(5)? as u64,
            })
        })
    }

    pub(crate) fn query_by_external_id<T>(
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
    /// The lifecycle of a session, including changes of this batch.
    pub fn lifecycle(&self, key: SessionKey<'_>) -> Result<Option<LifecycleRow>, StoreError> {
        select_lifecycle(self.connection(), self.space(), key).map_err(|cause| self.err(cause))
    }

    /// Stores the lifecycle of a session.
    pub fn save_lifecycle(&mut self, key: SessionKey<'_>, life: &LifecycleRow) -> Result<(), StoreError> {
        let closed = life.closed.map(|(closed, _)| closed.as_stored());
        self.run(
            "INSERT OR REPLACE INTO lifecycle (space, agent, external_id, period, period_started_at, touched_at,
             closed_as, closed_at, events, events_before_period, prompt_entities, recent_files, recent_tools)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
            params![
                self.space(),
                key.agent.as_str(),
                key.external_id,
                life.period as i64,
                life.period_started_at.as_millis(),
                life.touched_at.as_millis(),
                closed,
                life.closed.map(|(_, at)| at.as_millis()),
                life.event_count as i64,
                life.event_count_before_period as i64,
                life.prompt_entities.join("\n"),
                life.recent_files.join("\n"),
                life.recent_tools.join("\n"),
            ],
        )
    }

    /// Adds an event under that number and drops the oldest ones.
    pub fn add_lifecycle_event(
        &mut self,
        key: SessionKey<'_>,
        number: u64,
        event: &LifecycleEvent,
    ) -> Result<(), StoreError> {
        let (agent, id) = (key.agent.as_str(), key.external_id);
        self.run(
            "INSERT OR REPLACE INTO lifecycle_event (space, agent, external_id, number, at, kind, detail)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![self.space(), agent, id, number as i64, event.at.as_millis(), event.kind, event.detail],
        )?;
        let oldest = number.saturating_sub(MAX_EVENTS) as i64;
        self.run(
            &format!("DELETE FROM lifecycle_event WHERE {BY_EXTERNAL_ID} AND number <= ?4"),
            params![self.space(), agent, id, oldest],
        )
    }

    /// Records that content with this dedupe key was injected into a session. Returns false if it was recorded before.
    pub fn mark_injected(&mut self, key: SessionKey<'_>, hash: u64, at: Timestamp) -> Result<bool, StoreError> {
        self.insert(
            "INSERT OR IGNORE INTO injected_content (space, agent, external_id, dedupe_key, at)
             VALUES (?1, ?2, ?3, ?4, ?5)",
            params![self.space(), key.agent.as_str(), key.external_id, hash as i64, at.as_millis()],
        )
    }

    /// Clears all dedupe keys of a session and its new-context flag, because its context was compacted or cleared.
    pub fn clear_injected(&mut self, key: SessionKey<'_>) -> Result<(), StoreError> {
        for table in ["injected_content", "context_state"] {
            let sql = format!("DELETE FROM {table} WHERE {BY_EXTERNAL_ID}");
            self.run(&sql, params![self.space(), key.agent.as_str(), key.external_id])?;
        }
        Ok(())
    }

    /// Clears one dedupe key of a session.
    pub fn clear_injected_key(&mut self, key: SessionKey<'_>, hash: u64) -> Result<(), StoreError> {
        let values = params![self.space(), key.agent.as_str(), key.external_id, hash as i64];
        self.run(&format!("DELETE FROM injected_content WHERE {BY_EXTERNAL_ID} AND dedupe_key = ?4"), values)
    }

    /// Records whether a session has a new context: one that was compacted or cleared since its last prompt.
    pub fn set_new_context(&mut self, key: SessionKey<'_>, is_new: bool) -> Result<(), StoreError> {
        self.run(
            "INSERT OR REPLACE INTO context_state (space, agent, external_id, is_new_context) VALUES (?1, ?2, ?3, ?4)",
            params![self.space(), key.agent.as_str(), key.external_id, is_new],
        )
    }

    /// Stores an injection and drops the oldest ones of the session.
    pub fn add_injection(&mut self, key: SessionKey<'_>, injected: &InjectionRow) -> Result<(), StoreError> {
        let (agent, id) = (key.agent.as_str(), key.external_id);
        let number = self.next_number("injection")?;
        self.run(
            "INSERT INTO injection (space, number, agent, external_id, at, event, text, sections, text_hash,
             duration_micros) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            params![
                self.space(),
                number,
                agent,
                id,
                injected.at.as_millis(),
                injected.event,
                injected.text,
                injected.sections_json,
                injected.text_hash as i64,
                injected.duration_micros as i64,
            ],
        )?;
        self.run(
            &format!(
                "DELETE FROM injection WHERE space = ?1 AND number IN (SELECT number FROM injection
                 WHERE {BY_EXTERNAL_ID} ORDER BY number DESC LIMIT -1 OFFSET ?4)"
            ),
            params![self.space(), agent, id, MAX_INJECTIONS as i64],
        )
    }
}

fn select_lifecycle(
    connection: &Connection,
    space: &str,
    key: SessionKey<'_>,
) -> rusqlite::Result<Option<LifecycleRow>> {
    let sql = format!("SELECT {LIFECYCLE_COLUMNS} FROM lifecycle WHERE {BY_EXTERNAL_ID}");
    let mut statement = connection.prepare_cached(&sql)?;
    statement.query_row(params![space, key.agent.as_str(), key.external_id], lifecycle_from_row).optional()
}

fn lifecycle_from_row(row: &Row<'_>) -> rusqlite::Result<LifecycleRow> {
    let closed = CloseKind::from_stored(row.get_ref(3)?.as_str_or_null()?);
    let closed_at = row.get::<_, Option<i64>>(4)?.map(Timestamp::from_millis);
    let lines = |at: usize| -> rusqlite::Result<Vec<String>> {
        Ok(row.get_ref(at)?.as_str()?.lines().map(str::to_owned).collect())
    };
    Ok(LifecycleRow {
        period: row.get::<_, i64>(0)? as u64,
        period_started_at: Timestamp::from_millis(row.get(1)?),
        touched_at: Timestamp::from_millis(row.get(2)?),
        closed: closed.zip(closed_at),
        event_count: row.get::<_, i64>(5)? as u64,
        event_count_before_period: row.get::<_, i64>(6)? as u64,
        prompt_entities: lines(7)?,
        recent_files: lines(8)?,
        recent_tools: lines(9)?,
    })
}
