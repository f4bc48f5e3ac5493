//! Sessions that agents keep in databases and documents, read by made-up agents. A binary of its own, because these
//! replace real agents.

use std::fs;
use std::time::{Duration, UNIX_EPOCH};

use rethread_engine::{AgentSyncReport, ForgetTarget, SyncReport, SyncRequest};
use rethread_ingest::agents::made_up::{MadeUpDatabase, use_made_up_agents};
use rethread_model::{SessionKind, Timestamp};
use rethread_testing::TestHome;

const DATABASE: &str = ".made-up/sessions.db";
const DOCUMENT: &str = ".made-up/doc-1.json";

#[expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]
fn new_home() -> TestHome {
    use_made_up_agents();
    let home = TestHome::new();
    fs::create_dir_all(home.path(".made-up")).unwrap();
    home
}

/// A prompt or an answer, as the made-up agents store it.
fn record(id: &str, role: &str, text: &str) -> String {
    format!(
        r#"{{"type":"{role}","uuid":"{id}","timestamp":"2026-05-01T10:00:00.000Z","message":{{"id":"m-{id}","role":"{role}","content":[{{"type":"text","text":"{text}"}}]}}}}"#
    )
}

fn document(records: &[String]) -> String {
    format!(r#"{{"sessionId":"doc-1","title":"In a document","cwd":"/app","messages":[{}]}}"#, records.join(", "))
}

/// Transcripts with something new, new entries, warnings.
fn totals(report: &SyncReport) -> (u64, u64, usize) {
    let sum = |one: fn(&AgentSyncReport) -> u64| report.agents.iter().map(one).sum();
    let warnings = report.agents.iter().map(|agent| agent.warnings.len()).sum();
    (sum(|agent| agent.files_changed), sum(|agent| agent.entries), warnings)
}

/// A database with two sessions, the second a sub-agent of the first.
#[expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]
fn new_database(home: &TestHome) -> MadeUpDatabase {
    let database = MadeUpDatabase::create(&home.path(DATABASE)).unwrap();
    database.add_session("s1", None, "In a database").unwrap();
    database.put("s1", "r1", 1000, &record("r1", "user", "why is the sky blue?")).unwrap();
    database.put("s1", "r2", 2000, &record("r2", "assistant", "Let me th")).unwrap();
    database.add_session("s2", Some("s1"), "A helper").unwrap();
    database.put("s2", "r3", 1000, &record("r3", "user", "look it up")).unwrap();
    database
}

#[test]
fn each_session_of_a_database_is_a_transcript() {
    let home = new_home();
    let _database = new_database(&home);
    assert_eq!(totals(&home.sync()), (2, 3, 0));
    let found = |id: &str| home.engine().sessions().resolve(id).unwrap().session;
    let (main, child) = (found("s1"), found("s2"));
    assert_eq!((main.name.as_deref(), main.cwd.as_deref()), (Some("In a database"), Some("/app")));
    assert_eq!((main.counts.prompts, main.counts.messages), (1, 2));
    assert!(main.transcript.unwrap().ends_with("sessions.db#s1"));
    assert_eq!((child.kind, child.parent), (SessionKind::Child, Some(main.id)));
    assert_eq!(totals(&home.sync()), (0, 0, 0), "nothing is new");
}

#[test]
fn new_rows_are_added_and_changed_rows_replace_what_was_stored() {
    let home = new_home();
    let database = new_database(&home);
    home.sync();
    database.put("s2", "r4", 3000, &record("r4", "assistant", "It scatters.")).unwrap();
    assert_eq!(totals(&home.sync()), (1, 1, 0), "only the new row of one session");
    assert_eq!(home.engine().sessions().resolve("s2").unwrap().session.kind, SessionKind::Child);
    database.put("s1", "r2", 4000, &record("r2", "assistant", "Because of scattering.")).unwrap();
    assert_eq!(totals(&home.sync()).2, 0);
    let dump = home.dump();
    assert!(dump.contains("Because of scattering.") && !dump.contains("Let me th"), "{dump}");
    assert_eq!(home.engine().sessions().resolve("s1").unwrap().session.counts.messages, 2);
    assert_eq!(totals(&home.sync()), (0, 0, 0));
    home.engine().maintenance().rebuild(&mut |_| {}).unwrap();
    assert_eq!(home.dump(), dump);
}

#[test]
fn an_unfinished_row_and_what_follows_it_are_read_again() {
    let home = new_home();
    let database = new_database(&home);
    home.sync();
    let call = |more: &str, flag: &str| {
        format!(
            r#"{{"type":"assistant","uuid":"r7","message":{{"id":"m-r7","content":[{{"type":"tool_use","id":"t1","name":"Bash","input":{{"command":"make"}}}}{more}]}}{flag}}}"#
        )
    };
    database.put("s1", "r7", 5000, &call("", ",\"isUnfinished\":true")).unwrap();
    database.put("s1", "r8", 5001, &record("r8", "user", "and at night?")).unwrap();
    assert_eq!(totals(&home.sync()), (1, 2, 0));
    assert_eq!(totals(&home.sync()), (0, 0, 0), "nothing is new");
    database.put("s1", "r7", 6000, &call(r#",{"type":"text","text":"Made."}"#, "")).unwrap();
    assert_eq!(totals(&home.sync()), (1, 1, 0), "the rest of the row, and nothing twice");
    let session = home.engine().sessions().resolve("s1").unwrap().session;
    assert_eq!((session.counts.prompts, session.counts.messages, session.counts.tool_calls), (2, 4, 1));
}

#[test]
fn a_database_in_which_nothing_is_new_is_not_opened() {
    let home = new_home();
    drop(new_database(&home));
    let path = home.path(DATABASE);
    let set_time = |seconds: u64| {
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
    };
    set_time(1000);
    assert_eq!(totals(&home.sync()), (2, 3, 0));
    assert_eq!(totals(&home.sync()), (0, 0, 0));
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, vec![b'x'; bytes.len()]).unwrap();
    set_time(1000);
    let report = home.sync();
    assert_eq!((totals(&report), report.agents[0].files), ((0, 0, 0), 2), "it looks as it did");
    set_time(2000);
    assert_eq!(totals(&home.sync()).2, 1, "now it is opened, and cannot be read");
    fs::write(&path, bytes).unwrap();
    set_time(1000);
    home.engine().maintenance().rebuild(&mut |_| {}).unwrap();
    assert_eq!(totals(&home.sync()), (0, 0, 0));
    assert_eq!(home.engine().sessions().resolve("s1").unwrap().session.counts.messages, 2);
}

#[test]
fn excluded_database_is_not_read() {
    let home = new_home();
    let _database = new_database(&home);
    for pattern in ["~/.made-up/sessions.db", "*.db", "/app"] {
        let engine = home.engine_with(&[("intake.exclude", pattern)]);
        let report = engine.sync().run(&SyncRequest::default(), &mut |_| {}).unwrap();
        assert_eq!(totals(&report), (0, 0, 0), "{pattern}");
    }
}

#[test]
fn one_strange_session_does_not_hide_the_others() {
    let home = new_home();
    let database = new_database(&home);
    database.add_session("a#b/c", None, "With a mark").unwrap();
    database.put("a#b/c", "r6", 1000, &record("r6", "user", "what is this?")).unwrap();
    database.add_strange_sessions().unwrap();
    assert_eq!(totals(&home.sync()).1, 4);
    assert_eq!(home.engine().sessions().resolve("a#b/c").unwrap().session.counts.prompts, 1);
    assert_eq!(totals(&home.sync()), (0, 0, 0), "nothing is new");
}

#[test]
fn a_mark_in_a_path_does_not_cut_it_for_excludes() {
    let home = new_home();
    home.write(".made-up/C#/doc-1.json", document(&[record("d1", "user", "name the parts")]));
    let engine = home.engine_with(&[("intake.exclude", "~/.made-up/C")]);
    assert_eq!(totals(&engine.sync().run(&SyncRequest::default(), &mut |_| {}).unwrap()), (1, 1, 0));
}

#[test]
fn deleted_rows_stay_in_memory() {
    let home = new_home();
    let database = new_database(&home);
    home.sync();
    database.delete("r1").unwrap();
    database.put("s1", "r5", 5000, &record("r5", "user", "and at night?")).unwrap();
    home.sync();
    let dump = home.dump();
    assert!(dump.contains("why is the sky blue?") && dump.contains("and at night?"), "{dump}");
}

#[test]
fn a_database_is_read_beside_its_writer_and_without_traces() {
    let home = new_home();
    let database = new_database(&home);
    database.lock().unwrap();
    assert_eq!(totals(&home.sync()), (2, 3, 0), "a writer is not waited for");
    drop(database);
    let listed = || {
        let names = fs::read_dir(home.path(".made-up")).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    };
    assert_eq!(listed(), ["sessions.db"], "the last writer removes its log");
    fs::remove_dir_all(home.path(".rethread")).unwrap();
    assert_eq!(totals(&home.sync()), (2, 3, 0));
    assert_eq!(listed(), ["sessions.db"]);
}

#[test]
fn a_database_that_locks_readers_out_is_reported_and_read_later() {
    let home = new_home();
    let database = new_database(&home);
    database.lock_out_readers().unwrap();
    assert_eq!(totals(&home.sync()), (0, 0, 1));
    drop(database);
    assert_eq!(totals(&home.sync()), (2, 3, 0));
}

#[test]
fn sessions_of_a_deleted_database_stay_in_memory() {
    let home = new_home();
    drop(new_database(&home));
    home.sync();
    let dump = home.dump();
    let copy = fs::read(home.path(DATABASE)).unwrap();
    fs::remove_file(home.path(DATABASE)).unwrap();
    assert_eq!(totals(&home.sync()), (0, 0, 0));
    home.engine().maintenance().rebuild(&mut |_| {}).unwrap();
    assert_eq!(home.dump(), dump);
    home.write(DATABASE, copy);
    assert_eq!(totals(&home.sync()).2, 0);
    assert_eq!(home.dump(), dump, "it is recognized");
}

#[test]
fn a_forgotten_session_of_a_database_stays_forgotten_with_its_sub_agents() {
    let home = new_home();
    let database = new_database(&home);
    database.add_session("s3", None, "Another one").unwrap();
    database.put("s3", "r8", 1000, &record("r8", "user", "what else?")).unwrap();
    home.sync();
    home.engine().forget().run(&ForgetTarget::Sessions(vec!["s1".to_owned()])).unwrap();
    database.put("s1", "r9", 9000, &record("r9", "user", "still there?")).unwrap();
    database.put("s2", "r10", 9000, &record("r10", "user", "look again")).unwrap();
    database.put("s3", "r11", 9000, &record("r11", "user", "and then?")).unwrap();
    assert_eq!(totals(&home.sync()), (1, 1, 0));
    let dump = home.dump();
    assert!(!dump.contains("sky") && !dump.contains("still there") && !dump.contains("look"), "{dump}");
    assert!(dump.contains("and then?"));
}

#[test]
fn a_row_that_is_too_long_is_skipped_and_reported() {
    let home = new_home();
    let database = new_database(&home);
    database.put("s1", "r6", 6000, &record("r6", "assistant", &"x".repeat(17 << 20))).unwrap();
    database.put("s1", "r7", 7000, &record("r7", "user", "that was long")).unwrap();
    assert_eq!(totals(&home.sync()), (2, 4, 1));
    database.put("s1", "r8", 8000, &record("r8", "user", "is it over?")).unwrap();
    assert_eq!(totals(&home.sync()), (1, 1, 0), "what was skipped is not read again");
}

#[test]
fn rewritten_document_adds_only_what_is_new() {
    let home = new_home();
    let first = record("d1", "user", "name the parts");
    home.write(DOCUMENT, document(std::slice::from_ref(&first)));
    assert_eq!(totals(&home.sync()), (1, 1, 0));
    let second = record("d2", "assistant", "A head and a tail.");
    fs::remove_file(home.path(DOCUMENT)).unwrap();
    home.write(DOCUMENT, document(&[first.clone(), second]));
    assert_eq!(totals(&home.sync()), (1, 1, 0));
    let session = home.engine().sessions().resolve("In a document").unwrap().session;
    assert_eq!((session.external_id.as_str(), session.counts.messages), ("doc-1", 2));
    home.write(DOCUMENT, document(&[first, record("d2", "assistant", "A head, a body and a tail.")]));
    home.sync();
    let dump = home.dump();
    assert!(dump.contains("a body") && !dump.contains("A head and"), "{dump}");
}

#[test]
fn half_written_document_is_an_error_only_if_it_stays_one() {
    let home = new_home();
    let whole = document(&[record("d1", "user", "name the parts")]);
    let written_at = 1_800_000_000_000;
    let put = |text: &str| {
        home.write(DOCUMENT, text);
        let file = fs::File::options().write(true).open(home.path(DOCUMENT)).unwrap();
        file.set_modified(UNIX_EPOCH + Duration::from_millis(written_at)).unwrap();
    };
    let sync_after = |millis: u64| {
        let now = Timestamp::from_millis((written_at + millis).cast_signed());
        totals(&home.engine_at(now).sync().run(&SyncRequest::default(), &mut |_| {}).unwrap())
    };
    put(&whole[..whole.len() / 2]);
    assert_eq!(sync_after(1000), (0, 0, 0), "it is being written");
    assert_eq!(sync_after(60_000), (0, 0, 1), "the agent has stopped");
    put(&whole);
    assert_eq!(sync_after(1000), (1, 1, 0));
    put(&whole[..whole.len() / 2]);
    assert_eq!(sync_after(1000), (0, 0, 0));
    assert!(home.dump().contains("name the parts"), "what was read stays");
}
