//! Tests of what only a database can do: lost acknowledgements, renewed leases, copies of logs.

use rethread_model::Timestamp;
use rethread_model::thread::{ChatRole, ContentBlock, ThreadMessage, ThreadRecord};

use super::rows::LogHead;
use super::*;
use crate::StoreError;

struct TestThreads {
    folder: tempfile::TempDir,
    threads: DatabaseThreads,
    log: DatabaseLog,
}

impl TestThreads {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let copies = folder.path().join("copies");
        let threads = DatabaseThreads::new(StoreLocation::in_folder(folder.path()), AuthorizedSpace::local(), copies);
        let now = Timestamp::from_millis(1_000);
        let log = threads.create(&ThreadMetadata::new(ThreadId::generate(now), now), b"").unwrap();
        Self { folder, threads, log }
    }

    fn texts(&self) -> Vec<String> {
        let records = read::records_in(&self.threads.log_content(self.log.id()).unwrap()).records;
        records.iter().filter_map(|record| record.message().map(ThreadMessage::text)).collect()
    }

    fn set_acknowledge(&self, acknowledge: fn() -> Result<(), StoreError>) {
        self.log.writer.lock().unwrap().acknowledge = acknowledge;
    }
}

fn user(text: &str) -> ThreadRecord {
    let at = Timestamp::from_millis(1_000);
    ThreadRecord::Message(ThreadMessage::new(ChatRole::User, vec![ContentBlock::text(text)], at))
}

fn lost_connection() -> Result<(), StoreError> {
    Err(StoreError::Create { path: "database".into(), cause: std::io::Error::other("connection lost") })
}

#[test]
fn a_lost_acknowledgement_stores_a_record_once() {
    let test = TestThreads::new();
    test.log.writer.lock().unwrap().retry_pauses = &[Duration::ZERO];
    test.set_acknowledge(lost_connection);
    assert_eq!(test.log.append(user("one")).unwrap().seq(), Some(1), "a new connection finds it");
    assert_eq!(test.log.append(user("two")).unwrap().seq(), Some(2));
    assert_eq!(test.texts(), ["one", "two"]);
}

#[test]
fn a_caller_may_repeat_an_append_whose_outcome_is_unknown() {
    let test = TestThreads::new();
    test.log.writer.lock().unwrap().retry_pauses = &[];
    test.set_acknowledge(lost_connection);
    assert!(matches!(test.log.append(user("one")), Err(ThreadError::Database { .. })));
    test.set_acknowledge(|| Ok(()));
    let other = test.threads.open(test.log.id()).unwrap();
    other.append(user("from elsewhere")).unwrap();
    assert_eq!(test.log.append(user("one")).unwrap().seq(), Some(1));
    assert_eq!(test.log.append(user("one")).unwrap().seq(), Some(3), "the same text again is another record");
    assert_eq!(test.texts(), ["one", "from elsewhere", "one"]);
}

#[test]
fn an_append_that_was_not_stored_is_stored_by_the_next_call() {
    let test = TestThreads::new();
    test.log.writer.lock().unwrap().retry_pauses = &[];
    test.set_acknowledge(lost_connection);
    assert!(test.log.append(user("one")).is_err());
    // As if the commit had been undone.
    let name = test.log.id().to_string();
    let undo = |sql: &Sql| {
        sql.run("DELETE FROM thread_record WHERE space = ?1 AND thread = ?2", values![name])?;
        let head = LogHead {
            bytes: 0,
            metadata: ThreadMetadata::new(test.log.id(), test.log.id().created_at()),
            torn: vec![],
        };
        rows::move_head(sql, rows::stored_metadata(sql, test.log.id())?.0, &head)
    };
    assert!(test.threads.connections.transaction(undo).unwrap());
    test.set_acknowledge(|| Ok(()));
    assert_eq!(test.log.append(user("one")).unwrap().seq(), Some(1));
    assert_eq!(test.texts(), ["one"]);
}

#[test]
fn a_message_that_another_node_stored_under_the_same_client_id_is_refused() {
    let test = TestThreads::new();
    let named = |text: &str, client_id: &str| {
        let ThreadRecord::Message(mut message) = user(text) else { unreachable!() };
        message.client_id = Some(client_id.to_owned());
        ThreadRecord::Message(message)
    };
    let (slow, fast) = (test.threads.open(test.log.id()).unwrap(), test.threads.open(test.log.id()).unwrap());
    fast.append(named("one", "a")).unwrap();
    let refused = slow.append(named("one", "a")).unwrap_err();
    assert!(matches!(refused, ThreadError::ClientIdTaken { client_id, .. } if client_id == "a"));
    assert_eq!(slow.append(named("two", "b")).unwrap().seq(), Some(2), "another message is accepted");
    assert!(slow.append(named("two", "b")).is_err(), "also if it was the same node");
    assert_eq!(test.texts(), ["one", "two"]);
}

#[test]
fn threads_that_are_longer_than_what_was_synced_of_them_are_listed() {
    let test = TestThreads::new();
    let id = test.log.id();
    assert_eq!(test.threads.unsynced().unwrap(), [], "an empty log has nothing to sync");
    test.log.append(user("one")).unwrap();
    assert_eq!(test.threads.unsynced().unwrap(), [(id, 0)]);
    let bytes = test.threads.log_content(id).unwrap().len() as u64;
    let sync = |sql: &Sql| {
        let insert = "INSERT INTO transcript (space, number, path, agent, device, inode, size, mtime, read_offset,
             read_lines, head_hash, tail_hash) VALUES (?1, 1, ?2, 'native', 0, 0, ?3, 0, ?3, 1, 0, 0)";
        Ok(sql.run(insert, values![stored_log_path(id), bytes])?)
    };
    test.threads.connections.write(sync).unwrap();
    assert_eq!(test.threads.unsynced().unwrap(), []);
    test.log.append(user("two")).unwrap();
    assert_eq!(test.threads.unsynced().unwrap(), [(id, bytes)]);
    test.threads.delete(id).unwrap();
    assert_eq!(test.threads.unsynced().unwrap(), [], "a deleted one is not synced any more");
}

#[test]
fn a_lease_is_renewed_by_its_owner_only() {
    let test = TestThreads::new();
    let id = test.log.id();
    let ticket = test.threads.enter_turn_queue(id, 5).unwrap();
    let (turn, _) = ticket.wait(&|| false).unwrap().unwrap();
    let end = || {
        let select = "SELECT expires_at FROM thread_turn WHERE space = ?1";
        test.threads.connections.read(|sql| Ok(sql.count(select, &[])?)).unwrap().unwrap()
    };
    let expire = |sql: &Sql| Ok(sql.run("UPDATE thread_turn SET expires_at = 0 WHERE space = ?1", &[])?);
    test.threads.connections.write(expire).unwrap();
    assert!(turn.lease().renew().unwrap() && end() > 0);
    test.threads.connections.write(expire).unwrap();
    let (other, _) = test.threads.enter_turn_queue(id, 0).unwrap().wait(&|| false).unwrap().unwrap();
    assert!(!turn.lease().renew().unwrap() && turn.lease().is_lost());
    assert!(!other.lease().is_lost());
}

#[test]
fn a_damaged_row_of_metadata_is_made_again_from_the_log() {
    let test = TestThreads::new();
    let id = test.log.id();
    test.log.append(user("first words")).unwrap();
    let before = test.threads.metadata(id).unwrap();
    let damage = |sql: &Sql| Ok(sql.run("UPDATE thread SET metadata = ?2 WHERE space = ?1", values![b"{".to_vec()])?);
    test.threads.connections.write(damage).unwrap();
    assert!(test.threads.has_damaged_metadata(id));
    assert_eq!(test.threads.metadata(id).unwrap(), ThreadMetadata { created_at: id.created_at(), ..before });
    assert_eq!(test.threads.open(id).unwrap().append(user("more")).unwrap().seq(), Some(2));
    assert!(!test.threads.has_damaged_metadata(id));
}

#[test]
fn a_copy_follows_its_log_and_goes_with_it() {
    let test = TestThreads::new();
    let id = test.log.id();
    let check = || {
        let path = test.threads.update_copy(id).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), test.threads.log_content(id).unwrap());
        path
    };
    check();
    test.log.append(user("one")).unwrap();
    let path = check();
    test.log.append(user("two")).unwrap();
    check();
    for wrong in ["torn", &"longer than the log\n".repeat(1_000)] {
        std::fs::write(&path, wrong).unwrap();
        check();
    }
    // A fail-over undoes the last append, and another one of the same length takes its place.
    let other = |sql: &Sql| {
        let update = "UPDATE thread_record SET line = ?2 WHERE space = ?1 AND start_byte > 0";
        let line = test.threads.log_content(id)?.split_inclusive(|byte| *byte == b'\n').next_back().unwrap().to_vec();
        Ok(sql.run(update, values![String::from_utf8(line).unwrap().replace("two", "2nd").into_bytes()])?)
    };
    test.threads.connections.write(other).unwrap();
    check();
    std::fs::remove_dir_all(test.folder.path().join("copies")).unwrap();
    test.threads.update_copies().unwrap();
    assert!(path.exists());
    // Another node deletes the thread.
    let elsewhere = test.folder.path().join("elsewhere");
    DatabaseThreads::new(StoreLocation::in_folder(test.folder.path()), AuthorizedSpace::local(), elsewhere)
        .delete(id)
        .unwrap();
    assert!(path.exists() && test.threads.update_copy(id).is_err());
    test.threads.sweep_all().unwrap();
    assert!(!path.exists());
}
