//! A thread: a conversation whose log is ours. Records, their one codec, ids and metadata.

mod block;
mod chat;
mod codec;
mod id;
mod metadata;
mod name;
mod record;

pub use block::Block;
pub use chat::{ChatMessage, ChatRole};
pub use codec::BadRecord;
pub use id::{BadThreadId, ThreadId};
pub use metadata::{Metadata, Metrics, NameOrigin, ThreadSource, WaitingCall};
pub use name::{UNNAMED, cron_name, first_words};
pub use record::{Compaction, Message, Record, Stop};
