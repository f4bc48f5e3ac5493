//! What a compaction would do: where it cuts, and what has to be summarised.

use rethread_model::Timestamp;
use rethread_model::thread::{ChatMessage, ChatRole, Compaction, Record};
use serde_json::Map;

use super::cut::first_kept;
use super::files::Files;
use super::{CompactionSettings, tags, turn};
use crate::context::Current;

/// What a compaction would do.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The first message that stays as it is.
    pub first_kept_seq: u64,
    /// Tokens of the messages to summarise, estimated.
    pub tokens_before: u64,
    /// Files read in all that was ever summarised, and not modified; sorted.
    pub read_files: Vec<String>,
    /// Files modified in all that was ever summarised; sorted.
    pub modified_files: Vec<String>,
    /// The summary of the compaction before, without its lists of files.
    pub(super) previous: Option<String>,
    /// Whole turns to summarise.
    pub(super) history: Vec<ChatMessage>,
    /// The beginning of the turn that the cut goes through.
    pub(super) prefix: Vec<ChatMessage>,
    /// What the compaction before says about that turn, if it went through the same one.
    pub(super) earlier_prefix: Option<String>,
    /// Tokens the summary may have.
    pub(super) summary_tokens: u64,
    /// Tokens of the messages that stay, estimated.
    pub(super) kept_tokens: u64,
}

/// Plans a compaction after which the context fits into so many tokens. Where the usual one leaves too much, as with one
/// giant message, less is kept; the one that leaves least is planned if none fits.
pub fn plan_within(records: &[Record], settings: &CompactionSettings, room: u64) -> Option<Plan> {
    let mut settings = *settings;
    let mut least: Option<Plan> = None;
    loop {
        if let Some(plan) = plan(records, &settings) {
            if plan.tokens_after() <= room {
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

/// Plans a compaction of what the current context holds. None if there is nothing to do.
pub fn plan(records: &[Record], settings: &CompactionSettings) -> Option<Plan> {
    let current = Current::of(records);
    let messages: Vec<ChatMessage> = current.messages.iter().copied().map(ChatMessage::from).collect();
    let cut = first_kept(&messages, settings.keep_recent_tokens)?;
    let tokens_before = tokens(&messages[..cut]);
    let kept_tokens = tokens(&messages[cut..]);
    let is_little = |tokens: u64| tokens < settings.keep_recent_tokens / LITTLE;
    let is_much = tokens_before >= settings.keep_recent_tokens;
    let has_little_new = is_little(tokens_before) || is_little(tokens(&messages[current.older..]));
    if tokens_before == 0 || current.compaction.is_some() && has_little_new && !is_much {
        return None;
    }
    let mut files = current
        .compaction
        .map_or_else(Files::default, |previous| Files::known(&previous.read_files, &previous.modified_files));
    files.add(&messages[..cut]);
    let previous = current.compaction.map(|previous| tags::without_files(&previous.summary));
    let (turn, earlier_prefix) = turn_of(&messages, cut, previous.as_deref());
    let mut history = messages;
    history.truncate(cut);
    let prefix = history.split_off(turn);
    Some(Plan {
        first_kept_seq: current.messages[cut].seq,
        tokens_before,
        read_files: files.read(),
        modified_files: files.modified(),
        previous,
        history,
        prefix,
        earlier_prefix,
        summary_tokens: settings.summary_tokens(),
        kept_tokens,
    })
}

/// After a compaction, the part of what is kept that has to be new, and to be gained, for the next one.
const LITTLE: u64 = 10;

impl Plan {
    /// Whether there is a summary already, to be updated.
    pub fn is_update(&self) -> bool {
        self.previous.is_some()
    }

    /// Tokens of the context afterwards, at most.
    pub fn tokens_after(&self) -> u64 {
        self.summary_tokens.saturating_add(self.kept_tokens)
    }

    /// Tokens an answer with a summary may have.
    pub fn summary_tokens(&self) -> u64 {
        self.summary_tokens
    }

    /// The record to append. It has no number yet.
    pub fn record(&self, summary: &str, now: Timestamp) -> Compaction {
        Compaction {
            seq: 0,
            first_kept_seq: self.first_kept_seq,
            summary: tags::with_files(summary, &self.read_files, &self.modified_files),
            tokens_before: self.tokens_before,
            read_files: self.read_files.clone(),
            modified_files: self.modified_files.clone(),
            timestamp: now,
            extra: Map::new(),
        }
    }
}

/// Where the turn begins that a cut goes through, and what is known of its messages that are gone already.
/// A cut between turns has its turn begin at the cut.
fn turn_of(messages: &[ChatMessage], cut: usize, previous: Option<&str>) -> (usize, Option<String>) {
    if messages[cut].role == ChatRole::User {
        return (cut, None);
    }
    let asked = |message: &ChatMessage| message.role == ChatRole::User;
    if let Some(last) = messages[..cut].iter().rposition(asked) {
        // What was said at once, in several messages, is one request.
        let before = messages[..last].iter().rposition(|message| !asked(message));
        return (before.map_or(0, |at| at + 1), None);
    }
    let earlier = previous.and_then(|previous| turn::parted(previous).1).map(str::to_owned);
    (if earlier.is_some() { 0 } else { cut }, earlier)
}

fn tokens(messages: &[ChatMessage]) -> u64 {
    messages.iter().map(ChatMessage::estimated_tokens).fold(0, u64::saturating_add)
}
