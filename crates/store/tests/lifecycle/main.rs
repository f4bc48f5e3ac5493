//! Stored lifecycle rows, also those written by a newer version.

use rethread_model::{Agent, Timestamp};
use rethread_store::{AuthorizedSpace, CloseKind, HotMemoryRow, LifecycleRow, SessionKey, Store, StoreLocation};

const KEY: SessionKey<'_> = SessionKey { agent: Agent::ClaudeCode, external_id: "s-1" };

#[test]
fn lifecycle_row_round_trips() {
    // S002-08
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&StoreLocation::in_folder(folder.path()), AuthorizedSpace::local()).unwrap();
    let now = Timestamp::from_millis(1_000_000);
    let life = LifecycleRow {
        period: 3,
        closed: Some((CloseKind::Suspended, now)),
        event_count: 70,
        event_count_before_period: 60,
        prompt_entities: vec!["src/a.rs".to_owned(), "two words".to_owned()],
        recent_files: vec!["/p/a b.rs".to_owned()],
        recent_tools: vec!["Read".to_owned(), "Edit".to_owned()],
        ..LifecycleRow::new(now)
    };
    for life in [life, LifecycleRow::new(now)] {
        let mut batch = store.begin().unwrap();
        batch.save_lifecycle(KEY, &life).unwrap();
        batch.commit().unwrap();
        assert_eq!(store.lifecycle(KEY).unwrap(), Some(life));
    }
}

#[test]
fn unknown_stored_values_are_ignored() {
    // S002-14, L002-08
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let mut store = Store::open(&StoreLocation::at_path(&path), AuthorizedSpace::local()).unwrap();
    let now = Timestamp::from_millis(1_000_000);
    let mut batch = store.begin().unwrap();
    batch
        .save_lifecycle(KEY, &LifecycleRow { closed: Some((CloseKind::Ended, now)), ..LifecycleRow::new(now) })
        .unwrap();
    batch.commit().unwrap();
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute("UPDATE lifecycle SET closed_as = 'hibernating'", []).unwrap();
    assert_eq!(store.lifecycle(KEY).unwrap(), Some(LifecycleRow::new(now)));
    other.execute("UPDATE lifecycle SET closed_as = NULL, agent = 'an agent of tomorrow'", []).unwrap();
    assert_eq!(store.silent_sessions(Timestamp::from_millis(i64::MAX)).unwrap(), []);
}

#[test]
fn hot_entries_evict_only_their_own_kind() {
    // S002-20
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&StoreLocation::in_folder(folder.path()), AuthorizedSpace::local()).unwrap();
    let mut batch = store.begin().unwrap();
    for number in 0..10_i64 {
        let hot =
            HotMemoryRow { at: Timestamp::from_millis(number), text: number.to_string(), is_note: number % 5 == 0 };
        batch.add_hot_memory(KEY, &hot, 2).unwrap();
    }
    batch.commit().unwrap();
    let texts: Vec<String> =
        store.hot_memory(KEY, Timestamp::from_millis(0)).unwrap().into_iter().map(|hot| hot.text).collect();
    assert_eq!(texts, ["0", "5", "8", "9"]);
    let mut batch = store.begin().unwrap();
    assert_eq!(batch.evict_hot_memory(Timestamp::from_millis(8)).unwrap(), 2);
    batch.commit().unwrap();
    assert_eq!(store.hot_memory(KEY, Timestamp::from_millis(0)).unwrap().len(), 2);
}
