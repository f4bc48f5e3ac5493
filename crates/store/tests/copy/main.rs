//! Copies of stores: spaces, threads, members, refusals, interruptions, and what continues afterwards.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use rethread_model::thread::{ThreadId, ThreadMetadata};
use rethread_model::{Agent, Role, Space, Timestamp};
use rethread_store::{
    AuthorizedSpace, CopiedTable, CopyEnd, CopyError, CopyReport, MemberLimits, SessionFilter, Store, StoreLocation,
    Threads, TokenTerms, copy_store,
};
use rethread_testing::{TestPostgres, new_space_name};

fn space(name: &str) -> Space {
    name.parse().unwrap()
}

/// A store in a folder, as a user names it.
fn in_folder(folder: &Path) -> CopyEnd {
    CopyEnd { location: StoreLocation::in_folder(folder), space: None, thread_files: Some(folder.join("threads")) }
}

fn on_server(server: &TestPostgres, space: Option<&Space>) -> CopyEnd {
    CopyEnd { location: server.location(), space: space.cloned(), thread_files: None }
}

fn open(end: &CopyEnd, name: &Space) -> Store {
    Store::open(&end.location, AuthorizedSpace::operator(name.clone())).unwrap()
}

fn add_session(store: &mut Store, external_id: &str) {
    let mut batch = store.begin().unwrap();
    batch.open_session(Agent::Pi, external_id).unwrap();
    batch.set_alias(Agent::Pi, external_id, external_id).unwrap();
    batch.commit().unwrap();
}

fn sessions(store: &Store) -> Vec<String> {
    let all = SessionFilter { include_empty: true, ..SessionFilter::default() };
    let mut names: Vec<String> = store.sessions(&all).unwrap().into_iter().map(|one| one.external_id).collect();
    names.sort();
    names
}

fn copy(from: &CopyEnd, to: &CopyEnd) -> Result<CopyReport, CopyError> {
    copy_store(from, to, &mut |_| {})
}

/// Adds a thread with this text as its log.
fn add_thread(threads: &Threads, millis: i64, log: &str) -> ThreadId {
    let id = ThreadId::generate(Timestamp::from_millis(millis));
    threads.import(id, log.as_bytes()).unwrap();
    id
}

fn logs(threads: &Threads) -> Vec<(ThreadId, Vec<u8>)> {
    threads.ids().unwrap().into_iter().map(|id| (id, threads.export(id).unwrap())).collect()
}

#[test]
fn a_home_becomes_a_space_on_a_server_and_a_home_again() {
    let Some(server) = TestPostgres::shared() else { return };
    let (home, restored) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let local = in_folder(home.path());
    add_session(&mut open(&local, &Space::local()), "first");
    let files = Threads::in_folder(home.path().join("threads"));
    add_thread(&files, 1_000, "not a record\n{\"torn");
    let gone = add_thread(&files, 2_000, "\n");
    files.delete(gone).unwrap();
    let path = home.path().join("threads/x/session.jsonl").display().to_string();
    let mut store = open(&local, &Space::local());
    let mut batch = store.begin().unwrap();
    batch.add_transcript(&path, Agent::Native).unwrap();
    batch.commit().unwrap();
    let created = files
        .create(&ThreadMetadata::new(ThreadId::generate(Timestamp::from_millis(3_000)), Timestamp::from_millis(3_000)));
    created.unwrap();
    let name = space(&new_space_name());
    let there = on_server(server, Some(&name));
    let report = copy(&local, &there).unwrap();
    assert_eq!((report.spaces[0].from.as_str(), &report.spaces[0].to), ("local", &name));
    let copies = home.path().join("copies");
    let rows = Threads::in_database(there.location.clone(), AuthorizedSpace::operator(name.clone()), copies);
    assert_eq!(logs(&rows), logs(&files));
    assert!(rows.is_deleted(gone));
    let paths = |store: &Store| store.transcripts().unwrap().into_iter().map(|row| row.path).collect::<Vec<_>>();
    assert_eq!(paths(&open(&there, &name)), ["threads/x/session.jsonl"], "as every node finds it");
    let back = in_folder(restored.path());
    copy(&there, &back).unwrap();
    assert_eq!(sessions(&open(&back, &Space::local())), ["first"], "one space becomes that of the home");
    let again = Threads::in_folder(restored.path().join("threads"));
    assert_eq!(logs(&again), logs(&files));
    assert!(again.is_deleted(gone));
    let path = restored.path().join("threads/x/session.jsonl").display().to_string();
    assert_eq!(paths(&open(&back, &Space::local())), [path]);
    assert_eq!(again.list().unwrap().0, files.list().unwrap().0, "metadata are the same");
}

#[test]
fn the_next_write_continues_the_numbers_of_the_source() {
    let Some(server) = TestPostgres::shared() else { return };
    let home = tempfile::tempdir().unwrap();
    let local = in_folder(home.path());
    let mut store = open(&local, &Space::local());
    add_session(&mut store, "first");
    add_session(&mut store, "second");
    let name = space(&new_space_name());
    // A space that was only created may be copied into.
    open(&on_server(server, None), &name).create_space(Timestamp::from_millis(1)).unwrap();
    copy(&local, &on_server(server, Some(&name))).unwrap();
    let mut there = open(&on_server(server, None), &name);
    let change = there.statistics().unwrap().change;
    assert_eq!(change, store.statistics().unwrap().change);
    let mut batch = there.begin().unwrap();
    assert_eq!(batch.open_session(Agent::Pi, "third").unwrap().number.get(), 3);
    batch.commit().unwrap();
    assert!(there.statistics().unwrap().change >= change);
}

#[test]
fn all_spaces_are_copied_unless_one_is_named() {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let [from, all, one] = folders.each_ref().map(|folder| in_folder(folder.path()));
    for name in ["local", "acme"] {
        add_session(&mut open(&from, &space(name)), name);
    }
    assert_eq!(copy(&from, &all).unwrap().spaces.len(), 2);
    for name in ["local", "acme"] {
        assert_eq!(sessions(&open(&all, &space(name))), [name]);
    }
    let named = |end: &CopyEnd, name: &str| CopyEnd { space: Some(space(name)), ..end.clone() };
    assert!(matches!(copy(&from, &named(&one, "acme")), Err(CopyError::SeveralSpaces { count: 2, .. })));
    assert!(matches!(copy(&named(&from, "other"), &one), Err(CopyError::UnknownSpace { .. })));
    assert!(matches!(copy(&from, &from), Err(CopyError::SameSpace(_))));
    copy(&named(&from, "acme"), &one).unwrap();
    assert_eq!(sessions(&open(&one, &Space::local())), ["acme"]);
}

#[test]
fn a_target_with_rows_or_threads_is_refused() {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let [from, to] = folders.each_ref().map(|folder| in_folder(folder.path()));
    assert!(matches!(copy(&from, &to), Err(CopyError::NoStore(_))));
    add_session(&mut open(&from, &Space::local()), "first");
    add_thread(&Threads::in_folder(folders[1].path().join("threads")), 1_000, "{}\n");
    assert!(matches!(copy(&from, &to), Err(CopyError::NotEmpty { table: "thread", .. })));
    std::fs::remove_dir_all(folders[1].path().join("threads")).unwrap();
    copy(&from, &to).unwrap();
    assert!(matches!(copy(&from, &to), Err(CopyError::NotEmpty { table: "session", .. })));
}

#[test]
fn an_interrupted_copy_leaves_no_rows_and_can_be_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let from = in_folder(folder.path());
    add_session(&mut open(&from, &Space::local()), "first");
    add_thread(&Threads::in_folder(folder.path().join("threads")), 1_000, "{}\n");
    let other = tempfile::tempdir().unwrap();
    let name = space(&new_space_name());
    let mut targets = vec![(in_folder(other.path()), Space::local())];
    targets.extend(TestPostgres::shared().map(|server| (on_server(server, Some(&name)), name.clone())));
    for (to, name) in targets {
        for table in ["session", "entry", "thread"] {
            let stop = |copied: &CopiedTable| assert_ne!(copied.table, table);
            let stopped = catch_unwind(AssertUnwindSafe(|| copy_store(&from, &to, &mut { stop })));
            assert!(stopped.is_err());
            assert!(sessions(&open(&to, &name)).is_empty(), "stopped after {table}");
        }
        copy(&from, &to).unwrap();
        assert_eq!(sessions(&open(&to, &name)), ["first"]);
    }
}

#[test]
fn members_are_copied_only_between_servers_and_under_the_same_name() {
    let Some(server) = TestPostgres::shared() else { return };
    let name = space(&new_space_name());
    let from = on_server(server, Some(&name));
    let now = Timestamp::from_millis(1);
    let mut store = open(&from, &name);
    store.create_space(now).unwrap();
    let (alice, terms) = ("alice".parse().unwrap(), TokenTerms { scope: None, expires_at: None });
    let new = store.add_member(&alice, Role::Admin, MemberLimits::default(), terms, now).unwrap();
    add_session(&mut store, "first");
    let elsewhere = CopyEnd { location: server.new_database(), ..from.clone() };
    assert!(!copy(&from, &elsewhere).unwrap().spaces[0].has_left_members);
    let tokens = open(&elsewhere, &name).tokens().unwrap();
    assert_eq!(tokens.iter().map(|token| &token.id).collect::<Vec<_>>(), [&new.row.id]);
    let renamed = CopyEnd { space: Some(space(&new_space_name())), ..from.clone() };
    assert!(copy(&from, &renamed).unwrap().spaces[0].has_left_members);
    assert!(open(&renamed, renamed.space.as_ref().unwrap()).members().unwrap().is_empty());
}
