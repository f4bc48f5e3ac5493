//! Threads: conversations whose log we write. Records, their codec, ids and metadata.

mod block;
mod chat;
mod checksum;
mod codec;
mod id;
mod injection;
mod inline_reasoning;
mod metadata;
mod name;
mod record;
mod settings;

pub use block::ContentBlock;
pub use chat::{ChatMessage, ChatRole};
pub use codec::{InvalidRecord, ThreadLine};
pub use id::{InvalidThreadId, ThreadId};
pub use injection::ThreadInjection;
pub use inline_reasoning::{InlineReasoningFilter, without_inline_reasoning};
pub use metadata::{NameOrigin, PendingToolCall, ThreadMetadata, ThreadMetrics, ThreadSource};
pub use name::{UNNAMED_THREAD, cron_thread_name, name_from_first_words};
pub use record::{Compaction, StopReason, ThreadMessage, ThreadRecord};
pub use settings::ThreadSettings;
