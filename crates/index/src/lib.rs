//! The full-text index. It is derived from the store and can be deleted and rebuilt at any time.
//!
//! [`update_index`] brings it up to date; an [`IndexSnapshot`] reads it together with stored entries that are not
//! indexed yet.

pub mod words;

mod document;
mod error;
mod hidden;
mod inspect;
mod novelty;
mod open;
mod payload;
mod schema;
mod segment;
mod session_fields;
mod snapshot;
mod traits;
mod unindexed;
mod update;

pub use document::searchable_text;
pub use error::IndexError;
pub use inspect::{count_documents, size_bytes, verify_index};
pub use payload::IndexProblem;
pub use segment::{DocId, IndexSegment};
pub use session_fields::{SessionField, SessionFields};
pub use snapshot::{IndexLag, IndexSnapshot, index_lag, indexed_change};
pub use traits::EntryTraits;
pub use update::{IndexUpdate, IndexUpdater, LockWait, delete_index, update_index};
