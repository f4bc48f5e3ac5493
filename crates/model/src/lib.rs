//! The words of Rethread: sessions, entries, episodes and their ids. No I/O, no clock, no SQL.
//!
//! ```
//! use rethread_model::{Agent, SessionId, Timestamp};
//!
//! let started: Timestamp = "2026-02-20T20:17:15.095Z".parse()?;
//! let id = SessionId::derive(Agent::ClaudeCode, "9a9eadc8-c1f1-493e-a0f1-884aa996b05b", started);
//! assert_eq!(id.to_string().parse::<SessionId>()?, id);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod agent;
mod change;
mod entry;
mod episode;
mod fact;
mod id;
mod session;
mod text;
pub mod thread;
mod time;
mod tool;
mod warning;

pub use agent::{Agent, UnknownAgent};
pub use change::{Changes, NewEntry, NodeRow, Owner, Skeleton, UsageRow};
pub use entry::{Entry, Place, Role, Speech};
pub use episode::Episode;
pub use fact::{Entity, EntityKind, Fact, FactState, Predicate, Trust};
pub use id::{BadId, NativeKey, SessionId, Space};
pub use session::{Counts, Session, SessionKind, State, Tokens};
pub use text::{clip, estimate_text, estimate_tokens, first_line, is_dangerous, one_line, relative};
pub use time::{BadTimestamp, Timestamp};
pub use tool::{Outcome, Status, ToolKind, ToolUse};
pub use warning::Warning;

/// Marks the requests of our own model calls, so that an agent that keeps a transcript of them gives us nothing to read.
pub const OWN_CALL_TAG: &str = "<rethread-own-call/>";

/// The tag around every text that Rethread gives to an agent, so that it is never read back in as memory.
pub const INJECTION_TAG: &str = "rethread-context";
