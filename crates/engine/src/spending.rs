//! The budget: every request to a model is entered in the ledger before it is sent, or it is not sent.

use std::cell::{Cell, RefCell};

use rethread_llm::{Admission, Budget, Meter, NanoUsd, Planned, Refusal, Settled, Spent};
use rethread_model::Timestamp;
use rethread_store::{PlannedRequest, SettledRequest, Spending, Store};

use crate::{Clock, Engine, EngineError};

/// The longest reason that is kept of a request that failed.
const LONGEST_REASON: usize = 200;

/// The books of one run: the ledger, and what may be spent.
#[derive(Debug)]
pub(crate) struct Books {
    store: RefCell<Store>,
    budget: Budget,
    clock: Clock,
    day_began: Timestamp,
    /// What this run has cost; nothing once something was sent whose price nobody knows.
    run: Cell<Option<NanoUsd>>,
}

/// What may be spent in a day, and what was spent today.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetStatus {
    /// Tokens of a day; nothing where they are not limited.
    pub daily_tokens: Option<u64>,
    /// Dollars of a day; nothing where they are not limited.
    pub daily_usd: Option<NanoUsd>,
    /// Requests sent today.
    pub requests: u64,
    /// Tokens spent today.
    pub tokens: u64,
    /// Dollars spent today, as far as prices are known.
    pub usd: NanoUsd,
}

impl Engine {
    /// Opens the books. What is entered must be on disk before anything is sent.
    pub(crate) fn books(&self) -> Result<Books, EngineError> {
        let store = self.writer()?;
        store.make_lasting()?;
        let (clock, day_began) = (self.environment.clock, self.day_began());
        Ok(Books {
            store: RefCell::new(store),
            budget: self.budget(),
            clock,
            day_began,
            run: Cell::new(Some(NanoUsd::ZERO)),
        })
    }

    pub(crate) fn budget(&self) -> Budget {
        let config = &self.config;
        let money = |name: &str| config.money(name).unwrap_or_default();
        Budget {
            daily_tokens: config.number("budget.daily_tokens"),
            daily_usd: money("budget.daily_usd"),
            call_tokens: config.number("budget.call_tokens"),
            call_usd: money("budget.call_usd"),
        }
    }

    /// What may be spent, and what was.
    pub(crate) fn budget_status(&self, store: Option<&Store>) -> Result<BudgetStatus, EngineError> {
        let spent = store.map(|store| store.spent_since(self.day_began())).transpose()?.unwrap_or_default();
        let budget = self.budget();
        Ok(BudgetStatus {
            daily_tokens: Some(budget.daily_tokens).filter(|tokens| *tokens > 0),
            daily_usd: Some(budget.daily_usd).filter(|usd| *usd > NanoUsd::default()),
            requests: spent.requests,
            tokens: spent.tokens,
            usd: NanoUsd::new(spent.cost_nanos),
        })
    }

    /// Midnight of the user's day.
    pub(crate) fn day_began(&self) -> Timestamp {
        self.midnight(0)
    }

    /// The next midnight of the user's day, when there is a budget again.
    pub(crate) fn tomorrow(&self) -> Timestamp {
        self.midnight(1)
    }

    /// The midnight at which the user's day began, or one so many days later.
    fn midnight(&self, days: i64) -> Timestamp {
        let now = self.now();
        let day = jiff::Timestamp::from_millisecond(now.as_millis())
            .ok()
            .and_then(|moment| moment.to_zoned(self.environment.zone.clone()).start_of_day().ok())
            .and_then(|day| day.checked_add(jiff::Span::new().days(days)).ok());
        day.map_or(now, |day| Timestamp::from_millis(day.timestamp().as_millisecond()))
    }
}

impl Books {
    /// What was sent through these books has cost so much, as far as prices are known.
    pub(crate) fn run_cost(&self) -> Option<NanoUsd> {
        self.run.get()
    }

    /// Whether a request would be allowed now. Enters nothing.
    pub(crate) fn allow(&self, planned: &Planned) -> Result<(), Refusal> {
        let spent = self.store.borrow().spent_since(self.day_began).map_err(|error| unwritable(&error))?;
        self.budget.check(&spent_of(spent), planned)
    }
}

impl Meter for Books {
    fn admit(&self, planned: &Planned) -> Result<Admission, Refusal> {
        let request = PlannedRequest {
            at: self.clock.now(),
            provider: planned.provider.as_str(),
            model: &planned.model,
            purpose: planned.purpose,
            tokens: planned.input_tokens.saturating_add(planned.output_tokens),
            cost_nanos: planned.cost.map(NanoUsd::get),
        };
        let check = |spent| self.budget.check(&spent_of(spent), planned);
        let entered = self.store.borrow_mut().enter_request(&request, self.day_began, check);
        entered.map_err(|error| unwritable(&error))?.map(Admission)
    }

    fn settle(&self, admission: Admission, settled: &Settled) {
        let reason = settled.error.as_deref().map(|reason| &reason[..reason.floor_char_boundary(LONGEST_REASON)]);
        let request = if settled.was_sent {
            SettledRequest {
                tokens: settled.tokens.map(rethread_model::Tokens::total),
                cost_nanos: settled.cost.map(NanoUsd::get),
                error: reason,
            }
        } else {
            SettledRequest { tokens: Some(0), cost_nanos: Some(0), error: reason }
        };
        if settled.was_sent {
            self.run.set(self.run.get().zip(settled.cost).map(|(sum, cost)| sum.plus(cost)));
        }
        // If this cannot be written the estimate stands.
        let _ = self.store.borrow().settle_request(admission.0, &request);
    }
}

fn spent_of(spending: Spending) -> Spent {
    Spent { tokens: spending.tokens, cost: NanoUsd::new(spending.cost_nanos) }
}

fn unwritable(error: &rethread_store::StoreError) -> Refusal {
    Refusal::Books { reason: error.to_string() }
}
