//! Sums of tokens and cost over the agents' API messages.
//!
//! Sums up while reading the rows: GROUP BY would sort all rows first, which takes several times as long, and so would
//! a join with the sessions.

use std::collections::HashMap;

use rethread_model::{Agent, Timestamp, Tokens};

use crate::sessions::IN_SCOPE;
use crate::sql::{Row, values};
use crate::{ReadStore, SessionNumber, SessionScope, StoreError, sessions};

/// Model name in messages that the agent made up without asking a model.
const SYNTHETIC_MODEL: &str = "<synthetic>";

/// The offset of every time zone from UTC is a multiple of this, so days in any time zone consist of whole quarters.
const QUARTER_MILLIS: i64 = 15 * 60 * 1000;

/// Selects API messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
    /// The session.
    Session,
    /// The session, and quarters of an hour.
    SessionAndTime,
}

/// Sum over messages with the same model, group and price step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsageTotal {
    /// Start of the quarter of an hour, when grouped by time.
    pub at: Option<Timestamp>,
    /// The agent or the project, when grouped by it.
    pub label: Option<String>,
    /// The session, when grouped by it.
    pub session: Option<SessionNumber>,
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

/// The agent and the project of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionPlace {
    /// Identifies the session.
    pub number: SessionNumber,
    /// The agent that wrote the transcript.
    pub agent: Agent,
    /// Its project, or the directory it started in.
    pub project: Option<String>,
}

const COLUMNS: &str = "session, at, model, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens,
     cost_nanos, hour_write_tokens";

impl ReadStore {
    /// Sums of usage. `steps` are prompt lengths in tokens, ascending, at which prices change.
    pub fn usage(&self, filter: &UsageFilter, grain: UsageGrain, steps: &[u64]) -> Result<Vec<UsageTotal>, StoreError> {
        let mut labels = TextInterner::default();
        let sessions = self.labeled_sessions(filter, grain, &mut labels)?;
        let mut sums = UsageSums::default();
        let sql = format!(
            "SELECT {COLUMNS} FROM usage WHERE space = ?1 AND (?2 IS NULL OR at >= ?2) AND (?3 IS NULL OR at < ?3)"
        );
        self.sql.stream(&sql, values![filter.from, filter.to], |row| {
            let number = row.int("session")?;
            let Some(label) = sessions.get(&number) else { return Ok(()) };
            let has_time = matches!(grain, UsageGrain::Time | UsageGrain::SessionAndTime);
            let has_session = matches!(grain, UsageGrain::Session | UsageGrain::SessionAndTime);
            let at = if has_time { row.opt_int("at")? } else { None };
            let group = MessageGroup {
                quarter: at.map(|at| at.div_euclid(QUARTER_MILLIS)),
                label: *label,
                session: has_session.then_some(number),
            };
            sums.add(row, group, steps)
        })?;
        Ok(sums.into_totals(&labels))
    }

    /// Sums of usage of one session.
    pub fn session_usage(&self, session: SessionNumber, steps: &[u64]) -> Result<Vec<UsageTotal>, StoreError> {
        let index = self.sql.index("usage_by_session");
        let sql = format!("SELECT {COLUMNS} FROM usage {index} WHERE space = ?1 AND session = ?2");
        let mut sums = UsageSums::default();
        self.sql.each(&sql, values![session], |row| sums.add(row, MessageGroup::default(), steps))?;
        Ok(sums.into_totals(&TextInterner::default()))
    }

    /// Agent and project of every session that the filter selects, whatever its time.
    pub fn session_places(&self, filter: &UsageFilter) -> Result<Vec<SessionPlace>, StoreError> {
        // The index covers the query; session rows are long.
        let sql = format!(
            "SELECT number, agent, coalesce(project, cwd) AS place FROM session {}
             WHERE space = ?1 AND (?3 IS NULL OR agent = ?3) AND {IN_SCOPE}",
            self.sql.index("session_by_project")
        );
        self.sql.known(&sql, values![filter.scope.project(), filter.agent], |row| {
            let Some(agent) = row.parsed("agent")? else { return Ok(None) };
            Ok(Some(SessionPlace { number: row.session("number")?, agent, project: row.opt_string("place")? }))
        })
    }

    /// The selected sessions, with the number of their label.
    fn labeled_sessions(
        &self,
        filter: &UsageFilter,
        grain: UsageGrain,
        labels: &mut TextInterner,
    ) -> Result<HashMap<i64, Option<usize>>, StoreError> {
        // The index covers the query; session rows are long.
        let sql = format!(
            "SELECT number, agent, coalesce(project, cwd) AS place FROM session {}
             WHERE space = ?1 AND (?3 IS NULL OR agent = ?3) AND {IN_SCOPE}",
            self.sql.index("session_by_project")
        );
        let mut sessions = HashMap::new();
        self.sql.each(&sql, values![filter.scope.project(), filter.agent], |row| {
            let label = match grain {
                UsageGrain::Model | UsageGrain::Time | UsageGrain::Session | UsageGrain::SessionAndTime => None,
                UsageGrain::Agent => row.opt_text("agent")?,
                UsageGrain::Project => row.opt_text("place")?,
            };
            sessions.insert(row.int("number")?, label.map(|label| labels.number(label)));
            Ok::<_, StoreError>(())
        })?;
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

/// What a message is grouped by, besides the model and the price.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
struct MessageGroup {
    quarter: Option<i64>,
    label: Option<usize>,
    session: Option<i64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct GroupKey {
    group: MessageGroup,
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

/// Sums by group.
#[derive(Default)]
struct UsageSums {
    models: TextInterner,
    sums: HashMap<GroupKey, UsageSum>,
}

impl UsageSums {
    fn add(&mut self, row: &Row<'_>, group: MessageGroup, steps: &[u64]) -> Result<(), StoreError> {
        let Some((model, message)) = message_from_row(row)? else { return Ok(()) };
        let key = GroupKey {
            group,
            model: model.map(|model| self.models.number(model)),
            step: message.step(steps),
            has_cost: message.cost_nanos.is_some(),
        };
        self.sums.entry(key).or_default().add(&message);
        Ok(())
    }

    fn into_totals(self, labels: &TextInterner) -> Vec<UsageTotal> {
        let total = |(key, sum): (GroupKey, UsageSum)| UsageTotal {
            at: key.group.quarter.map(|quarter| Timestamp::from_millis(quarter.saturating_mul(QUARTER_MILLIS))),
            label: labels.text(key.group.label),
            session: key.group.session.map(SessionNumber),
            model: self.models.text(key.model),
            price_step: key.step,
            messages: sum.messages,
            tokens: sum.tokens,
            hour_write_tokens: sum.hour_write_tokens,
            cost_nanos: key.has_cost.then_some(sum.cost_nanos),
        };
        self.sums.into_iter().map(total).collect()
    }
}

/// None for a message without usage, or one that no model wrote.
fn message_from_row<'r>(row: &Row<'r>) -> Result<Option<(Option<&'r str>, MessageTotal)>, StoreError> {
    let model = row.opt_text("model")?.filter(|model| !model.is_empty());
    let tokens = sessions::tokens(row)?;
    let cost_nanos = row.opt_int("cost_nanos")?.map(|nanos| nanos.max(0) as u64);
    let counts = model != Some(SYNTHETIC_MODEL) && (tokens != Tokens::default() || cost_nanos.is_some());
    let hour_write_tokens = row.u64("hour_write_tokens")?;
    Ok(counts.then_some((model, MessageTotal { tokens, hour_write_tokens, cost_nanos })))
}
