//! What hooks and users reported about sessions: periods, events, injections.

use rethread_model::{Agent, Session, Timestamp};

use crate::sql::{Row, columns, values};
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
        let sql = format!("SELECT {LIFECYCLE_COLUMNS} FROM lifecycle WHERE {BY_EXTERNAL_ID}");
        self.sql.one(&sql, values![key.agent, key.external_id], lifecycle_from_row)
    }

    /// The last events of a session, oldest first.
    pub fn lifecycle_events(&self, key: SessionKey<'_>, limit: u64) -> Result<Vec<LifecycleEvent>, StoreError> {
        let sql = format!(
            "SELECT at, kind, detail FROM lifecycle_event WHERE {BY_EXTERNAL_ID} ORDER BY number DESC LIMIT ?4"
        );
        let mut events = self.sql.all(&sql, values![key.agent, key.external_id, limit], |row| {
            Ok(LifecycleEvent { at: row.time("at")?, kind: row.string("kind")?, detail: row.string("detail")? })
        })?;
        events.reverse();
        Ok(events)
    }

    /// Sessions of an agent that were closed at or after a time, by external id, newest first.
    pub fn sessions_closed_since(&self, agent: Agent, since: Timestamp) -> Result<Vec<String>, StoreError> {
        self.sql.all(
            "SELECT external_id FROM lifecycle WHERE space = ?1 AND agent = ?2 AND closed_at >= ?3
             ORDER BY closed_at DESC NULLS LAST, external_id",
            values![agent, since],
            |row| row.string("external_id"),
        )
    }

    /// Sessions that are not closed and were last touched before a time, by agent and external id.
    pub fn silent_sessions(&self, before: Timestamp) -> Result<Vec<(Agent, String)>, StoreError> {
        self.sql.known(
            "SELECT agent, external_id FROM lifecycle WHERE space = ?1
             AND (closed_as IS NULL OR closed_as = 'run-ended') AND touched_at < ?2
             ORDER BY agent, external_id",
            values![before],
            |row| Ok(row.parsed("agent")?.zip(Some(row.string("external_id")?))),
        )
    }

    /// Whether content with this dedupe key is in the session's context already.
    pub fn was_injected(&self, key: SessionKey<'_>, hash: u64) -> Result<bool, StoreError> {
        let sql = format!("SELECT 1 FROM injected_content WHERE {BY_EXTERNAL_ID} AND dedupe_key = ?4");
        self.sql.exists(&sql, values![key.agent, key.external_id, hash])
    }

    /// Whether the session's context was compacted or cleared since its last prompt.
    pub fn has_new_context(&self, key: SessionKey<'_>) -> Result<bool, StoreError> {
        let sql = format!("SELECT 1 FROM context_state WHERE {BY_EXTERNAL_ID} AND is_new_context");
        self.sql.exists(&sql, values![key.agent, key.external_id])
    }

    /// Whether text for a session waits for an event of its host that delivers it.
    pub fn has_held_injections(&self, key: SessionKey<'_>) -> Result<bool, StoreError> {
        let sql = format!("SELECT 1 FROM injection WHERE {BY_EXTERNAL_ID} AND is_held");
        self.sql.exists(&sql, values![key.agent, key.external_id])
    }

    /// The last injections into a session, newest first.
    pub fn injections(&self, key: SessionKey<'_>, limit: u64) -> Result<Vec<InjectionRow>, StoreError> {
        let sql = format!(
            "SELECT at, event, text, sections, text_hash, duration_micros FROM injection
             WHERE {BY_EXTERNAL_ID} ORDER BY number DESC LIMIT ?4"
        );
        self.sql.all(&sql, values![key.agent, key.external_id, limit], |row| {
            Ok(InjectionRow {
                at: row.time("at")?,
                event: row.string("event")?,
                text: row.string("text")?,
                sections_json: row.string("sections")?,
                text_hash: row.u64("text_hash")?,
                duration_micros: row.u64("duration_micros")?,
            })
        })
    }
}

impl Batch<'_> {
    /// Stores the lifecycle of a session.
    pub fn save_lifecycle(&mut self, key: SessionKey<'_>, life: &LifecycleRow) -> Result<(), StoreError> {
        self.upsert(
            "lifecycle",
            columns! { agent: key.agent, external_id: key.external_id },
            columns! {
                period: life.period,
                period_started_at: life.period_started_at,
                touched_at: life.touched_at,
                closed_as: life.closed.map(|(closed, _)| closed.as_stored()),
                closed_at: life.closed.map(|(_, at)| at),
                events: life.event_count,
                events_before_period: life.event_count_before_period,
                prompt_entities: life.prompt_entities.join("\n"),
                recent_files: life.recent_files.join("\n"),
                recent_tools: life.recent_tools.join("\n"),
            },
        )
    }

    /// Adds an event under that number and drops the oldest ones.
    pub fn add_lifecycle_event(
        &mut self,
        key: SessionKey<'_>,
        number: u64,
        event: &LifecycleEvent,
    ) -> Result<(), StoreError> {
        self.upsert(
            "lifecycle_event",
            columns! { agent: key.agent, external_id: key.external_id, number: number },
            columns! { at: event.at, kind: event.kind, detail: event.detail },
        )?;
        self.sql.run(
            &format!("DELETE FROM lifecycle_event WHERE {BY_EXTERNAL_ID} AND number <= ?4"),
            values![key.agent, key.external_id, number.saturating_sub(MAX_EVENTS)],
        )
    }

    /// Records that content with this dedupe key was injected into a session. Returns false if it was recorded before.
    pub fn mark_injected(&mut self, key: SessionKey<'_>, hash: u64, at: Timestamp) -> Result<bool, StoreError> {
        let row = columns! { agent: key.agent, external_id: key.external_id, dedupe_key: hash, at: at };
        self.insert_new("injected_content", row)
    }

    /// Clears all dedupe keys of a session and its new-context flag, because its context was compacted or cleared.
    pub fn clear_injected(&mut self, key: SessionKey<'_>) -> Result<(), StoreError> {
        for table in ["injected_content", "context_state"] {
            let sql = format!("DELETE FROM {table} WHERE {BY_EXTERNAL_ID}");
            self.sql.run(&sql, values![key.agent, key.external_id])?;
        }
        Ok(())
    }

    /// Clears one dedupe key of a session.
    pub fn clear_injected_key(&mut self, key: SessionKey<'_>, hash: u64) -> Result<(), StoreError> {
        let sql = format!("DELETE FROM injected_content WHERE {BY_EXTERNAL_ID} AND dedupe_key = ?4");
        self.sql.run(&sql, values![key.agent, key.external_id, hash])
    }

    /// Records whether a session has a new context: one that was compacted or cleared since its last prompt.
    pub fn set_new_context(&mut self, key: SessionKey<'_>, is_new: bool) -> Result<(), StoreError> {
        let key = columns! { agent: key.agent, external_id: key.external_id };
        self.upsert("context_state", key, columns! { is_new_context: is_new })
    }

    /// The texts of held injections since a time, oldest first. They are no longer held afterwards.
    pub fn release_injections(&mut self, key: SessionKey<'_>, since: Timestamp) -> Result<Vec<String>, StoreError> {
        let held = format!("SELECT at, text FROM injection WHERE {BY_EXTERNAL_ID} AND is_held ORDER BY number");
        let held = self
            .sql
            .all(&held, values![key.agent, key.external_id], |row| Ok((row.time("at")?, row.string("text")?)))?;
        let sql = format!("UPDATE injection SET is_held = FALSE WHERE {BY_EXTERNAL_ID} AND is_held");
        self.sql.run(&sql, values![key.agent, key.external_id])?;
        Ok(held.into_iter().filter(|(at, _)| *at >= since).map(|(_, text)| text).collect())
    }

    /// Stores an injection and drops the oldest ones of the session.
    pub fn add_injection(&mut self, key: SessionKey<'_>, injected: &InjectionRow) -> Result<(), StoreError> {
        self.insert_injection(key, injected, false)
    }

    /// Stores an injection that waits for an event of the session's host that delivers it.
    pub fn add_held_injection(&mut self, key: SessionKey<'_>, injected: &InjectionRow) -> Result<(), StoreError> {
        self.insert_injection(key, injected, true)
    }

    fn insert_injection(
        &mut self,
        key: SessionKey<'_>,
        injected: &InjectionRow,
        is_held: bool,
    ) -> Result<(), StoreError> {
        self.insert(
            "injection",
            columns! {
                number: self.next_number("injection")?,
                agent: key.agent,
                external_id: key.external_id,
                at: injected.at,
                event: injected.event,
                text: injected.text,
                sections: injected.sections_json,
                text_hash: injected.text_hash,
                duration_micros: injected.duration_micros,
                is_held: is_held,
            },
        )?;
        self.sql.run(
            &format!(
                "DELETE FROM injection WHERE {BY_EXTERNAL_ID} AND number <= (SELECT number FROM injection
                 WHERE {BY_EXTERNAL_ID} ORDER BY number DESC LIMIT 1 OFFSET ?4)"
            ),
            values![key.agent, key.external_id, MAX_INJECTIONS],
        )
    }
}

fn lifecycle_from_row(row: &Row<'_>) -> Result<LifecycleRow, StoreError> {
    let lines = |name| Ok::<_, StoreError>(row.text(name)?.lines().map(str::to_owned).collect());
    Ok(LifecycleRow {
        period: row.u64("period")?,
        period_started_at: row.time("period_started_at")?,
        touched_at: row.time("touched_at")?,
        closed: CloseKind::from_stored(row.opt_text("closed_as")?).zip(row.opt_time("closed_at")?),
        event_count: row.u64("events")?,
        event_count_before_period: row.u64("events_before_period")?,
        prompt_entities: lines("prompt_entities")?,
        recent_files: lines("recent_files")?,
        recent_tools: lines("recent_tools")?,
    })
}
