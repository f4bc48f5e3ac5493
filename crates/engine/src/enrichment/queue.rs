//! The queue of sessions waiting for the model, their retry times, and the detached process that works on it.

use std::fs::File;

use rethread_llm::{BudgetRefusal, ChatError, NanoUsd};
use rethread_model::{SessionState, Timestamp};
use rethread_store::{EnrichmentRow, ReadStore, SessionKey, SessionNumber, Store};

use super::EnrichOutcome;
use crate::awareness::without_secrets;
use crate::{EngineError, EnrichmentService, home};

/// Minutes until the next attempt after each failure. After the last one the session is given up (E003-16).
const RETRY_MINUTES: [i64; 5] = [5, 15, 45, 120, 360];
const MINUTE: i64 = 60_000;
/// Consecutive provider failures after which all sessions wait.
pub(super) const MAX_PROVIDER_FAILURES: u64 = 3;
/// Maximum length of a stored failure reason.
const MAX_REASON_CHARS: usize = 300;

impl EnrichmentService<'_> {
    /// After a sync: queues ended sessions and starts a detached process for those that are due. Returns whether one
    /// was started; with a store on a server, none is. Returns early if enrichment is disabled.
    pub(crate) fn start_if_due(self, store: &mut Store) -> Result<bool, EngineError> {
        if self.disabled_reason().is_some() || self.engine.settings().model.usable_name().is_empty() {
            return Ok(false);
        }
        self.enqueue(store)?;
        if self.paused_until(store)?.is_some() || self.due(store)?.is_empty() {
            return Ok(false);
        }
        // A running process handles these too; otherwise the next sync starts one.
        if self.lock()?.is_none() {
            return Ok(false);
        }
        Ok(self.engine.start_detached(&["enrich"]))
    }

    /// The reason why no model may extract facts, or `None` if one may.
    pub(super) fn disabled_reason(self) -> Option<String> {
        let facts = &self.engine.settings().facts;
        for (name, is_on) in [("facts.enabled", facts.enabled), ("facts.model", facts.model)] {
            if !is_on {
                return Some(format!("{name} is false"));
            }
        }
        let budget = self.engine.models().budget();
        let may_spend = budget.daily_tokens > 0 || budget.daily_usd > NanoUsd::ZERO;
        (!may_spend).then(|| BudgetRefusal::NoBudget.to_string())
    }

    /// Queues sessions that have ended and have entries the model was not shown.
    pub(super) fn enqueue(self, store: &mut Store) -> Result<(), EngineError> {
        let ended = self.sessions_to_queue(store)?;
        if ended.is_empty() {
            return Ok(());
        }
        let mut batch = store.begin()?;
        batch.queue_enrichments(&ended, self.engine.now())?;
        Ok(batch.commit()?)
    }

    /// Sessions in the queue, and those that would be queued now.
    pub(super) fn queued_or_eligible(self, store: &ReadStore) -> Result<Vec<EnrichmentRow>, EngineError> {
        let mut rows = store.queued_enrichments()?;
        for number in self.sessions_to_queue(store)? {
            let known =
                store.enrichment(number)?.map(|row| EnrichmentRow { next_attempt_at: Some(self.engine.now()), ..row });
            rows.push(known.unwrap_or_else(|| EnrichmentRow::new(number, self.engine.now())));
        }
        Ok(rows)
    }

    /// Queued sessions whose next attempt is due.
    pub(super) fn due(self, store: &ReadStore) -> Result<Vec<EnrichmentRow>, EngineError> {
        let now = self.engine.now();
        let mut rows = store.queued_enrichments()?;
        rows.retain(|row| row.next_attempt_at.is_some_and(|at| at <= now));
        Ok(rows)
    }

    /// The time before which no requests are sent, because the provider failed repeatedly.
    pub(super) fn paused_until(self, store: &ReadStore) -> Result<Option<Timestamp>, EngineError> {
        Ok(store.enrichment_breaker()?.blocked_until.filter(|until| *until > self.engine.now()))
    }

    /// Sessions with new entries that are no longer active.
    fn sessions_to_queue(self, store: &ReadStore) -> Result<Vec<SessionNumber>, EngineError> {
        let (lifecycle, now) = (self.engine.lifecycle().rules(), self.engine.now());
        let mut ended = Vec::new();
        for number in store.enrichable_sessions()? {
            let Some(session) = store.session_by_number(number)? else { continue };
            let life = store.lifecycle(SessionKey::of(&session))?;
            if lifecycle.state(life.as_ref(), session.last_activity_at, now) != SessionState::Active {
                ended.push(number);
            }
        }
        Ok(ended)
    }

    /// The queue row and outcome after a failure. A request over budget waits until tomorrow and does not count as a
    /// failure of the session.
    pub(super) fn schedule_retry(self, row: &EnrichmentRow, error: &ChatError) -> (EnrichmentRow, EnrichOutcome) {
        let is_refused = matches!(error, ChatError::Budget(_));
        let reason = without_secrets(&error.to_string());
        let reason = rethread_model::clip(&reason, MAX_REASON_CHARS).into_owned();
        let error = Some(reason.clone());
        let row = row.clone();
        if is_refused {
            let until = self.engine.next_midnight();
            let row = EnrichmentRow { next_attempt_at: Some(until), failed_at: None, error, ..row };
            return (row, EnrichOutcome::Retry { until, reason });
        }
        let (tries, now) = (row.failed_attempts + 1, self.engine.now());
        let Some(minutes) = RETRY_MINUTES.get(row.failed_attempts as usize) else {
            let row =
                EnrichmentRow { failed_attempts: tries, next_attempt_at: None, failed_at: Some(now), error, ..row };
            return (row, EnrichOutcome::GivenUp { reason });
        };
        let until = Timestamp::from_millis(now.as_millis() + minutes * MINUTE);
        let row = EnrichmentRow { failed_attempts: tries, next_attempt_at: Some(until), failed_at: None, error, ..row };
        (row, EnrichOutcome::Retry { until, reason })
    }

    /// Lets one process at a time enrich. Returns `None` if another one is running.
    pub(super) fn lock(self) -> Result<Option<File>, EngineError> {
        self.engine.ensure_home()?;
        home::try_lock_file(&self.engine.folder.join("enrich.lock"))
    }
}

/// The next retry time among sessions that failed before.
pub(super) fn first_retry<'a>(waiting: impl Iterator<Item = &'a EnrichmentRow>, now: Timestamp) -> Timestamp {
    let soonest = Timestamp::from_millis(now.as_millis() + RETRY_MINUTES[0] * MINUTE);
    let retries = waiting.filter(|row| row.failed_attempts > 0).filter_map(|row| row.next_attempt_at);
    retries.filter(|at| *at > now).min().unwrap_or(soonest)
}
