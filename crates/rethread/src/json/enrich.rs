//! What a model added to facts, as programs get it.

use rethread_engine::{
    EnrichFailure, EnrichOutcome, EnrichPlan, EnrichReport, EnrichStop, EnrichedSession, EnrichmentEstimate,
    EnrichmentStatus, PlannedEnrichment,
};
use rethread_model::{Session, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

use super::shape::Moment;
use super::thread::Planned;
use super::{SCHEMA, dollars};

/// What became of a run.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Enriched<'a> {
    schema: u8,
    model: Option<&'a str>,
    sessions: Vec<EnrichedOne<'a>>,
    waiting: u64,
    stopped: Option<&'static str>,
    held_until: Option<Timestamp>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EnrichedOne<'a> {
    session: Named<'a>,
    outcome: &'static str,
    added: u64,
    dropped: u64,
    tokens: u64,
    cost_usd: Option<f64>,
    until: Option<Timestamp>,
    reason: Option<&'a str>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "EnrichedSession")]
#[serde(rename_all = "camelCase")]
struct Named<'a> {
    id: String,
    agent: &'static str,
    external_id: &'a str,
    name: Option<&'a str>,
}

impl<'a> Enriched<'a> {
    pub(crate) fn new(report: &'a EnrichReport) -> Self {
        let (stopped, held_until) = match &report.stopped {
            None => (None, None),
            Some(EnrichStop::Off(_)) => (Some("off"), None),
            Some(EnrichStop::NoModel(_)) => (Some("no-model"), None),
            Some(EnrichStop::Busy) => (Some("busy"), None),
            Some(EnrichStop::Held { until }) => (Some("held"), Some(*until)),
        };
        Self {
            schema: SCHEMA,
            model: report.model.as_deref(),
            sessions: report.sessions.iter().map(one).collect(),
            waiting: report.waiting,
            stopped,
            held_until,
        }
    }
}

fn one(told: &EnrichedSession) -> EnrichedOne<'_> {
    let (outcome, until, reason) = match &told.outcome {
        EnrichOutcome::Done => ("done", None, None),
        EnrichOutcome::Waits { until, reason } => ("waits", Some(*until), Some(reason.as_str())),
        EnrichOutcome::Failed { reason } => ("failed", None, Some(reason.as_str())),
    };
    EnrichedOne {
        session: named(&told.session),
        outcome,
        added: told.added,
        dropped: told.dropped,
        tokens: told.tokens,
        cost_usd: told.cost.map(dollars),
        until,
        reason,
    }
}

fn named(session: &Session) -> Named<'_> {
    Named {
        id: session.id.to_string(),
        agent: session.agent.as_str(),
        external_id: &session.external_id,
        name: session.name.as_deref(),
    }
}

/// What a run would take.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WouldEnrich<'a> {
    schema: u8,
    dry_run: bool,
    model: &'a str,
    refused: Option<&'a str>,
    held_until: Option<Timestamp>,
    sessions: Vec<WouldEnrichOne<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WouldEnrichOne<'a> {
    session: Named<'a>,
    requests: u64,
    planned: Planned,
    tries: u64,
    next_at: Timestamp,
    reason: Option<&'a str>,
}

impl<'a> WouldEnrich<'a> {
    pub(crate) fn new(plan: &'a EnrichPlan) -> Self {
        let one = |planned: &'a PlannedEnrichment| WouldEnrichOne {
            session: named(&planned.session),
            requests: planned.requests,
            planned: Planned::new(planned.planned),
            tries: planned.tries,
            next_at: planned.next_at,
            reason: planned.reason.as_deref(),
        };
        Self {
            schema: SCHEMA,
            dry_run: true,
            model: &plan.model,
            refused: plan.refused.as_deref(),
            held_until: plan.held_until,
            sessions: plan.sessions.iter().map(one).collect(),
        }
    }
}

/// Sessions that failed for good.
#[derive(Serialize)]
pub(crate) struct NotEnriched<'a> {
    schema: u8,
    failed: Vec<NotEnrichedOne<'a>>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "EnrichmentFailure")]
#[serde(rename_all = "camelCase")]
struct NotEnrichedOne<'a> {
    session: Named<'a>,
    tries: u64,
    #[schemars(with = "Moment")]
    failed_at: Timestamp,
    reason: &'a str,
}

impl<'a> NotEnriched<'a> {
    pub(crate) fn new(failures: &'a [EnrichFailure]) -> Self {
        Self { schema: SCHEMA, failed: failures.iter().map(failure).collect() }
    }
}

fn failure(failure: &EnrichFailure) -> NotEnrichedOne<'_> {
    let EnrichFailure { session, tries, failed_at, reason } = failure;
    NotEnrichedOne { session: named(session), tries: *tries, failed_at: *failed_at, reason }
}

/// How many sessions wait again.
#[derive(Serialize)]
pub(crate) struct Cleared {
    schema: u8,
    cleared: u64,
}

impl Cleared {
    pub(crate) fn new(cleared: u64) -> Self {
        Self { schema: SCHEMA, cleared }
    }
}

/// What adding facts to sessions of one type would take.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "EnrichmentEstimate")]
#[serde(rename_all = "camelCase")]
pub(super) struct Estimated {
    /// Unknown where the sessions were not read yet: they count like all others together.
    #[serde(rename = "type")]
    kind: &'static str,
    sessions: u64,
    tokens: u64,
    cost_usd: Option<f64>,
}

impl Estimated {
    pub(super) fn new(estimate: &EnrichmentEstimate) -> Self {
        Self {
            kind: estimate.kind.map_or("unknown", rethread_engine::WorkKind::as_str),
            sessions: estimate.sessions,
            tokens: estimate.tokens,
            cost_usd: estimate.cost.map(dollars),
        }
    }
}

/// How it stands with the model that adds facts.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "EnrichmentStatus")]
#[serde(rename_all = "camelCase")]
pub(super) struct Standing<'a> {
    /// 0: a model adds to what rules draw. 1: it cannot be reached, and sessions wait. 2: rules only.
    level: u8,
    reason: Option<&'a str>,
    waiting: u64,
    retrying: u64,
    failed: u64,
    #[schemars(with = "Option<Moment>")]
    held_until: Option<Timestamp>,
    last_failures: Vec<NotEnrichedOne<'a>>,
}

impl<'a> Standing<'a> {
    pub(super) fn new(status: &'a EnrichmentStatus) -> Self {
        Self {
            level: status.level,
            reason: status.reason.as_deref(),
            waiting: status.waiting,
            retrying: status.retrying,
            failed: status.failed,
            held_until: status.held_until,
            last_failures: status.last_failures.iter().map(failure).collect(),
        }
    }
}
