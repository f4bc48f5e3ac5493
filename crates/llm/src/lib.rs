//! The models of others, used only where the user configured one. The only crate that connects out.
//!
//! It knows texts, numbers and messages, not sessions. Nothing is connected before something is asked, and nothing is
//! sent that a [`Meter`] did not admit.
//!
//! ```
//! use rethread_llm::{Budget, ChatLimits, ChatModel, Provider, Refusal, Request, Spent, built_in_price};
//! use rethread_model::thread::ChatMessage;
//!
//! let (provider, model) = (Provider::Anthropic, "claude-haiku-4-5");
//! let price = built_in_price(provider, model);
//! let haiku = ChatModel::new(provider, provider.default_base(), model, None, price, ChatLimits::INTERACTIVE)?;
//! let request = Request {
//!     system: None,
//!     messages: vec![ChatMessage::user("What is a thread?")],
//!     tools: Vec::new(),
//!     max_output_tokens: 1_000,
//!     purpose: "turn",
//! };
//! let planned = haiku.planned(&request);
//! assert!(planned.cost.is_some_and(|cost| cost < "0.01".parse().unwrap()));
//! assert_eq!(Budget::default().check(&Spent::default(), &planned), Err(Refusal::NoBudget));
//! # Ok::<(), rethread_llm::ChatError>(())
//! ```

mod answer;
mod budget;
mod chat;
mod embeddings;
mod endpoint;
mod error;
mod http;
mod key;
mod meter;
mod money;
mod named;
mod prices;
mod provider;

pub use budget::{Budget, Refusal, Spent};
pub use chat::{Answer, ChatLimits, ChatModel, JsonShape, Piece, Request, Streamed, Structured, Tool};
pub use embeddings::{Embedder, Limits};
pub use endpoint::{Endpoint, is_local};
pub use error::ChatError;
pub use key::Key;
pub use meter::{Admission, Meter, Planned, Settled};
pub use money::NanoUsd;
pub use named::{list_price, price_steps};
pub use prices::{PRICES_AS_OF, Price, built_in_price};
pub use provider::Provider;

/// Tokens of so many bytes: more than any model makes of a usual text, since budgets must hold.
fn generous_tokens(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(3)
}
