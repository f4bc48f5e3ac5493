//! One episode: a human prompt and everything up to the next one.

use crate::Timestamp;

/// One episode of a session. The last one stays open and is updated in place under the same id.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Episode {
    /// Stable id, derived from the native id of its first entry.
    pub id: String,
    /// Position in the session, from 1.
    pub number: u64,
    /// `seq` of the first entry.
    pub first_seq: u64,
    /// `seq` of the last entry so far.
    pub last_seq: u64,
    /// `seq` of the first entry of each part: long episodes are split between entries for indexing.
    pub part_starts: Vec<u64>,
    /// First and last transcript line.
    pub lines: (u64, u64),
    /// Byte range in the transcript: start of the first line to the end of the last.
    pub bytes: (u64, u64),
    /// Time of the first entry.
    pub started_at: Option<Timestamp>,
    /// Time of the last entry.
    pub ended_at: Option<Timestamp>,
    /// Number of tool calls.
    pub tool_calls: u64,
    /// Number of failed tool calls.
    pub tool_errors: u64,
    /// Estimated tokens of the stored text.
    pub kept_tokens: u64,
    /// Whether more entries may follow.
    pub is_open: bool,
    /// Whether it is on an abandoned branch.
    pub is_abandoned: bool,
}
