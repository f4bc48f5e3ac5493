//! Edges: nothing to index, very long texts, texts without words, and scripts without spaces.

use rethread_index::{IndexLag, IndexSnapshot, IndexUpdate, index_lag, verify_index, words};

use crate::fixture::{IndexedStore, documents, with_word};

/// The entries with every word of a text, in the store and in the index.
fn check_found(memory: &IndexedStore, text: &str, expected: usize) {
    for snapshot in [IndexSnapshot::from_store(&memory.store).unwrap(), memory.snapshot()] {
        for word in words::split(text).iter() {
            assert_eq!(with_word(&snapshot, word.text).len(), expected, "{:?} of {text:?}", word.text);
        }
    }
}

#[test]
fn an_empty_store_gives_an_empty_index() {
    let memory = IndexedStore::new();
    assert!(matches!(memory.update(), IndexUpdate::Updated { episodes: 0, .. }));
    assert_eq!(index_lag(&memory.index(), &memory.store, 10).unwrap(), IndexLag::None);
    assert!(documents(&memory.snapshot(), &["anything", ""]).is_empty());
    assert!(verify_index(&memory.index(), &memory.store).unwrap().is_empty());
    assert_eq!(memory.update(), IndexUpdate::UpToDate);
}

#[test]
fn texts_without_words_are_counted_and_never_found() {
    let mut memory = IndexedStore::new();
    memory.say("s", 1, &["", "   \n\t", "-- ... //", "\u{0}\u{1}\u{7f}\u{200b}", "\u{300}"]);
    memory.update();
    let all = documents(&memory.snapshot(), &["", " ", "\u{0}"]);
    assert_eq!(all.len(), 5);
    assert!(all.values().all(|view| view.counts.is_empty() && view.word_count == 0), "{all:?}");
}

#[test]
fn control_characters_separate_words() {
    let mut memory = IndexedStore::new();
    memory.say("s", 1, &["pool\u{0}deadlock\u{1b}[31mred\u{1b}[0m\r\nlast\u{85}line"]);
    memory.update();
    check_found(&memory, "pool deadlock last line", 1);
}

#[test]
fn a_very_long_text_is_found_by_its_first_and_its_last_word() {
    let mut memory = IndexedStore::new();
    let long = format!("beginning {} {} ending", "filler text ".repeat(250_000), "x".repeat(70_000));
    memory.say("s", 1, &[&long, "short"]);
    memory.update();
    check_found(&memory, "beginning", 1);
    check_found(&memory, "ending", 1);
    let counts = |snapshot: &IndexSnapshot| documents(snapshot, &["filler"]).into_values().next().unwrap();
    let (stored, indexed) = (counts(&IndexSnapshot::from_store(&memory.store).unwrap()), counts(&memory.snapshot()));
    assert_eq!(stored, indexed, "also the length, which is rounded");
    assert_eq!(stored.counts["filler"], 250_000);
}

#[test]
fn scripts_without_spaces_are_found_by_any_of_their_characters() {
    let mut memory = IndexedStore::new();
    memory.say("s", 1, &["数据库连接失败", "ฐานข้อมูลล้มเหลว", "データベースの障害", "데이터베이스 오류", "🚀 done"]);
    memory.update();
    check_found(&memory, "连接", 1);
    check_found(&memory, "库", 1);
    check_found(&memory, "ฐาน", 1);
    check_found(&memory, "ベース", 1);
    check_found(&memory, "오류", 1);
    check_found(&memory, "🚀", 1);
    for segment in memory.snapshot().segments() {
        assert_eq!(segment.with_phrase(&words::split("连接失败")).unwrap().len(), 1);
        assert!(segment.with_phrase(&words::split("失败连接")).unwrap().is_empty(), "in their order");
    }
}

#[test]
fn words_with_a_prefix_are_sorted_and_limited() {
    let mut memory = IndexedStore::new();
    memory.say("s", 1, &["pooling pools poolside", "polar pond", "POOLX 日本"]);
    let unindexed = IndexSnapshot::from_store(&memory.store).unwrap();
    memory.update();
    for snapshot in [unindexed, memory.snapshot()] {
        let segment = &snapshot.segments()[0];
        assert_eq!(segment.words_with_prefix("pool", 10).unwrap(), ["pool", "poolsid", "poolx"]);
        assert_eq!(segment.words_with_prefix("pool", 1).unwrap(), ["pool"]);
        assert_eq!(segment.words_with_prefix("日", 10).unwrap(), ["日", "日本"]);
        assert!(segment.words_with_prefix("zz", 10).unwrap().is_empty());
        assert_eq!(segment.words_with_prefix("", 2).unwrap().len(), 2);
        assert_eq!(segment.doc_frequency("pool").unwrap(), 1);
        assert_eq!(segment.doc_frequency("absent").unwrap(), 0);
    }
}

#[test]
fn a_session_is_found_by_its_number_only() {
    let mut memory = IndexedStore::new();
    let first = memory.say("a", 1, &["pool"]).get();
    let second = memory.say("b", 1, &["pool", "pool"]).get();
    memory.update();
    memory.say("b", 2, &["pool"]);
    let count = |number| -> usize {
        let snapshot = memory.snapshot();
        snapshot.segments().iter().map(|segment| segment.in_session(number).unwrap().len()).sum()
    };
    assert_eq!((count(first), count(second), count(first + second)), (1, 3, 0));
}
