//! Enforces the budget: every request to a model is recorded in the ledger before it is sent, or it is not sent.

use std::cell::{Cell, RefCell};

use rethread_llm::{Admission, Budget, BudgetRefusal, Meter, NanoUsd, RequestEstimate, RequestSettlement, SpentToday};
use rethread_model::Timestamp;
use rethread_store::{ModelSpending, PlannedRequest, ReadStore, SettledRequest, Store};

use crate::ModelService;
use crate::{Clock, EngineError};

/// Longest error text stored for a failed request, in bytes.
const MAX_REASON_BYTES: usize = 200;

/// Checks requests of one run against the budget and records them in the ledger.
#[derive(Debug)]
pub(crate) struct LedgerMeter {
    store: RefCell<Store>,
    budget: Budget,
    clock: Clock,
    day_start: Timestamp,
    /// Cost of this run so far. `None` once a request with an unknown price was sent.
    run_cost: Cell<Option<NanoUsd>>,
}

/// The daily budget, and how much of it is spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetStatus {
    /// Token limit per day. `None` if unlimited.
    pub daily_tokens: Option<u64>,
    /// Dollar limit per day. `None` if unlimited.
    pub daily_usd: Option<NanoUsd>,
    /// Requests sent today.
    pub requests: u64,
    /// Tokens spent today.
    pub tokens: u64,
    /// Dollars spent today, as far as prices are known.
    pub usd: NanoUsd,
}

impl ModelService<'_> {
    /// Opens the ledger. Entries must be on disk before a request is sent.
    pub(crate) fn meter(self) -> Result<LedgerMeter, EngineError> {
        let store = self.engine.writer()?;
        let (clock, day_start) = (self.engine.environment.clock, self.engine.day_start());
        Ok(LedgerMeter {
            store: RefCell::new(store),
            budget: self.budget(),
            clock,
            day_start,
            run_cost: Cell::new(Some(NanoUsd::ZERO)),
        })
    }

    pub(crate) fn budget(self) -> Budget {
        let limits = &self.engine.settings().budget;
        Budget {
            daily_tokens: limits.daily_tokens,
            daily_usd: limits.daily_usd.unwrap_or_default(),
            call_tokens: limits.call_tokens,
            call_usd: limits.call_usd.unwrap_or_default(),
        }
    }

    /// The daily budget and today's spending.
    pub(crate) fn budget_status(self, store: Option<&ReadStore>) -> Result<BudgetStatus, EngineError> {
        let spent = store.map(|store| store.spending_since(self.engine.day_start())).transpose()?.unwrap_or_default();
        let budget = self.budget();
        Ok(BudgetStatus {
            daily_tokens: Some(budget.daily_tokens).filter(|tokens| *tokens > 0),
            daily_usd: Some(budget.daily_usd).filter(|usd| *usd > NanoUsd::default()),
            requests: spent.requests,
            tokens: spent.tokens,
            usd: NanoUsd::new(spent.cost_nanos),
        })
    }
}

impl LedgerMeter {
    /// Cost of the requests sent so far. `None` if a price is unknown.
    pub(crate) fn run_cost(&self) -> Option<NanoUsd> {
        self.run_cost.get()
    }

    /// Whether a request would be allowed now. Records nothing.
    pub(crate) fn check_budget(&self, planned: &RequestEstimate) -> Result<(), BudgetRefusal> {
        let spent = self.store.borrow().spending_since(self.day_start).map_err(|error| ledger_refusal(&error))?;
        self.budget.check(&to_spent(spent), planned)
    }
}

impl Meter for LedgerMeter {
    fn admit(&self, planned: &RequestEstimate) -> Result<Admission, BudgetRefusal> {
        let request = PlannedRequest {
            at: self.clock.now(),
            provider: planned.provider.as_str(),
            model: &planned.model,
            purpose: planned.purpose,
            tokens: planned.input_tokens.saturating_add(planned.output_tokens),
            cost_nanos: planned.cost.map(NanoUsd::get),
        };
        let check = |spent| self.budget.check(&to_spent(spent), planned);
        let entered = self.store.borrow_mut().record_request(&request, self.day_start, check);
        entered.map_err(|error| ledger_refusal(&error))?.map(Admission)
    }

    fn settle(&self, admission: Admission, settled: &RequestSettlement) {
        let reason = settled.error.as_deref().map(|reason| &reason[..reason.floor_char_boundary(MAX_REASON_BYTES)]);
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
            self.run_cost.set(self.run_cost.get().zip(settled.cost).map(|(sum, cost)| sum.plus(cost)));
        }
        // If this fails, the estimate remains in the ledger.
        let _ = self.store.borrow().settle_request(admission.0, &request);
    }
}

fn to_spent(spending: ModelSpending) -> SpentToday {
    SpentToday { tokens: spending.tokens, cost: NanoUsd::new(spending.cost_nanos) }
}

fn ledger_refusal(error: &rethread_store::StoreError) -> BudgetRefusal {
    BudgetRefusal::LedgerUnavailable { reason: error.to_string() }
}
