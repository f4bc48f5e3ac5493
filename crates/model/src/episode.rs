//! One exchange: from a human prompt to the next.

use crate::Timestamp;

/// One exchange of a session. The last one stays open and is updated in place under the same id.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Episode {
    /// Stable id, derived from the native id of the first entry.
    pub id: String,
    /// Position in the session, from 1.
    pub number: u64,
    /// First entry.
    pub first_seq: u64,
    /// Last entry so far.
    pub last_seq: u64,
    /// The first entries of its parts: long episodes are split at entry borders for indexing.
    pub parts: Vec<u64>,
    /// Lines of the transcript, first and last.
    pub lines: (u64, u64),
    /// Bytes of the transcript, from the first byte of the first line to the end of the last.
    pub bytes: (u64, u64),
    /// When it began.
    pub started_at: Option<Timestamp>,
    /// When its last entry was written.
    pub ended_at: Option<Timestamp>,
    /// Tool calls in it.
    pub tool_calls: u64,
    /// Tool errors in it.
    pub tool_errors: u64,
    /// Estimated tokens of the kept text.
    pub kept_tokens: u64,
    /// Whether more entries may follow.
    pub open: bool,
    /// Whether it lies on a branch the session left.
    pub abandoned: bool,
}
