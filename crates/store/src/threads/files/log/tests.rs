//! Tests of failing disks.

use rethread_model::Timestamp;
use rethread_model::thread::{ChatRole, ContentBlock, ThreadMessage};

use super::*;
use crate::threads::files::FileThreads;

fn user_message(text: &str) -> ThreadRecord {
    ThreadRecord::Message(ThreadMessage::new(
        ChatRole::User,
        vec![ContentBlock::text(text)],
        Timestamp::from_millis(1_000),
    ))
}

#[test]
fn a_record_is_not_acknowledged_after_a_failed_flush() {
    let folder = tempfile::tempdir().unwrap();
    let threads = FileThreads::new(folder.path().join("threads"));
    let id = ThreadId::generate(Timestamp::from_millis(1_000));
    let log = threads.create(&ThreadMetadata::new(id, Timestamp::from_millis(1_000)), b"").unwrap();
    log.append(user_message("one")).unwrap();
    log.writer.lock().unwrap().flush = |_| Err(std::io::Error::other("the disk is on fire"));
    assert!(matches!(log.append(user_message("two")), Err(ThreadError::Disk { .. })));
    // The disk works again, but it is unknown what it holds.
    log.writer.lock().unwrap().flush = |_| Ok(());
    assert!(matches!(log.append(user_message("three")), Err(ThreadError::FailedEarlier { .. })));
    drop(log);
    // A newly opened log continues from what is there, and no number is used twice.
    let log = threads.open(id).unwrap();
    log.append(user_message("four")).unwrap();
    let seqs: Vec<_> = threads.read(id).unwrap().records.iter().filter_map(ThreadRecord::seq).collect();
    assert_eq!(seqs, [1, 2, 3]);
}
