//! The lifecycle of a session: active, idle, suspended, ended. States follow from hooks, user commands and inactivity.

use rethread_model::{SessionState, Timestamp};
use rethread_recall::add_recent_entities;
use rethread_store::{Batch, CloseKind, LifecycleEvent, LifecycleRow, SessionKey, StoreError};

use super::LifecycleService;

/// Recent files and tools kept per period, and how many of the newest are compared before one is added again.
const MAX_RECENT_NAMES: usize = 10;
const COMPARED_NAMES: usize = 5;

/// What an event says about the work of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct EventContext {
    /// Entities named in a prompt.
    pub(crate) entities: Vec<String>,
    /// The tool that was called.
    pub(crate) tool: Option<String>,
    /// The file the tool was called on.
    pub(crate) file: Option<String>,
}

/// Lifecycle limits from the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LifecycleRules {
    /// Idle after this many milliseconds without activity, ended after twice as many.
    pub(crate) idle_millis: i64,
    /// Maximum length of a period of work.
    pub(crate) max_period_millis: i64,
    /// Maximum number of hot memory entries, notes excluded.
    pub(crate) max_hot_entries: u64,
}

impl LifecycleService<'_> {
    /// The rules by which states change, as configured.
    pub(crate) fn rules(self) -> LifecycleRules {
        let limits = &self.engine.settings().lifecycle;
        LifecycleRules {
            idle_millis: limits.idle_minutes as i64 * 60_000,
            max_period_millis: limits.period_hours as i64 * 3_600_000,
            max_hot_entries: limits.hot_entries,
        }
    }
}

impl LifecycleRules {
    /// The state of a session at `now`. Transcript activity counts the same as hook events.
    pub(crate) fn state(
        &self,
        life: Option<&LifecycleRow>,
        last_activity: Option<Timestamp>,
        now: Timestamp,
    ) -> SessionState {
        match life.and_then(|life| current_closure(life, last_activity)) {
            Some(CloseKind::Ended | CloseKind::RunEnded) => SessionState::Ended,
            Some(CloseKind::Suspended) => SessionState::Suspended,
            None => self.state_by_silence(life, last_activity, now),
        }
    }

    /// The state that follows from the time since the last activity.
    fn state_by_silence(
        &self,
        life: Option<&LifecycleRow>,
        last_activity: Option<Timestamp>,
        now: Timestamp,
    ) -> SessionState {
        let last = last_activity.max(life.map(|life| life.touched_at));
        let Some(last) = last else { return SessionState::Ended };
        // Strictly greater: exactly at the limit the more active state still applies.
        match now.millis_since(last) {
            silence if silence > 2 * self.idle_millis => SessionState::Ended,
            silence if silence > self.idle_millis => SessionState::Idle,
            _ => SessionState::Active,
        }
    }

    /// Whether the session was explicitly ended and did nothing since.
    pub(crate) fn is_closed(life: &LifecycleRow, last_activity: Option<Timestamp>) -> bool {
        current_closure(life, last_activity) == Some(CloseKind::Ended)
    }

    /// Whether an event at `now` starts a new period.
    pub(super) fn is_period_over(&self, life: &LifecycleRow, last_activity: Option<Timestamp>, now: Timestamp) -> bool {
        let is_over = match current_closure(life, last_activity) {
            Some(CloseKind::RunEnded) => self.state_by_silence(Some(life), last_activity, now) == SessionState::Ended,
            _ => self.state(Some(life), last_activity, now) == SessionState::Ended,
        };
        was_ended(life) || is_over || now.millis_since(life.period_started_at) > self.max_period_millis
    }

    /// The end time of a session that is closed at `now`: its last event if that is longer ago than the idle limit.
    pub(super) fn end_time(&self, last: Timestamp, now: Timestamp) -> Timestamp {
        if now.millis_since(last) > self.idle_millis { last } else { now }
    }

    /// Records an event and what it says about the work. An idle session resumes; an ended one starts a new period. Returns
    /// the number of the period that this ends, if any.
    pub(crate) fn touch(
        &self,
        batch: &mut Batch<'_>,
        key: SessionKey<'_>,
        last_activity: Option<Timestamp>,
        event: &LifecycleEvent,
        about: EventContext,
    ) -> Result<Option<u64>, StoreError> {
        let now = event.at;
        let found = batch.lifecycle(key)?;
        let (is_new, mut life) = (found.is_none(), found.unwrap_or_else(|| LifecycleRow::new(now)));
        let was = if is_new { SessionState::Active } else { self.state(Some(&life), last_activity, now) };
        let last = last_event_at(&life, last_activity);
        let mut ended = None;
        let begins = is_new || self.is_period_over(&life, last_activity, now);
        if begins {
            if !is_new && !was_ended(&life) {
                ended = Some(life.period);
                add_event(batch, key, &mut life, &LifecycleEvent::new(last, "session_end", String::new()))?;
            }
            if !is_new {
                begin_period(&mut life, now);
            }
            if event.kind != "session_start" {
                add_event(batch, key, &mut life, &LifecycleEvent::new(now, "session_start", String::new()))?;
            }
        } else if matches!(was, SessionState::Idle | SessionState::Suspended) {
            if was == SessionState::Idle {
                let idle_at = Timestamp::from_millis(last.as_millis() + self.idle_millis);
                add_event(
                    batch,
                    key,
                    &mut life,
                    &LifecycleEvent::new(idle_at.min(now), "session_idle", String::new()),
                )?;
            }
            add_event(batch, key, &mut life, &LifecycleEvent::new(now, "session_resume", String::new()))?;
        }
        add_event(batch, key, &mut life, event)?;
        life.closed = None;
        // A spooled event may be older than what was recorded since.
        life.touched_at = life.touched_at.max(now);
        add_recent_entities(&mut life.prompt_entities, about.entities);
        add_recent_name(&mut life.recent_files, about.file);
        add_recent_name(&mut life.recent_tools, about.tool);
        batch.save_lifecycle(key, &life)?;
        Ok(ended)
    }

    /// Closes a session; `otherwise` is its life if none is stored. Returns the closed life, or `None` if it was
    /// already closed that way.
    pub(crate) fn close(
        batch: &mut Batch<'_>,
        key: SessionKey<'_>,
        (otherwise, last_activity): (&LifecycleRow, Option<Timestamp>),
        how: CloseKind,
        event: &LifecycleEvent,
    ) -> Result<Option<LifecycleRow>, StoreError> {
        let life = batch.lifecycle(key)?.unwrap_or_else(|| otherwise.clone());
        let Some(mut life) = closed_life(life, last_activity, how, event.at) else { return Ok(None) };
        add_event(batch, key, &mut life, event)?;
        batch.save_lifecycle(key, &life)?;
        Ok(Some(life))
    }
}

/// The life after closing; `None` if it was already closed that way.
pub(super) fn closed_life(
    mut life: LifecycleRow,
    last_activity: Option<Timestamp>,
    how: CloseKind,
    at: Timestamp,
) -> Option<LifecycleRow> {
    if current_closure(&life, last_activity).is_some_and(|was| was == how || was == CloseKind::Ended) {
        return None;
    }
    // It was ended and then continued without a hook event.
    if let Some((CloseKind::Ended, ended_at)) = life.closed {
        begin_period(&mut life, ended_at);
    }
    life.closed = Some((how, at));
    life.touched_at = life.touched_at.max(at);
    Some(life)
}

/// Time of the last known event or transcript activity.
pub(super) fn last_event_at(life: &LifecycleRow, last_activity: Option<Timestamp>) -> Timestamp {
    life.touched_at.max(last_activity.unwrap_or(life.touched_at))
}

/// How a session was closed, unless there was activity since.
fn current_closure(life: &LifecycleRow, last_activity: Option<Timestamp>) -> Option<CloseKind> {
    let (closed, at) = life.closed?;
    last_activity.is_none_or(|activity| activity <= at).then_some(closed)
}

/// Whether its period was explicitly ended, and so is already archived, whatever came after.
pub(super) fn was_ended(life: &LifecycleRow) -> bool {
    matches!(life.closed, Some((CloseKind::Ended, _)))
}

fn begin_period(life: &mut LifecycleRow, at: Timestamp) {
    life.period += 1;
    life.period_started_at = at;
    life.event_count_before_period = life.event_count;
    life.recent_files.clear();
    life.recent_tools.clear();
}

/// Adds a name unless it is one of the newest, and drops the oldest.
fn add_recent_name(names: &mut Vec<String>, name: Option<String>) {
    let Some(name) = name.filter(|name| !name.is_empty()) else { return };
    if !names.iter().rev().take(COMPARED_NAMES).any(|known| *known == name) {
        names.push(name);
        names.drain(..names.len().saturating_sub(MAX_RECENT_NAMES));
    }
}

fn add_event(
    batch: &mut Batch<'_>,
    key: SessionKey<'_>,
    life: &mut LifecycleRow,
    event: &LifecycleEvent,
) -> Result<(), StoreError> {
    life.event_count += 1;
    batch.add_lifecycle_event(key, life.event_count, event)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: i64 = 60_000;
    const LAST: Timestamp = Timestamp::from_millis(1_000_000_000);

    fn lifecycle() -> LifecycleRules {
        LifecycleRules { idle_millis: 30 * MINUTE, max_period_millis: 480 * MINUTE, max_hot_entries: 5 }
    }

    fn after(millis: i64) -> Timestamp {
        Timestamp::from_millis(LAST.as_millis() + millis)
    }

    #[test]
    fn states_change_strictly_after_their_limits() {
        // S002-02, S002-11, S002-12
        let life = LifecycleRow::new(LAST);
        for (millis, expected) in [
            (0, SessionState::Active),
            (30 * MINUTE, SessionState::Active),
            (30 * MINUTE + 1, SessionState::Idle),
            (60 * MINUTE, SessionState::Idle),
            (60 * MINUTE + 1, SessionState::Ended),
        ] {
            assert_eq!(lifecycle().state(Some(&life), None, after(millis)), expected, "{millis}");
            assert_eq!(lifecycle().state(None, Some(LAST), after(millis)), expected, "{millis}, from the transcript");
        }
        let paused = LifecycleRow { closed: Some((CloseKind::Suspended, LAST)), ..life };
        assert_eq!(lifecycle().state(Some(&paused), None, after(i64::MAX / 2)), SessionState::Suspended);
    }

    #[test]
    fn a_name_is_added_again_after_five_others_and_ten_are_kept() {
        // S002-18
        let mut names = Vec::new();
        for name in ["a", "b", "a", "c", "d", "e", "f", "a", "g", "h", "i", "j", ""] {
            add_recent_name(&mut names, Some(name.to_owned()));
        }
        assert_eq!(names.join(""), "bcdefaghij");
    }

    #[test]
    fn a_run_with_one_prompt_ends_the_session_but_not_its_period() {
        // D27
        let life = LifecycleRow { closed: Some((CloseKind::RunEnded, LAST)), ..LifecycleRow::new(LAST) };
        assert_eq!(lifecycle().state(Some(&life), None, after(MINUTE)), SessionState::Ended);
        assert!(!lifecycle().is_period_over(&life, None, after(60 * MINUTE)));
        assert!(lifecycle().is_period_over(&life, None, after(60 * MINUTE + 1)));
        let ended = closed_life(life, None, CloseKind::Ended, after(MINUTE)).unwrap();
        assert_eq!(ended.closed, Some((CloseKind::Ended, after(MINUTE))));
    }

    #[test]
    fn a_period_is_over_strictly_after_eight_hours() {
        // S002-11
        let life = LifecycleRow { touched_at: after(480 * MINUTE), ..LifecycleRow::new(LAST) };
        assert!(!lifecycle().is_period_over(&life, None, after(480 * MINUTE)));
        assert!(lifecycle().is_period_over(&life, None, after(480 * MINUTE + 1)));
    }
}
