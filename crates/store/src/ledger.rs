//! The ledger of model requests: recorded before they are sent, settled afterwards, never removed.

use rethread_model::Timestamp;

use crate::sql::{Row, columns, values};
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
        let sql = format!(
            "SELECT purpose, provider, model, {SUMS}, count(error) AS failed,
             count(*) - count(cost_nanos) AS unpriced FROM ledger {}
             WHERE space = ?1 AND (?2 IS NULL OR at >= ?2) AND (?3 IS NULL OR at < ?3)
             GROUP BY purpose, provider, model ORDER BY sum(tokens) DESC, purpose, provider, model",
            self.sql.index("ledger_by_time")
        );
        self.sql.all(&sql, values![from, to], |row| {
            Ok(LedgerTotal {
                purpose: row.string("purpose")?,
                provider: row.string("provider")?,
                model: row.string("model")?,
                spending: spending(row)?,
                failed_requests: row.u64("failed")?,
                unpriced_requests: row.u64("unpriced")?,
            })
        })
    }

    /// What was spent since a time.
    pub fn spending_since(&self, since: Timestamp) -> Result<ModelSpending, StoreError> {
        let sql = format!("SELECT {SUMS} FROM ledger WHERE space = ?1 AND at >= ?2");
        Ok(self.sql.one(&sql, values![since], spending)?.unwrap_or_default())
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
        let batch = self.begin()?;
        if let Err(error) = check(batch.spending_since(since)?) {
            return Ok(Err(error));
        }
        let number = batch.next_number("ledger")?;
        batch.insert(
            "ledger",
            columns! {
                number: number,
                at: planned.at,
                provider: planned.provider,
                model: planned.model,
                purpose: planned.purpose,
                tokens: capped(planned.tokens),
                cost_nanos: planned.cost_nanos.map(capped),
            },
        )?;
        batch.commit()?;
        Ok(Ok(number as u64))
    }

    /// Stores the result of a request.
    pub fn settle_request(&self, number: u64, settled: &SettledRequest<'_>) -> Result<(), StoreError> {
        self.sql.run(
            "UPDATE ledger SET tokens = coalesce(?3, tokens), cost_nanos = coalesce(?4, cost_nanos),
             is_settled = TRUE, has_actual_tokens = ?3 IS NOT NULL, error = ?5 WHERE space = ?1 AND number = ?2",
            values![number, settled.tokens.map(capped), settled.cost_nanos.map(capped), settled.error],
        )
    }
}

const SUMS: &str = "count(*) AS requests, coalesce(CAST(sum(tokens) AS BIGINT), 0) AS tokens,
     coalesce(CAST(sum(cost_nanos) AS BIGINT), 0) AS cost_nanos";

fn spending(row: &Row<'_>) -> Result<ModelSpending, StoreError> {
    Ok(ModelSpending { requests: row.u64("requests")?, tokens: row.u64("tokens")?, cost_nanos: row.u64("cost_nanos")? })
}

/// Caps a number so that a sum of two thousand still fits into an i64.
fn capped(number: u64) -> u64 {
    number.min(1 << 52)
}
