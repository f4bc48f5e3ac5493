//! The full-text index: a projection of the store that can be deleted and made again at any time.
//!
//! [`follow`] brings it up to the store; a [`Snapshot`] reads it together with what the store has and it has not.

pub mod words;

mod document;
mod error;
mod follow;
mod inspect;
mod novelty;
mod payload;
mod schema;
mod segment;
mod snapshot;
mod tail;
mod traits;

pub use document::searchable_text;
pub use error::IndexError;
pub use follow::{Followed, Follower, Patience, discard, follow};
pub use inspect::{count, size, verify};
pub use payload::Unusable;
pub use segment::{Doc, Segment};
pub use snapshot::{Lag, Snapshot, lag};
pub use traits::Traits;
