//! What the agents' tokens cost, and ours.

use std::collections::{BTreeMap, BTreeSet};

use jiff::tz::TimeZone;
use rethread_llm::{NanoUsd, list_price, price_steps};
use rethread_model::{Agent, Timestamp, Tokens};
use rethread_store::{LedgerSum, Scope, SessionNumber, Store, UsageFilter, UsageGrain, UsageSlice};

use crate::{BudgetStatus, Engine, EngineError, Kept, kept};

/// What is summed up together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UsageBy {
    /// Days of the user's time zone, oldest first; what has no time comes last.
    #[default]
    Day,
    /// Agents, the most expensive first.
    Agent,
    /// Models as the agents named them, the most expensive first.
    Model,
    /// Projects, the most expensive first.
    Project,
}

impl UsageBy {
    /// The name in JSON and on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Agent => "agent",
            Self::Model => "model",
            Self::Project => "project",
        }
    }
}

/// Which usage.
#[derive(Clone, Debug, Default)]
pub struct UsageRequest {
    /// Where.
    pub scope: Scope,
    /// What is summed up together.
    pub by: UsageBy,
    /// Of one agent.
    pub agent: Option<Agent>,
    /// Not before.
    pub since: Option<String>,
    /// Not after.
    pub until: Option<String>,
}

/// What messages took and cost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Used {
    /// Messages of models.
    pub messages: u64,
    /// Their tokens.
    pub tokens: Tokens,
    /// What the agents noted as the cost of some of them.
    pub noted: Option<NanoUsd>,
    /// What others cost by the price lists.
    pub estimated: Option<NanoUsd>,
    /// Tokens whose cost nobody knows.
    pub unpriced_tokens: u64,
    /// The models they are of; an empty name where none was noted.
    pub unpriced_models: BTreeSet<String>,
}

impl Used {
    /// What is known of the cost; nothing where nothing is.
    pub fn cost(&self) -> Option<NanoUsd> {
        match (self.noted, self.estimated) {
            (Some(noted), Some(estimated)) => Some(noted.plus(estimated)),
            (noted, estimated) => noted.or(estimated),
        }
    }

    /// Adds what others took and cost.
    pub fn add(&mut self, other: &Used) {
        let both = |one: Option<NanoUsd>, other: Option<NanoUsd>| match (one, other) {
            (Some(one), Some(other)) => Some(one.plus(other)),
            (one, other) => one.or(other),
        };
        self.messages += other.messages;
        self.tokens = self.tokens.plus(other.tokens);
        self.noted = both(self.noted, other.noted);
        self.estimated = both(self.estimated, other.estimated);
        self.unpriced_tokens = self.unpriced_tokens.saturating_add(other.unpriced_tokens);
        self.unpriced_models.extend(other.unpriced_models.iter().cloned());
    }

    /// What the messages of one session took and cost.
    pub(crate) fn of_session(store: &Store, session: SessionNumber) -> Result<Self, EngineError> {
        let steps = price_steps();
        let mut used = Self::default();
        for slice in store.session_usage(session, &steps)? {
            used.add(&Self::of(&slice, &steps));
        }
        Ok(used)
    }

    fn of(slice: &UsageSlice, steps: &[u64]) -> Self {
        let mut used = Self { messages: slice.messages, tokens: slice.tokens, ..Self::default() };
        let model = slice.model.as_deref().unwrap_or_default();
        // All prompts of a slice lie between the same two lengths, so one just above the lower stands for them.
        let prompt = slice.step.checked_sub(1).and_then(|at| steps.get(at)).map_or(0, |step| step + 1);
        match (slice.cost_nanos, list_price(model, prompt)) {
            (Some(nanos), _) => used.noted = Some(NanoUsd::new(nanos)),
            (None, Some(price)) => used.estimated = Some(price.cost(slice.tokens)),
            (None, None) => {
                used.unpriced_tokens = slice.tokens.total();
                used.unpriced_models.insert(model.to_owned());
            }
        }
        used
    }
}

/// What was used together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageGroup {
    /// The day (`2026-02-20`), agent, model or project; nothing where it is not known.
    pub key: Option<String>,
    /// What was used.
    pub used: Used,
}

/// What Rethread itself asked of models, in all projects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnUsage {
    /// In the time that was asked about, by purpose and model, most tokens first.
    pub requests: Vec<LedgerSum>,
    /// The same today.
    pub today: Vec<LedgerSum>,
    /// What may be spent in a day, and what was spent today.
    pub budget: BudgetStatus,
}

/// What the agents and we used.
#[derive(Clone, Debug)]
pub struct UsageReport {
    /// Not before.
    pub from: Option<Timestamp>,
    /// Before.
    pub to: Option<Timestamp>,
    /// What the agents used, in the order of what it is grouped by.
    pub groups: Vec<UsageGroup>,
    /// All groups together.
    pub total: Used,
    /// How much of the transcripts is kept, by type of session.
    pub kept: Vec<Kept>,
    /// What we used.
    pub own: OwnUsage,
}

impl Engine {
    /// What the agents' tokens cost, what is kept of their transcripts, and what we asked of models.
    pub fn usage(&self, request: &UsageRequest) -> Result<UsageReport, EngineError> {
        let from = request.since.as_deref().map(|text| self.moment(text, false)).transpose()?;
        let to = request.until.as_deref().map(|text| self.moment(text, true)).transpose()?;
        let store = self.reader()?;
        let filter = UsageFilter { scope: request.scope.clone(), agent: request.agent, from, to };
        let (mut groups, mut work) = (Vec::new(), Vec::new());
        if let Some(store) = &store {
            groups = groups_of(store, &filter, request.by, &self.environment.zone)?;
            work = store.work(&filter)?;
        }
        let mut total = Used::default();
        for group in &groups {
            total.add(&group.used);
        }
        let own = self.own_usage(store.as_ref(), from, to)?;
        Ok(UsageReport { from, to, groups, total, kept: kept::by_kind(&work), own })
    }

    fn own_usage(
        &self,
        store: Option<&Store>,
        from: Option<Timestamp>,
        to: Option<Timestamp>,
    ) -> Result<OwnUsage, EngineError> {
        let ledger = |from, to| Ok::<_, EngineError>(store.map(|store| store.ledger(from, to)).transpose()?);
        Ok(OwnUsage {
            requests: ledger(from, to)?.unwrap_or_default(),
            today: ledger(Some(self.day_began()), None)?.unwrap_or_default(),
            budget: self.budget_status(store)?,
        })
    }
}

fn groups_of(
    store: &Store,
    filter: &UsageFilter,
    by: UsageBy,
    zone: &TimeZone,
) -> Result<Vec<UsageGroup>, EngineError> {
    let grain = match by {
        UsageBy::Day => UsageGrain::Time,
        UsageBy::Agent => UsageGrain::Agent,
        UsageBy::Model => UsageGrain::Model,
        UsageBy::Project => UsageGrain::Project,
    };
    let steps = price_steps();
    let mut groups: BTreeMap<Option<String>, Used> = BTreeMap::new();
    for slice in store.usage(filter, grain, &steps)? {
        let used = Used::of(&slice, &steps);
        let key = match by {
            UsageBy::Day => slice.at.and_then(|at| day_of(at, zone)),
            UsageBy::Model => slice.model,
            UsageBy::Agent | UsageBy::Project => slice.label,
        };
        groups.entry(key).or_default().add(&used);
    }
    let mut groups: Vec<UsageGroup> = groups.into_iter().map(|(key, used)| UsageGroup { key, used }).collect();
    if by == UsageBy::Day {
        groups.sort_by_key(|group| group.key.is_none());
    } else {
        // The order of names stays where cost and tokens are equal.
        groups.sort_by_key(|group| std::cmp::Reverse((group.used.cost(), group.used.tokens.total())));
    }
    Ok(groups)
}

/// The day in the user's time zone.
fn day_of(at: Timestamp, zone: &TimeZone) -> Option<String> {
    let moment = jiff::Timestamp::from_millisecond(at.as_millis()).ok()?;
    Some(moment.to_zoned(zone.clone()).date().to_string())
}
