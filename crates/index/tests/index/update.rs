//! Updating: the index and what is not indexed yet are searched as one, and one process writes at a time.

use std::collections::BTreeMap;
use std::sync::mpsc;

use rethread_index::{
    IndexLag, IndexSnapshot, IndexUpdate, IndexUpdater, LockWait, count_documents, index_lag, update_index,
    verify_index,
};
use rethread_model::EntryKind;
use rethread_store::{AuthorizedSpace, Store, StoreLocation};

use crate::fixture::{DocumentView, IndexedStore, Place, documents, failed_command, with_word};

const WORDS: [&str; 8] = ["pool", "deadlock", "slow", "nextest", "grow", "again", "other", "end"];

/// The changes of a small store, one at a time: new sessions, a growing episode, a closed one, a session read again.
const CHANGES: [fn(&mut IndexedStore); 8] = [
    |memory| _ = memory.say("a", 1, &["the pool is slow", "a deadlock in the pool"]),
    |memory| _ = memory.say("b", 1, &["other work"]),
    |memory| _ = memory.say("a", 1, &["the pool grows"]),
    |memory| _ = memory.call("a", 1, failed_command()),
    |memory| _ = memory.write("a", 2, false, vec![(EntryKind::Prompt, "slow again and again".to_owned(), None)]),
    |memory| {
        let number = memory.say("c", 1, &["other end"]);
        memory.reset(number, "c");
    },
    |memory| _ = memory.say("c", 1, &["the end of the pool"]),
    |memory| {
        let number = memory.say("b", 1, &["the end"]);
        memory.reset(number, "b");
    },
];

fn indexed_change(memory: &IndexedStore) -> i64 {
    let meta = std::fs::read_to_string(memory.index().join("meta.json")).unwrap();
    let meta: serde_json::Value = serde_json::from_str(&meta).unwrap();
    let payload: serde_json::Value = serde_json::from_str(meta["payload"].as_str().unwrap()).unwrap();
    payload["change"].as_i64().unwrap()
}

#[test]
fn an_index_with_unindexed_entries_is_searched_like_a_complete_one() {
    let views = |snapshot: &IndexSnapshot| documents(snapshot, &WORDS);
    let mut expected: Option<BTreeMap<Place, DocumentView>> = None;
    for split in 0..=CHANGES.len() {
        let mut memory = IndexedStore::new();
        CHANGES[..split].iter().for_each(|change| change(&mut memory));
        memory.update();
        CHANGES[split..].iter().for_each(|change| change(&mut memory));
        let partial = views(&memory.snapshot());
        memory.update();
        let complete = views(&memory.snapshot());
        assert_eq!(partial, complete, "indexed up to change {split}");
        assert_eq!(partial, *expected.get_or_insert(complete), "as with every other split");
        assert_eq!(partial, views(&IndexSnapshot::from_store(&memory.store).unwrap()), "as without an index");
        assert!(verify_index(&memory.index(), &memory.store).unwrap().is_empty());
    }
    let expected = expected.unwrap();
    assert_eq!(expected.len(), 6, "sessions that were reset have only what was written since: {expected:?}");
}

/// What a ranking reads of sessions: words in each field, and their averages.
fn session_words(snapshot: &IndexSnapshot) -> String {
    let fields = snapshot.session_fields();
    let words: Vec<_> = (0..10).map(|session| fields.word_counts(session)).collect();
    format!("{words:?} {:?} {}", fields.average_words(), fields.session_count())
}

#[test]
fn a_snapshot_that_catches_up_equals_one_that_is_opened() {
    for split in 0..=CHANGES.len() {
        let mut memory = IndexedStore::new();
        CHANGES[..split].iter().for_each(|change| change(&mut memory));
        memory.update();
        let first = memory.snapshot();
        let mut snapshot = first.caught_up(&memory.store).unwrap().unwrap();
        for (at, change) in CHANGES[split..].iter().enumerate() {
            change(&mut memory);
            snapshot = snapshot.caught_up(&memory.store).unwrap().unwrap();
            let opened = memory.snapshot();
            assert_eq!(documents(&snapshot, &WORDS), documents(&opened, &WORDS), "change {at} after {split}");
            assert_eq!(session_words(&snapshot), session_words(&opened), "change {at} after {split}");
            assert_eq!((snapshot.head(), snapshot.indexed_change()), (opened.head(), opened.indexed_change()));
        }
        let at_once = first.caught_up(&memory.store).unwrap().unwrap();
        assert_eq!(documents(&at_once, &WORDS), documents(&snapshot, &WORDS), "all changes after {split} at once");
        memory.update();
        assert_eq!(documents(&snapshot, &WORDS), documents(&memory.snapshot(), &WORDS), "as the index on disk");
    }
}

#[test]
fn a_snapshot_stays_as_it_was_when_another_catches_up_from_it() {
    let mut memory = IndexedStore::new();
    memory.say("a", 1, &["the pool is slow"]);
    memory.update();
    let before = memory.snapshot();
    let (seen, words) = (documents(&before, &WORDS), session_words(&before));
    memory.say("a", 1, &["the pool grows"]);
    let after = before.caught_up(&memory.store).unwrap().unwrap();
    assert_eq!(documents(&after, &WORDS).len(), 2);
    assert_eq!((documents(&before, &WORDS), session_words(&before)), (seen, words));
}

#[test]
fn catching_up_often_leaves_few_segments() {
    let mut memory = IndexedStore::new();
    memory.say("a", 1, &["the pool is slow"]);
    memory.update();
    let mut snapshot = memory.snapshot();
    for episode in 0..100 {
        memory.say("b", episode, &["other work"]);
        snapshot = snapshot.caught_up(&memory.store).unwrap().unwrap();
    }
    assert_eq!((snapshot.unindexed_entries(), documents(&snapshot, &WORDS).len()), (100, 101));
    assert!(snapshot.segments().len() <= 8, "{} segments", snapshot.segments().len());
}

#[test]
fn updating_after_every_change_equals_updating_once() {
    let (mut often, mut once) = (IndexedStore::new(), IndexedStore::new());
    for change in CHANGES {
        change(&mut often);
        often.update();
        change(&mut once);
    }
    once.update();
    assert_eq!(documents(&often.snapshot(), &WORDS), documents(&once.snapshot(), &WORDS));
}

#[test]
fn the_commit_says_up_to_which_change_the_store_is_indexed() {
    let mut memory = IndexedStore::new();
    memory.say("a", 1, &["one"]);
    assert!(matches!(memory.update(), IndexUpdate::Updated { episodes: 1, rebuild_reason: Some(_) }));
    let first = indexed_change(&memory);
    assert_eq!(first, memory.store.head().unwrap().change);
    assert_eq!(memory.update(), IndexUpdate::UpToDate);
    memory.say("a", 1, &["two"]);
    assert_eq!(indexed_change(&memory), first, "only an update moves it");
    assert_eq!(memory.update(), IndexUpdate::Updated { episodes: 1, rebuild_reason: None });
    assert_eq!(indexed_change(&memory), memory.store.head().unwrap().change);
}

#[test]
fn lag_counts_entries_of_changed_episodes_and_stops_counting_in_time() {
    let mut memory = IndexedStore::new();
    memory.say("a", 1, &["one", "two"]);
    memory.update();
    let lag = |memory: &IndexedStore, enough| index_lag(&memory.index(), &memory.store, enough).unwrap();
    assert_eq!(lag(&memory, 100), IndexLag::None);
    memory.say("a", 1, &["three"]);
    assert_eq!(lag(&memory, 100), IndexLag::Entries(3), "the episode is indexed again as a whole");
    for session in ["b", "c", "d"] {
        memory.say(session, 1, &["one", "two"]);
    }
    assert_eq!(lag(&memory, 100), IndexLag::Entries(9));
    assert!(matches!(lag(&memory, 4), IndexLag::Entries(5..=8)), "counting stops above the limit");
}

#[test]
fn a_hurried_snapshot_skips_a_long_tail() {
    let mut memory = IndexedStore::new();
    let open = |memory: &IndexedStore, little| IndexSnapshot::open_bounded(&memory.index(), &memory.store, little);
    assert!(open(&memory, 10).unwrap().is_none(), "there is no index");
    let session = memory.say("a", 1, &["pool"]).get();
    memory.update();
    memory.say("a", 2, &["pool", "pool"]);
    let found = |little| with_word(&open(&memory, little).unwrap().unwrap(), "pool");
    assert_eq!(found(2).len(), 3);
    assert_eq!(found(1), [(session, 0)].into());
}

#[test]
fn episodes_that_may_grow_are_left_for_the_last_step() {
    let mut memory = IndexedStore::new();
    let text = |number: usize| (EntryKind::Prompt, format!("closed {number}"), None);
    memory.write("a", 1, false, (0..2_100).map(text).collect());
    memory.say("b", 1, &["still open"]);
    let mut updater = IndexUpdater::begin(&memory.index(), &memory.store, LockWait::Skip).unwrap().unwrap();
    assert_eq!(updater.index_closed_episodes(&memory.store).unwrap(), 1, "the closed one");
    assert_eq!(updater.index_closed_episodes(&memory.store).unwrap(), 0, "too little is new for a step of its own");
    assert_eq!(updater.index_new(&memory.store).unwrap(), 1, "the open one");
    assert!(matches!(updater.finish().unwrap(), IndexUpdate::Updated { episodes: 2, .. }));
    assert_eq!(with_word(&memory.snapshot(), "open").len(), 1);
    assert!(verify_index(&memory.index(), &memory.store).unwrap().is_empty());
}

#[test]
fn one_process_updates_while_others_skip_or_wait() {
    let mut memory = IndexedStore::new();
    memory.say("a", 1, &["pool"]);
    let mut first = IndexUpdater::begin(&memory.index(), &memory.store, LockWait::Wait).unwrap().unwrap();
    assert_eq!(memory.update(), IndexUpdate::Busy);
    assert!(IndexUpdater::begin(&memory.index(), &memory.store, LockWait::Skip).unwrap().is_none());
    let (root, index) = (memory.root().to_owned(), memory.index());
    let (started, waits) = mpsc::channel();
    let other = std::thread::spawn(move || {
        let store = Store::open(&StoreLocation::in_folder(&root), AuthorizedSpace::local()).unwrap();
        started.send(()).unwrap();
        update_index(&index, &store, LockWait::Wait).unwrap()
    });
    waits.recv().unwrap();
    first.index_new(&memory.store).unwrap();
    assert!(matches!(first.finish().unwrap(), IndexUpdate::Updated { episodes: 1, .. }));
    assert_eq!(other.join().unwrap(), IndexUpdate::UpToDate, "it sees what the first one indexed");
    assert_eq!(with_word(&memory.snapshot(), "pool").len(), 1);
}

#[test]
fn an_update_that_is_dropped_changes_nothing() {
    let mut memory = IndexedStore::new();
    memory.say("a", 1, &["pool"]);
    memory.update();
    memory.say("a", 2, &["deadlock"]);
    let before = indexed_change(&memory);
    let mut updater = IndexUpdater::begin(&memory.index(), &memory.store, LockWait::Skip).unwrap().unwrap();
    assert_eq!(updater.index_new(&memory.store).unwrap(), 1);
    drop(updater);
    assert_eq!(indexed_change(&memory), before);
    assert_eq!(count_documents(&memory.index(), &|_, _| true).unwrap(), 1);
    assert_eq!(with_word(&memory.snapshot(), "deadlock").len(), 1, "it is still read from the store");
    assert_eq!(memory.update(), IndexUpdate::Updated { episodes: 1, rebuild_reason: None });
}
