//! The ledger of model requests: recorded before they are sent, settled afterwards, never removed.

use rethread_model::Timestamp;
use rusqlite::{Transaction, TransactionBehavior, params};

use crate::{ReadStore, Store, StoreError};

/// A model request that is about to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedRequest<'a> {
    /// Time of the request.
    pub at: Timestamp,
    /// Provider it goes to.
    pub provider: &'a str,
    /// Model it goes to.
    pub model: &'a str,
    /// What it is for, such as "card" or "facts".
    pub purpose: &'a str,
    /// Upper bound of the tokens it uses.
    pub tokens: u64,
    /// Upper bound of its cost in billionths of a dollar; `None` if the price is unknown.
    pub cost_nanos: Option<u64>,
}

/// The result of a model request. Values that are `None` keep the estimate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SettledRequest<'a> {
    /// Tokens reported by the provider.
    pub tokens: Option<u64>,
    /// Cost in billionths of a dollar.
    pub cost_nanos: Option<u64>,
    /// Error message of a failed request.
    pub error: Option<&'a str>,
}

/// What was spent on model requests in a period of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModelSpending {
    /// Number of requests.
    pub requests: u64,
    /// Tokens, actual or estimated.
    pub tokens: u64,
    /// Cost in billionths of a dollar, of requests with a known price.
    pub cost_nanos: u64,
}

/// Total of the requests to one model for one purpose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LedgerTotal {
    /// What they were for.
    pub purpose: String,
    /// Provider they went to.
    pub provider: String,
    /// Model they went to.
    pub model: String,
    /// Number of requests, tokens and cost.
    pub spending: ModelSpending,
    /// Requests that failed.
    pub failed_requests: u64,
    /// Requests without a known cost.
    pub unpriced_requests: u64,
}

impl ReadStore {
    /// Totals per purpose and model, most tokens first, from one time (included) to another (excluded).
    pub fn ledger_totals(
        &self,
        from: Option<Timestamp>,
        to: Option<Timestamp>,
    ) -> Result<Vec<LedgerTotal>, StoreError> {
        let read = || -> rusqlite::Result<Vec<LedgerTotal>> {
            let mut statement = self.connection.prepare_cached(
                "SELECT purpose, provider, model, count(*), sum(tokens), coalesce(sum(cost_nanos), 0), count(error),
                 count(*) - count(cost_nanos) FROM ledger INDEXED BY ledger_by_time
                 WHERE space = ?1 AND (?2 IS NULL OR at >= ?2) AND (?3 IS NULL OR at < ?3)
                 GROUP BY purpose, provider, model ORDER BY sum(tokens) DESC, purpose, provider, model",
            )?;
            let values = params![self.space.as_str(), from.map(Timestamp::as_millis), to.map(Timestamp::as_millis)];
            let rows = statement.query_map(values, |row| {
                let number = |at: usize| row.get::<_, i64>(at).map(|number| number as u64);
                Ok(LedgerTotal {
                    purpose: row.get(0)?,
                    provider: row.get(1)?,
                    model: row.get(2)?,
                    spending: ModelSpending { requests: number(3)?, tokens: number(4)?, cost_nanos: number(5)? },
                    failed_requests: number(6)?,
                    unpriced_requests: number(7)?,
                })
            })?;
            rows.collect()
        };
        read().map_err(|cause| self.err(cause))
    }

    /// What was spent since a time.
    pub fn spending_since(&self, since: Timestamp) -> Result<ModelSpending, StoreError> {
        spent(&self.connection, self.space.as_str(), since).map_err(|cause| self.err(cause))
    }
}

impl Store {
    /// Records a request if `check` accepts what was spent since a time, and returns its number. Both happen in one
    /// transaction, so that two processes cannot exceed a budget together.
    pub fn record_request<E>(
        &mut self,
        planned: &PlannedRequest<'_>,
        since: Timestamp,
        check: impl FnOnce(ModelSpending) -> Result<(), E>,
    ) -> Result<Result<u64, E>, StoreError> {
        let space = self.space.as_str();
        let enter = || -> rusqlite::Result<Result<u64, E>> {
            let transaction = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?;
            if let Err(error) = check(spent(&transaction, space, since)?) {
                return Ok(Err(error));
            }
            let number: i64 = transaction.query_row(
                "SELECT coalesce(max(number), 0) + 1 FROM ledger WHERE space = ?1",
                [space],
                |row| row.get(0),
            )?;
            transaction.execute(
                "INSERT INTO ledger (space, number, at, provider, model, purpose, tokens, cost_nanos)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                params![
                    space,
                    number,
                    planned.at.as_millis(),
                    planned.provider,
                    planned.model,
                    planned.purpose,
                    capped(planned.tokens),
                    planned.cost_nanos.map(capped),
                ],
            )?;
            transaction.commit()?;
            Ok(Ok(number as u64))
        };
        enter().map_err(|cause| self.err(cause))
    }

    /// Stores the result of a request.
    pub fn settle_request(&self, number: u64, settled: &SettledRequest<'_>) -> Result<(), StoreError> {
        let settle = || {
            self.connection.execute(
                "UPDATE ledger SET tokens = coalesce(?3, tokens), cost_nanos = coalesce(?4, cost_nanos),
                 is_settled = 1, has_actual_tokens = ?3 IS NOT NULL, error = ?5 WHERE space = ?1 AND number = ?2",
                params![
                    self.space.as_str(),
                    number as i64,
                    settled.tokens.map(capped),
                    settled.cost_nanos.map(capped),
                    settled.error,
                ],
            )
        };
        settle().map(drop).map_err(|cause| self.err(cause))
    }
}

fn spent(connection: &rusqlite::Connection, space: &str, since: Timestamp) -> rusqlite::Result<ModelSpending> {
    connection.query_row(
        "SELECT count(*), coalesce(sum(tokens), 0), coalesce(sum(cost_nanos), 0) FROM ledger WHERE space = ?1
         AND at >= ?2",
        params![space, since.as_millis()],
        |row| {
            let number = |at: usize| row.get::<_, i64>(at).map(|number| number as u64);
            Ok(ModelSpending { requests: number(0)?, tokens: number(1)?, cost_nanos: number(2)? })
        },
    )
}

/// Caps a number so that a sum of two thousand still fits into an i64.
fn capped(number: u64) -> i64 {
    number.min(1 << 52) as i64
}
