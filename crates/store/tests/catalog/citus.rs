//! Distributing the tables, with functions and a catalog that look like those of Citus. What Citus itself does with our
//! statements is not tested.

use rethread_store::{AuthorizedSpace, CitusTable, DistributeError, Store, StoreLocation, TablePlacement};
use rethread_testing::TestPostgres;

/// A new database with the schema, beside those of other tests.
struct CitusDatabase {
    url: String,
    location: StoreLocation,
    client: postgres::Client,
}

impl CitusDatabase {
    fn new() -> Option<Self> {
        let url = TestPostgres::shared()?.new_database_url();
        let location = StoreLocation::at_url(&url, None, None).unwrap();
        let client = postgres::Client::connect(&url, postgres::NoTls).unwrap();
        Some(Self { url, location, client })
    }

    fn distribute(&self, is_dry_run: bool) -> (Vec<CitusTable>, Result<(), DistributeError>) {
        let mut tables = Vec::new();
        let done = self.location.distribute(is_dry_run, |table| tables.push(table.clone()));
        (tables, done)
    }

    fn count(&mut self, sql: &str) -> i64 {
        self.client.query_one(sql, &[]).unwrap().get(0)
    }
}

#[test]
fn each_table_is_placed_once_and_beside_the_others() {
    let Some(mut database) = CitusDatabase::new() else { return };
    database.location.migrate().unwrap();
    TestPostgres::add_fake_citus(&database.url);
    let (planned, done) = database.distribute(true);
    done.unwrap();
    assert!(planned.len() > 30 && planned.iter().all(|table| !table.was_placed));
    assert_eq!(database.count("SELECT count(*) FROM pg_dist_partition"), 0, "a dry run changes nothing");

    let (placed, done) = database.distribute(false);
    done.unwrap();
    assert_eq!(placed, planned);
    let on_every_node: Vec<&str> = placed
        .iter()
        .filter(|table| table.placement == TablePlacement::OnEveryNode)
        .map(|table| table.name.as_str())
        .collect();
    assert_eq!(on_every_node, ["schema_version", "store_identity"]);
    let by_space = placed.len() as i64 - 2;
    let together = "SELECT count(*) FROM pg_dist_partition WHERE partmethod = 'h' AND colocated IN ('counter', 'none')";
    assert_eq!(database.count(together), by_space);
    assert_eq!(database.count("SELECT count(*) FROM pg_dist_partition WHERE colocated = 'none'"), 1);
    assert_eq!(database.count("SELECT count(DISTINCT relation) FROM fake_truncated"), by_space + 2);

    let (again, done) = database.distribute(false);
    done.unwrap();
    assert!(again.len() == placed.len() && again.iter().all(|table| table.was_placed));
    drop(Store::open(&database.location, AuthorizedSpace::local()).unwrap().begin().unwrap());
}

#[test]
fn what_was_refused_is_placed_by_the_next_call() {
    let Some(mut database) = CitusDatabase::new() else { return };
    database.location.migrate().unwrap();
    TestPostgres::add_fake_citus(&database.url);
    database.client.batch_execute("INSERT INTO fake_refusal VALUES ('entry', '42501')").unwrap();
    let (before, refused) = database.distribute(false);
    assert!(matches!(refused, Err(DistributeError::NotPermitted { table }) if table == "entry"));
    assert!(!before.is_empty() && before.iter().all(|table| table.name != "entry"));
    database.client.batch_execute("UPDATE fake_refusal SET code = 'XX000'").unwrap();
    assert!(matches!(database.distribute(false).1, Err(DistributeError::Store(_))));
    database.client.batch_execute("DELETE FROM fake_refusal").unwrap();
    let (all, done) = database.distribute(false);
    done.unwrap();
    assert_eq!(all.iter().filter(|table| table.was_placed).count(), before.len());
}

#[test]
fn a_database_without_citus_or_without_tables_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = StoreLocation::in_folder(folder.path()).distribute(false, |_| {});
    assert!(matches!(file, Err(DistributeError::LocalFile(_))));
    let Some(database) = CitusDatabase::new() else { return };
    let empty = database.distribute(false).1;
    assert!(matches!(empty, Err(DistributeError::Store(rethread_store::StoreError::NotMigrated { found: 0, .. }))));
    database.location.migrate().unwrap();
    assert!(matches!(database.distribute(true).1, Err(DistributeError::NoCitus(_))));
}
