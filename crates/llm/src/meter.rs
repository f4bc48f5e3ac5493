//! Interface to the spending ledger. Every request, including each retry, is admitted before it is sent and settled after.

use rethread_model::Tokens;

use crate::{BudgetRefusal, NanoUsd, Provider};

/// Records the spending of requests and enforces the budget. Nothing is sent without its admission.
pub trait Meter {
    /// Admits or rejects a request. An admitted request counts as spent until it is settled.
    fn admit(&self, planned: &RequestEstimate) -> Result<Admission, BudgetRefusal>;

    /// Records the actual usage. Called once per admission, unless the process is killed before.
    fn settle(&self, admission: Admission, settled: &RequestSettlement);
}

/// A request before it is sent, with the most it can use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestEstimate {
    /// API the request is sent to.
    pub provider: Provider,
    /// Model name as configured.
    pub model: String,
    /// Short label for the ledger, such as `turn` or `embeddings`.
    pub purpose: &'static str,
    /// Input tokens: an upper estimate.
    pub input_tokens: u64,
    /// Output tokens: the limit sent with the request.
    pub output_tokens: u64,
    /// Cost if all of these tokens are used. `None` if the price is unknown.
    pub cost: Option<NanoUsd>,
}

/// Ledger id of an admitted request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admission(pub u64);

/// Actual usage and result of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestSettlement {
    /// Tokens reported by the provider. `None`: not reported, the estimate is used.
    pub tokens: Option<Tokens>,
    /// Actual cost, or the estimate if no tokens were reported. `None` if the price is unknown.
    pub cost: Option<NanoUsd>,
    /// What failed, in two or three words.
    pub error: Option<String>,
    /// False if the connection failed before anything was sent, which costs nothing.
    pub was_sent: bool,
}
