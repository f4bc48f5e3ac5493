//! The models of others, used only where the user configured one. The only crate that connects out.
//!
//! It knows texts and numbers, not sessions. Nothing is connected, and no TLS is set up, before [`Embedder::new`].
//!
//! ```
//! use rethread_llm::Endpoint;
//!
//! let local = Endpoint::parse("http://127.0.0.1:11434/v1")?;
//! assert_eq!(local.to_string(), "http://127.0.0.1:11434/v1/embeddings");
//! assert!(Endpoint::parse("http://example.com/v1").is_err(), "texts go over the net by https only");
//! # Ok::<(), rethread_llm::EmbeddingError>(())
//! ```

mod answer;
mod embeddings;
mod endpoint;
mod error;
mod key;

pub use embeddings::{Embedder, Limits};
pub use endpoint::Endpoint;
pub use error::EmbeddingError;
pub use key::Key;
