//! What can be found of an entry.

use std::collections::BTreeSet;

use rethread_index::{IndexSegment, IndexSnapshot, words};
use rethread_model::{EntryKind, Timestamp};

use crate::fixture::{IndexedStore, Place, documents, failed_command, with_word};

/// The entries that a segment's lookup finds, in the whole snapshot.
fn found(snapshot: &IndexSnapshot, lookup: impl Fn(&IndexSegment) -> Vec<u32>) -> BTreeSet<Place> {
    let place = |segment: &IndexSegment, doc| (segment.episode(doc).session.get(), segment.seq(doc));
    let each = snapshot.segments().iter().flat_map(|segment| {
        let docs = lookup(segment);
        docs.into_iter().map(move |doc| place(segment, doc)).collect::<Vec<_>>()
    });
    each.collect()
}

/// Runs a check on entries that are only in the store, and on the same entries in the index.
fn unindexed_and_indexed(memory: &IndexedStore, check: impl Fn(&IndexSnapshot)) {
    check(&IndexSnapshot::from_store(&memory.store).unwrap());
    memory.update();
    check(&memory.snapshot());
}

#[test]
fn a_call_is_found_by_what_it_did_and_not_by_its_result() {
    let mut memory = IndexedStore::new();
    let session = memory.call("s", 1, failed_command()).get();
    unindexed_and_indexed(&memory, |snapshot| {
        for word in ["bash", "nextest", "90", "linkererror"] {
            assert_eq!(with_word(snapshot, word), [(session, 0)].into(), "{word}");
        }
        for word in ["summaryword", "text", "shop"] {
            assert!(with_word(snapshot, word).is_empty(), "{word}");
        }
    });
}

#[test]
fn a_call_is_found_by_its_files_and_its_tool() {
    let mut memory = IndexedStore::new();
    memory.say("s", 1, &["wal.rs in shop/src is slow"]);
    let session = memory.call("s", 1, failed_command()).get();
    unindexed_and_indexed(&memory, |snapshot| {
        for path in ["wal.rs", "wal", "WAL.RS", "src/wal.rs", "shop/src", "/srv/shop/src/Wal.rs", "notes.md"] {
            let files = found(snapshot, |segment| segment.with_path(path).unwrap());
            assert_eq!(files, [(session, 1)].into(), "{path}");
        }
        for path in ["src/shop", "al.rs", "shop/wal.rs", "", "/"] {
            assert!(found(snapshot, |segment| segment.with_path(path).unwrap()).is_empty(), "{path}");
        }
        for tool in ["bash", "command"] {
            assert_eq!(found(snapshot, |segment| segment.with_tool(tool).unwrap()), [(session, 1)].into(), "{tool}");
        }
        assert!(found(snapshot, |segment| segment.with_tool("Bash").unwrap()).is_empty(), "in lower case only");
    });
}

#[test]
fn a_phrase_needs_its_words_at_their_distances() {
    let mut memory = IndexedStore::new();
    let session =
        memory.say("s", 1, &["the borrow checker said no", "borrow a second checker", "checker borrow"]).get();
    unindexed_and_indexed(&memory, |snapshot| {
        let phrase = |text: &str| found(snapshot, |segment| segment.with_phrase(&words::split(text)).unwrap());
        assert_eq!(phrase("borrow checker"), [(session, 0)].into());
        assert_eq!(phrase("borrows the checkers"), BTreeSet::new(), "a word that is left out keeps its place");
        assert_eq!(phrase("checkers"), [(session, 0), (session, 1), (session, 2)].into());
        assert_eq!(phrase(""), BTreeSet::new());
    });
}

#[test]
fn a_speaker_is_known_only_if_every_text_begins_with_a_name() {
    let mut memory = IndexedStore::new();
    let chat = memory.say("chat", 1, &["Ann: shall we ship?", "Bob Ray: not yet", "Ann: why?"]).get();
    memory.say("mixed", 1, &["Error: it broke", "Let me look."]);
    memory.say("single", 1, &["Ann: shall we ship?"]);
    unindexed_and_indexed(&memory, |snapshot| {
        let spoken = |name: &str| found(snapshot, |segment| segment.with_speaker(name).unwrap());
        assert_eq!(spoken("ann"), [(chat, 0), (chat, 2)].into());
        assert_eq!(spoken("bob ray"), [(chat, 1)].into());
        assert!(spoken("error").is_empty());
    });
}

#[test]
fn what_was_not_said_by_human_or_agent_is_not_indexed() {
    let mut memory = IndexedStore::new();
    let kinds = [EntryKind::Interruption, EntryKind::Injected, EntryKind::Notice, EntryKind::Command, EntryKind::Note];
    let entries = kinds.map(|kind| (kind, "findable".to_owned(), None)).to_vec();
    let session = memory.write("s", 1, false, entries).get();
    unindexed_and_indexed(&memory, |snapshot| {
        assert_eq!(with_word(snapshot, "findabl"), [(session, 4)].into(), "only the note");
    });
}

#[test]
fn time_kind_and_novelty_are_kept_with_a_document() {
    let mut memory = IndexedStore::new();
    let session = memory.say("s", 1, &["Why is the pool slow?", "The pool is slow because of it.", "no time"]).get();
    unindexed_and_indexed(&memory, |snapshot| {
        let all = documents(snapshot, &[]);
        let times: Vec<_> = all.values().map(|view| view.at).collect();
        assert_eq!(times, [Some(Timestamp::from_millis(1_000)), Some(Timestamp::from_millis(2_000)), None]);
        for segment in snapshot.segments() {
            let asks = found(snapshot, |segment| {
                (0..segment.doc_limit()).filter(|doc| segment.traits(*doc).ends_with_question()).collect()
            });
            assert_eq!(asks, [(session, 0)].into());
            assert_eq!(segment.live_count(), 3);
            assert_eq!(segment.traits(0).kind(), EntryKind::Prompt);
            assert!(segment.traits(0).novelty() > segment.traits(1).novelty(), "the answer repeats the question");
        }
    });
}
