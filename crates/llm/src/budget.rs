//! Spending limits for model requests. Without a daily limit, nothing may be sent.

use crate::{NanoUsd, RequestEstimate};

/// The user's limits; 0 means "not set". With both daily limits at 0, nothing may be sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// Tokens per day.
    pub daily_tokens: u64,
    /// US dollars per day.
    pub daily_usd: NanoUsd,
    /// Tokens per request.
    pub call_tokens: u64,
    /// US dollars per request.
    pub call_usd: NanoUsd,
}

/// Spending of the current day, including requests that are still running.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpentToday {
    /// Input, output and cache tokens together.
    pub tokens: u64,
    /// Cost in US dollars.
    pub cost: NanoUsd,
}

/// Why the budget does not allow a request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BudgetRefusal {
    /// Neither daily limit is set.
    #[error("no budget is set, so nothing is sent; set budget.daily_tokens or budget.daily_usd")]
    NoBudget,
    /// The request would exceed the daily token limit.
    #[error(
        "daily token budget exceeded: {spent} of {limit} spent, this request needs up to {needed} (budget.daily_tokens)"
    )]
    DailyTokens {
        /// The configured limit.
        limit: u64,
        /// Spent today, including running requests.
        spent: u64,
        /// The most tokens this request can use.
        needed: u64,
    },
    /// The request would exceed the daily dollar limit.
    #[error(
        "daily cost budget exceeded: {spent} of {limit} spent, this request needs up to {needed} (budget.daily_usd)"
    )]
    DailyUsd {
        /// The configured limit.
        limit: NanoUsd,
        /// Spent today, including running requests.
        spent: NanoUsd,
        /// The most this request can cost.
        needed: NanoUsd,
    },
    /// The request alone exceeds the token limit per request.
    #[error("token budget per request exceeded: limit {limit}, this request needs up to {needed} (budget.call_tokens)")]
    CallTokens {
        /// The configured limit.
        limit: u64,
        /// The most tokens this request can use.
        needed: u64,
    },
    /// The request alone exceeds the dollar limit per request.
    #[error("cost budget per request exceeded: limit {limit}, this request needs up to {needed} (budget.call_usd)")]
    CallUsd {
        /// The configured limit.
        limit: NanoUsd,
        /// The most this request can cost.
        needed: NanoUsd,
    },
    /// A dollar limit is set, but the price of the model is unknown.
    #[error(
        "the price of {model} is unknown, so budget.daily_usd and budget.call_usd cannot be enforced; \
         set its price, or limit tokens instead"
    )]
    UnknownPrice {
        /// Name of the model without a price.
        model: String,
    },
    /// The ledger cannot be written, so spending could not be limited.
    #[error("cannot write the spending ledger, so nothing is sent: {reason}")]
    LedgerUnavailable {
        /// The underlying error.
        reason: String,
    },
}

impl Budget {
    /// Checks every limit that is set against what was already spent plus this request.
    pub fn check(&self, spent: &SpentToday, planned: &RequestEstimate) -> Result<(), BudgetRefusal> {
        if self.daily_tokens == 0 && self.daily_usd == NanoUsd::ZERO {
            return Err(BudgetRefusal::NoBudget);
        }
        self.check_tokens(spent.tokens, planned.input_tokens.saturating_add(planned.output_tokens))?;
        if self.daily_usd == NanoUsd::ZERO && self.call_usd == NanoUsd::ZERO {
            return Ok(());
        }
        let needed = planned.cost.ok_or_else(|| BudgetRefusal::UnknownPrice { model: planned.model.clone() })?;
        self.check_usd(spent.cost, needed)
    }

    fn check_tokens(&self, spent: u64, needed: u64) -> Result<(), BudgetRefusal> {
        if self.call_tokens > 0 && needed > self.call_tokens {
            return Err(BudgetRefusal::CallTokens { limit: self.call_tokens, needed });
        }
        if self.daily_tokens > 0 && spent.saturating_add(needed) > self.daily_tokens {
            return Err(BudgetRefusal::DailyTokens { limit: self.daily_tokens, spent, needed });
        }
        Ok(())
    }

    fn check_usd(&self, spent: NanoUsd, needed: NanoUsd) -> Result<(), BudgetRefusal> {
        if self.call_usd > NanoUsd::ZERO && needed > self.call_usd {
            return Err(BudgetRefusal::CallUsd { limit: self.call_usd, needed });
        }
        if self.daily_usd > NanoUsd::ZERO && spent.plus(needed) > self.daily_usd {
            return Err(BudgetRefusal::DailyUsd { limit: self.daily_usd, spent, needed });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Provider;

    fn usd(text: &str) -> NanoUsd {
        text.parse().unwrap()
    }

    fn planned(cost: Option<&str>) -> RequestEstimate {
        RequestEstimate {
            provider: Provider::OpenAi,
            model: "small".to_owned(),
            purpose: "turn",
            input_tokens: 60,
            output_tokens: 40,
            cost: cost.map(usd),
        }
    }

    fn check(budget: Budget, spent_tokens: u64, spent_usd: &str, cost: Option<&str>, message: &str) {
        let spent = SpentToday { tokens: spent_tokens, cost: usd(spent_usd) };
        let refused = budget.check(&spent, &planned(cost)).err().map(|error| error.to_string());
        assert_eq!(refused.unwrap_or_default(), message, "{budget:?}");
    }

    #[test]
    fn without_a_daily_limit_nothing_may_be_sent() {
        let no = "no budget is set, so nothing is sent; set budget.daily_tokens or budget.daily_usd";
        check(Budget::default(), 0, "0", Some("0"), no);
        check(Budget { call_tokens: 1_000, call_usd: usd("9"), ..Budget::default() }, 0, "0", Some("0"), no);
    }

    #[test]
    fn a_limit_may_be_reached_but_not_exceeded() {
        let daily = Budget { daily_tokens: 1_000, ..Budget::default() };
        check(daily, 900, "0", None, "");
        let message = |spent: u64, limit: u64| {
            format!(
                "daily token budget exceeded: {spent} of {limit} spent, this request needs up to 100 (budget.daily_tokens)"
            )
        };
        check(daily, 901, "0", None, &message(901, 1_000));
        check(daily, u64::MAX, "0", None, &message(u64::MAX, 1_000));
        let call = Budget { call_tokens: 99, ..daily };
        let per_request =
            "token budget per request exceeded: limit 99, this request needs up to 100 (budget.call_tokens)";
        check(call, 0, "0", None, per_request);
        let daily = Budget { daily_usd: usd("1"), ..Budget::default() };
        check(daily, 0, "0.75", Some("0.25"), "");
        let cost =
            "daily cost budget exceeded: $0.76 of $1.00 spent, this request needs up to $0.25 (budget.daily_usd)";
        check(daily, 0, "0.76", Some("0.25"), cost);
        let call = Budget { call_usd: usd("0.2"), ..daily };
        let per_request =
            "cost budget per request exceeded: limit $0.20, this request needs up to $0.25 (budget.call_usd)";
        check(call, 0, "0", Some("0.25"), per_request);
        check(Budget { daily_tokens: 50, ..daily }, 0, "0", Some("0"), &message(0, 50));
    }

    #[test]
    fn a_dollar_limit_needs_a_known_price() {
        let message = "the price of small is unknown, so budget.daily_usd and budget.call_usd cannot be enforced; \
            set its price, or limit tokens instead";
        check(Budget { daily_usd: usd("1"), ..Budget::default() }, 0, "0", None, message);
        check(Budget { daily_tokens: 1_000, call_usd: usd("1"), ..Budget::default() }, 0, "0", None, message);
        check(Budget { daily_tokens: 1_000, ..Budget::default() }, 0, "0", None, "");
    }
}
