//! A server that has no free connection.

use std::time::{Duration, Instant};

use rethread_store::{AuthorizedSpace, ReadStore, StoreLocation};
use rethread_testing::{TestPostgres, new_space_name};

const BUSY: Duration = Duration::from_millis(300);

#[test]
fn a_connection_is_waited_for_if_the_server_has_none_left() {
    let Some(server) = TestPostgres::shared() else { return };
    server.location();
    let role = new_space_name().replace('-', "_");
    let url = server.url().replace("user=rethread", &format!("user={role}"));
    if url == server.url() {
        // A server of the caller, on which roles may need a password.
        return;
    }
    server.run_sql(&format!("CREATE ROLE {role} LOGIN CONNECTION LIMIT 1"));
    server.run_sql(&format!("GRANT ALL ON ALL TABLES IN SCHEMA public TO {role}"));
    let location = StoreLocation::at_url(&url, None, Some(8)).unwrap();
    let space = AuthorizedSpace::operator(new_space_name().parse().unwrap());
    let store = ReadStore::open(&location, &space, None).unwrap().unwrap();
    let snapshot = store.snapshot().unwrap();
    std::thread::scope(|scope| {
        let waiting: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let start = Instant::now();
                    let store = ReadStore::open(&location, &space, None).unwrap().unwrap();
                    store.statistics().unwrap();
                    start.elapsed()
                })
            })
            .collect();
        std::thread::sleep(BUSY);
        drop(snapshot);
        for caller in waiting {
            let took = caller.join().unwrap();
            assert!(took >= BUSY / 2 && took < Duration::from_secs(10), "{took:?}");
        }
    });
    assert_eq!(location.pool_status().map(|pool| pool.open), Some(1));
    let full = StoreLocation::at_url(&url, None, Some(8)).unwrap();
    let error = ReadStore::open(&full, &space, None).map(drop).unwrap_err();
    assert!(error.is_lost_connection(), "not a fault of the disk: {error:?}");
}
