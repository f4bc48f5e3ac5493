//! A store with sessions written by hand, its index, and what a snapshot holds as plain values.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use rethread_index::{IndexSnapshot, IndexUpdate, LockWait, update_index};
use rethread_model::{
    Agent, Entry, EntryKind, EntryLocation, Episode, NativeKey, NewEntry, SessionChanges, Timestamp, ToolKind,
    ToolOutcome, ToolStatus, ToolUse,
};
use rethread_store::{AuthorizedSpace, SessionNumber, Store, StoreLocation};

/// Session and position of an entry.
pub(crate) type Place = (u64, u64);

/// A store and the folder of its index.
pub(crate) struct IndexedStore {
    folder: tempfile::TempDir,
    pub(crate) store: Store,
    /// The next free position of each session.
    next_seq: BTreeMap<&'static str, u64>,
    /// The first position of each episode.
    first_seq: BTreeMap<(&'static str, u64), u64>,
    next_key: i64,
}

/// Everything a ranking reads of one document.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DocumentView {
    pub(crate) episode: u64,
    pub(crate) at: Option<Timestamp>,
    pub(crate) word_count: u32,
    pub(crate) traits: String,
    /// Occurrences of each of the words that were asked for.
    pub(crate) counts: BTreeMap<String, u32>,
}

impl IndexedStore {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&StoreLocation::in_folder(folder.path()), AuthorizedSpace::local()).unwrap();
        Self { folder, store, next_seq: BTreeMap::new(), first_seq: BTreeMap::new(), next_key: 0 }
    }

    pub(crate) fn root(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn index(&self) -> PathBuf {
        self.folder.path().join("index")
    }

    pub(crate) fn update(&self) -> IndexUpdate {
        update_index(&self.index(), &self.store, LockWait::Skip).unwrap()
    }

    pub(crate) fn snapshot(&self) -> IndexSnapshot {
        IndexSnapshot::open(&self.index(), &self.store).unwrap()
    }

    /// Adds texts to an open episode of a session: alternately a prompt and an answer.
    pub(crate) fn say(&mut self, session: &'static str, episode: u64, texts: &[&str]) -> SessionNumber {
        let kinds = [EntryKind::Prompt, EntryKind::AssistantText].into_iter().cycle();
        let entries = texts.iter().zip(kinds).map(|(text, kind)| (kind, (*text).to_owned(), None));
        self.write(session, episode, true, entries.collect())
    }

    /// Adds a tool call to an open episode of a session.
    pub(crate) fn call(&mut self, session: &'static str, episode: u64, tool: ToolUse) -> SessionNumber {
        self.write(session, episode, true, vec![(EntryKind::Call, "call text".to_owned(), Some(tool))])
    }

    /// Adds entries to an episode.
    pub(crate) fn write(
        &mut self,
        session: &'static str,
        episode: u64,
        is_open: bool,
        entries: Vec<(EntryKind, String, Option<ToolUse>)>,
    ) -> SessionNumber {
        let first = *self.next_seq.get(session).unwrap_or(&0);
        let count = entries.len() as u64;
        let entries: Vec<NewEntry> = entries
            .into_iter()
            .zip(first..)
            .map(|((kind, text, tool), seq)| {
                self.next_key += 1;
                new_entry(self.next_key, seq, episode, kind, text, tool)
            })
            .collect();
        let mut batch = self.store.begin().unwrap();
        let number = batch.open_session(Agent::Pi, session).unwrap().number;
        let changes = SessionChanges { entries, ..SessionChanges::default() };
        let last_seq = (first + count).saturating_sub(1);
        let id = format!("{session}-{episode}");
        let first_seq = *self.first_seq.entry((session, episode)).or_insert(first);
        let episode = Episode { id, number: episode, first_seq, last_seq, is_open, ..Episode::default() };
        batch.apply_changes(number, None, &changes, Some(&episode)).unwrap();
        batch.commit().unwrap();
        self.next_seq.insert(session, first + count);
        number
    }

    pub(crate) fn reset(&mut self, number: SessionNumber, session: &'static str) {
        let mut batch = self.store.begin().unwrap();
        batch.reset_session(number).unwrap();
        batch.commit().unwrap();
        self.next_seq.remove(session);
        self.first_seq.retain(|(known, _), _| *known != session);
    }
}

fn new_entry(key: i64, seq: u64, episode: u64, kind: EntryKind, text: String, tool: Option<ToolUse>) -> NewEntry {
    NewEntry {
        entry: Entry {
            seq,
            native_id: format!("n{key}"),
            location: EntryLocation::default(),
            // Every third entry has no time, as in transcripts that leave it out.
            at: (key % 3 != 0).then(|| Timestamp::from_millis(1_000 * key)),
            kind,
            text,
            tool,
            episode: Some(episode),
            is_abandoned: false,
        },
        native_key: NativeKey::from_stored(key),
        line_key: NativeKey::from_stored(key),
        message_key: None,
        node_key: None,
    }
}

/// A failed command on two files.
pub(crate) fn failed_command() -> ToolUse {
    ToolUse {
        name: "Bash".to_owned(),
        kind: Some(ToolKind::Command),
        target: "cargo nextest".to_owned(),
        body: None,
        arguments: "timeout=90".to_owned(),
        paths: vec!["/srv/shop/src/Wal.rs".to_owned(), "~/notes.md".to_owned()],
        outcome: Some(ToolOutcome {
            status: ToolStatus::Error,
            summary: "summaryword".to_owned(),
            error: Some("linkererror at startup".to_owned()),
            exit_code: Some(1),
            lines: 1,
            bytes: 10,
            output: None,
        }),
    }
}

/// Every document of a snapshot, with the occurrences of these words.
pub(crate) fn documents(snapshot: &IndexSnapshot, words: &[&str]) -> BTreeMap<Place, DocumentView> {
    let mut all = BTreeMap::new();
    for segment in snapshot.segments() {
        let alive = (0..segment.doc_limit()).filter(|doc| segment.is_alive(*doc)).count();
        assert_eq!(segment.live_count(), alive as u64);
        for doc in (0..segment.doc_limit()).filter(|doc| segment.is_alive(*doc)) {
            let view = DocumentView {
                episode: segment.episode(doc).number,
                at: segment.at(doc),
                word_count: segment.word_count(doc),
                traits: format!("{:?}", segment.traits(doc)),
                counts: BTreeMap::new(),
            };
            let twice = all.insert((segment.episode(doc).session.get(), segment.seq(doc)), view);
            assert_eq!(twice, None, "an entry is in a snapshot once");
        }
        for word in words {
            let mut found = Vec::new();
            segment.postings(word, &mut found).unwrap();
            for (doc, count) in found {
                let place = (segment.episode(doc).session.get(), segment.seq(doc));
                all.get_mut(&place).unwrap().counts.insert((*word).to_owned(), count);
            }
        }
    }
    all
}

/// The entries with a word, as it is stored in the index.
pub(crate) fn with_word(snapshot: &IndexSnapshot, word: &str) -> BTreeSet<Place> {
    let found = documents(snapshot, &[word]);
    found.into_iter().filter(|(_, view)| !view.counts.is_empty()).map(|(place, _)| place).collect()
}
