//! Finds where to cut a conversation, never between a tool call and its result.

use rethread_model::thread::{ChatMessage, ChatRole};

use crate::pairs::result_indexes;

/// Index of the first message to keep, or `None` if there are fewer than `keep_recent` tokens or nothing would be cut.
///
/// The cut is the nearest valid cut point at or after the message with which enough is kept, else the nearest before
/// it.
/// A compaction record is a cut point too: that of the message after it.
pub(crate) fn first_kept_index(messages: &[ChatMessage], keep_recent: u64) -> Option<usize> {
    let enough = start_of_last_tokens(messages, keep_recent)?;
    let borders = cut_points(messages);
    let at_or_after = (enough..messages.len()).find(|at| borders[*at]);
    let cut = at_or_after.or_else(|| (0..enough).rev().find(|at| borders[*at]))?;
    (cut > 0).then_some(cut)
}

/// The newest message such that it and all later ones have at least `tokens` tokens.
fn start_of_last_tokens(messages: &[ChatMessage], tokens: u64) -> Option<usize> {
    let mut sum = 0_u64;
    messages.iter().rposition(|message| {
        sum = sum.saturating_add(message.estimated_tokens());
        sum >= tokens
    })
}

/// For each message, whether the conversation may be cut before it.
fn cut_points(messages: &[ChatMessage]) -> Vec<bool> {
    let last_answer = messages.iter().rposition(|message| message.role == ChatRole::Assistant);
    let mut borders = Vec::with_capacity(messages.len());
    // Messages before this index belong to calls already seen: up to their results, or to the end for pending calls.
    let mut bound_until = 0;
    let answers = result_indexes(messages);
    for (at, message) in messages.iter().enumerate() {
        borders.push(message.role != ChatRole::ToolResult && at >= bound_until);
        for answer in &answers[at] {
            // A result missing before the model's last answer is not pending: the model continued without it.
            let waits = if Some(at) == last_answer { messages.len() } else { 0 };
            bound_until = bound_until.max(answer.map_or(waits, |result| result + 1));
        }
    }
    borders
}
