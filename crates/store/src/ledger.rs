//! The ledger of requests to models: entered before they are sent, settled afterwards, never removed.

use rethread_model::Timestamp;
use rusqlite::{TransactionBehavior, params};

use crate::{Store, StoreError};

/// A request that somebody wants to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedRequest<'a> {
    /// When.
    pub at: Timestamp,
    /// To whom.
    pub provider: &'a str,
    /// To which model.
    pub model: &'a str,
    /// What for.
    pub purpose: &'a str,
    /// Tokens it may take at most.
    pub tokens: u64,
    /// What it may cost at most, in billionths of a dollar; nothing if no price is known.
    pub cost_nanos: Option<u64>,
}

/// What became of a request. What is not known leaves the estimate as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SettledRequest<'a> {
    /// Tokens as the provider counted them.
    pub tokens: Option<u64>,
    /// What it cost, in billionths of a dollar.
    pub cost_nanos: Option<u64>,
    /// Why it failed, if it did.
    pub error: Option<&'a str>,
}

/// What was spent in a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spending {
    /// Requests.
    pub requests: u64,
    /// Tokens, counted or estimated.
    pub tokens: u64,
    /// Billionths of a dollar, as far as prices are known.
    pub cost_nanos: u64,
}

/// Requests to one model for one purpose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LedgerSum {
    /// What for.
    pub purpose: String,
    /// To whom.
    pub provider: String,
    /// To which model.
    pub model: String,
    /// How many, and what they took.
    pub spending: Spending,
    /// How many of them failed.
    pub failed: u64,
    /// How many of them have no known cost.
    pub unpriced: u64,
}

impl Store {
    /// Has everything this connection writes from now on reach the disk before it counts: for what only we know.
    pub fn make_lasting(&self) -> Result<(), StoreError> {
        self.connection.execute_batch("PRAGMA synchronous = FULL").map_err(|cause| self.err(cause))
    }

    /// Enters a request if what was spent since a moment allows it. Nobody can enter another one in between.
    pub fn enter_request<E>(
        &mut self,
        planned: &PlannedRequest<'_>,
        since: Timestamp,
        check: impl FnOnce(Spending) -> Result<(), E>,
    ) -> Result<Result<u64, E>, StoreError> {
        let space = self.space.as_str();
        let enter = || -> rusqlite::Result<Result<u64, E>> {
            let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            if let Err(refusal) = check(spent(&transaction, space, since)?) {
                return Ok(Err(refusal));
            }
            let number: i64 = transaction.query_row(
                "SELECT coalesce(max(num), 0) + 1 FROM ledger WHERE space = ?1",
                [space],
                |row| row.get(0),
            )?;
            transaction.execute(
                "INSERT INTO ledger (space, num, at, provider, model, purpose, tokens, cost_nanos)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                params![
                    space,
                    number,
                    planned.at.as_millis(),
                    planned.provider,
                    planned.model,
                    planned.purpose,
                    signed(planned.tokens),
                    planned.cost_nanos.map(signed),
                ],
            )?;
            transaction.commit()?;
            Ok(Ok(number as u64))
        };
        enter().map_err(|cause| StoreError::at(&self.path, cause))
    }

    /// Notes what became of a request.
    pub fn settle_request(&self, number: u64, settled: &SettledRequest<'_>) -> Result<(), StoreError> {
        let settle = || {
            self.connection.execute(
                "UPDATE ledger SET tokens = coalesce(?3, tokens), cost_nanos = coalesce(?4, cost_nanos),
                 settled = 1, counted = ?3 IS NOT NULL, error = ?5 WHERE space = ?1 AND num = ?2",
                params![
                    self.space.as_str(),
                    number as i64,
                    settled.tokens.map(signed),
                    settled.cost_nanos.map(signed),
                    settled.error,
                ],
            )
        };
        settle().map(drop).map_err(|cause| self.err(cause))
    }

    /// What was asked of which model for what, most tokens first, from one moment to before another.
    pub fn ledger(&self, from: Option<Timestamp>, to: Option<Timestamp>) -> Result<Vec<LedgerSum>, StoreError> {
        let read = || -> rusqlite::Result<Vec<LedgerSum>> {
            let mut statement = self.connection.prepare_cached(
                "SELECT purpose, provider, model, count(*), sum(tokens), coalesce(sum(cost_nanos), 0), count(error),
                 count(*) - count(cost_nanos) FROM ledger INDEXED BY ledger_by_time
                 WHERE space = ?1 AND (?2 IS NULL OR at >= ?2) AND (?3 IS NULL OR at < ?3)
                 GROUP BY purpose, provider, model ORDER BY sum(tokens) DESC, purpose, provider, model",
            )?;
            let values = params![self.space.as_str(), from.map(Timestamp::as_millis), to.map(Timestamp::as_millis)];
            let rows = statement.query_map(values, |row| {
                let number = |at: usize| row.get::<_, i64>(at).map(|number| number as u64);
                Ok(LedgerSum {
                    purpose: row.get(0)?,
                    provider: row.get(1)?,
                    model: row.get(2)?,
                    spending: Spending { requests: number(3)?, tokens: number(4)?, cost_nanos: number(5)? },
                    failed: number(6)?,
                    unpriced: number(7)?,
                })
            })?;
            rows.collect()
        };
        read().map_err(|cause| self.err(cause))
    }

    /// What was spent since a moment.
    pub fn spent_since(&self, since: Timestamp) -> Result<Spending, StoreError> {
        spent(&self.connection, self.space.as_str(), since).map_err(|cause| self.err(cause))
    }
}

fn spent(connection: &rusqlite::Connection, space: &str, since: Timestamp) -> rusqlite::Result<Spending> {
    connection.query_row(
        "SELECT count(*), coalesce(sum(tokens), 0), coalesce(sum(cost_nanos), 0) FROM ledger WHERE space = ?1 AND at >= ?2",
        params![space, since.as_millis()],
        |row| {
            let number = |at: usize| row.get::<_, i64>(at).map(|number| number as u64);
            Ok(Spending { requests: number(0)?, tokens: number(1)?, cost_nanos: number(2)? })
        },
    )
}

/// Numbers beyond what the database holds stay the largest it does; sums of two thousand of them still fit.
fn signed(number: u64) -> i64 {
    number.min(1 << 52) as i64
}
