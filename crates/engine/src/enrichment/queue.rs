//! Which sessions wait for the model, until when, and the process that nobody waits for.

use std::fs::File;

use rethread_llm::{ChatError, NanoUsd, Refusal};
use rethread_model::{State, Timestamp};
use rethread_store::{Enrichment, SessionKey, SessionNumber, Store};

use super::EnrichOutcome;
use crate::awareness::Lifecycle;
use crate::{Engine, EngineError, home};

/// Minutes until a session is tried again, after each failure; after the last one it is given up (E003-16).
const WAITS: [i64; 5] = [5, 15, 45, 120, 360];
const MINUTE: i64 = 60_000;
/// After so many failures of the provider in a row, all sessions wait.
pub(super) const AFTER_FAILURES: u64 = 3;
/// Characters of a reason that are kept.
const LONGEST_REASON: usize = 300;

impl Engine {
    /// After a reading: puts sessions that ended into the queue, and has those asked about whose time has come, in a
    /// process that nobody waits for; whether one was started. Where it is switched off this costs nothing.
    pub(crate) fn enrich_later(&self, store: &mut Store) -> Result<bool, EngineError> {
        if self.enrichment_is_off().is_some() || self.model_name().is_empty() {
            return Ok(false);
        }
        self.queue_enrichments(store)?;
        if self.held(store)?.is_some() || self.due(store)?.is_empty() {
            return Ok(false);
        }
        // Whoever is at it takes these too, or the next reading starts another.
        if self.lock_enrichment()?.is_none() {
            return Ok(false);
        }
        Ok(self.start_detached(&["enrich"]))
    }

    /// Why no model may add facts, if so.
    pub(super) fn enrichment_is_off(&self) -> Option<String> {
        for name in ["facts.enabled", "facts.model"] {
            if !self.config.flag(name) {
                return Some(format!("{name} is false"));
            }
        }
        let budget = self.budget();
        let may_spend = budget.daily_tokens > 0 || budget.daily_usd > NanoUsd::ZERO;
        (!may_spend).then(|| Refusal::NoBudget.to_string())
    }

    /// Puts sessions into the queue that ended with something the model was not shown.
    pub(super) fn queue_enrichments(&self, store: &mut Store) -> Result<(), EngineError> {
        let ended = self.ended_sessions(store)?;
        if ended.is_empty() {
            return Ok(());
        }
        let mut batch = store.begin()?;
        batch.queue_enrichments(&ended, self.now())?;
        Ok(batch.commit()?)
    }

    /// Sessions in the queue, and those that would be put into it.
    pub(super) fn waiting_or_would(&self, store: &Store) -> Result<Vec<Enrichment>, EngineError> {
        let mut rows = store.enrichments_waiting()?;
        for number in self.ended_sessions(store)? {
            let known = store.enrichment(number)?.map(|row| Enrichment { next_at: Some(self.now()), ..row });
            rows.push(known.unwrap_or_else(|| Enrichment::new(number, self.now())));
        }
        Ok(rows)
    }

    /// Sessions in the queue whose time has come.
    pub(super) fn due(&self, store: &Store) -> Result<Vec<Enrichment>, EngineError> {
        let now = self.now();
        let mut rows = store.enrichments_waiting()?;
        rows.retain(|row| row.next_at.is_some_and(|at| at <= now));
        Ok(rows)
    }

    /// Until when nobody asks, because the provider failed too often.
    pub(super) fn held(&self, store: &Store) -> Result<Option<Timestamp>, EngineError> {
        Ok(store.enrichment_breaker()?.until.filter(|until| *until > self.now()))
    }

    /// Sessions with something new in which nothing happens any more.
    fn ended_sessions(&self, store: &Store) -> Result<Vec<SessionNumber>, EngineError> {
        let (lifecycle, now) = (Lifecycle::of(&self.config), self.now());
        let mut ended = Vec::new();
        for number in store.enrichable()? {
            let Some(session) = store.session_by_number(number)? else { continue };
            let life = store.life(SessionKey { agent: session.agent, external_id: &session.external_id })?;
            if lifecycle.state(life.as_ref(), session.last_activity_at, now) != State::Active {
                ended.push(number);
            }
        }
        Ok(ended)
    }

    /// How it goes on with a session after a failure. What the budget does not cover waits for tomorrow, and is no
    /// failure of the session.
    pub(super) fn after_failure(&self, row: &Enrichment, error: &ChatError) -> (Enrichment, EnrichOutcome) {
        let is_refused = matches!(error, ChatError::Budget(_));
        let reason = Engine::without_secrets(&error.to_string());
        let reason = rethread_model::clip(&reason, LONGEST_REASON).into_owned();
        let error = Some(reason.clone());
        let row = row.clone();
        if is_refused {
            let until = self.tomorrow();
            let row = Enrichment { next_at: Some(until), failed_at: None, error, ..row };
            return (row, EnrichOutcome::Waits { until, reason });
        }
        let (tries, now) = (row.tries + 1, self.now());
        let Some(minutes) = WAITS.get(row.tries as usize) else {
            let row = Enrichment { tries, next_at: None, failed_at: Some(now), error, ..row };
            return (row, EnrichOutcome::Failed { reason });
        };
        let until = Timestamp::from_millis(now.as_millis() + minutes * MINUTE);
        let row = Enrichment { tries, next_at: Some(until), failed_at: None, error, ..row };
        (row, EnrichOutcome::Waits { until, reason })
    }

    /// One process at a time asks. Nothing if another one is at it.
    pub(super) fn lock_enrichment(&self) -> Result<Option<File>, EngineError> {
        home::prepare(&self.folder)?;
        home::lock(&self.folder.join("enrich.lock"))
    }
}

/// When the first of those is tried again that failed before.
pub(super) fn first_retry<'a>(waiting: impl Iterator<Item = &'a Enrichment>, now: Timestamp) -> Timestamp {
    let soonest = Timestamp::from_millis(now.as_millis() + WAITS[0] * MINUTE);
    let retries = waiting.filter(|row| row.tries > 0).filter_map(|row| row.next_at);
    retries.filter(|at| *at > now).min().unwrap_or(soonest)
}
