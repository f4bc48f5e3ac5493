//! Threads as their users meet them: made, appended to, read, torn, deleted, spoken in one after the other.

#![expect(clippy::unwrap_used, reason = "a helper that cannot do its work must stop the test")]

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use rethread_model::Timestamp;
use rethread_model::thread::{
    Block, ChatRole, Compaction, Message, Metadata, NameOrigin, Record, ThreadId, ThreadSource,
};
use rethread_store::{ThreadError, ThreadLog, Threads};
use serde_json::Map;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(1_760_000_000_000 + seconds * 1000)
}

fn said(role: ChatRole, text: &str, seconds: i64) -> Record {
    Record::Message(Message::new(role, vec![Block::text(text)], at(seconds)))
}

fn user(text: &str) -> Record {
    said(ChatRole::User, text, 1)
}

fn calls(ids: &[&str]) -> Record {
    let block = |id: &&str| Block::ToolCall { id: (*id).to_owned(), name: format!("tool-{id}"), arguments: Map::new() };
    Record::Message(Message::new(ChatRole::Assistant, ids.iter().map(block).collect(), at(2)))
}

fn result(call: &str) -> Record {
    Record::Message(Message::result(call, vec![Block::text("done")], false, at(3)))
}

struct World {
    folder: tempfile::TempDir,
    threads: Threads,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let threads = Threads::new(folder.path().join("threads"));
        Self { folder, threads }
    }

    fn thread(&self) -> ThreadLog {
        let id = ThreadId::draw(at(0));
        self.threads.create(&Metadata::new(id, at(0))).unwrap()
    }

    fn bytes(&self, id: ThreadId) -> Vec<u8> {
        fs::read(self.threads.log_path(id)).unwrap()
    }

    fn seqs(&self, id: ThreadId) -> Vec<u64> {
        self.threads.read(id).unwrap().records.iter().filter_map(Record::seq).collect()
    }
}

#[test]
fn s7_1_a_new_thread_has_a_directory_an_empty_log_and_metadata() {
    let world = World::new();
    let id = world.thread().id();
    assert_eq!(world.bytes(id), b"");
    let folder = world.folder.path().join("threads").join(id.to_string());
    let metadata: serde_json::Value = serde_json::from_slice(&fs::read(folder.join("metadata.json")).unwrap()).unwrap();
    assert_eq!(metadata["id"], id.to_string());
    assert_eq!(metadata["createdAt"], at(0).to_string());
    assert_eq!(metadata["source"], "interactive");
    for (path, mode) in
        [(folder.clone(), 0o700), (folder.join("session.jsonl"), 0o600), (folder.join("metadata.json"), 0o600)]
    {
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, mode);
    }
}

#[test]
fn s7_2_s7_6_the_file_only_grows() {
    let world = World::new();
    let log = world.thread();
    let mut before = Vec::new();
    let compaction = Compaction {
        seq: 0,
        first_kept_seq: 2,
        summary: "s".to_owned(),
        tokens_before: 1,
        read_files: Vec::new(),
        modified_files: Vec::new(),
        timestamp: at(5),
        extra: Map::new(),
    };
    let records = [user("one"), said(ChatRole::Assistant, "two", 2), Record::Compaction(compaction), user("three")];
    for (number, record) in (1..).zip(records) {
        assert_eq!(log.append(record).unwrap().seq(), Some(number));
        let now = world.bytes(log.id());
        assert!(now.starts_with(&before) && now.ends_with(b"\n") && now.len() > before.len());
        before = now;
    }
    assert_eq!(world.seqs(log.id()), [1, 2, 3, 4]);
}

#[test]
fn s7_4_s004_09_metadata_follows_what_was_said() {
    let world = World::new();
    let log = world.thread();
    let id = log.id();
    log.append(said(ChatRole::User, "fix the parser", 10)).unwrap();
    let mut answer = Message::new(ChatRole::Assistant, vec![Block::text("done")], at(12));
    answer.model = Some("small".to_owned());
    answer.usage = Some(rethread_model::Tokens { input: 7, output: 3, ..rethread_model::Tokens::default() });
    log.append(Record::Message(answer)).unwrap();
    drop(log);
    let metadata = world.threads.metadata(id).unwrap();
    assert_eq!((metadata.message_count, metadata.last_message_at), (2, at(12)));
    assert_eq!((metadata.name.as_deref(), metadata.name_from), (Some("fix the parser"), Some(NameOrigin::FirstWords)));
    assert_eq!((metadata.model.as_str(), metadata.metrics.turns, metadata.metrics.duration_ms), ("small", 1, 2000));
    assert_eq!(metadata.metrics.tokens.total(), 10);
}

#[test]
fn l004_11_metadata_that_is_old_damaged_or_gone_is_counted_again() {
    let world = World::new();
    let log = world.thread();
    let id = log.id();
    log.change(|metadata| {
        metadata.name = Some("mine".to_owned());
        metadata.name_from = Some(NameOrigin::User);
    })
    .unwrap();
    let path = world.threads.log_path(id).with_file_name("metadata.json");
    let old = fs::read(&path).unwrap();
    for _ in 0..3 {
        log.append(user("x")).unwrap();
    }
    drop(log);
    fs::write(&path, &old).unwrap();
    let metadata = world.threads.metadata(id).unwrap();
    assert_eq!((metadata.message_count, metadata.next_seq, metadata.name.as_deref()), (3, 4, Some("mine")));
    let wrong = String::from_utf8(old).unwrap().replace("\"messageCount\": 0", "\"messageCount\": 77");
    fs::write(&path, wrong.replace("\"logBytes\": 0", "\"logBytes\": 9")).unwrap();
    assert_eq!(world.threads.metadata(id).unwrap().message_count, 3);
    fs::write(&path, "{").unwrap();
    assert!(world.threads.has_damaged_metadata(id));
    assert_eq!(world.threads.open(id).unwrap().append(user("y")).unwrap().seq(), Some(4));
    assert_eq!(fs::read(path.with_file_name("metadata.json.damaged")).unwrap(), b"{", "a human may read it");
    fs::remove_file(&path).unwrap();
    assert_eq!(world.threads.open(id).unwrap().append(user("z")).unwrap().seq(), Some(5));
    assert_eq!(world.threads.metadata(id).unwrap().name.as_deref(), Some("x"));
}

#[test]
fn a_name_given_by_another_process_is_not_overwritten() {
    let world = World::new();
    let log = world.thread();
    log.append(user("first words")).unwrap();
    let other = world.threads.open(log.id()).unwrap();
    other
        .change(|metadata| (metadata.name, metadata.name_from) = (Some("a title".into()), Some(NameOrigin::Model)))
        .unwrap();
    log.append(user("more")).unwrap();
    log.settle().unwrap();
    let metadata = world.threads.metadata(log.id()).unwrap();
    assert_eq!((metadata.name.as_deref(), metadata.message_count), (Some("a title"), 2));
    assert_eq!(log.metadata().unwrap().name.as_deref(), Some("a title"));
}

#[test]
fn s7_5_the_thread_last_spoken_in_comes_first() {
    let world = World::new();
    let logs: Vec<ThreadLog> = (0..20).map(|_| world.thread()).collect();
    for (log, seconds) in logs.iter().zip([5, 3, 9]) {
        log.append(said(ChatRole::User, "x", seconds)).unwrap();
    }
    let (found, problems) = world.threads.list().unwrap();
    assert!(problems.is_empty());
    let first: Vec<ThreadId> = found.iter().take(3).map(|metadata| metadata.id).collect();
    assert_eq!(first, [logs[2].id(), logs[0].id(), logs[1].id()]);
    assert_eq!(found.len(), 20);
}

#[test]
fn s7_7_a_job_leaves_its_name() {
    let world = World::new();
    let mut metadata = Metadata::new(ThreadId::draw(at(0)), at(0));
    metadata.source = ThreadSource::Cron;
    metadata.cron_job_id = Some("nightly".to_owned());
    world.threads.create(&metadata).unwrap();
    let found = world.threads.metadata(metadata.id).unwrap();
    assert_eq!((found.source, found.cron_job_id.as_deref()), (ThreadSource::Cron, Some("nightly")));
}

#[test]
fn s7_9_l004_01_a_record_torn_at_any_byte_is_passed_over_and_the_next_one_is_whole() {
    let world = World::new();
    let log = world.thread();
    log.append(user("first")).unwrap();
    let whole = world.bytes(log.id()).len();
    log.append(user("second, mit Umläuten 日本")).unwrap();
    let full = world.bytes(log.id());
    let id = log.id();
    drop(log);
    for cut in whole..full.len() {
        fs::write(world.threads.log_path(id), &full[..cut]).unwrap();
        let before = world.threads.read(id).unwrap();
        assert_eq!((before.records.len(), before.is_torn), (1, cut > whole), "cut at {cut}");
        // Whole but for its newline, it becomes readable as soon as the line is closed, and keeps its number.
        let is_whole = cut == full.len() - 1;
        let appended = world.threads.open(id).unwrap().append(user("third")).unwrap();
        assert_eq!(appended.seq(), Some(if is_whole { 3 } else { 2 }), "cut at {cut}");
        let after = world.threads.read(id).unwrap();
        let seqs: Vec<_> = after.records.iter().filter_map(Record::seq).collect();
        assert_eq!(seqs, (1..=seqs.len() as u64).collect::<Vec<_>>(), "cut at {cut}");
        assert_eq!(after.problems.len(), usize::from(cut > whole && !is_whole), "cut at {cut}");
        assert!(world.bytes(id).starts_with(&full[..cut]), "nothing that stood there was changed");
    }
}

#[test]
fn a_damaged_line_in_the_middle_is_told_and_the_rest_is_read() {
    let world = World::new();
    let log = world.thread();
    for text in ["one", "two", "three"] {
        log.append(user(text)).unwrap();
    }
    let id = log.id();
    let text = String::from_utf8(world.bytes(id)).unwrap().replace("\"two\"", "\"tw\u{0}");
    fs::write(world.threads.log_path(id), text).unwrap();
    let read = world.threads.read(id).unwrap();
    assert_eq!((read.records.len(), read.problems.len(), read.problems[0].line), (2, 1, 2));
}

#[test]
fn e004_19_a_result_answers_a_waiting_call_and_gets_its_name() {
    let world = World::new();
    let log = world.thread();
    log.append(user("go")).unwrap();
    log.append(calls(&["a", "b"])).unwrap();
    let Record::Message(answered) = log.append(result("b")).unwrap() else { panic!("a message") };
    assert_eq!(answered.tool_name.as_deref(), Some("tool-b"));
    for wrong in ["b", "c", ""] {
        assert!(matches!(log.append(result(wrong)), Err(ThreadError::NoSuchCall { .. })), "{wrong}");
    }
    let id = log.id();
    drop(log);
    assert_eq!(world.threads.open(id).unwrap().append(result("a")).unwrap().seq(), Some(4));
}

#[test]
fn many_appenders_get_numbers_without_gap_or_repetition() {
    let world = World::new();
    let log = world.thread();
    let other = world.threads.open(log.id()).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let log = if thread % 2 == 0 { &log } else { &other };
            scope.spawn(move || (0..25).for_each(|_| drop(log.append(user("x")).unwrap())));
        }
    });
    assert_eq!(world.seqs(log.id()), (1..=200).collect::<Vec<_>>());
    assert_eq!(log.metadata().unwrap().message_count, 200);
}

#[test]
fn what_is_too_long_is_refused_and_leaves_no_trace() {
    let world = World::new();
    let log = world.thread();
    assert!(matches!(log.append(user(&"x".repeat(9 << 20))), Err(ThreadError::TooLong { .. })));
    assert_eq!(log.append(user("short")).unwrap().seq(), Some(1));
}

#[test]
fn l004_12_a_deleted_thread_does_not_come_back() {
    let world = World::new();
    let log = world.thread();
    let id = log.id();
    log.append(user("x")).unwrap();
    world.threads.delete(id).unwrap();
    assert!(matches!(log.append(user("y")), Err(ThreadError::Deleted { .. })));
    drop(log);
    assert!(matches!(world.threads.open(id), Err(ThreadError::Deleted { .. })));
    assert!(!world.folder.path().join("threads").join(id.to_string()).exists());
    assert!(world.threads.ids().unwrap().is_empty());
    assert!(matches!(world.threads.delete(id), Err(ThreadError::Deleted { .. })));
    assert!(matches!(world.threads.delete(ThreadId::draw(at(9))), Err(ThreadError::Missing { .. })));
}

#[test]
fn an_interrupted_deletion_is_completed() {
    let world = World::new();
    let id = world.thread().id();
    let tombs = world.folder.path().join("threads/deleted");
    fs::create_dir_all(&tombs).unwrap();
    fs::write(tombs.join(id.to_string()), "").unwrap();
    assert!(world.threads.ids().unwrap().is_empty());
    world.threads.sweep_all().unwrap();
    assert!(!world.folder.path().join("threads").join(id.to_string()).exists());
}

#[test]
fn links_and_pipes_in_place_of_files_are_not_followed() {
    let world = World::new();
    let log = world.thread();
    let path = world.threads.log_path(log.id());
    let id = log.id();
    drop(log);
    let secret = world.folder.path().join("secret");
    fs::write(&secret, "hush\n").unwrap();
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink(&secret, &path).unwrap();
    assert!(world.threads.open(id).is_err() && world.threads.read(id).is_err());
    fs::remove_file(&path).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0).unwrap();
    assert!(matches!(world.threads.read(id), Err(ThreadError::Foreign { .. })));
    fs::rename(path.parent().unwrap(), world.folder.path().join("moved")).unwrap();
    std::os::unix::fs::symlink(world.folder.path().join("moved"), path.parent().unwrap()).unwrap();
    assert!(world.threads.open(id).is_err());
    assert_eq!(fs::read(&secret).unwrap(), b"hush\n");
}

#[test]
fn s7_10_s004_28_turns_come_one_at_a_time_in_their_order() {
    let world = World::new();
    let id = world.thread().id();
    let (speaking, order) = (AtomicUsize::new(0), std::sync::Mutex::new(Vec::new()));
    let tickets: Vec<_> = (0..6).map(|_| world.threads.queue(id, 5).unwrap()).collect();
    assert!(matches!(world.threads.queue(id, 5), Err(ThreadError::QueueFull { limit: 5, .. })));
    assert_eq!(tickets[5].ahead(), 5);
    std::thread::scope(|scope| {
        for (number, ticket) in tickets.into_iter().enumerate().rev() {
            let (speaking, order) = (&speaking, &order);
            scope.spawn(move || {
                let turn = ticket.wait(&|| false).unwrap().unwrap();
                assert_eq!(speaking.fetch_add(1, Ordering::SeqCst), 0);
                order.lock().unwrap().push(number);
                std::thread::yield_now();
                speaking.fetch_sub(1, Ordering::SeqCst);
                drop(turn);
            });
        }
    });
    assert_eq!(order.into_inner().unwrap(), [0, 1, 2, 3, 4, 5]);
}

#[test]
fn l004_10_what_a_killed_listener_had_heard_is_handed_on() {
    let world = World::new();
    let id = world.thread().id();
    let folder = world.folder.path().join("threads").join(id.to_string()).join("turns");
    let mut turn = world.threads.queue(id, 5).unwrap().wait(&|| false).unwrap().unwrap();
    turn.begin_answer("RUN", "small", 1).unwrap();
    turn.note("half an ans").unwrap();
    let heard = fs::read(folder.join("1")).unwrap();
    assert!(!world.threads.has_left_behind(id), "whoever speaks is alive");
    drop(turn);
    // The file as a kill leaves it: there, and locked by nobody.
    fs::File::create(folder.join("1")).unwrap().write_all(&heard).unwrap();
    assert!(world.threads.has_left_behind(id));
    let mut turn = world.threads.queue(id, 5).unwrap().wait(&|| false).unwrap().unwrap();
    let left = turn.left_behind.clone();
    assert_eq!((left.len(), left[0].text.as_str(), left[0].run_id.as_str()), (1, "half an ans", "RUN"));
    turn.settle_left_behind();
    drop(turn);
    assert!(!world.threads.has_left_behind(id));
}

#[test]
fn whoever_is_told_to_stop_gives_up_his_place() {
    let world = World::new();
    let id = world.thread().id();
    let first = world.threads.queue(id, 5).unwrap();
    assert!(world.threads.queue(id, 5).unwrap().wait(&|| true).unwrap().is_none());
    assert!(first.wait(&|| false).unwrap().is_some());
}

fn tree(root: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            found.insert(entry.path().display().to_string());
            if entry.path().is_dir() {
                folders.push(entry.path());
            }
        }
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn s004_02_no_text_names_a_file_outside_the_root(text in "(\\.\\./|[0-9A-Za-z/.\\x00\\n\u{ff21}]){0,30}") {
        let world = World::new();
        fs::write(world.folder.path().join("outside"), "").unwrap();
        fs::create_dir(world.folder.path().join("threads")).unwrap();
        let before = tree(world.folder.path());
        if let Ok(id) = text.parse::<ThreadId>() {
            let path = world.threads.log_path(id);
            prop_assert!(path.starts_with(world.folder.path().join("threads")));
            prop_assert!(world.threads.open(id).is_err() && world.threads.delete(id).is_err());
        }
        prop_assert_eq!(tree(world.folder.path()), before);
    }
}
