//! The file of a store: reading leaves it alone, a snapshot holds its state, and an old one is carried over.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::SystemTime;

use rethread_model::{
    Agent, Entry, EntryKind, EntryLocation, Episode, NativeKey, NewEntry, Role, Session, SessionChanges, Timestamp,
};
use rethread_store::{
    AuthorizedSpace, HotMemoryRow, MemberLimits, ReadStore, RereadKind, SessionFilter, SessionKey, SessionLabels,
    SignInError, SignedIn, Store, StoreError, StoreLocation, TextsOf, TokenProblem, TokenTerms,
};

const KEY: SessionKey<'_> = SessionKey { agent: Agent::Pi, external_id: "s" };
/// All sessions, also those in which nothing happened.
fn sessions(store: &ReadStore) -> Vec<Session> {
    store.sessions(&SessionFilter { include_empty: true, ..SessionFilter::default() }).unwrap()
}

fn open(folder: &Path) -> Store {
    Store::open(&StoreLocation::in_folder(folder), AuthorizedSpace::local()).unwrap()
}

fn open_to_read(folder: &Path) -> ReadStore {
    ReadStore::open(&StoreLocation::in_folder(folder), &AuthorizedSpace::local(), None).unwrap().unwrap()
}

fn add(store: &mut Store, external_id: &str, texts: &[&str]) {
    let mut batch = store.begin().unwrap();
    let number = batch.open_session(Agent::Pi, external_id).unwrap().number;
    let entries = texts.iter().zip(0..).map(|(text, seq)| {
        let key = NativeKey::from_stored(number.get() as i64 * 100 + seq as i64);
        let entry = Entry {
            seq,
            native_id: format!("{external_id}-{seq}"),
            location: EntryLocation::default(),
            at: None,
            kind: EntryKind::Prompt,
            text: (*text).to_owned(),
            tool: None,
            episode: Some(1),
            is_abandoned: false,
        };
        NewEntry { entry, native_key: key, line_key: key, message_key: None, node_key: None }
    });
    let changes = SessionChanges { entries: entries.collect(), ..SessionChanges::default() };
    let last_seq = texts.len() as u64 - 1;
    let episode = Episode { id: format!("{external_id}-e"), number: 1, last_seq, is_open: true, ..Episode::default() };
    batch.apply_changes(number, None, &changes, Some(&episode)).unwrap();
    batch.commit().unwrap();
}

/// Every file below a folder with its bytes and the time it was written.
fn files(folder: &Path) -> BTreeMap<String, (Vec<u8>, SystemTime)> {
    let all = fs::read_dir(folder).unwrap().map(|file| file.unwrap());
    all.map(|file| {
        let written = file.metadata().unwrap().modified().unwrap();
        (file.file_name().into_string().unwrap(), (fs::read(file.path()).unwrap(), written))
    })
    .collect()
}

#[test]
fn reading_changes_no_byte_of_the_store() {
    let folder = tempfile::tempdir().unwrap();
    add(&mut open(folder.path()), "s", &["hello"]);
    let before = files(folder.path());
    let store = open_to_read(folder.path());
    assert_eq!(sessions(&store).len(), 1);
    let snapshot = store.snapshot().unwrap();
    assert_eq!(snapshot.statistics().unwrap().entries, 1);
    snapshot.verify().unwrap();
    drop(snapshot);
    drop(store);
    assert_eq!(files(folder.path()), before);
}

#[test]
fn reading_leaves_the_log_of_a_writer_alone() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = open(folder.path());
    add(&mut writer, "s", &["hello"]);
    let contents = |name: &str| fs::read(folder.path().join(name)).unwrap();
    let before = (contents("memory.db"), contents("memory.db-wal"));
    let reader = open_to_read(folder.path());
    assert_eq!(sessions(&reader).len(), 1, "what is only in the log is read");
    drop(reader);
    assert!((contents("memory.db"), contents("memory.db-wal")) == before);
}

#[test]
fn there_is_nothing_to_read_before_a_store_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let location = StoreLocation::in_folder(folder.path());
    assert!(ReadStore::open(&location, &AuthorizedSpace::local(), None).unwrap().is_none());
    assert!(files(folder.path()).is_empty());
}

#[test]
fn a_snapshot_sees_one_state_while_another_process_writes() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = open(folder.path());
    add(&mut writer, "first", &["hello"]);
    let reader = open_to_read(folder.path());
    let count = |store: &ReadStore| sessions(store).len();
    let snapshot = reader.snapshot().unwrap();
    let head = snapshot.head().unwrap();
    assert_eq!(count(&snapshot), 1);
    add(&mut writer, "second", &["hello"]);
    assert_eq!((count(&snapshot), snapshot.head().unwrap()), (1, head));
    let inner = reader.snapshot().unwrap();
    assert_eq!(count(&inner), 1, "a snapshot within a snapshot is the same one");
    drop(inner);
    assert_eq!(count(&snapshot), 1, "which outlives it");
    drop(snapshot);
    assert_eq!(count(&reader), 2);
    assert!(reader.head().unwrap().change > head.change);
}

#[test]
fn files_are_readable_only_by_their_owner() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    add(&mut store, "s", &["hello"]);
    let names: Vec<String> = files(folder.path()).into_keys().collect();
    assert!(names.contains(&"memory.db-wal".to_owned()), "{names:?}");
    for name in names {
        let mode = fs::metadata(folder.path().join(&name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    assert!(!StoreLocation::in_folder(folder.path()).is_readable_by_others());
}

#[test]
fn a_reader_reads_a_file_from_before_pins_and_the_next_writer_adds_them() {
    let folder = tempfile::tempdir().unwrap();
    furnished(folder.path());
    let location = StoreLocation::in_folder(folder.path());
    let file = rusqlite::Connection::open(location.path()).unwrap();
    let older = "ALTER TABLE session_label DROP COLUMN pinned_at; ALTER TABLE session_label DROP COLUMN tags;
        PRAGMA user_version = 17";
    file.execute_batch(older).unwrap();
    drop(file);
    let reader = open_to_read(folder.path());
    let labels = reader.session_labels(KEY).unwrap();
    assert_eq!((labels.name.as_deref(), labels.pinned_at, labels.tags), (Some("a name of mine"), None, vec![]));
    assert!(reader.pins_and_tags().unwrap().is_empty());
    drop(reader);
    let mut store = open(folder.path());
    let mut batch = store.begin().unwrap();
    let tagged = SessionLabels { tags: vec!["later".to_owned()], ..batch.session_labels(KEY).unwrap() };
    batch.save_session_labels(KEY, &tagged).unwrap();
    batch.commit().unwrap();
    assert_eq!(open_to_read(folder.path()).session_labels(KEY).unwrap(), tagged);
    assert_eq!(store.pins_and_tags().unwrap().len(), 1);
}

/// A store with a session, what a user said about it, and a forgotten session.
fn furnished(folder: &Path) {
    let mut store = open(folder);
    add(&mut store, "s", &["hello", "more"]);
    add(&mut store, "forgotten", &["secret"]);
    let mut batch = store.begin().unwrap();
    batch.add_transcript("/t/s.jsonl", Agent::Pi).unwrap();
    let labels = SessionLabels { name: Some("a name of mine".to_owned()), ..SessionLabels::default() };
    batch.save_session_labels(KEY, &labels).unwrap();
    let note = HotMemoryRow { at: Timestamp::from_millis(5), text: "a note".to_owned(), is_note: true };
    batch.add_hot_memory(KEY, &note, 9).unwrap();
    batch.commit().unwrap();
    let id = sessions(&store).into_iter().find(|one| one.external_id == "forgotten").unwrap().id;
    let erased = store.sessions_with_descendants(&[id]).unwrap();
    let marks = store.mention_matcher(&erased).unwrap();
    let mut batch = store.begin().unwrap();
    batch.forget_sessions(&erased, &marks, Timestamp::from_millis(9)).unwrap();
    batch.commit().unwrap();
}

/// Checks that a new store has what can be carried over from an old one, and completes its sessions.
fn check_carried_over(old: &Path) -> Store {
    let new = tempfile::tempdir().unwrap();
    let mut store = open(new.path());
    let old = StoreLocation::in_folder(old);
    assert!(store.carry_over_tombstones(&old).unwrap().tombstones > 0);
    let mut carry_over = || store.carry_over(&old, &|_| Some(RereadKind::Unchanged)).unwrap();
    let report = carry_over();
    assert_eq!((report.entries, report.rejected_rows), (2, 0), "{report:?}");
    assert_eq!(carry_over().entries, 0, "it can be repeated after an interruption");
    assert_eq!(store.session_labels(KEY).unwrap().name.as_deref(), Some("a name of mine"));
    let set_aside = store.sessions_set_aside().unwrap();
    let mut batch = store.begin().unwrap();
    let session = batch.find_session(KEY).unwrap().unwrap().number;
    assert_eq!(set_aside, [session], "the next sync completes it");
    assert_eq!(batch.restore_set_aside(session).unwrap().unread, 2);
    let texts = batch.entry_texts(session, TextsOf::AllEntries).unwrap();
    assert_eq!(texts.into_iter().map(|(_, _, text)| text).collect::<Vec<_>>(), ["hello", "more"]);
    batch.commit().unwrap();
    assert_eq!(sessions(&store).len(), 1, "and nothing that was forgotten");
    store
}

#[test]
fn an_old_store_is_carried_over_row_by_row() {
    let folder = tempfile::tempdir().unwrap();
    furnished(folder.path());
    let before = files(folder.path());
    let store = check_carried_over(folder.path());
    assert_eq!(store.hot_memory(KEY, Timestamp::default()).unwrap().len(), 1);
    assert!(store.is_forgotten(SessionKey { external_id: "forgotten", ..KEY }).unwrap());
    assert_eq!(files(folder.path()).get("memory.db"), before.get("memory.db"), "the old file is kept as it is");
}

#[test]
fn a_store_without_a_readable_schema_is_carried_over_page_by_page() {
    let folder = tempfile::tempdir().unwrap();
    furnished(folder.path());
    let path = folder.path().join("memory.db");
    let mut bytes = fs::read(&path).unwrap();
    // The first page has the header and the names of the tables.
    bytes[100..2_000].fill(0);
    fs::write(&path, bytes).unwrap();
    check_carried_over(folder.path());
}

#[test]
fn newer_or_damaged_file_is_refused_and_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    drop(open(folder.path()));
    let path = folder.path().join("memory.db");
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.pragma_update(None, "user_version", 99).unwrap();
    drop(connection);
    let opened = Store::open(&StoreLocation::at_path(&path), AuthorizedSpace::local());
    assert!(matches!(opened, Err(StoreError::Newer { found: 99, .. })), "{opened:?}");
    let damaged = folder.path().join("damaged.db");
    std::fs::write(&damaged, "this is not a database but long enough to look like a header of one").unwrap();
    let before = std::fs::read(&damaged).unwrap();
    let opened = Store::open(&StoreLocation::at_path(&damaged), AuthorizedSpace::local());
    assert!(matches!(opened, Err(StoreError::Damaged { .. })), "{opened:?}");
    assert_eq!(std::fs::read(&damaged).unwrap(), before);
}

#[test]
fn a_database_of_a_development_build_is_refused_and_not_changed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute_batch("CREATE TABLE life (space TEXT); PRAGMA user_version = 11;").unwrap();
    drop(connection);
    let opened = Store::open(&StoreLocation::at_path(&path), AuthorizedSpace::local());
    assert!(matches!(opened, Err(StoreError::Outdated { found: 11, .. })), "{opened:?}");
    let connection = rusqlite::Connection::open(&path).unwrap();
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0)).unwrap();
    assert_eq!(tables, 1);
}

fn triggers(folder: &Path) -> i64 {
    let connection = rusqlite::Connection::open(folder.join("memory.db")).unwrap();
    let sql = "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'";
    connection.query_row(sql, [], |row| row.get(0)).unwrap()
}

#[test]
fn a_store_of_the_previous_schema_is_read_as_it_is_and_migrated_in_place_when_written() {
    let folder = tempfile::tempdir().unwrap();
    let connection = rusqlite::Connection::open(folder.path().join("memory.db")).unwrap();
    connection.execute_batch(include_str!("../../migrations/sqlite/0013-schema.sql")).unwrap();
    connection
        .execute_batch(
            "INSERT INTO session_label (space, agent, external_id, name) VALUES ('local', 'pi', 's', 'old');
             INSERT INTO forgotten_session (space, agent, external_id, at) VALUES ('local', 'pi', 'gone', 1);
             PRAGMA user_version = 13;",
        )
        .unwrap();
    drop(connection);
    let reader = open_to_read(folder.path());
    assert_eq!(reader.session_labels(KEY).unwrap().name.as_deref(), Some("old"));
    assert_eq!(reader.statistics().unwrap().schema, 13, "a reader does not migrate");
    assert!(!StoreLocation::in_folder(folder.path()).is_damaged());
    drop(reader);
    assert_eq!(triggers(folder.path()), 11);
    let mut store = open(folder.path());
    assert_eq!(store.statistics().unwrap().schema, 18);
    assert_eq!(store.session_labels(KEY).unwrap().name.as_deref(), Some("old"));
    assert!(store.verify().unwrap().is_empty());
    assert_eq!(triggers(folder.path()), 0);
    let mut batch = store.begin().unwrap();
    let gone = SessionKey { external_id: "gone", ..KEY };
    batch.save_session_labels(gone, &SessionLabels { name: Some("back".into()), ..SessionLabels::default() }).unwrap();
    batch.commit().unwrap();
    assert_eq!(store.session_labels(gone).unwrap(), SessionLabels::default(), "it stays forgotten");
}

#[test]
fn the_file_holds_only_the_hash_of_a_token() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    let member = "alice".parse().unwrap();
    let now = Timestamp::from_millis(1);
    let token = store.add_member(&member, Role::Admin, MemberLimits::default(), TokenTerms::default(), now).unwrap();
    drop(store);
    let shown = token.text.reveal();
    let (_, secret) = shown.rsplit_once('_').unwrap();
    for file in std::fs::read_dir(folder.path()).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        let holds = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
        assert!(!holds(secret));
    }
    let location = StoreLocation::in_folder(folder.path());
    let sign_in = |text: &str| SignedIn::by_token(&location, text, None, now);
    assert_eq!(sign_in(&shown).unwrap().member, member);
    let elsewhere = shown.replace("_local_", "_other_");
    for (text, problem) in
        [("", TokenProblem::Malformed), ("rt_local_x_y", TokenProblem::Malformed), (&elsewhere, TokenProblem::Unknown)]
    {
        assert!(matches!(sign_in(text), Err(SignInError::Rejected(found)) if found == problem), "{text}");
    }
    let empty = StoreLocation::in_folder(&folder.path().join("none"));
    let missing = SignedIn::by_token(&empty, &shown, None, now);
    assert!(matches!(missing, Err(SignInError::Rejected(TokenProblem::Unknown))), "there is no store");
}
