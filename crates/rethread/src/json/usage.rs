//! What tokens cost, as programs get it.

use std::collections::BTreeSet;

use rethread_engine::{Kept, LedgerSum, NanoUsd, PRICES_AS_OF, UsageBy, UsageGroup, UsageReport, Used};
use rethread_model::{Timestamp, Tokens};
use schemars::JsonSchema;
use serde::Serialize;

use super::shape::{Moment, TokensShape};
use super::{Budgeted, SCHEMA, dollars};
use crate::render::reduction;

/// What the agents and we used.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Usage<'a> {
    schema: u8,
    by: &'static str,
    #[schemars(with = "Option<Moment>")]
    since: Option<Timestamp>,
    #[schemars(with = "Option<Moment>")]
    until: Option<Timestamp>,
    /// The day of the price lists that estimates are made from.
    prices_as_of: &'static str,
    groups: Vec<Group<'a>>,
    total: Sum<'a>,
    kept: Vec<OfKind>,
    own: Own<'a>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "UsageGroup")]
struct Group<'a> {
    key: Option<&'a str>,
    #[serde(flatten)]
    sum: Sum<'a>,
}

/// A cost is nothing where no part of it is known, and without the unpriced tokens otherwise.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "UsageSum")]
#[serde(rename_all = "camelCase")]
struct Sum<'a> {
    messages: u64,
    #[schemars(with = "TokensShape")]
    tokens: Tokens,
    cost_usd: Option<f64>,
    noted_usd: Option<f64>,
    estimated_usd: Option<f64>,
    unpriced_tokens: u64,
    unpriced_models: &'a BTreeSet<String>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "KeptShare")]
#[serde(rename_all = "camelCase")]
struct OfKind {
    #[serde(rename = "type")]
    kind: &'static str,
    sessions: u64,
    raw_tokens: u64,
    kept_tokens: u64,
    reduction: Option<f64>,
    median_reduction: f64,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "OwnUsage")]
struct Own<'a> {
    requests: Vec<Asked<'a>>,
    today: Vec<Asked<'a>>,
    budget: Budgeted,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "OwnRequests")]
#[serde(rename_all = "camelCase")]
struct Asked<'a> {
    purpose: &'a str,
    provider: &'a str,
    model: &'a str,
    requests: u64,
    failed: u64,
    tokens: u64,
    cost_usd: Option<f64>,
    unpriced_requests: u64,
}

impl<'a> Usage<'a> {
    pub(crate) fn new(report: &'a UsageReport, by: UsageBy) -> Self {
        let group = |group: &'a UsageGroup| Group { key: group.key.as_deref(), sum: Sum::new(&group.used) };
        Self {
            schema: SCHEMA,
            by: by.as_str(),
            since: report.from,
            until: report.to,
            prices_as_of: PRICES_AS_OF,
            groups: report.groups.iter().map(group).collect(),
            total: Sum::new(&report.total),
            kept: report.kept.iter().map(OfKind::new).collect(),
            own: Own {
                requests: report.own.requests.iter().map(Asked::new).collect(),
                today: report.own.today.iter().map(Asked::new).collect(),
                budget: Budgeted::new(&report.own.budget),
            },
        }
    }
}

impl<'a> Sum<'a> {
    fn new(used: &'a Used) -> Self {
        Self {
            messages: used.messages,
            tokens: used.tokens,
            cost_usd: used.cost().map(dollars),
            noted_usd: used.noted.map(dollars),
            estimated_usd: used.estimated.map(dollars),
            unpriced_tokens: used.unpriced_tokens,
            unpriced_models: &used.unpriced_models,
        }
    }
}

impl OfKind {
    fn new(kept: &Kept) -> Self {
        let rounded = |percent: f64| (percent * 10.0).round() / 10.0;
        Self {
            kind: kept.kind.as_str(),
            sessions: kept.sessions,
            raw_tokens: kept.raw_tokens,
            kept_tokens: kept.kept_tokens,
            reduction: reduction(kept.raw_tokens, kept.kept_tokens).map(rounded),
            median_reduction: rounded(kept.median_reduction),
        }
    }
}

impl<'a> Asked<'a> {
    fn new(sum: &'a LedgerSum) -> Self {
        let is_known = sum.unpriced < sum.spending.requests;
        Self {
            purpose: &sum.purpose,
            provider: &sum.provider,
            model: &sum.model,
            requests: sum.spending.requests,
            failed: sum.failed,
            tokens: sum.spending.tokens,
            cost_usd: is_known.then(|| dollars(NanoUsd::new(sum.spending.cost_nanos))),
            unpriced_requests: sum.unpriced,
        }
    }
}
