//! What the agents' messages took, summed up.
//!
//! The sums are made while the rows pass by: grouping in SQL sorts all of them first, which takes several times as long,
//! and so does looking up the session of each.

use std::collections::HashMap;

use rethread_model::{Agent, Timestamp, Tokens};
use rusqlite::{Row, params};

use crate::{Scope, SessionNumber, Store, StoreError};

/// A model that no provider has: what agents write in its name they said themselves.
const SYNTHETIC: &str = "<synthetic>";

/// Every time zone is a multiple of this away from UTC, so that its days are made of whole quarters of an hour.
const QUARTER_MILLIS: i64 = 15 * 60 * 1000;

/// Which messages are wanted.
#[derive(Clone, Debug, Default)]
pub struct UsageFilter {
    /// Where.
    pub scope: Scope,
    /// Of one agent.
    pub agent: Option<Agent>,
    /// Not before; then messages without a time are left out.
    pub from: Option<Timestamp>,
    /// Before; then messages without a time are left out.
    pub to: Option<Timestamp>,
}

/// What is told apart beside models.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UsageGrain {
    /// Nothing else.
    #[default]
    Model,
    /// The quarter of an hour, from which the days of every time zone can be made.
    Time,
    /// The agent.
    Agent,
    /// The project.
    Project,
}

/// What messages took that have the same model, the same grain, and prompts of the same length.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsageSlice {
    /// The quarter of an hour, where times are told apart and known.
    pub at: Option<Timestamp>,
    /// The agent or the project, where these are told apart and known.
    pub label: Option<String>,
    /// The model, as the agent named it.
    pub model: Option<String>,
    /// How many of the given lengths the prompts are longer than.
    pub step: usize,
    /// Messages.
    pub messages: u64,
    /// Their tokens.
    pub tokens: Tokens,
    /// Billionths of a dollar, if the agent noted what these messages cost.
    pub cost_nanos: Option<u64>,
}

impl Store {
    /// What the messages took, each once. `steps` are lengths of prompts, shortest first, that are told apart.
    pub fn usage(&self, filter: &UsageFilter, grain: UsageGrain, steps: &[u64]) -> Result<Vec<UsageSlice>, StoreError> {
        let read = || -> rusqlite::Result<Vec<UsageSlice>> {
            let mut labels = Names::default();
            let sessions = self.labelled_sessions(filter, grain, &mut labels)?;
            let mut models = Names::default();
            let mut sums: HashMap<Key, Sum> = HashMap::new();
            let mut statement = self.connection.prepare_cached(
                "SELECT session, at, model, input, output, cache_read, cache_write, cost_nanos FROM usage
                 WHERE space = ?1 AND (?2 IS NULL OR at >= ?2) AND (?3 IS NULL OR at < ?3)",
            )?;
            let millis = |at: Option<Timestamp>| at.map(Timestamp::as_millis);
            let mut rows = statement.query(params![self.space.as_str(), millis(filter.from), millis(filter.to)])?;
            while let Some(row) = rows.next()? {
                let Some(label) = sessions.get(&row.get(0)?) else { continue };
                let Some((model, message)) = message(row)? else { continue };
                let key = Key {
                    quarter: if grain == UsageGrain::Time { quarter(row)? } else { None },
                    label: *label,
                    model: model.map(|model| models.number(model)),
                    step: message.step(steps),
                    is_noted: message.cost_nanos.is_some(),
                };
                sums.entry(key).or_default().add(&message);
            }
            Ok(sums.into_iter().map(|(key, sum)| slice(key, sum, &labels, &models)).collect())
        };
        read().map_err(|cause| self.err(cause))
    }

    /// What the messages of one session took.
    pub fn session_usage(&self, session: SessionNumber, steps: &[u64]) -> Result<Vec<UsageSlice>, StoreError> {
        let read = || -> rusqlite::Result<Vec<UsageSlice>> {
            let mut models = Names::default();
            let mut sums: HashMap<Key, Sum> = HashMap::new();
            let mut statement = self.connection.prepare_cached(
                "SELECT session, at, model, input, output, cache_read, cache_write, cost_nanos
                 FROM usage INDEXED BY usage_by_session WHERE space = ?1 AND session = ?2",
            )?;
            let mut rows = statement.query(params![self.space.as_str(), session.0])?;
            while let Some(row) = rows.next()? {
                let Some((model, message)) = message(row)? else { continue };
                let key = Key {
                    quarter: None,
                    label: None,
                    model: model.map(|model| models.number(model)),
                    step: message.step(steps),
                    is_noted: message.cost_nanos.is_some(),
                };
                sums.entry(key).or_default().add(&message);
            }
            Ok(sums.into_iter().map(|(key, sum)| slice(key, sum, &Names::default(), &models)).collect())
        };
        read().map_err(|cause| self.err(cause))
    }

    /// The sessions that are looked at, with the number of what tells them apart.
    fn labelled_sessions(
        &self,
        filter: &UsageFilter,
        grain: UsageGrain,
        labels: &mut Names,
    ) -> rusqlite::Result<HashMap<i64, Option<usize>>> {
        // The index holds all of this; the rows of sessions are long.
        let mut statement = self.connection.prepare_cached(
            "SELECT num, agent, coalesce(project, cwd) FROM session INDEXED BY session_by_project
             WHERE space = ?1 AND (?3 IS NULL OR agent = ?3)
             AND (?2 IS NULL OR project = ?2 OR cwd = ?2 OR substr(cwd, 1, length(?2) + 1) = ?2 || '/')",
        )?;
        let project = match &filter.scope {
            Scope::AllProjects => None,
            Scope::Project(path) => Some(path.as_str()),
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

/// Texts that occur often, each by a number.
#[derive(Default)]
struct Names {
    numbers: HashMap<String, usize>,
    texts: Vec<String>,
}

impl Names {
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
struct Key {
    quarter: Option<i64>,
    label: Option<usize>,
    model: Option<usize>,
    step: usize,
    is_noted: bool,
}

/// What one message took.
struct Message {
    tokens: Tokens,
    cost_nanos: Option<u64>,
}

impl Message {
    /// All that was sent, from a cache or not.
    fn prompt(&self) -> u64 {
        Tokens { output: 0, ..self.tokens }.total()
    }

    /// How many of the lengths the prompt is longer than.
    fn step(&self, steps: &[u64]) -> usize {
        steps.iter().filter(|step| self.prompt() > **step).count()
    }
}

#[derive(Clone, Copy, Default)]
struct Sum {
    messages: u64,
    tokens: Tokens,
    cost_nanos: u64,
}

impl Sum {
    fn add(&mut self, message: &Message) {
        self.messages += 1;
        self.tokens = self.tokens.plus(message.tokens);
        self.cost_nanos = self.cost_nanos.saturating_add(message.cost_nanos.unwrap_or(0));
    }
}

/// The model and what the message took; nothing of one that took nothing, or that no model said.
fn message<'r>(row: &'r Row<'_>) -> rusqlite::Result<Option<(Option<&'r str>, Message)>> {
    let model = row.get_ref(2)?.as_str_or_null()?.filter(|model| !model.is_empty());
    let count = |at: usize| row.get::<_, i64>(at).map(|number| number as u64);
    let tokens = Tokens { input: count(3)?, output: count(4)?, cache_read: count(5)?, cache_write: count(6)? };
    let cost_nanos = row.get::<_, Option<i64>>(7)?.map(|nanos| nanos.max(0) as u64);
    let counts = model != Some(SYNTHETIC) && (tokens != Tokens::default() || cost_nanos.is_some());
    Ok(counts.then_some((model, Message { tokens, cost_nanos })))
}

fn quarter(row: &Row<'_>) -> rusqlite::Result<Option<i64>> {
    Ok(row.get::<_, Option<i64>>(1)?.map(|at| at.div_euclid(QUARTER_MILLIS)))
}

fn slice(key: Key, sum: Sum, labels: &Names, models: &Names) -> UsageSlice {
    UsageSlice {
        at: key.quarter.map(|quarter| Timestamp::from_millis(quarter.saturating_mul(QUARTER_MILLIS))),
        label: labels.text(key.label),
        model: models.text(key.model),
        step: key.step,
        messages: sum.messages,
        tokens: sum.tokens,
        cost_nanos: key.is_noted.then_some(sum.cost_nanos),
    }
}
