//! Tokens and cost of the agents' messages, and of our own requests.

use std::collections::{BTreeMap, BTreeSet};

use jiff::tz::TimeZone;
use rethread_llm::{NanoUsd, list_price, price_thresholds};
use rethread_model::{Agent, Timestamp, Tokens};
use rethread_store::{LedgerTotal, ReadStore, SessionNumber, SessionScope, UsageFilter, UsageGrain, UsageTotal};

use super::reduction;
use crate::clock::local_time;
use crate::{BudgetStatus, EngineError, ReportService, SessionTypeReduction};

/// How usage is grouped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UsageGrouping {
    /// By day in the user's time zone, oldest first. Messages without a time come last.
    #[default]
    Day,
    /// By agent, most expensive first.
    Agent,
    /// By model as named in the transcripts, most expensive first.
    Model,
    /// By project, most expensive first.
    Project,
}

impl UsageGrouping {
    /// The name used in JSON and on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Agent => "agent",
            Self::Model => "model",
            Self::Project => "project",
        }
    }
}

/// Which usage to report.
#[derive(Clone, Debug, Default)]
pub struct UsageRequest {
    /// Only sessions of this project, or of all projects.
    pub scope: SessionScope,
    /// How to group.
    pub group_by: UsageGrouping,
    /// Only this agent.
    pub agent: Option<Agent>,
    /// Start time: a date, a span such as `7d`, or words such as `last week`.
    pub since: Option<String>,
    /// End time, in the same formats.
    pub until: Option<String>,
}

/// Tokens and cost of a group of messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsageTotals {
    /// Number of messages by models.
    pub messages: u64,
    /// Their tokens by kind.
    pub tokens: Tokens,
    /// Cost of the messages for which the transcript states one.
    pub stated_cost: Option<NanoUsd>,
    /// Cost of the others by list price.
    pub estimated_cost: Option<NanoUsd>,
    /// Tokens without a known price.
    pub unpriced_tokens: u64,
    /// The models without a known price. The empty name means messages without a model.
    pub unpriced_models: BTreeSet<String>,
}

impl UsageTotals {
    /// The known cost: stated plus estimated. `None` if neither is known.
    pub fn cost(&self) -> Option<NanoUsd> {
        match (self.stated_cost, self.estimated_cost) {
            (Some(noted), Some(estimated)) => Some(noted.plus(estimated)),
            (noted, estimated) => noted.or(estimated),
        }
    }

    /// Adds the totals of another group.
    pub fn add(&mut self, other: &UsageTotals) {
        let both = |one: Option<NanoUsd>, other: Option<NanoUsd>| match (one, other) {
            (Some(one), Some(other)) => Some(one.plus(other)),
            (one, other) => one.or(other),
        };
        self.messages += other.messages;
        self.tokens = self.tokens.plus(other.tokens);
        self.stated_cost = both(self.stated_cost, other.stated_cost);
        self.estimated_cost = both(self.estimated_cost, other.estimated_cost);
        self.unpriced_tokens = self.unpriced_tokens.saturating_add(other.unpriced_tokens);
        self.unpriced_models.extend(other.unpriced_models.iter().cloned());
    }

    /// Totals of one session.
    pub(crate) fn for_session(store: &ReadStore, session: SessionNumber) -> Result<Self, EngineError> {
        let steps = price_thresholds();
        let mut used = Self::default();
        for slice in store.session_usage(session, &steps)? {
            used.add(&Self::from_slice(&slice, &steps));
        }
        Ok(used)
    }

    pub(super) fn from_slice(slice: &UsageTotal, steps: &[u64]) -> Self {
        let mut used = Self { messages: slice.messages, tokens: slice.tokens, ..Self::default() };
        let model = slice.model.as_deref().unwrap_or_default();
        // All prompts of a slice lie between the same two price steps, so any length between them gives the price.
        let prompt = slice.price_step.checked_sub(1).and_then(|at| steps.get(at)).map_or(0, |step| step + 1);
        match (slice.cost_nanos, list_price(model, prompt)) {
            (Some(nanos), _) => used.stated_cost = Some(NanoUsd::new(nanos)),
            (None, Some(price)) => {
                used.estimated_cost = Some(price.cost_with_hour_writes(slice.tokens, slice.hour_write_tokens));
            }
            (None, None) => {
                used.unpriced_tokens = slice.tokens.total();
                used.unpriced_models.insert(model.to_owned());
            }
        }
        used
    }
}

/// The usage of one day, agent, model or project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageGroup {
    /// The day (`2026-02-20`), agent, model or project. `None` if unknown.
    pub key: Option<String>,
    /// Tokens and cost of the group.
    pub totals: UsageTotals,
}

/// Requests that Rethread itself sent to models, in all projects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnUsage {
    /// In the requested time, by purpose and model, most tokens first.
    pub requests: Vec<LedgerTotal>,
    /// The same for today.
    pub today: Vec<LedgerTotal>,
    /// The daily budget and today's spending.
    pub budget: BudgetStatus,
}

/// Usage by the agents and by Rethread.
#[derive(Clone, Debug)]
pub struct UsageReport {
    /// Start of the requested time, inclusive.
    pub from: Option<Timestamp>,
    /// End of the requested time, exclusive.
    pub to: Option<Timestamp>,
    /// Usage by the agents, sorted as described by the grouping.
    pub groups: Vec<UsageGroup>,
    /// The sum of all groups.
    pub total: UsageTotals,
    /// How much of the transcripts is kept, by session type.
    pub reductions: Vec<SessionTypeReduction>,
    /// Requests sent by Rethread itself.
    pub own: OwnUsage,
}

impl ReportService<'_> {
    /// Tokens and cost by the agents, the reduction of their transcripts, and our own requests.
    pub fn usage(self, request: &UsageRequest) -> Result<UsageReport, EngineError> {
        let from = request.since.as_deref().map(|text| self.engine.parse_time(text, false)).transpose()?;
        let to = request.until.as_deref().map(|text| self.engine.parse_time(text, true)).transpose()?;
        let store = self.engine.reader()?;
        let filter = UsageFilter { scope: request.scope.clone(), agent: request.agent, from, to };
        let (mut groups, mut work) = (Vec::new(), Vec::new());
        if let Some(store) = &store {
            groups = usage_groups(store, &filter, request.group_by, &self.engine.environment.time_zone)?;
            work = store.work_counts(&filter)?;
        }
        let mut total = UsageTotals::default();
        for group in &groups {
            total.add(&group.totals);
        }
        let own = self.own_usage(store.as_ref(), from, to)?;
        Ok(UsageReport { from, to, groups, total, reductions: reduction::reduction_by_type(&work), own })
    }

    pub(super) fn own_usage(
        self,
        store: Option<&ReadStore>,
        from: Option<Timestamp>,
        to: Option<Timestamp>,
    ) -> Result<OwnUsage, EngineError> {
        let ledger = |from, to| Ok::<_, EngineError>(store.map(|store| store.ledger_totals(from, to)).transpose()?);
        Ok(OwnUsage {
            requests: ledger(from, to)?.unwrap_or_default(),
            today: ledger(Some(self.engine.day_start()), None)?.unwrap_or_default(),
            budget: self.engine.models().budget_status(store)?,
        })
    }
}

fn usage_groups(
    store: &ReadStore,
    filter: &UsageFilter,
    by: UsageGrouping,
    zone: &TimeZone,
) -> Result<Vec<UsageGroup>, EngineError> {
    let grain = match by {
        UsageGrouping::Day => UsageGrain::Time,
        UsageGrouping::Agent => UsageGrain::Agent,
        UsageGrouping::Model => UsageGrain::Model,
        UsageGrouping::Project => UsageGrain::Project,
    };
    let steps = price_thresholds();
    let mut groups: BTreeMap<Option<String>, UsageTotals> = BTreeMap::new();
    for slice in store.usage(filter, grain, &steps)? {
        let used = UsageTotals::from_slice(&slice, &steps);
        let key = match by {
            UsageGrouping::Day => slice.at.and_then(|at| local_day(at, zone)),
            UsageGrouping::Model => slice.model,
            UsageGrouping::Agent | UsageGrouping::Project => slice.label,
        };
        groups.entry(key).or_default().add(&used);
    }
    let groups = groups.into_iter().map(|(key, used)| UsageGroup { key, totals: used });
    Ok(sort_groups(groups.collect(), by))
}

/// Sorts groups that are sorted by name: days stay so, the others are sorted by cost.
pub(super) fn sort_groups(mut groups: Vec<UsageGroup>, by: UsageGrouping) -> Vec<UsageGroup> {
    if by == UsageGrouping::Day {
        groups.sort_by_key(|group| group.key.is_none());
    } else {
        // The sort is stable: groups with equal cost and tokens remain sorted by name.
        groups.sort_by_key(|group| std::cmp::Reverse((group.totals.cost(), group.totals.tokens.total())));
    }
    groups
}

/// The day in the user's time zone, as `2026-02-20`.
fn local_day(at: Timestamp, zone: &TimeZone) -> Option<String> {
    Some(local_time(at, zone)?.date().to_string())
}
