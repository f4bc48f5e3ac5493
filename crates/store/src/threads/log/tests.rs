//! What happens when the disk does not do what it was asked to.

use rethread_model::Timestamp;
use rethread_model::thread::{Block, Message};

use super::*;
use crate::Threads;

fn said(text: &str) -> Record {
    Record::Message(Message::new(ChatRole::User, vec![Block::text(text)], Timestamp::from_millis(1_000)))
}

#[test]
fn a_failed_flush_is_never_turned_into_an_acknowledgement() {
    let folder = tempfile::tempdir().unwrap();
    let threads = Threads::new(folder.path().join("threads"));
    let id = ThreadId::draw(Timestamp::from_millis(1_000));
    let log = threads.create(&Metadata::new(id, Timestamp::from_millis(1_000))).unwrap();
    log.append(said("one")).unwrap();
    log.writer.lock().unwrap().flush = |_| Err(std::io::Error::other("the disk is on fire"));
    assert!(matches!(log.append(said("two")), Err(ThreadError::Disk { .. })));
    // The disk says that it is well again; what it holds nobody knows.
    log.writer.lock().unwrap().flush = |_| Ok(());
    assert!(matches!(log.append(said("three")), Err(ThreadError::Unsure { .. })));
    drop(log);
    // Whoever opens the log anew sees what is there and goes on from it, without a number twice.
    let log = threads.open(id).unwrap();
    log.append(said("four")).unwrap();
    let seqs: Vec<_> = threads.read(id).unwrap().records.iter().filter_map(Record::seq).collect();
    assert_eq!(seqs, [1, 2, 3]);
}
