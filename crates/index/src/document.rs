//! What of an entry is indexed, and what is remembered about it for ranking.

use rethread_model::{Entry, Speech};
use rethread_store::{EpisodeKey, FeedEntry, SessionNumber};

/// An episode number takes this many bits beside its session's number.
const NUMBER_BITS: u32 = 24;

/// One entry, ready to be indexed.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    pub text: String,
    pub files: Vec<String>,
    pub tools: Vec<String>,
    pub episode: EpisodeKey,
    pub seq: u64,
    pub at: i64,
    pub traits: Traits,
}

impl Document {
    pub(crate) fn of(entry: &FeedEntry<'_>) -> Self {
        let call = entry.tool.map(|_| [entry.tool, entry.target, entry.arguments, entry.error]);
        let text = join(entry.text, call);
        let files: Vec<String> = entry.paths.and_then(|paths| serde_json::from_str(paths).ok()).unwrap_or_default();
        let tools = entry.tool.into_iter().chain(entry.tool_kind).map(str::to_lowercase).collect();
        Self {
            traits: Traits::of(entry.speech, entry.failed, entry.text),
            text,
            files,
            tools,
            episode: entry.episode,
            seq: entry.seq,
            at: entry.at.map_or(NO_TIME, rethread_model::Timestamp::as_millis),
        }
    }
}

/// Stands for "no time is known".
pub(crate) const NO_TIME: i64 = i64::MIN;

/// The words of an entry that can be searched: of a tool call, its name, what it was given and the error it gave.
pub fn searchable_text(entry: &Entry) -> String {
    let tool = entry.tool.as_ref();
    let error = tool.and_then(|tool| tool.outcome.as_ref()).and_then(|outcome| outcome.error.as_deref());
    let parts = tool.map(|tool| [Some(tool.name.as_str()), Some(&tool.target), Some(&tool.arguments), error]);
    join(&entry.text, parts)
}

fn join(text: &str, call: Option<[Option<&str>; 4]>) -> String {
    let Some(parts) = call else { return text.to_owned() };
    let parts: Vec<&str> = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
    parts.join("\n")
}

/// Session and number in one, as the index keeps it.
pub(crate) fn episode_code(key: EpisodeKey) -> u64 {
    (key.session.get() << NUMBER_BITS) | (key.number & ((1 << NUMBER_BITS) - 1))
}

/// The way back.
pub(crate) fn episode_of(code: u64) -> EpisodeKey {
    let number = code & ((1 << NUMBER_BITS) - 1);
    EpisodeKey { session: SessionNumber::new(code >> NUMBER_BITS), number }
}

/// What kind of text an entry is, and what is remarkable about it, in one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traits(pub(crate) u64);

const FAILED: u64 = 1 << 4;
const ASKS: u64 = 1 << 5;

const SPEECHES: [Speech; 15] = [
    Speech::Prompt,
    Speech::Task,
    Speech::Answer,
    Speech::Said,
    Speech::Reasoning,
    Speech::Call,
    Speech::Failure,
    Speech::Summary,
    Speech::Recap,
    Speech::Command,
    Speech::Shell,
    Speech::Note,
    Speech::Notice,
    Speech::Interruption,
    Speech::Injected,
];

impl Traits {
    fn of(speech: Speech, failed: bool, text: &str) -> Self {
        let code = SPEECHES.iter().position(|known| *known == speech).unwrap_or(SPEECHES.len() - 1) as u64;
        let mut bits = code;
        if failed {
            bits |= FAILED;
        }
        if text.trim_end().ends_with(['?', '？']) {
            bits |= ASKS;
        }
        Self(bits)
    }

    /// What kind of text it is.
    pub fn speech(self) -> Speech {
        SPEECHES.get((self.0 & 0xF) as usize).copied().unwrap_or(Speech::Injected)
    }

    /// Whether it is a failed tool call or a failure of the agent.
    pub fn failed(self) -> bool {
        self.0 & FAILED != 0
    }

    /// Whether it ends in a question mark.
    pub fn asks(self) -> bool {
        self.0 & ASKS != 0
    }
}
