//! Clients for chat and embedding models that the user configured. The only crate that makes outgoing connections.
//!
//! It knows texts, vectors and messages, not sessions. It connects only when a request is made, and sends nothing that
//! a [`Meter`] did not admit.
//!
//! ```
//! use rethread_llm::{Budget, BudgetRefusal, ChatLimits, ChatModel, ChatRequest, Provider, SpentToday, built_in_price};
//! use rethread_model::thread::ChatMessage;
//!
//! let (provider, model) = (Provider::Anthropic, "claude-haiku-4-5");
//! let price = built_in_price(provider, model);
//! let haiku = ChatModel::new(provider, provider.default_base_url(), model, None, price, ChatLimits::INTERACTIVE)?;
//! let request = ChatRequest {
//!     system: None,
//!     messages: vec![ChatMessage::user("What is a thread?")],
//!     tools: Vec::new(),
//!     max_output_tokens: 1_000,
//!     purpose: "turn",
//! };
//! let estimate = haiku.estimate(&request);
//! assert!(estimate.cost.is_some_and(|cost| cost < "0.01".parse().unwrap()));
//! assert_eq!(Budget::default().check(&SpentToday::default(), &estimate), Err(BudgetRefusal::NoBudget));
//! # Ok::<(), rethread_llm::ChatError>(())
//! ```

mod api_key;
mod budget;
mod chat;
mod embeddings;
mod endpoint;
mod error;
mod http;
mod list_price;
mod meter;
mod money;
mod prices;
mod provider;
mod response;

pub use api_key::ApiKey;
pub use budget::{Budget, BudgetRefusal, SpentToday};
pub use chat::{
    AnswerChunk, AnswerSchema, ChatAnswer, ChatLimits, ChatModel, ChatRequest, JsonAnswer, StreamedAnswer,
    ToolDefinition,
};
pub use embeddings::{Embedder, EmbeddingLimits};
pub use endpoint::{Endpoint, is_local_url};
pub use error::ChatError;
pub use list_price::{list_price, price_thresholds};
pub use meter::{Admission, Meter, RequestEstimate, RequestSettlement};
pub use money::NanoUsd;
pub use prices::{PRICES_AS_OF, Price, built_in_price};
pub use provider::Provider;

/// Upper estimate of the tokens in a text. Deliberately high, because budgets must not be exceeded.
fn max_tokens_in(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(3)
}
