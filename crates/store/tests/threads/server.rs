//! What only a server can do to threads: cut connections, and migrate under running nodes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rethread_model::thread::ThreadMetadata;
use rethread_store::{AuthorizedSpace, StoreError, StoreLocation, ThreadError, Threads};
use rethread_testing::{TestPostgres, new_space_name};

use super::{ThreadFixture, ThreadId, at, user};

/// Cuts one connection to the database of the client, as a rule that of a writer.
const CUT: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() ORDER BY backend_xid IS NULL, random() LIMIT 1";
const APPENDS: usize = 60;

struct OwnDatabase {
    fixture: ThreadFixture,
    client: postgres::Client,
}

/// Threads in a database of their own; `None` without PostgreSQL.
fn own_database() -> Option<OwnDatabase> {
    let location: StoreLocation = TestPostgres::shared()?.new_database();
    let client = postgres::Client::connect(location.path().to_str().unwrap(), postgres::NoTls).unwrap();
    let space = AuthorizedSpace::operator(new_space_name().parse().unwrap());
    Some(OwnDatabase { fixture: ThreadFixture::in_database(Some((location, space))), client })
}

#[test]
fn appends_whose_connections_are_cut_are_stored_once() {
    let Some(OwnDatabase { fixture, mut client }) = own_database() else { return };
    let log = fixture.thread();
    let is_done = AtomicBool::new(false);
    let stored = std::thread::scope(|scope| {
        let cutting = scope.spawn(|| {
            let mut cuts = 0;
            while !is_done.load(Ordering::Relaxed) {
                cuts += client.query(CUT, &[]).unwrap().len();
                std::thread::sleep(Duration::from_millis(5));
            }
            cuts
        });
        // An append that failed is repeated through the same log, as its documentation says.
        let append = |text: &str| loop {
            match log.append(user(text)) {
                Ok(record) => return record.seq().unwrap(),
                Err(error) => assert!(matches!(error, ThreadError::Database { .. }), "{error}"),
            }
        };
        let stored: Vec<u64> = (0..APPENDS).map(|number| append(&format!("message {number}"))).collect();
        is_done.store(true, Ordering::Relaxed);
        assert!(cutting.join().unwrap() > 0);
        stored
    });
    assert_eq!(stored, (1..=APPENDS as u64).collect::<Vec<_>>());
    assert_eq!(fixture.seqs(log.id()), stored);
}

#[test]
fn a_running_node_refuses_a_schema_that_another_one_migrated() {
    let Some(OwnDatabase { fixture, mut client }) = own_database() else { return };
    let log = fixture.thread();
    log.append(user("one")).unwrap();
    let location = &fixture.server.as_ref().unwrap().0;
    location.check_schema().unwrap();
    for change in ["version + 1", "version - 2"] {
        client.batch_execute(&format!("UPDATE schema_version SET version = {change}")).unwrap();
        // A version is trusted for a second.
        std::thread::sleep(Duration::from_millis(1_100));
        let is_refused = |error: ThreadError| {
            let ThreadError::Database { cause } = error else { return false };
            matches!(*cause, StoreError::Newer { .. } | StoreError::NotMigrated { .. })
        };
        assert!(is_refused(log.append(user("two")).unwrap_err()) && is_refused(fixture.threads.ids().unwrap_err()));
        assert!(location.check_schema().is_err());
    }
    client.batch_execute("UPDATE schema_version SET version = version + 1").unwrap();
    std::thread::sleep(Duration::from_millis(1_100));
    assert_eq!(log.append(user("two")).unwrap().seq(), Some(2));
}

#[test]
fn a_database_without_a_schema_is_refused() {
    let Some(server) = TestPostgres::shared() else { return };
    let name = new_space_name().replace('-', "_");
    server.run_sql(&format!("CREATE DATABASE {name}"));
    let location = StoreLocation::at_url(&server.url_of(&name), None, None).unwrap();
    assert!(matches!(location.check_schema(), Err(StoreError::NotMigrated { found: 0, .. })));
    location.migrate().unwrap();
    location.check_schema().unwrap();
    let threads = Threads::in_database(location, AuthorizedSpace::local(), "unused".into());
    let id = ThreadId::generate(at(0));
    threads.create(&ThreadMetadata::new(id, at(0))).unwrap();
}
