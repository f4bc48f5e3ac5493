//! Plans a compaction: where to cut and what to summarize.

use rethread_model::Timestamp;
use rethread_model::thread::{ChatMessage, ChatRole, Compaction, ThreadRecord};
use serde_json::Map;

use super::cut::first_kept_index;
use super::files::CompactionFiles;
use super::{CompactionSettings, file_lists, split_turn};
use crate::context::ActiveRecords;

/// What a compaction would do.
#[derive(Clone, Debug, PartialEq)]
pub struct CompactionPlan {
    /// Sequence number of the first message kept unchanged.
    pub first_kept_seq: u64,
    /// Estimated tokens of the messages to summarize.
    pub tokens_before: u64,
    /// Files read but not modified, over all compactions so far; sorted.
    pub read_files: Vec<String>,
    /// Files modified, over all compactions so far; sorted.
    pub modified_files: Vec<String>,
    /// Summary of the previous compaction, without its file lists.
    pub(super) previous_summary: Option<String>,
    /// Whole turns to summarize.
    pub(super) history: Vec<ChatMessage>,
    /// Beginning of the turn that is split by the cut.
    pub(super) turn_prefix: Vec<ChatMessage>,
    /// The previous compaction's summary of the same turn, if it split that turn too.
    pub(super) earlier_prefix_summary: Option<String>,
    /// Token limit of the summary.
    pub(super) max_summary_tokens: u64,
    /// Estimated tokens of the kept messages.
    pub(super) kept_tokens: u64,
}

/// Plans a compaction after which the context fits into `max_tokens`. If the regular plan leaves too much, for example
/// because of one huge message, less is kept. If no plan fits, returns the one that leaves least.
pub fn plan_compaction_within(
    records: &[ThreadRecord],
    settings: &CompactionSettings,
    max_tokens: u64,
) -> Option<CompactionPlan> {
    let mut settings = *settings;
    let mut least: Option<CompactionPlan> = None;
    loop {
        if let Some(plan) = plan_compaction(records, &settings) {
            if plan.tokens_after() <= max_tokens {
                return Some(plan);
            }
            least = Some(plan);
        }
        if settings.keep_recent_tokens == 0 {
            return least;
        }
        settings.keep_recent_tokens /= 4;
    }
}

/// Plans a compaction of the current context. `None` if there is nothing to do.
pub fn plan_compaction(records: &[ThreadRecord], settings: &CompactionSettings) -> Option<CompactionPlan> {
    let current = ActiveRecords::from_records(records);
    let messages: Vec<ChatMessage> = current.messages.iter().copied().map(ChatMessage::from).collect();
    let cut = first_kept_index(&messages, settings.keep_recent_tokens)?;
    let tokens_before = total_tokens(&messages[..cut]);
    let kept_tokens = total_tokens(&messages[cut..]);
    let is_little = |tokens: u64| tokens < settings.keep_recent_tokens / LITTLE_FRACTION;
    let is_much = tokens_before >= settings.keep_recent_tokens;
    let has_little_new = is_little(tokens_before) || is_little(total_tokens(&messages[current.older_count..]));
    if tokens_before == 0 || current.compaction.is_some() && has_little_new && !is_much {
        return None;
    }
    let mut files = current.compaction.map_or_else(CompactionFiles::default, |previous| {
        CompactionFiles::from_lists(&previous.read_files, &previous.modified_files)
    });
    files.add(&messages[..cut]);
    let previous_summary = current.compaction.map(|previous| file_lists::without_files(&previous.summary));
    let (turn, earlier_prefix_summary) = find_split_turn(&messages, cut, previous_summary.as_deref());
    let mut history = messages;
    history.truncate(cut);
    let turn_prefix = history.split_off(turn);
    Some(CompactionPlan {
        first_kept_seq: current.messages[cut].seq,
        tokens_before,
        read_files: files.read(),
        modified_files: files.modified(),
        previous_summary,
        history,
        turn_prefix,
        earlier_prefix_summary,
        max_summary_tokens: settings.max_summary_tokens(),
        kept_tokens,
    })
}

/// Right after a compaction, less than this fraction (1/10) of `keep_recent_tokens` of new text or gain is not worth
/// it.
const LITTLE_FRACTION: u64 = 10;

impl CompactionPlan {
    /// Whether a previous summary will be updated.
    pub fn is_update(&self) -> bool {
        self.previous_summary.is_some()
    }

    /// Upper bound on the context's tokens after the compaction.
    pub fn tokens_after(&self) -> u64 {
        self.max_summary_tokens.saturating_add(self.kept_tokens)
    }

    /// Token limit of the summary.
    pub fn max_summary_tokens(&self) -> u64 {
        self.max_summary_tokens
    }

    /// The record to append. Its sequence number is not set yet.
    pub fn record(&self, summary: &str, now: Timestamp) -> Compaction {
        Compaction {
            seq: 0,
            first_kept_seq: self.first_kept_seq,
            summary: file_lists::with_files(summary, &self.read_files, &self.modified_files),
            tokens_before: self.tokens_before,
            read_files: self.read_files.clone(),
            modified_files: self.modified_files.clone(),
            timestamp: now,
            extra: Map::new(),
        }
    }
}

/// Where the turn split by the cut begins, and the existing summary of its removed messages.
/// For a cut between turns that is the cut itself.
fn find_split_turn(messages: &[ChatMessage], cut: usize, previous: Option<&str>) -> (usize, Option<String>) {
    if messages[cut].role == ChatRole::User {
        return (cut, None);
    }
    let is_user = |message: &ChatMessage| message.role == ChatRole::User;
    if let Some(last) = messages[..cut].iter().rposition(is_user) {
        // Several user messages in a row are one request.
        let before = messages[..last].iter().rposition(|message| !is_user(message));
        return (before.map_or(0, |at| at + 1), None);
    }
    let earlier = previous.and_then(|previous| split_turn::split(previous).1).map(str::to_owned);
    (if earlier.is_some() { 0 } else { cut }, earlier)
}

fn total_tokens(messages: &[ChatMessage]) -> u64 {
    messages.iter().map(ChatMessage::estimated_tokens).fold(0, u64::saturating_add)
}
