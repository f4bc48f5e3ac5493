//! Sums of tokens and cost over the agents' API messages.
//!
//! Sums up while reading the rows: GROUP BY would sort all rows first, which takes several times as long, and so would
//! a join with the sessions.

use std::collections::HashMap;

use rethread_model::{Agent, Timestamp, Tokens};
use rusqlite::{Row, params};

use crate::{ReadStore, SessionNumber, SessionScope, StoreError};

/// Model name in messages that the agent made up without asking a model.
const SYNTHETIC_MODEL: &str = "<synthetic>";

/// The offset of every time zone from UTC is a multiple of this, so days in any time zone consist of whole quarters.
const QUARTER_MILLIS: i64 = 15 * 60 * 1000;

/// Selects API messages.
#[derive(Clone, Debug, Default)]
pub struct UsageFilter {
    /// Only sessions in this scope.
    pub scope: SessionScope,
    /// Only sessions of this agent.
    pub agent: Option<Agent>,
    /// Only messages at this time or later; leaves out messages without a time.
    pub from: Option<Timestamp>,
    /// Only messages before this time; leaves out messages without a time.
    pub to: Option<Timestamp>,
}

/// What the sums are grouped by, besides the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UsageGrain {
    /// The model only.
    #[default]
    Model,
    /// Quarters of an hour, from which days in any time zone can be summed up.
    Time,
    /// Agent of the session.
    Agent,
    /// Project of the session.
    Project,
}

/// Sum over messages with the same model, group and price step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsageTotal {
    /// Start of the quarter of an hour, when grouped by time.
    pub at: Option<Timestamp>,
    /// The agent or the project, when grouped by it.
    pub label: Option<String>,
    /// The model, as the agent named it.
    pub model: Option<String>,
    /// How many of the given prompt lengths the prompts exceed.
    pub price_step: usize,
    /// Number of messages.
    pub messages: u64,
    /// Sum of their tokens.
    pub tokens: Tokens,
    /// Of the cache writes, those stored for an hour.
    pub hour_write_tokens: u64,
    /// Sum of the costs in billionths of a dollar; `None` if the agent recorded no cost.
    pub cost_nanos: Option<u64>,
}

impl ReadStore {
    /// Sums of usage. `steps` are prompt lengths in tokens, ascending, at which prices change.
    pub fn usage(&self, filter: &UsageFilter, grain: UsageGrain, steps: &[u64]) -> Result<Vec<UsageTotal>, StoreError> {
        let read = || -> rusqlite::Result<Vec<UsageTotal>> {
            let mut labels = TextInterner::default();
            let sessions = self.labeled_sessions(filter, grain, &mut labels)?;
            let mut models = TextInterner::default();
            let mut sums: HashMap<GroupKey, UsageSum> = HashMap::new();
            let mut statement = self.connection.prepare_cached(
                "SELECT session, at, model, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens,
                 cost_nanos, hour_write_tokens
                 FROM usage WHERE space = ?1 AND (?2 IS NULL OR at >= ?2) AND (?3 IS NULL OR at < ?3)",
            )?;
            let millis = |at: Option<Timestamp>| at.map(Timestamp::as_millis);
            let mut rows = statement.query(params![self.space.as_str(), millis(filter.from), millis(filter.to)])?;
            while let Some(row) = rows.next()? {
                let Some(label) = sessions.get(&row.get(0)?) else { continue };
                let Some((model, message)) = message_from_row(row)? else { continue };
                let key = GroupKey {
                    quarter: if grain == UsageGrain::Time { quarter(row)? } else { None },
                    label: *label,
                    model: model.map(|model| models.number(model)),
                    step: message.step(steps),
                    has_cost: message.cost_nanos.is_some(),
                };
                sums.entry(key).or_default().add(&message);
            }
            Ok(sums.into_iter().map(|(key, sum)| slice(key, sum, &labels, &models)).collect())
        };
        read().map_err(|cause| self.err(cause))
    }

    /// Sums of usage of one session.
    pub fn session_usage(&self, session: SessionNumber, steps: &[u64]) -> Result<Vec<UsageTotal>, StoreError> {
        let read = || -> rusqlite::Result<Vec<UsageTotal>> {
            let mut models = TextInterner::default();
            let mut sums: HashMap<GroupKey, UsageSum> = HashMap::new();
            let mut statement = self.connection.prepare_cached(
                "SELECT session, at, model, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens,
                 cost_nanos, hour_write_tokens
                 FROM usage INDEXED BY usage_by_session WHERE space = ?1 AND session = ?2",
            )?;
            let mut rows = statement.query(params![self.space.as_str(), session.0])?;
            while let Some(row) = rows.next()? {
                let Some((model, message)) = message_from_row(row)? else { continue };
                let key = GroupKey {
                    quarter: None,
                    label: None,
                    model: model.map(|model| models.number(model)),
                    step: message.step(steps),
                    has_cost: message.cost_nanos.is_some(),
                };
                sums.entry(key).or_default().add(&message);
            }
            Ok(sums.into_iter().map(|(key, sum)| slice(key, sum, &TextInterner::default(), &models)).collect())
        };
        read().map_err(|cause| self.err(cause))
    }

    /// The selected sessions, with the number of their label.
    fn labeled_sessions(
        &self,
        filter: &UsageFilter,
        grain: UsageGrain,
        labels: &mut TextInterner,
    ) -> rusqlite::Result<HashMap<i64, Option<usize>>> {
        // The index covers the query; session rows are long.
        let mut statement = self.connection.prepare_cached(
            "SELECT number, agent, coalesce(project, cwd) FROM session INDEXED BY session_by_project
             WHERE space = ?1 AND (?3 IS NULL OR agent = ?3)
             AND (?2 IS NULL OR project = ?2 OR cwd = ?2 OR substr(cwd, 1, length(?2) + 1) = ?2 || '/')",
        )?;
        let project = match &filter.scope {
            SessionScope::AllProjects => None,
            SessionScope::Project(path) => Some(path.as_str()),
        };
        let mut rows = statement.query(params![self.space.as_str(), project, filter.agent.map(Agent::as_str)])?;
        let mut sessions = HashMap::new();
        while let Some(row) = rows.next()? {
            let label = match grain {
                UsageGrain::Model | UsageGrain::Time => None,
                UsageGrain::Agent => row.get_ref(1)?.as_str_or_null()?,
                UsageGrain::Project => row.get_ref(2)?.as_str_or_null()?,
            };
            sessions.insert(row.get(0)?, label.map(|label| labels.number(label)));
        }
        Ok(sessions)
    }
}

/// Numbers repeated texts, so that grouping compares integers.
#[derive(Default)]
struct TextInterner {
    numbers: HashMap<String, usize>,
    texts: Vec<String>,
}

impl TextInterner {
    fn number(&mut self, text: &str) -> usize {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        self.texts.push(text.to_owned());
        self.numbers.insert(text.to_owned(), self.texts.len() - 1);
        self.texts.len() - 1
    }

    fn text(&self, number: Option<usize>) -> Option<String> {
        number.and_then(|number| self.texts.get(number)).cloned()
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct GroupKey {
    quarter: Option<i64>,
    label: Option<usize>,
    model: Option<usize>,
    step: usize,
    has_cost: bool,
}

struct MessageTotal {
    tokens: Tokens,
    hour_write_tokens: u64,
    cost_nanos: Option<u64>,
}

impl MessageTotal {
    /// All tokens sent to the model, cached or not.
    fn prompt_tokens(&self) -> u64 {
        Tokens { output: 0, ..self.tokens }.total()
    }

    /// How many of the lengths the prompt exceeds.
    fn step(&self, steps: &[u64]) -> usize {
        steps.iter().filter(|step| self.prompt_tokens() > **step).count()
    }
}

#[derive(Clone, Copy, Default)]
struct UsageSum {
    messages: u64,
    tokens: Tokens,
    hour_write_tokens: u64,
    cost_nanos: u64,
}

impl UsageSum {
    fn add(&mut self, message: &MessageTotal) {
        self.messages += 1;
        self.tokens = self.tokens.plus(message.tokens);
        self.hour_write_tokens = self.hour_write_tokens.saturating_add(message.hour_write_tokens);
        self.cost_nanos = self.cost_nanos.saturating_add(message.cost_nanos.unwrap_or(0));
    }
}

/// None for a message without usage, or one that no model wrote.
fn message_from_row<'r>(row: &'r Row<'_>) -> rusqlite::Result<Option<(Option<&'r str>, MessageTotal)>> {
    let model = row.get_ref(2)?.as_str_or_null()?.filter(|model| !model.is_empty());
    let count = |at: usize| row.get::<_, i64>(at).map(|number| number as u64);
    let tokens = Tokens { input: count(3)?, output: count(4)?, cache_read: count(5)?, cache_write: count(6)? };
    let cost_nanos = row.get::<_, Option<i64>>(7)?.map(|nanos| nanos.max(0) as u64);
    let counts = model != Some(SYNTHETIC_MODEL) && (tokens != Tokens::default() || cost_nanos.is_some());
    Ok(counts.then_some((model, MessageTotal { tokens, hour_write_tokens: count(8)?, cost_nanos })))
}

fn quarter(row: &Row<'_>) -> rusqlite::Result<Option<i64>> {
    Ok(row.get::<_, Option<i64>>(1)?.map(|at| at.div_euclid(QUARTER_MILLIS)))
}

fn slice(key: GroupKey, sum: UsageSum, labels: &TextInterner, models: &TextInterner) -> UsageTotal {
    UsageTotal {
        at: key.quarter.map(|quarter| Timestamp::from_millis(quarter.saturating_mul(QUARTER_MILLIS))),
        label: labels.text(key.label),
        model: models.text(key.model),
        price_step: key.step,
        messages: sum.messages,
        tokens: sum.tokens,
        hour_write_tokens: sum.hour_write_tokens,
        cost_nanos: key.has_cost.then_some(sum.cost_nanos),
    }
}
