//! The states of a session: active, idle, suspended, ended. Told by hooks, by verbs, and by silence.

use rethread_model::{State, Timestamp};
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
        let last = last_activity.max(life.map(|life| life.touched_at));
        if let Some((closed, at)) = life.and_then(|life| life.closed)
            && last_activity.is_none_or(|activity| activity <= at)
        {
            return if closed == Closed::Ended { State::Ended } else { State::Suspended };
        }
        let Some(last) = last else { return State::Ended };
        // Strictly longer: at the limit itself the livelier state still holds.
        match now.millis_since(last) {
            silence if silence > 2 * self.idle_millis => State::Ended,
            silence if silence > self.idle_millis => State::Idle,
            _ => State::Active,
        }
    }

    /// Notes that something happened in a session. Whoever was idle comes back; whoever had ended begins a new period,
    /// and the life of the one that is over is given back.
    pub(crate) fn touch(
        &self,
        batch: &mut Batch<'_>,
        key: SessionKey<'_>,
        last_activity: Option<Timestamp>,
        event: &LifeEvent,
    ) -> Result<Option<Life>, StoreError> {
        let now = event.at;
        let found = batch.life(key)?;
        let (is_new, mut life) = (found.is_none(), found.unwrap_or_else(|| Life::begin(now)));
        let was = if is_new { State::Active } else { self.state(Some(&life), last_activity, now) };
        let last = life.touched_at.max(last_activity.unwrap_or(life.touched_at));
        let is_over = was == State::Ended || now.millis_since(life.period_at) > self.period_millis;
        let mut ended = None;
        let mut happened = Vec::new();
        if is_new {
            happened.push(plain(now, "session_start"));
        } else if is_over {
            ended = Some(life.clone());
            // Whoever was ended by name has its end noted already.
            if !matches!(life.closed, Some((Closed::Ended, _))) {
                happened.push(plain(last, "session_end"));
            }
            happened.push(plain(now, "session_start"));
            life.period += 1;
            life.period_at = now;
        } else if matches!(was, State::Idle | State::Suspended) {
            let idle_at = Timestamp::from_millis(last.as_millis() + self.idle_millis);
            happened.extend([plain(idle_at.min(now), "session_idle"), plain(now, "session_resume")]);
        }
        // The start of a session is noted once.
        if event.kind != "session_start" || happened.iter().all(|other| other.kind != "session_start") {
            happened.push(event.clone());
        }
        life.closed = None;
        life.touched_at = now;
        for event in &happened {
            life.events += 1;
            batch.add_life_event(key, life.events, event)?;
        }
        batch.save_life(key, &life)?;
        Ok(ended)
    }

    /// Closes a session. The life as it was before, if anybody had touched it.
    pub(crate) fn close(
        batch: &mut Batch<'_>,
        key: SessionKey<'_>,
        closed: Closed,
        now: Timestamp,
    ) -> Result<Life, StoreError> {
        let mut life = batch.life(key)?.unwrap_or_else(|| Life::begin(now));
        life.closed = Some((closed, now));
        life.touched_at = now;
        life.events += 1;
        let kind = if closed == Closed::Ended { "session_end" } else { "session_suspended" };
        batch.add_life_event(key, life.events, &plain(now, kind))?;
        batch.save_life(key, &life)?;
        Ok(life)
    }
}

fn plain(at: Timestamp, kind: &str) -> LifeEvent {
    LifeEvent { at, kind: kind.to_owned(), detail: String::new() }
}
