//! JSON of `rethread enrich`: facts that a model adds to those extracted by rules.

use rethread_engine::{
    EnrichFailure, EnrichOutcome, EnrichPlan, EnrichReport, EnrichStop, EnrichedSession, EnrichmentEstimate,
    EnrichmentStatus, PlannedEnrichment,
};
use rethread_model::{Session, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

use super::schema::TimestampJson;
use super::thread::PlannedCostJson;
use super::{SCHEMA, dollars};

/// The result of one run.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EnrichmentReportJson<'a> {
    schema: u8,
    model: Option<&'a str>,
    sessions: Vec<EnrichmentResultJson<'a>>,
    waiting: u64,
    /// Why the run ended early: `off`, `no-model`, `busy` or `held`.
    stopped: Option<&'static str>,
    /// No request is sent before this time, because too many failed in a row.
    held_until: Option<Timestamp>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EnrichmentResultJson<'a> {
    session: EnrichedSessionJson<'a>,
    outcome: &'static str,
    added: u64,
    /// Facts of the model that were invalid or already stored.
    dropped: u64,
    tokens: u64,
    cost_usd: Option<f64>,
    until: Option<Timestamp>,
    reason: Option<&'a str>,
}

/// A session that a model adds facts to.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct EnrichedSessionJson<'a> {
    id: String,
    agent: &'static str,
    external_id: &'a str,
    name: Option<&'a str>,
}

impl<'a> EnrichmentReportJson<'a> {
    pub(crate) fn new(report: &'a EnrichReport) -> Self {
        let (stopped, held_until) = match &report.stop_reason {
            None => (None, None),
            Some(EnrichStop::Disabled(_)) => (Some("off"), None),
            Some(EnrichStop::NoModel(_)) => (Some("no-model"), None),
            Some(EnrichStop::Busy) => (Some("busy"), None),
            Some(EnrichStop::Paused { until }) => (Some("held"), Some(*until)),
        };
        Self {
            schema: SCHEMA,
            model: report.model.as_deref(),
            sessions: report.sessions.iter().map(enrichment_result).collect(),
            waiting: report.queued,
            stopped,
            held_until,
        }
    }
}

fn enrichment_result(result: &EnrichedSession) -> EnrichmentResultJson<'_> {
    let (outcome, until, reason) = match &result.outcome {
        EnrichOutcome::Done => ("done", None, None),
        EnrichOutcome::Retry { until, reason } => ("waits", Some(*until), Some(reason.as_str())),
        EnrichOutcome::GivenUp { reason } => ("failed", None, Some(reason.as_str())),
    };
    EnrichmentResultJson {
        session: enriched_session(&result.session),
        outcome,
        added: result.added,
        dropped: result.dropped,
        tokens: result.tokens,
        cost_usd: result.cost.map(dollars),
        until,
        reason,
    }
}

fn enriched_session(session: &Session) -> EnrichedSessionJson<'_> {
    EnrichedSessionJson {
        id: session.id.to_string(),
        agent: session.agent.as_str(),
        external_id: &session.external_id,
        name: session.name.as_deref(),
    }
}

/// What a run would cost (`--dry-run`).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EnrichmentPlanJson<'a> {
    schema: u8,
    dry_run: bool,
    model: &'a str,
    refused: Option<&'a str>,
    held_until: Option<Timestamp>,
    sessions: Vec<PlannedEnrichmentJson<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PlannedEnrichmentJson<'a> {
    session: EnrichedSessionJson<'a>,
    requests: u64,
    planned: PlannedCostJson,
    tries: u64,
    next_at: Timestamp,
    reason: Option<&'a str>,
}

impl<'a> EnrichmentPlanJson<'a> {
    pub(crate) fn new(plan: &'a EnrichPlan) -> Self {
        let one = |planned: &'a PlannedEnrichment| PlannedEnrichmentJson {
            session: enriched_session(&planned.session),
            requests: planned.requests,
            planned: PlannedCostJson::new(planned.planned),
            tries: planned.attempts,
            next_at: planned.next_at,
            reason: planned.reason.as_deref(),
        };
        Self {
            schema: SCHEMA,
            dry_run: true,
            model: &plan.model,
            refused: plan.refusal_reason.as_deref(),
            held_until: plan.paused_until,
            sessions: plan.sessions.iter().map(one).collect(),
        }
    }
}

/// Sessions that are not retried.
#[derive(Serialize)]
pub(crate) struct EnrichmentFailureListJson<'a> {
    schema: u8,
    failed: Vec<EnrichmentFailureJson<'a>>,
}

/// A session that is not retried, and why.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct EnrichmentFailureJson<'a> {
    session: EnrichedSessionJson<'a>,
    tries: u64,
    #[schemars(with = "TimestampJson")]
    failed_at: Timestamp,
    reason: &'a str,
}

impl<'a> EnrichmentFailureListJson<'a> {
    pub(crate) fn new(failures: &'a [EnrichFailure]) -> Self {
        Self { schema: SCHEMA, failed: failures.iter().map(enrichment_failure).collect() }
    }
}

fn enrichment_failure(failure: &EnrichFailure) -> EnrichmentFailureJson<'_> {
    let EnrichFailure { session, attempts: tries, failed_at, reason } = failure;
    EnrichmentFailureJson { session: enriched_session(session), tries: *tries, failed_at: *failed_at, reason }
}

/// How many failed sessions were queued again.
#[derive(Serialize)]
pub(crate) struct ClearedFailuresJson {
    schema: u8,
    cleared: u64,
}

impl ClearedFailuresJson {
    pub(crate) fn new(cleared: u64) -> Self {
        Self { schema: SCHEMA, cleared }
    }
}

/// Estimated cost of adding facts to sessions of one type.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct EnrichmentEstimateJson {
    /// `unknown` for sessions that were not read yet; those are estimated from the average of all types.
    #[serde(rename = "type")]
    kind: &'static str,
    sessions: u64,
    tokens: u64,
    cost_usd: Option<f64>,
}

impl EnrichmentEstimateJson {
    pub(super) fn new(estimate: &EnrichmentEstimate) -> Self {
        Self {
            kind: estimate.kind.map_or("unknown", rethread_engine::SessionType::as_str),
            sessions: estimate.sessions,
            tokens: estimate.tokens,
            cost_usd: estimate.cost.map(dollars),
        }
    }
}

/// State of the model that adds facts.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct EnrichmentStatusJson<'a> {
    /// 0: a model adds facts. 1: the model is unreachable and sessions wait. 2: rules only.
    level: u8,
    reason: Option<&'a str>,
    waiting: u64,
    retrying: u64,
    failed: u64,
    /// No request is sent before this time, because too many failed in a row.
    #[schemars(with = "Option<TimestampJson>")]
    held_until: Option<Timestamp>,
    last_failures: Vec<EnrichmentFailureJson<'a>>,
}

impl<'a> EnrichmentStatusJson<'a> {
    pub(super) fn new(status: &'a EnrichmentStatus) -> Self {
        Self {
            level: status.level,
            reason: status.reason.as_deref(),
            waiting: status.queued,
            retrying: status.retrying,
            failed: status.failed,
            held_until: status.paused_until,
            last_failures: status.last_failures.iter().map(enrichment_failure).collect(),
        }
    }
}
