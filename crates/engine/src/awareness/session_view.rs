//! The current period of a session, from hook events where there are any, otherwise from its transcript.

use rethread_model::{Entry, EntryKind, Session, SessionState, Timestamp, relative_path, short_id};
use rethread_recall::{SessionView, TimedText};
use rethread_store::{
    EntriesSince, HotMemoryRow, LifecycleEvent, LifecycleRow, ReadStore, SessionKey, SessionLabels, SessionNumber,
    StoreError,
};

use super::tool_call_text::hot_text_of_tool_use;
use crate::lifecycle::LifecycleRules;

/// How long hot entries are kept.
const HOT_MILLIS: i64 = 24 * 3_600_000;
/// Maximum number of files and of tools listed.
const MAX_RECENT_NAMES: usize = 10;
/// Maximum number of events in a resume summary.
const MAX_RECENT_EVENTS: usize = 5;
/// Number of stored events from which those are chosen; no session keeps more.
const MAX_EVENTS_SCANNED: u64 = 50;

/// Key figures of a session's current period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionSummary {
    /// The first 8 characters of the agent's session id.
    pub id: String,
    /// Minutes since the current period began.
    pub minutes: u64,
    /// Lifecycle state.
    pub state: SessionState,
    /// Number of events in the current period.
    pub events: u64,
    /// Number of hot entries, notes included.
    pub hot_entries: usize,
    /// Files it read or changed, newest last.
    pub files: Vec<String>,
    /// Tools it used, newest last.
    pub tools: Vec<String>,
    /// Entities named in its prompts, newest last.
    pub entities: Vec<String>,
    /// The current task.
    pub task: Option<String>,
}

/// A session with everything stored about it.
#[derive(Clone, Debug, Default)]
pub(crate) struct OwnSession {
    /// Its number and row; `None` before its transcript was read.
    pub(crate) stored: Option<(SessionNumber, Session)>,
    /// Lifecycle data, which comes from hooks and commands and is not in the transcript.
    pub(crate) life: Option<LifecycleRow>,
    /// The name and the task that a user gave it.
    pub(crate) labels: SessionLabels,
    /// Its entries of the last 24 hours of activity.
    pub(crate) actions: EntriesSince,
    /// If set, earlier events are ignored.
    since: Option<Timestamp>,
}

impl OwnSession {
    /// Loads the session without its entries; enough for recording events.
    pub(crate) fn load(store: &ReadStore, key: SessionKey<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            stored: store.session_by_external_id(key)?,
            life: store.lifecycle(key)?,
            labels: store.session_labels(key)?,
            actions: EntriesSince::default(),
            since: None,
        })
    }

    /// Loads the session with the entries of the 24 hours before its last event, however long ago that is.
    pub(crate) fn load_with_actions(store: &ReadStore, key: SessionKey<'_>) -> Result<Self, StoreError> {
        let mut own = Self::load(store, key)?;
        if let (Some((number, _)), Some(last)) = (&own.stored, own.last_event_at()) {
            let period_at = own.life.as_ref().map_or(last, |life| life.period_started_at);
            own.actions = store.entries_since(*number, None, day_before(last).min(period_at))?;
        }
        Ok(own)
    }

    /// Restricted to one period. The first period also includes what happened before hooks were installed.
    pub(crate) fn limited_to_period(mut self, life: &LifecycleRow) -> Self {
        if life.period > 1 {
            self.actions.entries.retain(|entry| entry.at.is_none_or(|at| at >= life.period_started_at));
            self.since = Some(life.period_started_at);
        }
        self
    }

    pub(crate) fn last_activity(&self) -> Option<Timestamp> {
        self.stored.as_ref().and_then(|(_, session)| session.last_activity_at)
    }

    /// Time of the last hook event or transcript activity.
    pub(crate) fn last_event_at(&self) -> Option<Timestamp> {
        self.last_activity().max(self.life.as_ref().map(|life| life.touched_at))
    }

    /// Its lifecycle data, or what its transcript implies: a period no longer than the maximum.
    pub(crate) fn life_or_inferred(&self, lifecycle: LifecycleRules, now: Timestamp) -> LifecycleRow {
        self.life.clone().unwrap_or_else(|| {
            let last = self.last_activity().unwrap_or(now).min(now);
            let earliest = Timestamp::from_millis(last.as_millis() - lifecycle.max_period_millis);
            LifecycleRow { touched_at: last, ..LifecycleRow::new(self.began_at().unwrap_or(last).max(earliest)) }
        })
    }

    /// Files of its tool calls, newest last. Hooks report calls before the transcript is read, so theirs come last.
    pub(crate) fn files(&self) -> Vec<String> {
        let reported = self.life.iter().flat_map(|life| life.recent_files.iter().cloned());
        newest_unique(self.calls().flat_map(|tool| tool.paths.iter().cloned()).chain(reported))
    }

    /// Tools it used, newest last.
    pub(crate) fn tools(&self) -> Vec<String> {
        let reported = self.life.iter().flat_map(|life| life.recent_tools.iter().cloned());
        newest_unique(self.calls().map(|tool| tool.name.clone()).chain(reported))
    }

    /// The session as shown in an injection at a given time. Hot entries are those of the 24 hours before it.
    pub(crate) fn view(
        &self,
        store: &ReadStore,
        key: SessionKey<'_>,
        lifecycle: LifecycleRules,
        at: Timestamp,
    ) -> Result<SessionView, StoreError> {
        let since = day_before(at).max(self.since.unwrap_or(day_before(at)));
        let (notes, actions): (Vec<HotMemoryRow>, Vec<HotMemoryRow>) =
            store.hot_memory(key, since)?.into_iter().partition(|row| row.is_note);
        let mut hot_memory = happenings(actions);
        if hot_memory.is_empty() {
            let from_transcript = self.actions.entries.iter().filter_map(|entry| self.hot_happening(entry));
            hot_memory = from_transcript.filter(|entry| entry.at >= since).collect();
        }
        let hot_memory = hot_memory.split_off(hot_memory.len().saturating_sub(lifecycle.max_hot_entries as usize));
        let project = self.project();
        Ok(SessionView {
            id: short_id(key.external_id).to_owned(),
            period_started_at: self.life.as_ref().map(|life| life.period_started_at).or(self.began_at()),
            event_count: self.life.as_ref().map_or(self.actions.entries.len() as u64, LifecycleRow::period_event_count),
            files: self.files().iter().map(|path| relative_path(path, project).to_owned()).collect(),
            recent_events: self.recent(&store.lifecycle_events(key, MAX_EVENTS_SCANNED)?, &hot_memory),
            hot_memory,
            notes: happenings(notes),
            tools: self.tools(),
            entities: self.life.as_ref().map(|life| life.prompt_entities.clone()).unwrap_or_default(),
            task: self.labels.task.clone(),
        })
    }

    pub(crate) fn summary(view: &SessionView, state: SessionState, now: Timestamp) -> SessionSummary {
        SessionSummary {
            id: view.id.clone(),
            minutes: view.period_started_at.map_or(0, |at| now.millis_since(at).max(0) as u64 / 60_000),
            state,
            events: view.event_count,
            hot_entries: view.hot_memory.len() + view.notes.len(),
            files: view.files.clone(),
            tools: view.tools.clone(),
            entities: view.entities.clone(),
            task: view.task.clone(),
        }
    }

    /// The last prompts, actions and answers.
    fn recent(&self, events: &[LifecycleEvent], hot: &[TimedText]) -> Vec<TimedText> {
        let since = self.since.unwrap_or(Timestamp::from_millis(i64::MIN));
        let mut recent: Vec<TimedText> =
            events.iter().filter(|event| event.at >= since).filter_map(event_happening).collect();
        if recent.is_empty() {
            recent = self.actions.entries.iter().filter_map(|entry| self.entry_happening(entry)).collect();
        } else {
            recent.extend_from_slice(hot);
            recent.sort_by_key(|happening| happening.at);
        }
        recent.split_off(recent.len().saturating_sub(MAX_RECENT_EVENTS))
    }

    fn entry_happening(&self, entry: &Entry) -> Option<TimedText> {
        match entry.kind {
            EntryKind::Prompt => Some(TimedText { at: entry.at?, text: format!("Asked: {}", entry.text) }),
            EntryKind::AssistantText => Some(TimedText { at: entry.at?, text: format!("Answered: {}", entry.text) }),
            _ => self.hot_happening(entry),
        }
    }

    fn hot_happening(&self, entry: &Entry) -> Option<TimedText> {
        let (tool, at) = (entry.tool.as_ref()?, entry.at?);
        Some(TimedText { at, text: hot_text_of_tool_use(tool, self.project())? })
    }

    fn calls(&self) -> impl Iterator<Item = &rethread_model::ToolUse> {
        self.actions.entries.iter().filter_map(|entry| entry.tool.as_ref())
    }

    fn project(&self) -> Option<&str> {
        self.stored.as_ref().and_then(|(_, session)| session.project.as_deref())
    }

    fn began_at(&self) -> Option<Timestamp> {
        self.stored.as_ref().and_then(|(_, session)| session.started_at)
    }
}

/// 24 hours earlier.
pub(crate) fn day_before(at: Timestamp) -> Timestamp {
    Timestamp::from_millis(at.as_millis() - HOT_MILLIS)
}

pub(crate) fn happenings(rows: Vec<HotMemoryRow>) -> Vec<TimedText> {
    rows.into_iter().map(|rows| TimedText { at: rows.at, text: rows.text }).collect()
}

/// The text of an event; `None` for events without content, such as state changes.
fn event_happening(event: &LifecycleEvent) -> Option<TimedText> {
    let word = match event.kind.as_str() {
        "prompt_submitted" => "Asked",
        "response_completed" => "Answered",
        _ => return None,
    };
    (!event.detail.is_empty()).then(|| TimedText { at: event.at, text: format!("{word}: {}", event.detail) })
}

/// Removes duplicates, keeping the last occurrence, and returns the newest ones.
fn newest_unique(all: impl Iterator<Item = String>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for one in all {
        kept.retain(|known| *known != one);
        kept.push(one);
    }
    kept.split_off(kept.len().saturating_sub(MAX_RECENT_NAMES))
}
