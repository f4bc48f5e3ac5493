//! Rebuilding: an unusable index is recognized, replaced as a whole, and never left half written.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rethread_index::{
    IndexError, IndexLag, IndexProblem, IndexSnapshot, IndexUpdate, IndexUpdater, LockWait, count_documents,
    delete_index, index_lag, size_bytes, verify_index,
};

use crate::fixture::{IndexedStore, documents, with_word};

fn indexed() -> IndexedStore {
    let mut memory = IndexedStore::new();
    memory.say("a", 1, &["the pool is slow", "a deadlock"]);
    memory.say("b", 1, &["another pool"]);
    memory.update();
    memory
}

fn lag(memory: &IndexedStore) -> IndexLag {
    index_lag(&memory.index(), &memory.store, 100).unwrap()
}

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let all = fs::read_dir(folder).unwrap().map(|file| file.unwrap());
    all.map(|file| (file.file_name().into_string().unwrap(), fs::read(file.path()).unwrap())).collect()
}

fn has_extension(name: &str, extension: &str) -> bool {
    Path::new(name).extension().is_some_and(|found| found == extension)
}

/// Replaces text in the description of the index, as another program would have written it.
fn edit_meta(memory: &IndexedStore, from: &str, to: &str) {
    let path = memory.index().join("meta.json");
    let before = fs::read_to_string(&path).unwrap();
    assert!(before.contains(from), "{before}");
    fs::write(&path, before.replace(from, to)).unwrap();
}

/// Checks that the index is unusable for this reason, is rebuilt for it, and is complete afterwards.
fn check_rebuilt(memory: &IndexedStore, why: IndexProblem) {
    assert_eq!(lag(memory), IndexLag::Unusable(why));
    assert_eq!(memory.update(), IndexUpdate::Updated { episodes: 2, rebuild_reason: Some(why) });
    assert_eq!(lag(memory), IndexLag::None);
    assert_eq!(with_word(&memory.snapshot(), "pool").len(), 2);
    assert!(verify_index(&memory.index(), &memory.store).unwrap().is_empty());
    assert!(!memory.index().with_extension("new").exists());
}

#[test]
fn a_missing_index_is_built() {
    let memory = indexed();
    fs::remove_dir_all(memory.index()).unwrap();
    check_rebuilt(&memory, IndexProblem::Missing);
}

#[test]
fn a_damaged_description_is_recognized() {
    let memory = indexed();
    fs::write(memory.index().join("meta.json"), "{").unwrap();
    assert!(matches!(IndexSnapshot::open(&memory.index(), &memory.store), Err(IndexError::Damaged(_))));
    check_rebuilt(&memory, IndexProblem::Damaged);
}

#[test]
fn an_index_without_a_payload_is_damaged() {
    let memory = indexed();
    edit_meta(&memory, "\"payload\"", "\"nothing\"");
    check_rebuilt(&memory, IndexProblem::Damaged);
}

#[test]
fn an_index_of_another_version_is_recognized() {
    let memory = indexed();
    edit_meta(&memory, r#"\"version\":"#, r#"\"version\":9"#);
    assert!(IndexSnapshot::open_bounded(&memory.index(), &memory.store, 10).unwrap().is_none());
    check_rebuilt(&memory, IndexProblem::OtherVersion);
}

#[test]
fn an_index_with_other_fields_is_recognized() {
    let memory = indexed();
    edit_meta(&memory, "\"speaker\"", "\"author\"");
    check_rebuilt(&memory, IndexProblem::OtherVersion);
}

#[test]
fn an_index_of_another_store_or_a_later_state_is_recognized() {
    let memory = indexed();
    let mut other = IndexedStore::new();
    other.say("x", 1, &["the pool of another store"]);
    other.say("y", 1, &["pool"]);
    fs::rename(memory.index(), other.index()).unwrap();
    check_rebuilt(&other, IndexProblem::OtherStore);
    edit_meta(&other, r#"\"change\":"#, r#"\"change\":99"#);
    check_rebuilt(&other, IndexProblem::OtherStore);
}

#[test]
fn damaged_postings_are_reported() {
    let memory = indexed();
    let index = memory.index();
    for (name, mut bytes) in files(&index).into_iter().filter(|(name, _)| has_extension(name, "idx")) {
        let middle = bytes.len() / 3;
        bytes[middle] ^= 0xFF;
        fs::write(index.join(name), bytes).unwrap();
    }
    let wrong = verify_index(&index, &memory.store).unwrap();
    assert!(wrong.iter().all(|line| line.ends_with("is damaged")) && !wrong.is_empty(), "{wrong:?}");
}

#[test]
fn an_update_rebuilds_an_index_that_turns_out_to_be_damaged() {
    let mut memory = indexed();
    let index = memory.index();
    for (name, _) in files(&index).into_iter().filter(|(name, _)| has_extension(name, "term")) {
        fs::write(index.join(name), "").unwrap();
    }
    memory.say("b", 1, &["pool"]);
    assert_eq!(lag(&memory), IndexLag::Entries(2), "its description is whole");
    assert_eq!(memory.update(), IndexUpdate::Updated { episodes: 2, rebuild_reason: Some(IndexProblem::Damaged) });
    assert_eq!(with_word(&memory.snapshot(), "pool").len(), 3);
}

#[test]
fn a_rebuild_leaves_the_old_index_alone_until_it_is_complete() {
    let memory = indexed();
    edit_meta(&memory, r#"\"version\":"#, r#"\"version\":9"#);
    let before = files(&memory.index());
    let mut updater = IndexUpdater::begin(&memory.index(), &memory.store, LockWait::Skip).unwrap().unwrap();
    updater.index_new(&memory.store).unwrap();
    let beside = memory.index().with_extension("new");
    assert!(beside.join("meta.json").exists());
    assert_eq!(files(&memory.index()), before);
    drop(updater);
    assert_eq!(files(&memory.index()), before, "an interrupted rebuild");
    // What it left is not mistaken for a complete index.
    fs::write(beside.join("stray"), "x").unwrap();
    check_rebuilt(&memory, IndexProblem::OtherVersion);
    assert!(!memory.index().join("stray").exists());
}

#[test]
fn a_file_in_place_of_the_index_is_replaced() {
    let memory = indexed();
    fs::remove_dir_all(memory.index()).unwrap();
    fs::write(memory.index(), "not a folder").unwrap();
    check_rebuilt(&memory, IndexProblem::Missing);
}

#[test]
fn a_session_that_is_read_again_leaves_no_document_behind() {
    let mut memory = indexed();
    let session = memory.say("a", 2, &["secret pool"]);
    memory.update();
    memory.reset(session, "a");
    assert!(with_word(&memory.snapshot(), "secret").is_empty(), "hidden before the index is updated");
    memory.say("a", 1, &["the pool is slow"]);
    memory.update();
    let all = documents(&memory.snapshot(), &["pool", "secret"]);
    assert_eq!(all.keys().filter(|(number, _)| *number == session.get()).count(), 1);
    assert!(all.values().all(|view| !view.counts.contains_key("secret")));
}

#[test]
fn a_removed_session_is_hidden_at_once_and_gone_from_a_rebuilt_index() {
    let mut memory = indexed();
    let session = memory.say("a", 2, &["secret"]);
    memory.update();
    let mut batch = memory.store.begin().unwrap();
    batch.remove_session(session).unwrap();
    batch.commit().unwrap();
    assert!(with_word(&memory.snapshot(), "secret").is_empty(), "hidden before the index is updated");
    assert_eq!(count_documents(&memory.index(), &|number, _| number == session).unwrap(), 3, "but still on disk");
    fs::create_dir(memory.index().with_extension("new")).unwrap();
    delete_index(&memory.index()).unwrap();
    assert!(!memory.index().exists() && !memory.index().with_extension("new").exists());
    assert_eq!(size_bytes(&memory.index()), 0);
    memory.update();
    assert_eq!(count_documents(&memory.index(), &|number, _| number == session).unwrap(), 0);
    assert_eq!(count_documents(&memory.index(), &|_, _| true).unwrap(), 1);
    delete_index(&memory.index()).unwrap();
    delete_index(&memory.index()).unwrap();
}

#[test]
fn index_files_are_readable_only_by_their_owner() {
    let mut memory = indexed();
    memory.say("a", 3, &["more"]);
    memory.update();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&memory.index()), 0o700);
    assert_eq!(mode(&memory.index().with_extension("lock")), 0o600);
    for name in files(&memory.index()).into_keys() {
        assert_eq!(mode(&memory.index().join(&name)), 0o600, "{name}");
    }
}
