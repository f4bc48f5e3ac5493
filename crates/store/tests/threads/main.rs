//! Threads, in a folder and in a database: created, appended, listed, deleted, exported.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

mod files;
mod server;
mod turns;

use std::path::{Path, PathBuf};

use rethread_model::Timestamp;
use rethread_model::thread::{
    ChatRole, Compaction, ContentBlock, NameOrigin, ThreadId, ThreadMessage, ThreadMetadata, ThreadRecord, ThreadSource,
};
use rethread_store::{AuthorizedSpace, StoreLocation, ThreadError, ThreadLog, Threads};
use rethread_testing::{TestPostgres, check_statements, new_space_name};
use serde_json::Map;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(1_760_000_000_000 + seconds * 1000)
}

fn message(role: ChatRole, text: &str, seconds: i64) -> ThreadRecord {
    ThreadRecord::Message(ThreadMessage::new(role, vec![ContentBlock::text(text)], at(seconds)))
}

fn user(text: &str) -> ThreadRecord {
    message(ChatRole::User, text, 1)
}

fn calls(ids: &[&str]) -> ThreadRecord {
    let block =
        |id: &&str| ContentBlock::ToolCall { id: (*id).to_owned(), name: format!("tool-{id}"), arguments: Map::new() };
    ThreadRecord::Message(ThreadMessage::new(ChatRole::Assistant, ids.iter().map(block).collect(), at(2)))
}

fn result(call: &str) -> ThreadRecord {
    ThreadRecord::Message(ThreadMessage::tool_result(call, vec![ContentBlock::text("done")], false, at(3)))
}

/// Runs a case on each backend.
fn on_each_backend(case: impl Fn(&ThreadFixture)) {
    check_statements();
    case(&ThreadFixture::new());
    case(&ThreadFixture::in_database(None));
    if let Some(server) = TestPostgres::shared() {
        let space = AuthorizedSpace::operator(new_space_name().parse().unwrap());
        case(&ThreadFixture::in_database(Some((server.location(), space))));
    }
}

/// A database on a server and a space in it.
type ServerSpace = (StoreLocation, AuthorizedSpace);

fn database_threads(folder: &Path, server: Option<&ServerSpace>) -> Threads {
    let (location, space) =
        server.cloned().unwrap_or_else(|| (StoreLocation::in_folder(folder), AuthorizedSpace::local()));
    Threads::in_database(location, space, folder.join("threads"))
}

struct ThreadFixture {
    folder: tempfile::TempDir,
    threads: Threads,
    server: Option<ServerSpace>,
}

impl ThreadFixture {
    /// Threads in a folder.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let threads = Threads::in_folder(folder.path().join("threads"));
        Self { folder, threads, server: None }
    }

    /// Threads in a database: in a file, or on a server.
    fn in_database(server: Option<ServerSpace>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let threads = database_threads(folder.path(), server.as_ref());
        Self { folder, threads, server }
    }

    /// The same threads, as another process opens them.
    fn other_process(&self) -> Threads {
        if self.threads.log_path(ThreadId::generate(at(0))).is_some() {
            Threads::in_folder(self.root())
        } else {
            database_threads(self.folder.path(), self.server.as_ref())
        }
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("threads")
    }

    fn log_path(&self, id: ThreadId) -> PathBuf {
        self.threads.log_path(id).unwrap()
    }

    fn thread(&self) -> ThreadLog {
        let id = ThreadId::generate(at(0));
        self.threads.create(&ThreadMetadata::new(id, at(0))).unwrap()
    }

    fn bytes(&self, id: ThreadId) -> Vec<u8> {
        self.threads.export(id).unwrap()
    }

    fn seqs(&self, id: ThreadId) -> Vec<u64> {
        self.threads.read(id).unwrap().records.iter().filter_map(ThreadRecord::seq).collect()
    }
}

#[test]
fn log_file_only_grows() {
    // S7.2, S7.6
    on_each_backend(|fixture| {
        let log = fixture.thread();
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
        let records =
            [user("one"), message(ChatRole::Assistant, "two", 2), ThreadRecord::Compaction(compaction), user("three")];
        for (number, record) in (1..).zip(records) {
            assert_eq!(log.append(record).unwrap().seq(), Some(number));
            let now = fixture.bytes(log.id());
            assert!(now.starts_with(&before) && now.ends_with(b"\n") && now.len() > before.len());
            before = now;
        }
        assert_eq!(fixture.seqs(log.id()), [1, 2, 3, 4]);
    });
}

#[test]
fn metadata_follows_the_messages() {
    // S7.4, S004-09
    on_each_backend(|fixture| {
        let log = fixture.thread();
        let id = log.id();
        log.append(message(ChatRole::User, "fix the parser", 10)).unwrap();
        let mut answer = ThreadMessage::new(ChatRole::Assistant, vec![ContentBlock::text("done")], at(12));
        answer.model = Some("small".to_owned());
        answer.usage = Some(rethread_model::Tokens { input: 7, output: 3, ..rethread_model::Tokens::default() });
        log.append(ThreadRecord::Message(answer)).unwrap();
        drop(log);
        let metadata = fixture.threads.metadata(id).unwrap();
        assert_eq!((metadata.message_count, metadata.last_message_at), (2, at(12)));
        assert_eq!(
            (metadata.name.as_deref(), metadata.name_from),
            (Some("fix the parser"), Some(NameOrigin::FirstWords))
        );
        assert_eq!((metadata.model.as_str(), metadata.metrics.turns, metadata.metrics.duration_ms), ("small", 1, 2000));
        assert_eq!(metadata.metrics.tokens.total(), 10);
    });
}

#[test]
fn name_set_by_another_process_is_not_overwritten() {
    on_each_backend(|fixture| {
        let log = fixture.thread();
        log.append(user("first words")).unwrap();
        let other = fixture.threads.open(log.id()).unwrap();
        other
            .update_settings(at(0), |metadata| {
                (metadata.name, metadata.name_from) = (Some("a title".into()), Some(NameOrigin::Model));
            })
            .unwrap();
        log.append(user("more")).unwrap();
        log.save_unsaved_metadata().unwrap();
        let metadata = fixture.threads.metadata(log.id()).unwrap();
        assert_eq!((metadata.name.as_deref(), metadata.message_count), (Some("a title"), 2));
        assert_eq!(log.metadata().unwrap().name.as_deref(), Some("a title"));
    });
}

#[test]
fn threads_are_listed_by_last_message() {
    // S7.5
    on_each_backend(|fixture| {
        let logs: Vec<ThreadLog> = (0..20).map(|_| fixture.thread()).collect();
        for (log, seconds) in logs.iter().zip([5, 3, 9]) {
            log.append(message(ChatRole::User, "x", seconds)).unwrap();
        }
        let (found, problems) = fixture.threads.list().unwrap();
        assert!(problems.is_empty());
        let first: Vec<ThreadId> = found.iter().take(3).map(|metadata| metadata.id).collect();
        assert_eq!(first, [logs[2].id(), logs[0].id(), logs[1].id()]);
        assert_eq!(found.len(), 20);
    });
}

#[test]
fn cron_thread_stores_its_job() {
    // S7.7
    on_each_backend(|fixture| {
        let mut metadata = ThreadMetadata::new(ThreadId::generate(at(0)), at(0));
        metadata.source = ThreadSource::Cron;
        metadata.cron_job_id = Some("nightly".to_owned());
        fixture.threads.create(&metadata).unwrap();
        let found = fixture.threads.metadata(metadata.id).unwrap();
        assert_eq!((found.source, found.cron_job_id.as_deref()), (ThreadSource::Cron, Some("nightly")));
    });
}

#[test]
fn result_needs_a_waiting_call_and_gets_its_name() {
    // E004-19
    on_each_backend(|fixture| {
        let log = fixture.thread();
        log.append(user("go")).unwrap();
        log.append(calls(&["a", "b"])).unwrap();
        let ThreadRecord::Message(answered) = log.append(result("b")).unwrap() else { panic!("a message") };
        assert_eq!(answered.tool_name.as_deref(), Some("tool-b"));
        for wrong in ["b", "c", ""] {
            assert!(matches!(log.append(result(wrong)), Err(ThreadError::NoSuchCall { .. })), "{wrong}");
        }
        let id = log.id();
        drop(log);
        assert_eq!(fixture.threads.open(id).unwrap().append(result("a")).unwrap().seq(), Some(4));
    });
}

#[test]
fn concurrent_appends_get_unique_consecutive_numbers() {
    on_each_backend(|fixture| {
        let log = fixture.thread();
        let other = fixture.threads.open(log.id()).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let log = if thread % 2 == 0 { &log } else { &other };
                scope.spawn(move || (0..25).for_each(|_| drop(log.append(user("x")).unwrap())));
            }
        });
        assert_eq!(fixture.seqs(log.id()), (1..=200).collect::<Vec<_>>());
        assert_eq!(log.metadata().unwrap().message_count, 200);
    });
}

#[test]
fn too_long_record_is_refused_and_leaves_no_trace() {
    on_each_backend(|fixture| {
        let log = fixture.thread();
        assert!(matches!(log.append(user(&"x".repeat(9 << 20))), Err(ThreadError::TooLong { .. })));
        assert_eq!(log.append(user("short")).unwrap().seq(), Some(1));
    });
}

#[test]
fn deleted_thread_does_not_come_back() {
    // L004-12
    on_each_backend(|fixture| {
        let log = fixture.thread();
        let id = log.id();
        log.append(user("x")).unwrap();
        fixture.threads.delete(id).unwrap();
        assert!(matches!(log.append(user("y")), Err(ThreadError::Deleted { .. })));
        drop(log);
        assert!(matches!(fixture.threads.open(id), Err(ThreadError::Deleted { .. })));
        assert!(!fixture.threads.has_content(id) && !fixture.root().join(id.to_string()).exists());
        assert_eq!(fixture.threads.deleted_ids(), [id]);
        assert!(fixture.threads.ids().unwrap().is_empty());
        assert!(matches!(fixture.threads.delete(id), Err(ThreadError::Deleted { .. })));
        assert!(matches!(fixture.threads.delete(ThreadId::generate(at(9))), Err(ThreadError::Missing { .. })));
    });
}

#[test]
fn eight_writers_leave_no_gap() {
    on_each_backend(|fixture| {
        let id = fixture.thread().id();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let log = fixture.other_process().open(id).unwrap();
                    (0..50).for_each(|_| drop(log.append(user("x")).unwrap()));
                });
            }
        });
        assert_eq!(fixture.seqs(id), (1..=400).collect::<Vec<_>>());
        assert_eq!(fixture.threads.metadata(id).unwrap().message_count, 400);
    });
}

#[test]
fn settings_are_in_the_log_and_in_the_metadata() {
    on_each_backend(|fixture| {
        let log = fixture.thread();
        log.append(user("first words")).unwrap();
        let rename = |metadata: &mut ThreadMetadata| {
            (metadata.name, metadata.name_from) = (Some("a name".to_owned()), Some(NameOrigin::User));
        };
        assert_eq!(log.update_settings(at(5), rename).unwrap().name.as_deref(), Some("a name"));
        let bytes = fixture.bytes(log.id());
        log.update_settings(at(6), rename).unwrap();
        assert_eq!(fixture.bytes(log.id()), bytes, "no record without a change");
        assert_eq!(log.append(user("more")).unwrap().seq(), Some(2), "settings do not use up a number");
        let read = fixture.threads.read(log.id()).unwrap();
        assert!(read.records.iter().any(|record| matches!(record, ThreadRecord::Settings(_))));
        assert_eq!(log.metadata().unwrap(), fixture.threads.metadata(log.id()).unwrap());
    });
}

#[test]
fn an_imported_log_is_exported_byte_for_byte() {
    let source = ThreadFixture::new();
    let log = source.thread();
    for text in ["one", "zwei \u{e4}", "\u{65e5}\u{672c}"] {
        log.append(user(text)).unwrap();
    }
    let whole = source.bytes(log.id());
    // Complete, with a blank and a damaged line, and with an incomplete one.
    let damaged = [&whole[..], b"\n{\"recordType\":\n"].concat();
    for bytes in [&whole[..], &damaged, &whole[..whole.len() - 5], &whole[..whole.len() - 1], b""] {
        on_each_backend(|fixture| {
            let id = ThreadId::generate(at(7));
            fixture.threads.import(id, bytes).unwrap();
            assert_eq!(fixture.bytes(id), bytes);
            let next = fixture.threads.open(id).unwrap().append(user("next")).unwrap().seq();
            assert!(fixture.bytes(id).starts_with(bytes), "a log only grows");
            let read = fixture.threads.read(id).unwrap();
            assert_eq!(read.records.last().and_then(ThreadRecord::seq), next);
            let copy = ThreadFixture::in_database(None);
            copy.threads.import(id, &fixture.bytes(id)).unwrap();
            assert_eq!(copy.bytes(id), fixture.bytes(id));
            assert_eq!(copy.threads.metadata(id).unwrap(), fixture.threads.metadata(id).unwrap());
        });
    }
}

#[test]
fn an_import_never_replaces_a_thread() {
    on_each_backend(|fixture| {
        let log = fixture.thread();
        let id = log.id();
        log.append(user("mine")).unwrap();
        let before = fixture.bytes(id);
        assert!(matches!(fixture.threads.import(id, b""), Err(ThreadError::Exists { .. })));
        assert_eq!(fixture.bytes(id), before);
        fixture.threads.delete(id).unwrap();
        assert!(matches!(fixture.threads.import(id, &before), Err(ThreadError::Deleted { .. })));
    });
}

#[test]
fn reading_creates_no_database() {
    let fixture = ThreadFixture::in_database(None);
    assert!(fixture.threads.ids().unwrap().is_empty() && fixture.threads.list().unwrap().0.is_empty());
    let id = ThreadId::generate(at(0));
    assert!(matches!(fixture.threads.read(id), Err(ThreadError::Missing { .. })));
    assert_eq!(std::fs::read_dir(fixture.folder.path()).unwrap().count(), 0);
}
