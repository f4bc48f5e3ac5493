//! Turns stored entries into index documents, one episode at a time.

use std::borrow::Cow;

use rethread_model::{Entry, EntryKind, ToolKind};
use rethread_store::{EpisodeKey, FeedCursor, FeedEntry, FeedItem, ReadStore, SessionNumber, StoreHead};

use crate::error::IndexError;
use crate::novelty::{SessionWords, is_conversation};
use crate::traits::EntryTraits;

/// Bits of an episode code that hold the episode number; the rest holds the session number.
const EPISODE_NUMBER_BITS: u32 = 24;

/// Marks an entry without a known time.
pub(crate) const NO_TIME: i64 = i64::MIN;

/// The searchable content of one entry.
#[derive(Clone, Debug)]
pub(crate) struct IndexDocument {
    pub text: String,
    pub files: Vec<String>,
    pub tools: Vec<String>,
    /// Speaker in lower case, in an episode where every text begins with a name and a colon.
    pub speaker: Option<String>,
    pub episode: EpisodeKey,
    pub seq: u64,
    pub at: i64,
    pub traits: EntryTraits,
}

/// A change the index has to apply.
#[derive(Debug)]
pub(crate) enum IndexChange {
    /// Drop all documents of the session.
    SessionReset(SessionNumber),
    /// Replace all documents of the episode with these.
    Episode(EpisodeKey, Vec<IndexDocument>),
}

impl IndexDocument {
    fn from_entry(entry: &FeedEntry<'_>) -> Self {
        let kind = entry.tool_kind.map(ToolKind::from_stored);
        let change = entry.body.filter(|_| kind == Some(ToolKind::Edit));
        let call = entry.tool_name.map(|_| [entry.tool_name, entry.target, entry.arguments, change, entry.error]);
        let files = entry.paths.and_then(|paths| serde_json::from_str(paths).ok()).unwrap_or_default();
        let tools = entry.tool_name.into_iter().chain(entry.tool_kind).map(str::to_lowercase).collect();
        let traits = EntryTraits::from_text(entry.kind, entry.is_failure, entry.text);
        Self {
            text: join_text(entry.text, call),
            files,
            tools,
            speaker: None,
            episode: entry.episode,
            seq: entry.seq,
            at: entry.at.map_or(NO_TIME, rethread_model::Timestamp::as_millis),
            traits: kind.map_or(traits, |kind| traits.with_tool_kind(kind)),
        }
    }
}

/// Calls `each` with every change since then, one whole episode at a time.
pub(crate) fn for_each_change(
    store: &ReadStore,
    since: FeedCursor,
    each: impl FnMut(IndexChange) -> Result<(), IndexError>,
) -> Result<StoreHead, IndexError> {
    let mut gatherer = EpisodeCollector { store, on_change: each, open: None, session_words: SessionWords::default() };
    let head = store.feed(since, |step| gatherer.push(step))?;
    gatherer.close()?;
    Ok(head)
}

/// Collects the entries of an episode.
struct EpisodeCollector<'s, F> {
    store: &'s ReadStore,
    session_words: SessionWords,
    on_change: F,
    open: Option<(EpisodeKey, Vec<IndexDocument>)>,
}

impl<F: FnMut(IndexChange) -> Result<(), IndexError>> EpisodeCollector<'_, F> {
    fn push(&mut self, step: FeedItem<'_>) -> Result<(), IndexError> {
        match step {
            FeedItem::SessionRebuilt(session) => return (self.on_change)(IndexChange::SessionReset(session)),
            FeedItem::EpisodeChanged(key) => {
                self.close()?;
                self.open = Some((key, Vec::new()));
            }
            FeedItem::Entry(entry) => {
                if let Some((_, documents)) = &mut self.open {
                    documents.push(IndexDocument::from_entry(&entry));
                }
            }
        }
        Ok(())
    }

    fn close(&mut self) -> Result<(), IndexError> {
        let Some((key, mut documents)) = self.open.take() else { return Ok(()) };
        assign_speakers(&mut documents);
        if let Some(first) = documents.first() {
            self.session_words.prepare(self.store, key.session, first.seq)?;
        }
        for document in documents.iter_mut().filter(|document| is_conversation(document.traits.kind())) {
            let novelty = self.session_words.add(key.session, &document.text);
            document.traits = document.traits.with_novelty(novelty);
        }
        (self.on_change)(IndexChange::Episode(key, documents))
    }
}

/// The searchable text of an entry. For a tool call: its name, target, arguments, what it changed, and its error.
pub fn searchable_text(entry: &Entry) -> String {
    let tool = entry.tool.as_ref();
    let error = tool.and_then(|tool| tool.outcome.as_ref()).and_then(|outcome| outcome.error.as_deref());
    let parts = tool.map(|tool| {
        let change = tool.body.as_deref().filter(|_| tool.kind == Some(ToolKind::Edit));
        [Some(tool.name.as_str()), Some(&tool.target), Some(&tool.arguments), change, error]
    });
    join_text(&entry.text, parts)
}

fn join_text(text: &str, call: Option<[Option<&str>; 5]>) -> String {
    let Some([name, target, arguments, change, error]) = call else { return text.to_owned() };
    let arguments = arguments.map(without_sizes);
    let parts = [name, target, arguments.as_deref(), change, error].into_iter().flatten();
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Drops arguments of which only the size is stored (`content=<10 bytes>`): there is nothing in them to find.
fn without_sizes(arguments: &str) -> Cow<'_, str> {
    let is_size = |argument: &&str| argument.contains("=<") && argument.ends_with(" bytes>");
    if !arguments.split(", ").any(|argument| is_size(&argument)) {
        return Cow::Borrowed(arguments);
    }
    let kept = arguments.split(", ").filter(|argument| !is_size(argument));
    Cow::Owned(kept.collect::<Vec<_>>().join(", "))
}

/// In a chat log, every text begins with the speaker's name. A single `Error: …` is not a name, so all texts of an
/// episode must have one, and there must be at least two.
fn assign_speakers(documents: &mut [IndexDocument]) {
    let is_text =
        |document: &IndexDocument| matches!(document.traits.kind(), EntryKind::Prompt | EntryKind::AssistantText);
    let texts = documents.iter().filter(|document| is_text(document));
    let named = texts.clone().filter(|document| speaker_name(&document.text).is_some()).count();
    if named < 2 || named < texts.count() {
        return;
    }
    for document in documents.iter_mut().filter(|document| is_text(document)) {
        document.speaker = speaker_name(&document.text);
    }
}

/// The name before a colon at the start of a text, in lower case.
fn speaker_name(text: &str) -> Option<String> {
    let (name, rest) = text.split_once(':')?;
    let is_name = name.len() <= 40
        && rest.starts_with(char::is_whitespace)
        && name.split(' ').count() <= 2
        && name.split(' ').all(|word| {
            word.starts_with(char::is_uppercase) && word.chars().all(|c| c.is_alphanumeric() || "_.-".contains(c))
        });
    is_name.then(|| name.to_lowercase())
}

/// Session and episode number in one integer, as stored in the index.
pub(crate) fn encode_episode(key: EpisodeKey) -> u64 {
    (key.session.get() << EPISODE_NUMBER_BITS) | (key.number & ((1 << EPISODE_NUMBER_BITS) - 1))
}

/// Inverse of [`encode_episode`].
pub(crate) fn decode_episode(code: u64) -> EpisodeKey {
    let number = code & ((1 << EPISODE_NUMBER_BITS) - 1);
    EpisodeKey { session: SessionNumber::new(code >> EPISODE_NUMBER_BITS), number }
}
