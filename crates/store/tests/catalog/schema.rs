//! Tables, columns, keys and migration steps.

use std::collections::{BTreeMap, BTreeSet};

use postgres::Client;
use rethread_store::{AuthorizedSpace, Store, StoreLocation};
use rethread_testing::TestPostgres;

/// Tables without a space, with the reason.
const WITHOUT_SPACE: [(&str, &str); 2] =
    [("schema_version", "one per database"), ("store_identity", "one per database")];

const COLUMNS: &str = "SELECT c.relname::text, a.attname::text,
    CASE format_type(a.atttypid, NULL) WHEN 'bigint' THEN 'INTEGER' WHEN 'boolean' THEN 'INTEGER'
        WHEN 'bytea' THEN 'BLOB' WHEN 'text' THEN 'TEXT' ELSE format_type(a.atttypid, NULL) END
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace ORDER BY c.relname, a.attnum";
const KEYS: &str = "SELECT i.indexrelid::regclass::text, i.indrelid::regclass::text, i.indisprimary, i.indisunique,
    ARRAY(SELECT a.attname::text FROM unnest(i.indkey) WITH ORDINALITY k(number, place)
        JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number ORDER BY k.place)
    FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid AND c.relnamespace = 'public'::regnamespace";

/// A key or index of a table.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct CatalogIndex {
    table: String,
    /// Empty for a primary key, which each database names in its own way.
    name: String,
    is_unique: bool,
    columns: Vec<String>,
}

type ColumnsByTable = BTreeMap<String, Vec<(String, String)>>;

fn server() -> Option<Client> {
    let server = TestPostgres::shared()?;
    server.location();
    Some(server.connect())
}

fn file() -> (tempfile::TempDir, rusqlite::Connection) {
    let folder = tempfile::tempdir().unwrap();
    let location = StoreLocation::in_folder(folder.path());
    drop(Store::open(&location, AuthorizedSpace::local()).unwrap());
    let connection = rusqlite::Connection::open(location.path()).unwrap();
    (folder, connection)
}

fn server_columns(client: &mut Client) -> ColumnsByTable {
    let mut tables = ColumnsByTable::new();
    for row in client.query(COLUMNS, &[]).unwrap() {
        tables.entry(row.get(0)).or_default().push((row.get(1), row.get(2)));
    }
    tables
}

fn file_columns(connection: &rusqlite::Connection) -> ColumnsByTable {
    let mut tables = ColumnsByTable::new();
    let sql = "SELECT t.name, c.name, c.type FROM sqlite_schema t JOIN pragma_table_info(t.name) c
        WHERE t.type = 'table' ORDER BY t.name, c.cid";
    let mut statement = connection.prepare(sql).unwrap();
    let mut rows = statement.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let column = (row.get(1).unwrap(), row.get(2).unwrap());
        tables.entry(row.get(0).unwrap()).or_default().push(column);
    }
    tables
}

fn server_indexes(client: &mut Client) -> BTreeSet<CatalogIndex> {
    let index = |row: &postgres::Row| {
        let name = if row.get(2) { String::new() } else { row.get(0) };
        CatalogIndex { table: row.get(1), name, is_unique: row.get(3), columns: row.get(4) }
    };
    client.query(KEYS, &[]).unwrap().iter().map(index).collect()
}

fn file_indexes(connection: &rusqlite::Connection) -> BTreeSet<CatalogIndex> {
    let sql = "SELECT t.name, CASE i.origin WHEN 'pk' THEN '' ELSE i.name END, i.\"unique\", c.name
        FROM sqlite_schema t JOIN pragma_index_list(t.name) i JOIN pragma_index_info(i.name) c
        WHERE t.type = 'table' ORDER BY i.name, c.seqno";
    let mut indexes: BTreeMap<(String, String), CatalogIndex> = BTreeMap::new();
    let mut statement = connection.prepare(sql).unwrap();
    let mut rows = statement.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let (table, name): (String, String) = (row.get(0).unwrap(), row.get(1).unwrap());
        let is_unique = row.get(2).unwrap();
        let new = || CatalogIndex { table: table.clone(), name: name.clone(), is_unique, columns: Vec::new() };
        let index = indexes.entry((table.clone(), name.clone())).or_insert_with(new);
        index.columns.push(row.get(3).unwrap());
    }
    indexes.into_values().collect()
}

#[test]
fn tables_columns_and_indexes_are_the_same_on_both_databases() {
    let Some(mut client) = server() else { return };
    let (_folder, connection) = file();
    let mut on_server = server_columns(&mut client);
    on_server.remove("schema_version").unwrap();
    assert_eq!(on_server, file_columns(&connection));
    assert_eq!(server_indexes(&mut client), file_indexes(&connection));
}

#[test]
fn migration_steps_are_the_same_on_both_databases() {
    let steps = |database: &str| -> BTreeSet<String> {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations").join(database);
        std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect()
    };
    assert_eq!(steps("sqlite"), steps("postgres"));
    assert!(!steps("sqlite").is_empty());
}

#[test]
fn every_key_starts_with_the_space() {
    // Citus needs the space in every unique key.
    let Some(mut client) = server() else { return };
    let indexes = server_indexes(&mut client);
    for (table, columns) in server_columns(&mut client) {
        let has_space = columns.iter().any(|(name, _)| name == "space");
        let is_exception = WITHOUT_SPACE.iter().any(|(exception, _)| *exception == table);
        assert_eq!(has_space, !is_exception, "{table}");
        let of_table = || indexes.iter().filter(|index| index.table == table);
        assert!(is_exception || of_table().any(|index| index.name.is_empty()), "{table} has no primary key");
        assert!(of_table().all(|index| index.columns[0] == "space"), "{table}");
    }
    let links = "SELECT count(*) FROM pg_constraint WHERE contype = 'f' AND connamespace = 'public'::regnamespace";
    assert_eq!(client.query_one(links, &[]).unwrap().get::<_, i64>(0), 0, "foreign keys must include the space too");
}
