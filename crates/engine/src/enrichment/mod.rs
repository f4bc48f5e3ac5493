//! Has a model add facts to sessions that ended: only where the user wants it, within the budget, and nobody waits.

mod ask;
mod estimate;
mod health;
mod queue;

use rethread_llm::{ChatError, ChatLimits, NanoUsd};
use rethread_model::{Session, Timestamp};
use rethread_store::{Breaker, Enrichment, SessionNumber, Store};
use serde_json::Value;

use self::queue::{AFTER_FAILURES, first_retry};
use crate::model::{Model, ModelError};
use crate::threads::PlannedCost;
use crate::{Engine, EngineError};

pub use estimate::EnrichmentEstimate;
pub use health::EnrichmentStatus;

/// What became of a run.
#[derive(Debug, Default)]
pub struct EnrichReport {
    /// The model that was asked; nothing where none could be.
    pub model: Option<String>,
    /// By session, in the order they were asked about.
    pub sessions: Vec<EnrichedSession>,
    /// Sessions that still wait.
    pub waiting: u64,
    /// Why nobody was asked, or nobody any more.
    pub stopped: Option<EnrichStop>,
}

/// What became of one session.
#[derive(Clone, Debug)]
pub struct EnrichedSession {
    /// The session.
    pub session: Session,
    /// Facts that were added.
    pub added: u64,
    /// Facts that cited nothing, were known already, or were too many.
    pub dropped: u64,
    /// Tokens it took, as the provider counted them.
    pub tokens: u64,
    /// What it cost; nothing if nobody knows the price.
    pub cost: Option<NanoUsd>,
    /// How it ended.
    pub outcome: EnrichOutcome,
}

/// How it ended with one session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EnrichOutcome {
    /// All of it was shown to the model.
    Done,
    /// It is tried again.
    Waits {
        /// Not before.
        until: Timestamp,
        /// What went wrong.
        reason: String,
    },
    /// It is not tried any more.
    Failed {
        /// What went wrong.
        reason: String,
    },
}

/// Why nobody was asked, or nobody any more.
#[derive(Debug)]
pub enum EnrichStop {
    /// It is switched off, or nothing may be spent.
    Off(String),
    /// There is no model to ask.
    NoModel(ModelError),
    /// Another process is at it.
    Busy,
    /// The provider failed too often in a row.
    Held {
        /// Nobody asks before.
        until: Timestamp,
    },
}

/// What a run would take.
#[derive(Debug)]
pub struct EnrichPlan {
    /// The model that would be asked.
    pub model: String,
    /// Sessions that wait or would, in the order they would be asked about.
    pub sessions: Vec<PlannedEnrichment>,
    /// Nobody asks before.
    pub held_until: Option<Timestamp>,
    /// Why nothing would be asked: the settings.
    pub refused: Option<String>,
}

/// What one session would take.
#[derive(Clone, Debug)]
pub struct PlannedEnrichment {
    /// The session.
    pub session: Session,
    /// Requests.
    pub requests: u64,
    /// The most all of them together would take, unless an answer must be corrected.
    pub planned: PlannedCost,
    /// How often it failed already.
    pub tries: u64,
    /// When it is tried next.
    pub next_at: Timestamp,
    /// Why it waits, if something went wrong.
    pub reason: Option<String>,
}

/// A session that is not tried any more.
#[derive(Clone, Debug)]
pub struct EnrichFailure {
    /// The session.
    pub session: Session,
    /// How often it was tried.
    pub tries: u64,
    /// When it was given up.
    pub failed_at: Timestamp,
    /// What went wrong last.
    pub reason: String,
}

/// What asking about one session came to.
struct Asked {
    added: u64,
    dropped: u64,
    tokens: u64,
    cost: Option<NanoUsd>,
    shown_to: Option<u64>,
    ended: Ended,
}

/// Why asking about a session ended.
enum Ended {
    /// All of it was shown.
    Whole,
    /// The session was read anew while the model was thinking, so its lines may be others.
    Retold,
    /// The model gave nothing.
    Failed(ChatError),
}

impl Engine {
    /// Has the model add facts to the session a reference means, or to all whose time has come.
    pub fn enrich(&self, reference: Option<&str>) -> Result<EnrichReport, EngineError> {
        let stopped = |why| Ok(EnrichReport { stopped: Some(why), ..EnrichReport::default() });
        if let Some(why) = self.enrichment_is_off() {
            return stopped(EnrichStop::Off(why));
        }
        let model = match self.enrichment_model() {
            Ok(model) => model,
            Err(error) => return stopped(EnrichStop::NoModel(error)),
        };
        let Some(_lock) = self.lock_enrichment()? else { return stopped(EnrichStop::Busy) };
        let mut store = self.writer()?;
        let mut report = EnrichReport { model: Some(model_key(&model)), ..EnrichReport::default() };
        let due = if let Some(reference) = reference {
            vec![self.wanted(&store, reference)?]
        } else {
            self.queue_enrichments(&mut store)?;
            report.stopped = self.held(&store)?.map(|until| EnrichStop::Held { until });
            if report.stopped.is_some() { Vec::new() } else { self.due(&store)? }
        };
        for row in due {
            let Some(session) = store.session_by_number(row.session)? else { continue };
            let asked = self.ask_about(&store, &model, &row, &session)?;
            let (outcome, held_until) = self.note_asked(&mut store, row, &asked)?;
            self.note_enrichment(&session, &asked, &outcome);
            let Asked { added, dropped, tokens, cost, .. } = asked;
            report.sessions.push(EnrichedSession { session, added, dropped, tokens, cost, outcome });
            if let Some(until) = held_until {
                report.stopped = Some(EnrichStop::Held { until });
                break;
            }
        }
        report.waiting = store.enrichments_waiting()?.len() as u64;
        Ok(report)
    }

    /// What a run would take. Nothing is sent and nothing is written.
    pub fn enrich_dry_run(&self, reference: Option<&str>) -> Result<EnrichPlan, EngineError> {
        let model = self.enrichment_model()?;
        let mut plan = EnrichPlan {
            model: model_key(&model),
            sessions: Vec::new(),
            held_until: None,
            refused: self.enrichment_is_off(),
        };
        let Some(store) = self.reader()? else { return Ok(plan) };
        plan.held_until = self.held(&store)?;
        let rows = match reference {
            Some(reference) => vec![self.wanted(&store, reference)?],
            None => self.waiting_or_would(&store)?,
        };
        for row in rows {
            let Some(session) = store.session_by_number(row.session)? else { continue };
            let (requests, planned) = self.planned_enrichment(&store, &model, &row)?;
            let next_at = row.next_at.unwrap_or_else(|| self.now());
            let (tries, reason) = (row.tries, row.error);
            plan.sessions.push(PlannedEnrichment { session, requests, planned, tries, next_at, reason });
        }
        Ok(plan)
    }

    /// Sessions that are not tried any more, the last one first.
    pub fn enrich_failures(&self) -> Result<Vec<EnrichFailure>, EngineError> {
        let Some(store) = self.reader()? else { return Ok(Vec::new()) };
        let mut all = Vec::new();
        for row in store.enrichments_failed()? {
            let (Some(session), Some(failed_at)) = (store.session_by_number(row.session)?, row.failed_at) else {
                continue;
            };
            all.push(EnrichFailure { session, tries: row.tries, failed_at, reason: row.error.unwrap_or_default() });
        }
        Ok(all)
    }

    /// Lets sessions that were given up wait again; how many.
    pub fn clear_enrich_failures(&self) -> Result<u64, EngineError> {
        if self.reader()?.is_none() {
            return Ok(0);
        }
        let mut store = self.writer()?;
        let mut batch = store.begin()?;
        let cleared = batch.clear_failed_enrichments(self.now())?;
        batch.commit()?;
        Ok(cleared)
    }

    /// The configured model. What fails is tried again much later, so nothing is repeated at once.
    fn enrichment_model(&self) -> Result<Model, ModelError> {
        self.model(None, ChatLimits { retries: 0, ..ChatLimits::PATIENT })
    }

    /// The session a reference means, whether or not its time has come.
    fn wanted(&self, store: &Store, reference: &str) -> Result<Enrichment, EngineError> {
        let session = self.resolve_in(store, reference)?.session;
        let unknown = || EngineError::UnknownReference(reference.to_owned());
        let number: SessionNumber = store.session_number(session.id)?.ok_or_else(unknown)?;
        Ok(store.enrichment(number)?.unwrap_or_else(|| Enrichment::new(number, self.now())))
    }

    /// Notes what came of a session, and until when nobody is to ask if the provider failed too often.
    fn note_asked(
        &self,
        store: &mut Store,
        row: Enrichment,
        asked: &Asked,
    ) -> Result<(EnrichOutcome, Option<Timestamp>), EngineError> {
        let now = self.now();
        let row = Enrichment { shown_to: asked.shown_to, ..row };
        let (row, outcome) = match &asked.ended {
            Ended::Whole => {
                let (next_at, failed_at, error, done_at) = (None, None, None, Some(now));
                (Some(Enrichment { tries: 0, next_at, failed_at, error, done_at, ..row }), EnrichOutcome::Done)
            }
            Ended::Retold => {
                let reason = "the session was read anew meanwhile".to_owned();
                (None, EnrichOutcome::Waits { until: now, reason })
            }
            Ended::Failed(error) => {
                let (row, outcome) = self.after_failure(&row, error);
                (Some(row), outcome)
            }
        };
        let before = store.enrichment_breaker()?.failures;
        let failures = match &asked.ended {
            Ended::Whole => 0,
            Ended::Failed(error) if is_of_the_provider(error) => before + 1,
            Ended::Failed(_) | Ended::Retold => before,
        };
        let is_held = failures > before && failures >= AFTER_FAILURES;
        let others = if is_held { store.enrichments_waiting()? } else { Vec::new() };
        let held_until = is_held.then(|| first_retry(others.iter().chain(&row), now));
        let mut batch = store.begin()?;
        if let Some(row) = &row {
            batch.save_enrichment(row)?;
        }
        if failures != before {
            batch.set_enrichment_breaker(Breaker { failures, until: held_until })?;
        }
        batch.commit()?;
        Ok((outcome, held_until))
    }

    /// Notes an attempt in our own log.
    fn note_enrichment(&self, session: &Session, asked: &Asked, outcome: &EnrichOutcome) {
        let mut fields: Vec<(&str, Value)> = vec![
            ("sessionId", session.external_id.as_str().into()),
            ("added", asked.added.into()),
            ("dropped", asked.dropped.into()),
            ("usage", asked.tokens.into()),
        ];
        match outcome {
            EnrichOutcome::Done => {}
            EnrichOutcome::Waits { reason, .. } | EnrichOutcome::Failed { reason } => {
                fields.push(("error", reason.as_str().into()));
            }
        }
        self.note("facts:enrich", None, &fields);
    }
}

/// Whether it is the provider that fails, and so would fail for every session.
fn is_of_the_provider(error: &ChatError) -> bool {
    matches!(
        error,
        ChatError::Unreachable { .. } | ChatError::Slow { .. } | ChatError::Refused { .. } | ChatError::Stream { .. }
    )
}

fn model_key(model: &Model) -> String {
    format!("{}/{}", model.chat.provider(), model.chat.model())
}
