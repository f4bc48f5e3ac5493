//! JSON of `rethread usage`.

use std::collections::BTreeSet;

use rethread_engine::{
    LedgerTotal, NanoUsd, PRICES_AS_OF, SessionTypeReduction, UsageGroup, UsageGrouping, UsageReport, UsageTotals,
};
use rethread_model::{Timestamp, Tokens};
use schemars::JsonSchema;
use serde::Serialize;

use super::schema::{TimestampJson, TokensJson};
use super::{BudgetJson, SCHEMA, dollars};
use crate::render::reduction_percent;

/// Tokens and cost of the agents and of Rethread itself.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UsageReportJson<'a> {
    schema: u8,
    by: &'static str,
    #[schemars(with = "Option<TimestampJson>")]
    since: Option<Timestamp>,
    #[schemars(with = "Option<TimestampJson>")]
    until: Option<Timestamp>,
    /// Date of the price lists used for estimates.
    prices_as_of: &'static str,
    groups: Vec<UsageGroupJson<'a>>,
    total: UsageTotalsJson<'a>,
    /// How much filtering saves, by type of session.
    kept: Vec<SessionTypeReductionJson>,
    /// Rethread's own model requests.
    own: OwnUsageJson<'a>,
}

/// The usage of one day, agent, model or project; `key` is null if that is unknown.
#[derive(Serialize, JsonSchema)]
struct UsageGroupJson<'a> {
    key: Option<&'a str>,
    #[serde(flatten)]
    sum: UsageTotalsJson<'a>,
}

/// Tokens and cost. A cost is null if no part of it is known; it never includes unpriced tokens.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct UsageTotalsJson<'a> {
    messages: u64,
    #[schemars(with = "TokensJson")]
    tokens: Tokens,
    cost_usd: Option<f64>,
    /// Recorded by the agents.
    noted_usd: Option<f64>,
    /// Estimated from price lists.
    estimated_usd: Option<f64>,
    /// Tokens of models without a known price.
    unpriced_tokens: u64,
    unpriced_models: &'a BTreeSet<String>,
}

/// How much of the transcripts of one type of session is kept.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SessionTypeReductionJson {
    #[serde(rename = "type")]
    kind: &'static str,
    sessions: u64,
    raw_tokens: u64,
    kept_tokens: u64,
    /// Percent of tokens filtered out, 0 to 100; null if there were none.
    reduction: Option<f64>,
    /// Median over the sessions, in percent.
    median_reduction: f64,
}

/// Rethread's own model requests, and the budget for them.
#[derive(Serialize, JsonSchema)]
struct OwnUsageJson<'a> {
    requests: Vec<LedgerSumJson<'a>>,
    today: Vec<LedgerSumJson<'a>>,
    budget: BudgetJson,
}

/// Model requests of one purpose and model. `costUsd` is null if no price is known.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct LedgerSumJson<'a> {
    purpose: &'a str,
    provider: &'a str,
    model: &'a str,
    requests: u64,
    failed: u64,
    tokens: u64,
    cost_usd: Option<f64>,
    unpriced_requests: u64,
}

impl<'a> UsageReportJson<'a> {
    pub(crate) fn new(report: &'a UsageReport, by: UsageGrouping) -> Self {
        let group = |group: &'a UsageGroup| UsageGroupJson {
            key: group.key.as_deref(),
            sum: UsageTotalsJson::new(&group.totals),
        };
        Self {
            schema: SCHEMA,
            by: by.as_str(),
            since: report.from,
            until: report.to,
            prices_as_of: PRICES_AS_OF,
            groups: report.groups.iter().map(group).collect(),
            total: UsageTotalsJson::new(&report.total),
            kept: report.reductions.iter().map(SessionTypeReductionJson::new).collect(),
            own: OwnUsageJson {
                requests: report.own.requests.iter().map(LedgerSumJson::new).collect(),
                today: report.own.today.iter().map(LedgerSumJson::new).collect(),
                budget: BudgetJson::new(&report.own.budget),
            },
        }
    }
}

impl<'a> UsageTotalsJson<'a> {
    fn new(used: &'a UsageTotals) -> Self {
        Self {
            messages: used.messages,
            tokens: used.tokens,
            cost_usd: used.cost().map(dollars),
            noted_usd: used.stated_cost.map(dollars),
            estimated_usd: used.estimated_cost.map(dollars),
            unpriced_tokens: used.unpriced_tokens,
            unpriced_models: &used.unpriced_models,
        }
    }
}

impl SessionTypeReductionJson {
    fn new(kept: &SessionTypeReduction) -> Self {
        let rounded = |percent: f64| (percent * 10.0).round() / 10.0;
        Self {
            kind: kept.session_type.as_str(),
            sessions: kept.sessions,
            raw_tokens: kept.raw_tokens,
            kept_tokens: kept.kept_tokens,
            reduction: reduction_percent(kept.raw_tokens, kept.kept_tokens).map(rounded),
            median_reduction: rounded(kept.median_reduction),
        }
    }
}

impl<'a> LedgerSumJson<'a> {
    fn new(sum: &'a LedgerTotal) -> Self {
        let is_known = sum.unpriced_requests < sum.spending.requests;
        Self {
            purpose: &sum.purpose,
            provider: &sum.provider,
            model: &sum.model,
            requests: sum.spending.requests,
            failed: sum.failed_requests,
            tokens: sum.spending.tokens,
            cost_usd: is_known.then(|| dollars(NanoUsd::new(sum.spending.cost_nanos))),
            unpriced_requests: sum.unpriced_requests,
        }
    }
}
