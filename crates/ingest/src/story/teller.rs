//! Counts entries and groups them into episodes, one entry at a time. Never looks across sessions.

use std::collections::VecDeque;

use rethread_model::{Counts, Episode, NativeKey, Place, SessionKind, Speech, Timestamp, estimate_tokens};
use serde::{Deserialize, Serialize};

/// Parts of an episode are closed at the first entry border past this many tokens.
pub const PART_TOKENS: u64 = 1000;

/// How many API messages back a line may still belong to one already counted. Lines of parallel tool calls
/// interleave over a handful of messages; a hundred is far beyond any seen.
const REMEMBERED_MESSAGES: usize = 128;

/// What the teller needs to know of an entry.
#[derive(Clone, Debug)]
pub(crate) struct Told<'a> {
    pub(crate) seq: u64,
    pub(crate) native_id: &'a str,
    pub(crate) place: Place,
    pub(crate) at: Option<Timestamp>,
    pub(crate) speech: Speech,
    pub(crate) message: Option<NativeKey>,
    pub(crate) kept_bytes: u64,
    pub(crate) is_error: bool,
}

/// The running count of a session, kept between two readings.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Teller {
    pub(crate) counts: Counts,
    pub(crate) kept_bytes: u64,
    /// Messages of the model alone; `counts.messages` adds the prompts.
    spoken: u64,
    last_number: u64,
    open: Option<OpenEpisode>,
    messages: VecDeque<NativeKey>,
}

/// The episode that may still grow.
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

/// What telling an entry changed.
#[derive(Debug, Default)]
pub(crate) struct Telling {
    /// The episode the entry belongs to.
    pub(crate) episode: Option<u64>,
    /// An episode that ended because this entry began another.
    pub(crate) closed: Option<Episode>,
}

impl Teller {
    /// Adds an entry of the session's story.
    pub(crate) fn tell(&mut self, told: &Told<'_>) -> Telling {
        self.kept_bytes += told.kept_bytes;
        self.count(told);
        let begins =
            told.speech.starts_episode() || (self.open.is_none() && matches!(told.speech, Speech::Said | Speech::Call));
        let closed = if begins { self.begin(told) } else { None };
        let episode = self.open.as_mut().map(|open| {
            open.add(told);
            open.number
        });
        Telling { episode, closed }
    }

    /// A tool call told earlier turned out to have failed.
    pub(crate) fn failed(&mut self, episode: Option<u64>) {
        self.counts.tool_errors += 1;
        if let Some(open) = self.open.as_mut().filter(|open| Some(open.number) == episode) {
            open.tool_errors += 1;
        }
    }

    /// The entry that may have begun the open episode got its own id.
    pub(crate) fn rename(&mut self, seq: u64, native_id: &str) {
        if let Some(open) = self.open.as_mut().filter(|open| open.first_seq == seq) {
            native_id.clone_into(&mut open.id);
        }
    }

    /// The number of the episode that may still grow.
    pub(crate) fn open_number(&self) -> Option<u64> {
        self.open.as_ref().map(|open| open.number)
    }

    /// The episode that may still grow, as it is now.
    pub(crate) fn open_episode(&self) -> Option<Episode> {
        self.open.as_ref().map(|open| open.clone().into_episode(true))
    }

    /// The counts of a session of that kind. A child's prompts were written by its parent, not by a human.
    pub(crate) fn counts_as(&self, kind: SessionKind) -> Counts {
        match kind {
            SessionKind::Main => self.counts,
            SessionKind::Child => Counts { prompts: 0, messages: self.spoken, ..self.counts },
        }
    }

    /// Messages of the model, without prompts.
    pub(crate) fn spoken(&self) -> u64 {
        self.spoken
    }

    /// Continues numbering after episodes that were told elsewhere.
    pub(crate) fn number_from(&mut self, last: u64) {
        self.last_number = self.last_number.max(last);
    }

    fn count(&mut self, told: &Told<'_>) {
        match told.speech {
            Speech::Prompt => {
                self.counts.prompts += 1;
                self.counts.messages += 1;
            }
            Speech::Said | Speech::Call => {
                if told.speech == Speech::Call {
                    self.counts.tool_calls += 1;
                    self.counts.tool_errors += u64::from(told.is_error);
                }
                self.count_message(told.message);
            }
            _ => {}
        }
    }

    /// Several lines of one API message are one message.
    fn count_message(&mut self, message: Option<NativeKey>) {
        if let Some(key) = message {
            if self.messages.contains(&key) {
                return;
            }
            if self.messages.len() == REMEMBERED_MESSAGES {
                self.messages.pop_front();
            }
            self.messages.push_back(key);
        }
        self.spoken += 1;
        self.counts.messages += 1;
    }

    fn begin(&mut self, told: &Told<'_>) -> Option<Episode> {
        self.last_number += 1;
        self.counts.episodes += 1;
        let open = OpenEpisode::starting_with(told, self.last_number);
        self.open.replace(open).map(|before| before.into_episode(false))
    }
}

impl OpenEpisode {
    fn starting_with(told: &Told<'_>, number: u64) -> Self {
        Self {
            id: told.native_id.to_owned(),
            number,
            first_seq: told.seq,
            last_seq: told.seq,
            parts: Vec::new(),
            part_bytes: 0,
            lines: (told.place.line, told.place.line),
            bytes: (told.place.offset, told.place.offset),
            started_at: told.at,
            ended_at: told.at,
            tool_calls: 0,
            tool_errors: 0,
            kept_bytes: 0,
        }
    }

    fn add(&mut self, told: &Told<'_>) {
        if self.parts.is_empty() || estimate_tokens(self.part_bytes) >= PART_TOKENS {
            self.parts.push(told.seq);
            self.part_bytes = 0;
        }
        self.part_bytes += told.kept_bytes;
        self.kept_bytes += told.kept_bytes;
        self.last_seq = told.seq;
        self.lines.1 = self.lines.1.max(told.place.line);
        self.bytes.1 = self.bytes.1.max(told.place.offset + told.place.length);
        self.started_at = self.started_at.or(told.at);
        self.ended_at = self.ended_at.max(told.at);
        if told.speech == Speech::Call {
            self.tool_calls += 1;
            self.tool_errors += u64::from(told.is_error);
        }
    }

    fn into_episode(self, open: bool) -> Episode {
        Episode {
            id: self.id,
            number: self.number,
            first_seq: self.first_seq,
            last_seq: self.last_seq,
            parts: self.parts,
            lines: self.lines,
            bytes: self.bytes,
            started_at: self.started_at,
            ended_at: self.ended_at,
            tool_calls: self.tool_calls,
            tool_errors: self.tool_errors,
            kept_tokens: estimate_tokens(self.kept_bytes),
            open,
            abandoned: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(seq: u64, speech: Speech, message: Option<i64>, kept_bytes: u64) -> Told<'static> {
        Told {
            seq,
            native_id: "id",
            place: Place { line: seq + 1, offset: seq * 10, length: 9 },
            at: None,
            speech,
            message: message.map(NativeKey::from_stored),
            kept_bytes,
            is_error: false,
        }
    }

    #[test]
    fn s003_18_an_episode_reaches_from_one_prompt_to_the_next() {
        let mut teller = Teller::default();
        let tell = |teller: &mut Teller, seq, speech| teller.tell(&told(seq, speech, None, 4));
        assert_eq!(tell(&mut teller, 0, Speech::Prompt).episode, Some(1));
        assert_eq!(tell(&mut teller, 1, Speech::Said).episode, Some(1));
        assert_eq!(tell(&mut teller, 2, Speech::Call).episode, Some(1));
        let telling = tell(&mut teller, 3, Speech::Prompt);
        let closed = telling.closed.unwrap();
        assert_eq!((closed.first_seq, closed.last_seq, closed.open), (0, 2, false));
        assert_eq!((closed.lines, closed.bytes), ((1, 3), (0, 29)));
        assert!(teller.open_episode().unwrap().open);
    }

    #[test]
    fn lines_of_one_api_message_count_once_even_when_they_interleave() {
        let mut teller = Teller::default();
        for (seq, message) in [(0, 7), (1, 8), (2, 7), (3, 8), (4, 9)] {
            teller.tell(&told(seq, Speech::Said, Some(message), 1));
        }
        assert_eq!(teller.counts.messages, 3);
    }

    #[test]
    fn s003_20_long_episodes_are_split_at_entry_borders() {
        let mut teller = Teller::default();
        teller.tell(&told(0, Speech::Prompt, None, 3000));
        teller.tell(&told(1, Speech::Said, None, 3000));
        teller.tell(&told(2, Speech::Said, None, 100));
        teller.tell(&told(3, Speech::Said, None, 9000));
        teller.tell(&told(4, Speech::Said, None, 1));
        assert_eq!(teller.open_episode().unwrap().parts, vec![0, 2, 4]);
    }
}
