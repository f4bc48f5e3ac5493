//! Texts are compared and ordered by their bytes, whatever the collation of the database is.

use std::io::Write;

use rethread_model::Agent;
use rethread_store::{AuthorizedSpace, Store, StoreLocation};
use rethread_testing::{TestPostgres, new_space_name};

/// In the order of their bytes. A dictionary has another order.
const NAMES: [&str; 7] = ["B", "Z", "a", "a b", "ab", "z", "ä"];

/// A database in which texts are ordered like in a dictionary; `None` where the server cannot do that.
fn dictionary_database(server: &TestPostgres) -> Option<String> {
    let name = new_space_name().replace('-', "_");
    let mut client = server.connect();
    let created = ["LOCALE_PROVIDER icu ICU_LOCALE 'en'", "LOCALE 'en_US.UTF-8'"].into_iter().any(|locale| {
        let create = format!("CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8' {locale}");
        client.batch_execute(&create).is_ok()
    });
    created.then(|| server.url_of(&name))
}

#[test]
fn every_text_column_is_ordered_by_bytes() {
    let Some(server) = TestPostgres::shared() else { return };
    server.location();
    let sql = "SELECT count(*), count(*) FILTER (WHERE o.collname = 'C')
        FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid AND c.relkind = 'r'
        JOIN pg_collation o ON o.oid = a.attcollation
        WHERE c.relnamespace = 'public'::regnamespace AND a.attnum > 0 AND NOT a.attisdropped";
    let row = server.connect().query_one(sql, &[]).unwrap();
    let (all, by_bytes): (i64, i64) = (row.get(0), row.get(1));
    assert!(all > 100 && all == by_bytes, "{by_bytes} of {all}");
}

#[test]
fn texts_are_ordered_by_bytes_in_a_database_with_another_collation() {
    let Some(server) = TestPostgres::shared() else { return };
    let Some(url) = dictionary_database(server) else {
        // Past the test harness, which would hide it.
        let _ = writeln!(std::io::stderr(), "skipped: the server has no collation like a dictionary");
        return;
    };
    let mut client = postgres::Client::connect(&url, postgres::NoTls).unwrap();
    let is_dictionary: bool = client.query_one("SELECT 'a'::text < 'B'::text", &[]).unwrap().get(0);
    assert!(is_dictionary, "the collation of the database is another one");
    let location = StoreLocation::at_url(&url, None, None).unwrap();
    location.migrate().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let orders = [location, StoreLocation::in_folder(folder.path())].map(|location| {
        let mut store = Store::open(&location, AuthorizedSpace::local()).unwrap();
        let mut batch = store.begin().unwrap();
        for name in NAMES.iter().rev() {
            batch.add_redactions(name, 1).unwrap();
            let transcript = batch.add_transcript(name, Agent::Pi).unwrap();
            batch.add_transcript_problem(transcript, 1, "cut off").unwrap();
        }
        batch.commit().unwrap();
        let rules = store.statistics().unwrap().redactions.into_iter().map(|(rule, _)| rule);
        let paths = store.transcript_problems().unwrap().into_iter().map(|problem| problem.path);
        [rules.collect::<Vec<_>>(), paths.collect::<Vec<_>>()]
    });
    assert_eq!(orders, [[NAMES; 2]; 2]);
}
