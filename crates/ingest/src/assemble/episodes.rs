//! Counts entries and groups them into episodes, one entry at a time. Never looks across sessions.

use std::collections::VecDeque;

use rethread_model::{
    EntryKind, EntryLocation, Episode, NativeKey, SessionCounts, SessionKind, Timestamp, estimate_byte_tokens,
};
use serde::{Deserialize, Serialize};

/// A part of an episode ends at the first entry boundary after this many tokens.
pub const PART_TOKENS: u64 = 1000;

/// Number of recent API messages that a line may belong to without being counted again. Lines of parallel tool calls
/// interleave over a handful of messages, so this is more than enough.
const MAX_RECENT_MESSAGES: usize = 128;

/// The fields of an entry that are needed to build episodes.
#[derive(Clone, Debug)]
pub(crate) struct EpisodeInput<'a> {
    pub(crate) seq: u64,
    pub(crate) native_id: &'a str,
    pub(crate) location: EntryLocation,
    pub(crate) at: Option<Timestamp>,
    pub(crate) kind: EntryKind,
    pub(crate) message_key: Option<NativeKey>,
    pub(crate) kept_bytes: u64,
    pub(crate) is_error: bool,
}

/// Builds episodes and counts entries; stored between two syncs.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct EpisodeBuilder {
    pub(crate) counts: SessionCounts,
    pub(crate) kept_bytes: u64,
    /// Messages of the model alone; `counts.messages` also includes the prompts.
    assistant_messages: u64,
    last_number: u64,
    open: Option<OpenEpisode>,
    recent_messages: VecDeque<NativeKey>,
}

/// The last episode, which may still grow.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct OpenEpisode {
    id: String,
    number: u64,
    first_seq: u64,
    last_seq: u64,
    parts: Vec<u64>,
    part_bytes: u64,
    lines: (u64, u64),
    bytes: (u64, u64),
    started_at: Option<Timestamp>,
    ended_at: Option<Timestamp>,
    tool_calls: u64,
    tool_errors: u64,
    kept_bytes: u64,
}

/// The result of pushing an entry.
#[derive(Debug, Default)]
pub(crate) struct PushResult {
    /// The episode the entry belongs to.
    pub(crate) episode: Option<u64>,
    /// An episode that ended because this entry started another.
    pub(crate) closed_episode: Option<Episode>,
}

impl EpisodeBuilder {
    /// Adds the next entry of the session.
    pub(crate) fn push(&mut self, entry: &EpisodeInput<'_>) -> PushResult {
        self.kept_bytes += entry.kept_bytes;
        self.count(entry);
        let starts = entry.kind.starts_episode()
            || (self.open.is_none() && matches!(entry.kind, EntryKind::AssistantText | EntryKind::Call));
        let closed = if starts { self.start_episode(entry) } else { None };
        let episode = self.open.as_mut().map(|open| {
            open.add(entry);
            open.number
        });
        PushResult { episode, closed_episode: closed }
    }

    /// Counts an error for a tool call that was pushed earlier.
    pub(crate) fn count_error(&mut self, episode: Option<u64>) {
        self.counts.tool_errors += 1;
        if let Some(open) = self.open.as_mut().filter(|open| Some(open.number) == episode) {
            open.tool_errors += 1;
        }
    }

    /// Updates the id of the open episode if this entry started it.
    pub(crate) fn set_native_id(&mut self, seq: u64, native_id: &str) {
        if let Some(open) = self.open.as_mut().filter(|open| open.first_seq == seq) {
            native_id.clone_into(&mut open.id);
        }
    }

    /// The number of the open episode.
    pub(crate) fn open_number(&self) -> Option<u64> {
        self.open.as_ref().map(|open| open.number)
    }

    /// The highest number assigned so far.
    pub(crate) fn last_number(&self) -> u64 {
        self.last_number
    }

    /// The open episode in its current state.
    pub(crate) fn open_episode(&self) -> Option<Episode> {
        self.open.as_ref().map(|open| open.clone().into_episode(true))
    }

    /// The counts for a session of that kind. A child's prompts were written by its parent, not by a human.
    pub(crate) fn counts_for(&self, kind: SessionKind) -> SessionCounts {
        match kind {
            SessionKind::Main => self.counts,
            SessionKind::Child => SessionCounts { prompts: 0, messages: self.assistant_messages, ..self.counts },
        }
    }

    /// Messages of the model, without prompts.
    pub(crate) fn assistant_messages(&self) -> u64 {
        self.assistant_messages
    }

    /// Continues numbering after `last`, which was assigned elsewhere.
    pub(crate) fn continue_numbering_after(&mut self, last: u64) {
        self.last_number = self.last_number.max(last);
    }

    fn count(&mut self, entry: &EpisodeInput<'_>) {
        match entry.kind {
            EntryKind::Prompt => {
                self.counts.prompts += 1;
                self.counts.messages += 1;
            }
            EntryKind::AssistantText | EntryKind::Call => {
                if entry.kind == EntryKind::Call {
                    self.counts.tool_calls += 1;
                    self.counts.tool_errors += u64::from(entry.is_error);
                }
                self.count_message(entry.message_key);
            }
            _ => {}
        }
    }

    /// Counts an API message once, even if it spans several lines.
    fn count_message(&mut self, message: Option<NativeKey>) {
        if let Some(key) = message {
            if self.recent_messages.contains(&key) {
                return;
            }
            if self.recent_messages.len() == MAX_RECENT_MESSAGES {
                self.recent_messages.pop_front();
            }
            self.recent_messages.push_back(key);
        }
        self.assistant_messages += 1;
        self.counts.messages += 1;
    }

    fn start_episode(&mut self, entry: &EpisodeInput<'_>) -> Option<Episode> {
        self.last_number += 1;
        self.counts.episodes += 1;
        let open = OpenEpisode::starting_with(entry, self.last_number);
        self.open.replace(open).map(|before| before.into_episode(false))
    }
}

impl OpenEpisode {
    fn starting_with(entry: &EpisodeInput<'_>, number: u64) -> Self {
        Self {
            id: entry.native_id.to_owned(),
            number,
            first_seq: entry.seq,
            last_seq: entry.seq,
            parts: Vec::new(),
            part_bytes: 0,
            lines: (entry.location.line, entry.location.line),
            bytes: (entry.location.offset, entry.location.offset),
            started_at: entry.at,
            ended_at: entry.at,
            tool_calls: 0,
            tool_errors: 0,
            kept_bytes: 0,
        }
    }

    fn add(&mut self, entry: &EpisodeInput<'_>) {
        if self.parts.is_empty() || estimate_byte_tokens(self.part_bytes) >= PART_TOKENS {
            self.parts.push(entry.seq);
            self.part_bytes = 0;
        }
        self.part_bytes += entry.kept_bytes;
        self.kept_bytes += entry.kept_bytes;
        self.last_seq = entry.seq;
        self.lines.1 = self.lines.1.max(entry.location.line);
        self.bytes.1 = self.bytes.1.max(entry.location.offset + entry.location.length);
        self.started_at = self.started_at.or(entry.at);
        self.ended_at = self.ended_at.max(entry.at);
        if entry.kind == EntryKind::Call {
            self.tool_calls += 1;
            self.tool_errors += u64::from(entry.is_error);
        }
    }

    fn into_episode(self, is_open: bool) -> Episode {
        Episode {
            id: self.id,
            number: self.number,
            first_seq: self.first_seq,
            last_seq: self.last_seq,
            part_starts: self.parts,
            lines: self.lines,
            bytes: self.bytes,
            started_at: self.started_at,
            ended_at: self.ended_at,
            tool_calls: self.tool_calls,
            tool_errors: self.tool_errors,
            kept_tokens: estimate_byte_tokens(self.kept_bytes),
            is_open,
            is_abandoned: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(seq: u64, kind: EntryKind, message: Option<i64>, kept_bytes: u64) -> EpisodeInput<'static> {
        EpisodeInput {
            seq,
            native_id: "id",
            location: EntryLocation { line: seq + 1, offset: seq * 10, length: 9 },
            at: None,
            kind,
            message_key: message.map(NativeKey::from_stored),
            kept_bytes,
            is_error: false,
        }
    }

    #[test]
    fn episode_spans_one_prompt_to_the_next() {
        // S003-18
        let mut builder = EpisodeBuilder::default();
        let push = |builder: &mut EpisodeBuilder, seq, kind| builder.push(&entry(seq, kind, None, 4));
        assert_eq!(push(&mut builder, 0, EntryKind::Prompt).episode, Some(1));
        assert_eq!(push(&mut builder, 1, EntryKind::AssistantText).episode, Some(1));
        assert_eq!(push(&mut builder, 2, EntryKind::Call).episode, Some(1));
        let pushed = push(&mut builder, 3, EntryKind::Prompt);
        let closed = pushed.closed_episode.unwrap();
        assert_eq!((closed.first_seq, closed.last_seq, closed.is_open), (0, 2, false));
        assert_eq!((closed.lines, closed.bytes), ((1, 3), (0, 29)));
        assert!(builder.open_episode().unwrap().is_open);
    }

    #[test]
    fn lines_of_one_api_message_count_once_even_when_interleaved() {
        let mut builder = EpisodeBuilder::default();
        for (seq, message) in [(0, 7), (1, 8), (2, 7), (3, 8), (4, 9)] {
            builder.push(&entry(seq, EntryKind::AssistantText, Some(message), 1));
        }
        assert_eq!(builder.counts.messages, 3);
    }

    #[test]
    fn long_episodes_are_split_between_entries() {
        // S003-20
        let mut builder = EpisodeBuilder::default();
        builder.push(&entry(0, EntryKind::Prompt, None, 3000));
        builder.push(&entry(1, EntryKind::AssistantText, None, 3000));
        builder.push(&entry(2, EntryKind::AssistantText, None, 100));
        builder.push(&entry(3, EntryKind::AssistantText, None, 9000));
        builder.push(&entry(4, EntryKind::AssistantText, None, 1));
        assert_eq!(builder.open_episode().unwrap().part_starts, vec![0, 2, 4]);
    }
}
