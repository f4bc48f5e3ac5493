//! How much may be spent. Where nothing is said, nothing.

use crate::{NanoUsd, Planned};

/// What the user allows; 0 is "not set". With both daily limits at 0 nothing may be sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// Tokens of one day.
    pub daily_tokens: u64,
    /// Dollars of one day.
    pub daily_usd: NanoUsd,
    /// Tokens of one request.
    pub call_tokens: u64,
    /// Dollars of one request.
    pub call_usd: NanoUsd,
}

/// What was spent today, with what is under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Tokens of every kind.
    pub tokens: u64,
    /// Dollars.
    pub cost: NanoUsd,
}

/// Why a request may not be sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Nobody allowed anything.
    #[error("no budget is set, so nothing is sent; set budget.daily_tokens or budget.daily_usd")]
    NoBudget,
    /// The day's tokens do not suffice.
    #[error("budget.daily_tokens is {limit}: {spent} are spent, and this needs up to {needed}")]
    DailyTokens {
        /// What is allowed.
        limit: u64,
        /// What was spent today.
        spent: u64,
        /// What this request may take.
        needed: u64,
    },
    /// The day's dollars do not suffice.
    #[error("budget.daily_usd is {limit}: {spent} is spent, and this needs up to {needed}")]
    DailyUsd {
        /// What is allowed.
        limit: NanoUsd,
        /// What was spent today.
        spent: NanoUsd,
        /// What this request may cost.
        needed: NanoUsd,
    },
    /// One request would take too many tokens.
    #[error("budget.call_tokens is {limit}, and this needs up to {needed}")]
    CallTokens {
        /// What is allowed.
        limit: u64,
        /// What this request may take.
        needed: u64,
    },
    /// One request would cost too much.
    #[error("budget.call_usd is {limit}, and this needs up to {needed}")]
    CallUsd {
        /// What is allowed.
        limit: NanoUsd,
        /// What this request may cost.
        needed: NanoUsd,
    },
    /// Dollars are limited, and nobody knows what the model costs.
    #[error(
        "the price of {model} is unknown, so budget.daily_usd and budget.call_usd cannot be kept; \
         set its price, or limit tokens instead"
    )]
    PriceUnknown {
        /// The model.
        model: String,
    },
    /// What is spent cannot be written down.
    #[error("what is spent cannot be written down, so nothing is sent: {reason}")]
    Books {
        /// What is wrong.
        reason: String,
    },
}

impl Budget {
    /// Whether this may be sent after what was spent: every limit that is set must hold for both together.
    pub fn check(&self, spent: &Spent, planned: &Planned) -> Result<(), Refusal> {
        if self.daily_tokens == 0 && self.daily_usd == NanoUsd::ZERO {
            return Err(Refusal::NoBudget);
        }
        self.check_tokens(spent.tokens, planned.input_tokens.saturating_add(planned.output_tokens))?;
        if self.daily_usd == NanoUsd::ZERO && self.call_usd == NanoUsd::ZERO {
            return Ok(());
        }
        let needed = planned.cost.ok_or_else(|| Refusal::PriceUnknown { model: planned.model.clone() })?;
        self.check_usd(spent.cost, needed)
    }

    fn check_tokens(&self, spent: u64, needed: u64) -> Result<(), Refusal> {
        if self.call_tokens > 0 && needed > self.call_tokens {
            return Err(Refusal::CallTokens { limit: self.call_tokens, needed });
        }
        if self.daily_tokens > 0 && spent.saturating_add(needed) > self.daily_tokens {
            return Err(Refusal::DailyTokens { limit: self.daily_tokens, spent, needed });
        }
        Ok(())
    }

    fn check_usd(&self, spent: NanoUsd, needed: NanoUsd) -> Result<(), Refusal> {
        if self.call_usd > NanoUsd::ZERO && needed > self.call_usd {
            return Err(Refusal::CallUsd { limit: self.call_usd, needed });
        }
        if self.daily_usd > NanoUsd::ZERO && spent.plus(needed) > self.daily_usd {
            return Err(Refusal::DailyUsd { limit: self.daily_usd, spent, needed });
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

    fn planned(cost: Option<&str>) -> Planned {
        Planned {
            provider: Provider::OpenAi,
            model: "small".to_owned(),
            purpose: "turn",
            input_tokens: 60,
            output_tokens: 40,
            cost: cost.map(usd),
        }
    }

    fn check(budget: Budget, spent_tokens: u64, spent_usd: &str, cost: Option<&str>, told: &str) {
        let spent = Spent { tokens: spent_tokens, cost: usd(spent_usd) };
        let refused = budget.check(&spent, &planned(cost)).err().map(|refusal| refusal.to_string());
        assert_eq!(refused.unwrap_or_default(), told, "{budget:?}");
    }

    #[test]
    fn without_a_daily_limit_nothing_may_be_sent() {
        let no = "no budget is set, so nothing is sent; set budget.daily_tokens or budget.daily_usd";
        check(Budget::default(), 0, "0", Some("0"), no);
        check(Budget { call_tokens: 1_000, call_usd: usd("9"), ..Budget::default() }, 0, "0", Some("0"), no);
    }

    #[test]
    fn a_limit_may_be_reached_and_not_passed() {
        let daily = Budget { daily_tokens: 1_000, ..Budget::default() };
        check(daily, 900, "0", None, "");
        check(daily, 901, "0", None, "budget.daily_tokens is 1000: 901 are spent, and this needs up to 100");
        check(
            daily,
            u64::MAX,
            "0",
            None,
            &format!("budget.daily_tokens is 1000: {} are spent, and this needs up to 100", u64::MAX),
        );
        let call = Budget { call_tokens: 99, ..daily };
        check(call, 0, "0", None, "budget.call_tokens is 99, and this needs up to 100");
        let daily = Budget { daily_usd: usd("1"), ..Budget::default() };
        check(daily, 0, "0.75", Some("0.25"), "");
        check(daily, 0, "0.76", Some("0.25"), "budget.daily_usd is $1.00: $0.76 is spent, and this needs up to $0.25");
        let call = Budget { call_usd: usd("0.2"), ..daily };
        check(call, 0, "0", Some("0.25"), "budget.call_usd is $0.20, and this needs up to $0.25");
        check(
            Budget { daily_tokens: 50, ..daily },
            0,
            "0",
            Some("0"),
            "budget.daily_tokens is 50: 0 are spent, and this needs up to 100",
        );
    }

    #[test]
    fn dollars_cannot_be_limited_where_the_price_is_unknown() {
        let told = "the price of small is unknown, so budget.daily_usd and budget.call_usd cannot be kept; \
            set its price, or limit tokens instead";
        check(Budget { daily_usd: usd("1"), ..Budget::default() }, 0, "0", None, told);
        check(Budget { daily_tokens: 1_000, call_usd: usd("1"), ..Budget::default() }, 0, "0", None, told);
        check(Budget { daily_tokens: 1_000, ..Budget::default() }, 0, "0", None, "");
    }
}
