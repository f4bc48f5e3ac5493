//! Has a model extract additional facts from ended sessions: opt-in, within the budget, in the background.

mod ask_model;
mod estimate;
mod queue;
mod status;

use rethread_llm::{ChatError, ChatLimits, NanoUsd};
use rethread_model::{Session, Timestamp};
use rethread_store::{EnrichmentBreaker, EnrichmentRow, ReadStore, Store};
use serde_json::Value;

use self::queue::{MAX_PROVIDER_FAILURES, first_retry};
use crate::models::{ConfiguredModel, ModelError};
use crate::sessions::number_of;
use crate::threads::PlannedCost;
use crate::{EngineError, EnrichmentService};

pub use estimate::EnrichmentEstimate;
pub use status::EnrichmentStatus;

/// The result of an enrichment run.
#[derive(Debug, Default)]
pub struct EnrichReport {
    /// The model that was used, as `provider/model`; `None` if there was none.
    pub model: Option<String>,
    /// Results per session, in processing order.
    pub sessions: Vec<EnrichedSession>,
    /// Sessions still in the queue.
    pub queued: u64,
    /// Why the run did not start or stopped early.
    pub stop_reason: Option<EnrichStop>,
}

/// The result for one session.
#[derive(Clone, Debug)]
pub struct EnrichedSession {
    /// The session that was processed.
    pub session: Session,
    /// Number of facts added.
    pub added: u64,
    /// Number of facts dropped: without citation, already known, or over the limit.
    pub dropped: u64,
    /// Tokens used, as counted by the provider.
    pub tokens: u64,
    /// Cost; `None` if the price is unknown.
    pub cost: Option<NanoUsd>,
    /// Whether it is done, will be retried, or was given up.
    pub outcome: EnrichOutcome,
}

/// The outcome for one session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EnrichOutcome {
    /// The whole session was processed.
    Done,
    /// It will be retried.
    Retry {
        /// Earliest time of the next attempt.
        until: Timestamp,
        /// The error message.
        reason: String,
    },
    /// It was given up.
    GivenUp {
        /// The error message.
        reason: String,
    },
}

/// Why a run did not start or stopped early.
#[derive(Debug)]
pub enum EnrichStop {
    /// Enrichment is disabled or has no budget, with the reason.
    Disabled(String),
    /// No usable model.
    NoModel(ModelError),
    /// Another process is running.
    Busy,
    /// The provider failed repeatedly, so requests are paused.
    Paused {
        /// No requests before this time.
        until: Timestamp,
    },
}

/// What an enrichment run would send and cost.
#[derive(Debug)]
pub struct EnrichPlan {
    /// The model that would be used, as `provider/model`.
    pub model: String,
    /// Sessions in the queue or eligible for it, in processing order.
    pub sessions: Vec<PlannedEnrichment>,
    /// If set, no requests before this time.
    pub paused_until: Option<Timestamp>,
    /// Why nothing would be sent: disabled or no budget.
    pub refusal_reason: Option<String>,
}

/// What one session would send and cost.
#[derive(Clone, Debug)]
pub struct PlannedEnrichment {
    /// The session that would be processed.
    pub session: Session,
    /// Number of requests.
    pub requests: u64,
    /// Upper bound on tokens and cost of all requests, not counting corrections of invalid answers.
    pub planned: PlannedCost,
    /// Number of failed attempts so far.
    pub attempts: u64,
    /// Time of the next attempt.
    pub next_at: Timestamp,
    /// The error of the last attempt, if it failed.
    pub reason: Option<String>,
}

/// A session that was given up after repeated failures.
#[derive(Clone, Debug)]
pub struct EnrichFailure {
    /// The session that was given up.
    pub session: Session,
    /// Number of attempts.
    pub attempts: u64,
    /// Time of the last attempt.
    pub failed_at: Timestamp,
    /// The last error message.
    pub reason: String,
}

/// The result of processing one session.
struct EnrichmentAttempt {
    added: u64,
    dropped: u64,
    tokens: u64,
    cost: Option<NanoUsd>,
    shown_to: Option<u64>,
    end: EnrichmentEnd,
}

/// How processing of a session ended.
enum EnrichmentEnd {
    /// The model was shown everything.
    Complete,
    /// The session was rebuilt while the model was answering, so citations may point to other lines.
    SessionRebuilt,
    /// The request failed.
    Failed(ChatError),
}

impl EnrichmentService<'_> {
    /// Extracts facts from the session that `reference` resolves to, or from all sessions that are due.
    pub fn run(self, reference: Option<&str>) -> Result<EnrichReport, EngineError> {
        let stopped = |why| Ok(EnrichReport { stop_reason: Some(why), ..EnrichReport::default() });
        if let Some(why) = self.disabled_reason() {
            return stopped(EnrichStop::Disabled(why));
        }
        let model = match self.model() {
            Ok(model) => model,
            Err(error) => return stopped(EnrichStop::NoModel(error)),
        };
        let Some(_lock) = self.lock()? else { return stopped(EnrichStop::Busy) };
        let mut store = self.engine.writer()?;
        let mut report = EnrichReport { model: Some(model_key(&model)), ..EnrichReport::default() };
        let due = if let Some(reference) = reference {
            vec![self.row(&store, reference)?]
        } else {
            self.enqueue(&mut store)?;
            report.stop_reason = self.paused_until(&store)?.map(|until| EnrichStop::Paused { until });
            if report.stop_reason.is_some() { Vec::new() } else { self.due(&store)? }
        };
        for row in due {
            let Some(session) = store.session_by_number(row.session)? else { continue };
            let attempt = self.run_session(&store, &model, &row, &session)?;
            let (outcome, held_until) = self.save_attempt(&mut store, row, &attempt)?;
            self.log(&session, &attempt, &outcome);
            let EnrichmentAttempt { added, dropped, tokens, cost, .. } = attempt;
            report.sessions.push(EnrichedSession { session, added, dropped, tokens, cost, outcome });
            if let Some(until) = held_until {
                report.stop_reason = Some(EnrichStop::Paused { until });
                break;
            }
        }
        report.queued = store.queued_enrichments()?.len() as u64;
        Ok(report)
    }

    /// What a run would send and cost. Sends and writes nothing.
    pub fn plan(self, reference: Option<&str>) -> Result<EnrichPlan, EngineError> {
        let model = self.model()?;
        let mut plan = EnrichPlan {
            model: model_key(&model),
            sessions: Vec::new(),
            paused_until: None,
            refusal_reason: self.disabled_reason(),
        };
        let Some(store) = self.engine.reader()? else { return Ok(plan) };
        plan.paused_until = self.paused_until(&store)?;
        let rows = match reference {
            Some(reference) => vec![self.row(&store, reference)?],
            None => self.queued_or_eligible(&store)?,
        };
        for row in rows {
            let Some(session) = store.session_by_number(row.session)? else { continue };
            let (requests, planned) = self.plan_session(&store, &model, &row)?;
            let next_at = row.next_attempt_at.unwrap_or_else(|| self.engine.now());
            let (tries, reason) = (row.failed_attempts, row.error);
            plan.sessions.push(PlannedEnrichment { session, requests, planned, attempts: tries, next_at, reason });
        }
        Ok(plan)
    }

    /// Sessions that were given up, most recent first.
    pub fn failures(self) -> Result<Vec<EnrichFailure>, EngineError> {
        let Some(store) = self.engine.reader()? else { return Ok(Vec::new()) };
        let mut all = Vec::new();
        for row in store.failed_enrichments()? {
            let (Some(session), Some(failed_at)) = (store.session_by_number(row.session)?, row.failed_at) else {
                continue;
            };
            all.push(EnrichFailure {
                session,
                attempts: row.failed_attempts,
                failed_at,
                reason: row.error.unwrap_or_default(),
            });
        }
        Ok(all)
    }

    /// Puts given-up sessions back into the queue. Returns how many.
    pub fn clear_failures(self) -> Result<u64, EngineError> {
        if self.engine.reader()?.is_none() {
            return Ok(0);
        }
        let mut store = self.engine.writer()?;
        let mut batch = store.begin()?;
        let cleared = batch.requeue_failed_enrichments(self.engine.now())?;
        batch.commit()?;
        Ok(cleared)
    }

    /// The configured model without immediate retries: the queue retries much later.
    fn model(self) -> Result<ConfiguredModel, ModelError> {
        self.engine.models().configured(None, ChatLimits { retries: 0, ..ChatLimits::BACKGROUND })
    }

    /// The queue row of the session that `reference` resolves to, whether or not it is due.
    fn row(self, store: &ReadStore, reference: &str) -> Result<EnrichmentRow, EngineError> {
        let session = self.engine.sessions().resolve_in(store, reference)?.session;
        let number = number_of(store, session.id)?;
        Ok(store.enrichment(number)?.unwrap_or_else(|| EnrichmentRow::new(number, self.engine.now())))
    }

    /// Saves the result for a session. Also returns the time until which requests are paused, if the provider failed
    /// too often.
    fn save_attempt(
        self,
        store: &mut Store,
        row: EnrichmentRow,
        attempt: &EnrichmentAttempt,
    ) -> Result<(EnrichOutcome, Option<Timestamp>), EngineError> {
        let now = self.engine.now();
        let row = EnrichmentRow { shown_seq: attempt.shown_to, ..row };
        let (row, outcome) = match &attempt.end {
            EnrichmentEnd::Complete => {
                let (next_attempt_at, failed_at, error, completed_at) = (None, None, None, Some(now));
                (
                    Some(EnrichmentRow { failed_attempts: 0, next_attempt_at, failed_at, error, completed_at, ..row }),
                    EnrichOutcome::Done,
                )
            }
            EnrichmentEnd::SessionRebuilt => {
                let reason = "the session was rebuilt during the request".to_owned();
                (None, EnrichOutcome::Retry { until: now, reason })
            }
            EnrichmentEnd::Failed(error) => {
                let (row, outcome) = self.schedule_retry(&row, error);
                (Some(row), outcome)
            }
        };
        let before = store.enrichment_breaker()?.failures;
        let failures = match &attempt.end {
            EnrichmentEnd::Complete => 0,
            EnrichmentEnd::Failed(error) if is_provider_failure(error) => before + 1,
            EnrichmentEnd::Failed(_) | EnrichmentEnd::SessionRebuilt => before,
        };
        let is_held = failures > before && failures >= MAX_PROVIDER_FAILURES;
        let others = if is_held { store.queued_enrichments()? } else { Vec::new() };
        let held_until = is_held.then(|| first_retry(others.iter().chain(&row), now));
        let mut batch = store.begin()?;
        if let Some(row) = &row {
            batch.save_enrichment(row)?;
        }
        if failures != before {
            batch.set_enrichment_breaker(EnrichmentBreaker { failures, blocked_until: held_until })?;
        }
        batch.commit()?;
        Ok((outcome, held_until))
    }

    fn log(self, session: &Session, attempt: &EnrichmentAttempt, outcome: &EnrichOutcome) {
        let mut fields: Vec<(&str, Value)> = vec![
            ("sessionId", session.external_id.as_str().into()),
            ("added", attempt.added.into()),
            ("dropped", attempt.dropped.into()),
            ("usage", attempt.tokens.into()),
        ];
        match outcome {
            EnrichOutcome::Done => {}
            EnrichOutcome::Retry { reason, .. } | EnrichOutcome::GivenUp { reason } => {
                fields.push(("error", reason.as_str().into()));
            }
        }
        self.engine.journal().event("facts:enrich", None, &fields);
    }
}

/// Whether the failure is the provider's and so would affect every session.
fn is_provider_failure(error: &ChatError) -> bool {
    matches!(
        error,
        ChatError::Unreachable { .. }
            | ChatError::Timeout { .. }
            | ChatError::HttpStatus { .. }
            | ChatError::Interrupted { .. }
    )
}

fn model_key(model: &ConfiguredModel) -> String {
    format!("{}/{}", model.chat.provider(), model.chat.model())
}
