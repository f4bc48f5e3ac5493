//! Creates the schema in a new database and refuses a database with another one.

use rusqlite::{Connection, TransactionBehavior};

use crate::{StoreError, StoreLocation};

const SCHEMA: &str = include_str!("schema.sql");

/// Stored as `user_version`. Every change of the schema takes the next number; 0 is a new, empty file. Lower numbers
/// belong to builds that were never released, so there is nothing to upgrade from.
const SCHEMA_VERSION: i64 = 13;

/// Several processes may open a new file at once: the first creates the schema, the others find it there.
pub(crate) fn create_or_check(connection: &mut Connection, location: &StoreLocation) -> Result<(), StoreError> {
    let at = |cause| StoreError::at(location, cause);
    if is_current(version(connection).map_err(at)?, location)? {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(at)?;
    if is_current(version(&transaction).map_err(at)?, location)? {
        return Ok(());
    }
    if !objects(&transaction).map_err(at)?.is_empty() {
        return Err(StoreError::at(location, corrupt("the schema version is missing")));
    }
    create(&transaction).map_err(at)?;
    transaction.pragma_update(None, "user_version", SCHEMA_VERSION).map_err(at)?;
    transaction.commit().map_err(at)
}

/// Creates all tables. Entries that are set aside have the columns of entries, whatever those are.
pub(crate) fn create(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(SCHEMA)?;
    let sql = "SELECT sql FROM sqlite_schema WHERE name = 'entry'";
    let entry: String = connection.query_row(sql, [], |row| row.get(0))?;
    connection.execute_batch(&entry.replacen("TABLE entry", "TABLE set_aside_entry", 1))?;
    connection.execute_batch("CREATE INDEX set_aside_entry_by_native_key ON set_aside_entry (space, native_key);")
}

/// Whether the schema is there, for a connection that must not create it.
pub(crate) fn check(connection: &Connection, location: &StoreLocation) -> Result<bool, StoreError> {
    is_current(version(connection).map_err(|cause| StoreError::at(location, cause))?, location)
}

/// False for a new file, an error for a schema that this program cannot read.
fn is_current(found: i64, location: &StoreLocation) -> Result<bool, StoreError> {
    let path = location.path().to_owned();
    match found {
        0 => Ok(false),
        SCHEMA_VERSION => Ok(true),
        _ if found > SCHEMA_VERSION => Err(StoreError::Newer { path, found, known: SCHEMA_VERSION }),
        _ => Err(StoreError::Outdated { path, found, known: SCHEMA_VERSION }),
    }
}

/// Whether a database of this version has exactly the tables it should have.
pub(crate) fn is_intact(connection: &Connection) -> rusqlite::Result<bool> {
    Ok((version(connection)? == SCHEMA_VERSION) == is_own_schema(connection)?)
}

fn is_own_schema(connection: &Connection) -> rusqlite::Result<bool> {
    let own = Connection::open_in_memory()?;
    create(&own)?;
    Ok(objects(connection)? == objects(&own)?)
}

/// Names and definitions of all tables, indexes and triggers. SQLite's own statistics do not count.
fn objects(connection: &Connection) -> rusqlite::Result<Vec<(String, Option<String>)>> {
    let sql = "SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat%' ORDER BY name";
    connection.prepare(sql)?.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

fn corrupt(message: &str) -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT), Some(message.to_owned()))
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}
