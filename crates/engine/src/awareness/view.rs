//! What is known of a session's present period: from hooks where there are any, from its transcript where there are not.

use rethread_model::{Entry, Session, Speech, State, Timestamp, relative};
use rethread_recall::{Happening, SessionView};
use rethread_store::{Deeds, Hot, Life, LifeEvent, SessionKey, SessionNumber, Store, StoreError};

use super::Lifecycle;
use super::words::hot_words;

/// Hot entries are forgotten after so long.
const HOT_MILLIS: i64 = 24 * 3_600_000;
/// Files and tools that are remembered.
const RECENT: usize = 10;
/// Things that happened in a greeting.
const RECENT_EVENTS: usize = 5;
/// Events among which they are chosen: all that are kept.
const EVENTS_LOOKED_AT: u64 = 50;

/// A session in numbers and names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionSummary {
    /// The beginning of its id.
    pub id: String,
    /// Minutes since its present period began.
    pub minutes: u64,
    /// Its state.
    pub state: State,
    /// Events of the period.
    pub events: u64,
    /// What it has at hand: deeds and notes.
    pub hot: usize,
    /// Files it touched, newest last.
    pub files: Vec<String>,
    /// Tools it used, newest last.
    pub tools: Vec<String>,
    /// What its prompts named, newest last.
    pub entities: Vec<String>,
    /// What it is working on.
    pub task: Option<String>,
}

/// A session as the store knows it.
#[derive(Clone, Debug, Default)]
pub(super) struct Own {
    /// Its number and row, once its transcript was read.
    pub(super) stored: Option<(SessionNumber, Session)>,
    /// What only we know.
    pub(super) life: Option<Life>,
    /// What it did in its last day.
    pub(super) deeds: Deeds,
    /// When that begins of which its past tells.
    since: Option<Timestamp>,
}

impl Own {
    /// Without its deeds, for those who only touch it.
    pub(super) fn find(store: &Store, key: SessionKey<'_>) -> Result<Self, StoreError> {
        Ok(Self { stored: store.session_of(key)?, life: store.life(key)?, deeds: Deeds::default(), since: None })
    }

    /// With what it did in the day before the last thing it did, however long ago that is.
    pub(super) fn read(store: &Store, key: SessionKey<'_>) -> Result<Self, StoreError> {
        let mut own = Self::find(store, key)?;
        if let (Some((number, _)), Some(last)) = (&own.stored, own.last()) {
            let period_at = own.life.as_ref().map_or(last, |life| life.period_at);
            own.deeds = store.deeds_since(*number, None, day_before(last).min(period_at))?;
        }
        Ok(own)
    }

    /// Only what belongs to this period. The first one has also what was done before anybody listened.
    pub(super) fn of_period(mut self, life: &Life) -> Self {
        if life.period > 1 {
            self.deeds.entries.retain(|entry| entry.at.is_none_or(|at| at >= life.period_at));
            self.since = Some(life.period_at);
        }
        self
    }

    pub(super) fn last_activity(&self) -> Option<Timestamp> {
        self.stored.as_ref().and_then(|(_, session)| session.last_activity_at)
    }

    /// The last thing that is known to have happened.
    pub(super) fn last(&self) -> Option<Timestamp> {
        self.last_activity().max(self.life.as_ref().map(|life| life.touched_at))
    }

    /// Its life, or the one that its transcript tells of: not more of it than a period can have.
    pub(super) fn life_or_story(&self, lifecycle: Lifecycle, now: Timestamp) -> Life {
        self.life.clone().unwrap_or_else(|| {
            let last = self.last_activity().unwrap_or(now).min(now);
            let earliest = Timestamp::from_millis(last.as_millis() - lifecycle.period_millis);
            Life { touched_at: last, ..Life::begin(self.began_at().unwrap_or(last).max(earliest)) }
        })
    }

    /// Files it touched, newest last.
    pub(super) fn files(&self) -> Vec<String> {
        newest_of(self.calls().flat_map(|tool| tool.paths.iter().cloned()))
    }

    /// Tools it used, newest last.
    pub(super) fn tools(&self) -> Vec<String> {
        newest_of(self.calls().map(|tool| tool.name.clone()))
    }

    /// The session as it is told to itself, as of a moment: what it has at hand is of the day before.
    pub(super) fn view(
        &self,
        store: &Store,
        key: SessionKey<'_>,
        lifecycle: Lifecycle,
        moment: Timestamp,
    ) -> Result<SessionView, StoreError> {
        let since = day_before(moment).max(self.since.unwrap_or(day_before(moment)));
        let (notes, deeds): (Vec<Hot>, Vec<Hot>) = store.hot(key, since)?.into_iter().partition(|hot| hot.is_note);
        let mut hot = happenings(deeds);
        if hot.is_empty() {
            let told = self.deeds.entries.iter().filter_map(|entry| self.hot_entry(entry));
            hot = told.filter(|entry| entry.at >= since).collect();
        }
        let hot = hot.split_off(hot.len().saturating_sub(lifecycle.hot_entries as usize));
        let project = self.project();
        Ok(SessionView {
            id: key.external_id.chars().take(8).collect(),
            began_at: self.life.as_ref().map(|life| life.period_at).or(self.began_at()),
            events: self.life.as_ref().map_or(self.deeds.entries.len() as u64, Life::events_of_period),
            files: self.files().iter().map(|path| relative(path, project).to_owned()).collect(),
            recent: self.recent(&store.life_events(key, EVENTS_LOOKED_AT)?, &hot),
            hot,
            notes: happenings(notes),
            task: self.life.as_ref().and_then(|life| life.task.clone()),
        })
    }

    /// The session in numbers and names.
    pub(super) fn summary(&self, view: &SessionView, state: State, now: Timestamp) -> SessionSummary {
        SessionSummary {
            id: view.id.clone(),
            minutes: view.began_at.map_or(0, |at| now.millis_since(at).max(0) as u64 / 60_000),
            state,
            events: view.events,
            hot: view.hot.len() + view.notes.len(),
            files: view.files.clone(),
            tools: self.tools(),
            entities: self.life.as_ref().map(|life| life.entities.clone()).unwrap_or_default(),
            task: view.task.clone(),
        }
    }

    /// The last things that happened and tell something: what was asked, done and answered.
    fn recent(&self, events: &[LifeEvent], hot: &[Happening]) -> Vec<Happening> {
        let since = self.since.unwrap_or(Timestamp::from_millis(i64::MIN));
        let mut recent: Vec<Happening> =
            events.iter().filter(|event| event.at >= since).filter_map(told_event).collect();
        if recent.is_empty() {
            recent = self.deeds.entries.iter().filter_map(|entry| self.told_entry(entry)).collect();
        } else {
            recent.extend_from_slice(hot);
            recent.sort_by_key(|happening| happening.at);
        }
        recent.split_off(recent.len().saturating_sub(RECENT_EVENTS))
    }

    fn told_entry(&self, entry: &Entry) -> Option<Happening> {
        match entry.speech {
            Speech::Prompt => Some(Happening { at: entry.at?, text: format!("Asked: {}", entry.text) }),
            Speech::Said => Some(Happening { at: entry.at?, text: format!("Answered: {}", entry.text) }),
            _ => self.hot_entry(entry),
        }
    }

    fn hot_entry(&self, entry: &Entry) -> Option<Happening> {
        let (tool, at) = (entry.tool.as_ref()?, entry.at?);
        Some(Happening { at, text: hot_words(tool, self.project())? })
    }

    fn calls(&self) -> impl Iterator<Item = &rethread_model::ToolUse> {
        self.deeds.entries.iter().filter_map(|entry| entry.tool.as_ref())
    }

    fn project(&self) -> Option<&str> {
        self.stored.as_ref().and_then(|(_, session)| session.project.as_deref())
    }

    fn began_at(&self) -> Option<Timestamp> {
        self.stored.as_ref().and_then(|(_, session)| session.started_at)
    }
}

/// The day before a moment.
pub(super) fn day_before(moment: Timestamp) -> Timestamp {
    Timestamp::from_millis(moment.as_millis() - HOT_MILLIS)
}

pub(super) fn happenings(hot: Vec<Hot>) -> Vec<Happening> {
    hot.into_iter().map(|hot| Happening { at: hot.at, text: hot.text }).collect()
}

/// An event in words; nothing for those that only say that time went by.
fn told_event(event: &LifeEvent) -> Option<Happening> {
    let word = match event.kind.as_str() {
        "prompt_submitted" => "Asked",
        "response_completed" => "Answered",
        _ => return None,
    };
    (!event.detail.is_empty()).then(|| Happening { at: event.at, text: format!("{word}: {}", event.detail) })
}

/// Each once, where it was last, and only the newest.
fn newest_of(all: impl Iterator<Item = String>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for one in all {
        kept.retain(|known| *known != one);
        kept.push(one);
    }
    kept.split_off(kept.len().saturating_sub(RECENT))
}
