//! What of an entry is indexed.

use rethread_model::{Entry, Speech};
use rethread_store::{EpisodeKey, Feed, FeedEntry, Head, SessionNumber, Since, Store};

use crate::error::IndexError;
use crate::novelty::{Conversations, is_said};
use crate::traits::Traits;

/// An episode number takes this many bits beside its session's number.
const NUMBER_BITS: u32 = 24;

/// Stands for "no time is known".
pub(crate) const NO_TIME: i64 = i64::MIN;

/// One entry, ready to be indexed.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    pub text: String,
    pub files: Vec<String>,
    pub tools: Vec<String>,
    /// Who speaks, where every text of the exchange begins with a name and a colon.
    pub speaker: Option<String>,
    pub episode: EpisodeKey,
    pub seq: u64,
    pub at: i64,
    pub traits: Traits,
}

/// One step of what an index has to take in.
#[derive(Debug)]
pub(crate) enum Step {
    /// Everything known of the session is out of date.
    Retold(SessionNumber),
    /// Everything known of the episode is out of date; this is it now.
    Episode(EpisodeKey, Vec<Document>),
}

impl Document {
    fn of(entry: &FeedEntry<'_>) -> Self {
        let call = entry.tool.map(|_| [entry.tool, entry.target, entry.arguments, entry.error]);
        let files = entry.paths.and_then(|paths| serde_json::from_str(paths).ok()).unwrap_or_default();
        let tools = entry.tool.into_iter().chain(entry.tool_kind).map(str::to_lowercase).collect();
        Self {
            text: join(entry.text, call),
            files,
            tools,
            speaker: None,
            episode: entry.episode,
            seq: entry.seq,
            at: entry.at.map_or(NO_TIME, rethread_model::Timestamp::as_millis),
            traits: Traits::of(entry.speech, entry.failed, entry.text),
        }
    }
}

/// Tells what changed since then, one whole episode at a time.
pub(crate) fn episodes(
    store: &Store,
    since: Since,
    each: impl FnMut(Step) -> Result<(), IndexError>,
) -> Result<Head, IndexError> {
    let mut gatherer = Gatherer { store, each, open: None, conversations: Conversations::default() };
    let head = store.feed(since, |step| gatherer.take(step))?;
    gatherer.close()?;
    Ok(head)
}

/// Puts the entries of an episode together.
struct Gatherer<'s, F> {
    store: &'s Store,
    conversations: Conversations,
    each: F,
    open: Option<(EpisodeKey, Vec<Document>)>,
}

impl<F: FnMut(Step) -> Result<(), IndexError>> Gatherer<'_, F> {
    fn take(&mut self, step: Feed<'_>) -> Result<(), IndexError> {
        match step {
            Feed::Retold(session) => {
                self.conversations.forget(session);
                return (self.each)(Step::Retold(session));
            }
            Feed::Episode(key) => {
                self.close()?;
                self.open = Some((key, Vec::new()));
            }
            Feed::Entry(entry) => {
                if let Some((_, documents)) = &mut self.open {
                    documents.push(Document::of(&entry));
                }
            }
        }
        Ok(())
    }

    fn close(&mut self) -> Result<(), IndexError> {
        let Some((key, mut documents)) = self.open.take() else { return Ok(()) };
        name_speakers(&mut documents);
        if let Some(first) = documents.first() {
            self.conversations.prepare(self.store, key.session, first.seq)?;
        }
        for document in documents.iter_mut().filter(|document| is_said(document.traits.speech())) {
            let novelty = self.conversations.add(key.session, &document.text);
            document.traits = document.traits.with_novelty(novelty);
        }
        (self.each)(Step::Episode(key, documents))
    }
}

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

/// In a chat log every text begins with the name of who speaks. A single `Error: …` is not a name, so all texts of an
/// exchange must have one, and there must be two.
fn name_speakers(documents: &mut [Document]) {
    let is_text = |document: &Document| matches!(document.traits.speech(), Speech::Prompt | Speech::Said);
    let texts = documents.iter().filter(|document| is_text(document));
    let named = texts.clone().filter(|document| speaker(&document.text).is_some()).count();
    if named < 2 || named < texts.count() {
        return;
    }
    for document in documents.iter_mut().filter(|document| is_text(document)) {
        document.speaker = speaker(&document.text);
    }
}

/// The name before a colon at the beginning of a text, in lower case.
fn speaker(text: &str) -> Option<String> {
    let (name, rest) = text.split_once(':')?;
    let is_name = name.len() <= 40
        && rest.starts_with(char::is_whitespace)
        && name.split(' ').count() <= 2
        && name.split(' ').all(|word| {
            word.starts_with(char::is_uppercase) && word.chars().all(|c| c.is_alphanumeric() || "_.-".contains(c))
        });
    is_name.then(|| name.to_lowercase())
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
