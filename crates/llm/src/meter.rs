//! Who keeps the books. Every request is admitted before it is sent and settled after, each repetition too.

use rethread_model::Tokens;

use crate::{NanoUsd, Provider, Refusal};

/// Keeps the books of what is sent. Without its admission nothing is.
pub trait Meter {
    /// Whether this may be sent. What is admitted counts as spent until it is settled.
    fn admit(&self, planned: &Planned) -> Result<Admission, Refusal>;

    /// What became of it. Called once for each admission, unless the process ends before.
    fn settle(&self, admission: Admission, settled: &Settled);
}

/// A request before it is sent, and the most it may take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// Who is asked.
    pub provider: Provider,
    /// Which model.
    pub model: String,
    /// What for.
    pub purpose: &'static str,
    /// Tokens of the input: a generous estimate.
    pub input_tokens: u64,
    /// The most tokens of output that are asked for.
    pub output_tokens: u64,
    /// What all of it would cost; nothing where the price is unknown.
    pub cost: Option<NanoUsd>,
}

/// The number under which a meter admitted a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admission(pub u64);

/// What became of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settled {
    /// Tokens as the provider counted them. None: nobody counted, and the estimate stands.
    pub tokens: Option<Tokens>,
    /// What it cost, or, where nobody counted, was planned to. None where the price is unknown.
    pub cost: Option<NanoUsd>,
    /// What went wrong, in a few words.
    pub error: Option<String>,
    /// False if the connection failed before anything was sent: that costs nothing.
    pub was_sent: bool,
}
