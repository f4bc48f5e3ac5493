//! Finds where to cut a conversation, never between a tool call and its result.

use rethread_model::thread::{ChatMessage, ChatRole};

use crate::pairs::answers;

/// The first message to keep, if at least `keep_recent` tokens are there and something is left before it.
///
/// The cut is the nearest border at or after the message with which enough is kept; where there is none, the nearest
/// before. A compaction record in the log is a border too: it is that of the message behind it.
pub(crate) fn first_kept(messages: &[ChatMessage], keep_recent: u64) -> Option<usize> {
    let enough = reaches(messages, keep_recent)?;
    let borders = borders(messages);
    let at_or_after = (enough..messages.len()).find(|at| borders[*at]);
    let cut = at_or_after.or_else(|| (0..enough).rev().find(|at| borders[*at]))?;
    (cut > 0).then_some(cut)
}

/// The newest message from which on there are that many tokens.
fn reaches(messages: &[ChatMessage], tokens: u64) -> Option<usize> {
    let mut sum = 0_u64;
    messages.iter().rposition(|message| {
        sum = sum.saturating_add(message.estimated_tokens());
        sum >= tokens
    })
}

/// For each message, whether the conversation may be cut before it.
fn borders(messages: &[ChatMessage]) -> Vec<bool> {
    let last_answer = messages.iter().rposition(|message| message.role == ChatRole::Assistant);
    let mut borders = Vec::with_capacity(messages.len());
    // Results, or the end for calls that still wait, up to which everything belongs to calls already seen.
    let mut bound_until = 0;
    let answers = answers(messages);
    for (at, message) in messages.iter().enumerate() {
        borders.push(message.role != ChatRole::ToolResult && at >= bound_until);
        for answer in &answers[at] {
            // The model went on without a result that is missing before its last answer, so nobody waits for it.
            let waits = if Some(at) == last_answer { messages.len() } else { 0 };
            bound_until = bound_until.max(answer.map_or(waits, |result| result + 1));
        }
    }
    borders
}
