//! The states of a session: active, idle, suspended, ended. Told by hooks, by verbs, and by silence.

use rethread_model::{State, Timestamp};
use rethread_recall::remember_entities;
use rethread_store::{Batch, Closed, Life, LifeEvent, SessionKey, StoreError};

use crate::Config;

/// When sessions become idle, and when a period of work is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lifecycle {
    /// Idle after so many milliseconds of silence, ended after twice as many.
    pub(crate) idle_millis: i64,
    /// A period of work is at most so long.
    pub(crate) period_millis: i64,
    /// Hot entries that are kept.
    pub(crate) hot_entries: u64,
}

impl Lifecycle {
    /// As configured.
    pub(crate) fn of(config: &Config) -> Self {
        let millis = |name: &str, unit: i64| (config.number(name).min(1 << 32) as i64).saturating_mul(unit);
        Self {
            idle_millis: millis("lifecycle.idle_minutes", 60_000),
            period_millis: millis("lifecycle.period_hours", 3_600_000),
            hot_entries: config.number("lifecycle.hot_entries"),
        }
    }

    /// The state of a session now. What its transcript says counts as much as what hooks said.
    pub(crate) fn state(&self, life: Option<&Life>, last_activity: Option<Timestamp>, now: Timestamp) -> State {
        if let Some(closed) = life.and_then(|life| closed(life, last_activity)) {
            return if closed == Closed::Ended { State::Ended } else { State::Suspended };
        }
        let last = last_activity.max(life.map(|life| life.touched_at));
        let Some(last) = last else { return State::Ended };
        // Strictly longer: at the limit itself the livelier state still holds.
        match now.millis_since(last) {
            silence if silence > 2 * self.idle_millis => State::Ended,
            silence if silence > self.idle_millis => State::Idle,
            _ => State::Active,
        }
    }

    /// Whether something that happens now belongs to a new period.
    pub(super) fn is_over(&self, life: &Life, last_activity: Option<Timestamp>, now: Timestamp) -> bool {
        was_ended(life)
            || self.state(Some(life), last_activity, now) == State::Ended
            || now.millis_since(life.period_at) > self.period_millis
    }

    /// When a session ends that somebody ends now: with the last thing that happened, if that is long ago.
    pub(super) fn end_of(&self, last: Timestamp, now: Timestamp) -> Timestamp {
        if now.millis_since(last) > self.idle_millis { last } else { now }
    }

    /// Notes that something happened in a session, and what was named there. Whoever was idle comes back; whoever had
    /// ended begins a new period, and the number of the one that ends by this is given back.
    pub(crate) fn touch(
        &self,
        batch: &mut Batch<'_>,
        key: SessionKey<'_>,
        last_activity: Option<Timestamp>,
        event: &LifeEvent,
        entities: Vec<String>,
    ) -> Result<Option<u64>, StoreError> {
        let now = event.at;
        let found = batch.life(key)?;
        let (is_new, mut life) = (found.is_none(), found.unwrap_or_else(|| Life::begin(now)));
        let was = if is_new { State::Active } else { self.state(Some(&life), last_activity, now) };
        let last = last_of(&life, last_activity);
        let mut ended = None;
        let begins = is_new || self.is_over(&life, last_activity, now);
        if begins {
            if !is_new && !was_ended(&life) {
                ended = Some(life.period);
                add(batch, key, &mut life, &plain(last, "session_end"))?;
            }
            if !is_new {
                begin_period(&mut life, now);
            }
            if event.kind != "session_start" {
                add(batch, key, &mut life, &plain(now, "session_start"))?;
            }
        } else if matches!(was, State::Idle | State::Suspended) {
            if was == State::Idle {
                let idle_at = Timestamp::from_millis(last.as_millis() + self.idle_millis);
                add(batch, key, &mut life, &plain(idle_at.min(now), "session_idle"))?;
            }
            add(batch, key, &mut life, &plain(now, "session_resume"))?;
        }
        add(batch, key, &mut life, event)?;
        life.closed = None;
        life.touched_at = now;
        remember_entities(&mut life.entities, entities);
        batch.save_life(key, &life)?;
        Ok(ended)
    }

    /// Closes a session that lives like this if nothing is stored of it; what it was, or nothing if it is closed so
    /// already.
    pub(crate) fn close(
        batch: &mut Batch<'_>,
        key: SessionKey<'_>,
        (otherwise, last_activity): (&Life, Option<Timestamp>),
        how: Closed,
        event: &LifeEvent,
    ) -> Result<Option<Life>, StoreError> {
        let life = batch.life(key)?.unwrap_or_else(|| otherwise.clone());
        let Some(mut life) = closing(life, last_activity, how, event.at) else { return Ok(None) };
        add(batch, key, &mut life, event)?;
        batch.save_life(key, &life)?;
        Ok(Some(life))
    }
}

/// What a session's life is once it is closed; nothing if it is closed so already.
pub(super) fn closing(mut life: Life, last_activity: Option<Timestamp>, how: Closed, at: Timestamp) -> Option<Life> {
    if closed(&life, last_activity).is_some_and(|was| was == how || was == Closed::Ended) {
        return None;
    }
    // It ended, and went on without telling anybody.
    if let Some((Closed::Ended, ended_at)) = life.closed {
        begin_period(&mut life, ended_at);
    }
    life.closed = Some((how, at));
    life.touched_at = life.touched_at.max(at);
    Some(life)
}

/// The last thing that is known to have happened.
pub(super) fn last_of(life: &Life, last_activity: Option<Timestamp>) -> Timestamp {
    life.touched_at.max(last_activity.unwrap_or(life.touched_at))
}

/// How a session was closed, if nothing has happened in it since.
fn closed(life: &Life, last_activity: Option<Timestamp>) -> Option<Closed> {
    let (closed, at) = life.closed?;
    last_activity.is_none_or(|activity| activity <= at).then_some(closed)
}

/// Whether its period was ended by name, and so is archived, whatever came after.
pub(super) fn was_ended(life: &Life) -> bool {
    matches!(life.closed, Some((Closed::Ended, _)))
}

fn begin_period(life: &mut Life, at: Timestamp) {
    life.period += 1;
    life.period_at = at;
    life.events_before = life.events;
}

fn add(batch: &mut Batch<'_>, key: SessionKey<'_>, life: &mut Life, event: &LifeEvent) -> Result<(), StoreError> {
    life.events += 1;
    batch.add_life_event(key, life.events, event)
}

fn plain(at: Timestamp, kind: &str) -> LifeEvent {
    LifeEvent { at, kind: kind.to_owned(), detail: String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: i64 = 60_000;
    const LAST: Timestamp = Timestamp::from_millis(1_000_000_000);

    fn lifecycle() -> Lifecycle {
        Lifecycle { idle_millis: 30 * MINUTE, period_millis: 480 * MINUTE, hot_entries: 5 }
    }

    fn after(millis: i64) -> Timestamp {
        Timestamp::from_millis(LAST.as_millis() + millis)
    }

    #[test]
    fn s002_02_s002_11_s002_12_states_change_strictly_after_their_limits() {
        let life = Life::begin(LAST);
        for (millis, expected) in [
            (0, State::Active),
            (30 * MINUTE, State::Active),
            (30 * MINUTE + 1, State::Idle),
            (60 * MINUTE, State::Idle),
            (60 * MINUTE + 1, State::Ended),
        ] {
            assert_eq!(lifecycle().state(Some(&life), None, after(millis)), expected, "{millis}");
            assert_eq!(lifecycle().state(None, Some(LAST), after(millis)), expected, "{millis}, by its transcript");
        }
        let paused = Life { closed: Some((Closed::Suspended, LAST)), ..life };
        assert_eq!(lifecycle().state(Some(&paused), None, after(i64::MAX / 2)), State::Suspended);
    }

    #[test]
    fn s002_11_a_period_is_over_strictly_after_eight_hours() {
        let life = Life { touched_at: after(480 * MINUTE), ..Life::begin(LAST) };
        assert!(!lifecycle().is_over(&life, None, after(480 * MINUTE)));
        assert!(lifecycle().is_over(&life, None, after(480 * MINUTE + 1)));
    }
}
