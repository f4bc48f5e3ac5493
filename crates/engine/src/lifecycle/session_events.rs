//! The events of a session: as hooks reported them or, for a session without hooks, inferred from its transcript.

use rethread_model::{Entry, EntryKind, SessionId, SessionState, Timestamp, clip, one_line};
use rethread_store::{EntryFilter, LifecycleEvent, ReadStore, SessionKey};

use super::{LifecycleRules, LifecycleService};
use crate::{EngineError, ListedSession};

/// Number of events returned; no session stores more.
const MAX_EVENTS: usize = 50;
/// Maximum length of an inferred detail: prompts and calls, and answers.
const DETAIL_CHARS: usize = 100;
const ANSWER_CHARS: usize = 200;

/// Where events come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventOrigin {
    /// Hooks and commands reported them.
    Hooks,
    /// They were inferred from the transcript.
    Transcript,
}

/// The last events of a session.
#[derive(Clone, Debug)]
pub struct SessionEvents {
    /// The session and its current state.
    pub listed: ListedSession,
    /// Where the events come from.
    pub origin: EventOrigin,
    /// At most 50 events, oldest first.
    pub events: Vec<LifecycleEvent>,
    /// Number of events in all periods.
    pub total: u64,
}

impl LifecycleService<'_> {
    /// The last events of the session that a reference identifies.
    pub fn events(self, reference: &str) -> Result<SessionEvents, EngineError> {
        let store = self.engine.reader_for(reference)?;
        let listed = self.engine.sessions().resolve_in(&store, reference)?;
        self.events_of(Some(&store), listed)
    }

    /// The last events of a session or thread.
    pub fn events_by_id(self, id: SessionId) -> Result<SessionEvents, EngineError> {
        let listed = self.engine.conversations().get(id)?.listed;
        self.events_of(self.engine.reader()?.as_ref(), listed)
    }

    fn events_of(self, store: Option<&ReadStore>, listed: ListedSession) -> Result<SessionEvents, EngineError> {
        let lifecycle = self.rules();
        let session = &listed.session;
        let key = SessionKey::of(session);
        let life = store.map(|store| store.lifecycle(key)).transpose()?.flatten();
        let mut events = match store {
            Some(store) => store.lifecycle_events(key, MAX_EVENTS as u64)?,
            None => Vec::new(),
        };
        let (origin, mut total) = if let Some(life) = life.filter(|_| !events.is_empty()) {
            (EventOrigin::Hooks, life.event_count)
        } else {
            let entries = store.map(|store| store.entries(session.id, EntryFilter::default())).transpose()?;
            events = inferred_events(&entries.unwrap_or_default(), lifecycle);
            (EventOrigin::Transcript, events.len() as u64)
        };
        let silence = silence_event(&events, session.last_activity_at, listed.state, lifecycle);
        total += u64::from(silence.is_some());
        events.extend(silence);
        events.drain(..events.len().saturating_sub(MAX_EVENTS));
        Ok(SessionEvents { listed, origin, events, total })
    }
}

/// The event that the current silence implies and that nothing has recorded yet.
fn silence_event(
    events: &[LifecycleEvent],
    last_activity: Option<Timestamp>,
    state: SessionState,
    lifecycle: LifecycleRules,
) -> Option<LifecycleEvent> {
    let last = events.last()?;
    let since = last_activity.map_or(last.at, |at| at.max(last.at));
    match (state, last.kind.as_str()) {
        (SessionState::Idle, kind) if kind != "session_idle" => Some(idle_event(since, lifecycle)),
        (SessionState::Ended, kind) if kind != "session_end" => Some(event(since, "session_end", "silence")),
        _ => None,
    }
}

/// Events as hooks would have reported them.
fn inferred_events(entries: &[Entry], lifecycle: LifecycleRules) -> Vec<LifecycleEvent> {
    let dated: Vec<(&Entry, Timestamp)> = entries.iter().filter_map(|entry| Some((entry, entry.at?))).collect();
    let mut events = Vec::new();
    let mut last: Option<Timestamp> = None;
    for (at_index, (entry, at)) in dated.iter().enumerate() {
        match last.map(|last| (last, at.millis_since(last))) {
            None => events.push(event(*at, "session_start", "")),
            Some((last, silence)) if silence > 2 * lifecycle.idle_millis => {
                events.push(event(last, "session_end", "silence"));
                events.push(event(*at, "session_start", ""));
            }
            Some((last, silence)) if silence > lifecycle.idle_millis => {
                events.push(idle_event(last, lifecycle));
                events.push(event(*at, "session_resume", ""));
            }
            Some(_) => {}
        }
        last = last.max(Some(*at));
        let followed_by = dated[at_index + 1..].iter().map(|(next, _)| next.kind).find(|kind| is_part_of_turn(*kind));
        events.extend(entry_event(entry, *at, followed_by.is_none_or(starts_turn)));
    }
    events
}

/// The event of one entry. Only the last text of a turn completes the response.
fn entry_event(entry: &Entry, at: Timestamp, is_end_of_turn: bool) -> Option<LifecycleEvent> {
    if let Some(tool) = &entry.tool {
        let detail = format!("{} {}", tool.name, tool.target);
        return Some(event(at, "tool_executed", detail.trim_end()));
    }
    match entry.kind {
        kind if starts_turn(kind) => Some(event(at, "prompt_submitted", &entry.text)),
        EntryKind::AssistantText if is_end_of_turn => {
            let detail = clip(&one_line(&entry.text), ANSWER_CHARS).into_owned();
            Some(LifecycleEvent::new(at, "response_completed", detail))
        }
        _ => None,
    }
}

fn starts_turn(kind: EntryKind) -> bool {
    matches!(kind, EntryKind::Prompt | EntryKind::Task)
}

fn is_part_of_turn(kind: EntryKind) -> bool {
    matches!(kind, EntryKind::Prompt | EntryKind::Task | EntryKind::AssistantText | EntryKind::Call)
}

fn idle_event(since: Timestamp, lifecycle: LifecycleRules) -> LifecycleEvent {
    event(Timestamp::from_millis(since.as_millis().saturating_add(lifecycle.idle_millis)), "session_idle", "")
}

fn event(at: Timestamp, kind: &str, detail: &str) -> LifecycleEvent {
    LifecycleEvent::new(at, kind, clip(&one_line(detail), DETAIL_CHARS).into_owned())
}
