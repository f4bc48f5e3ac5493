//! Creates the schema in a new database and refuses a database with another one.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use crate::StoreError;

const SCHEMA: &str = include_str!("schema.sql");

/// Stored as `user_version`. Every change of the schema takes the next number; 0 is a new, empty file. Lower numbers
/// belong to builds that were never released, so there is nothing to upgrade from.
const SCHEMA_VERSION: i64 = 13;

/// Several processes may open a new file at once: the first creates the schema, the others find it there.
pub(crate) fn create_or_check(connection: &mut Connection, path: &Path) -> Result<(), StoreError> {
    let at = |cause| StoreError::at(path, cause);
    if is_current(version(connection).map_err(at)?, path)? {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(at)?;
    if is_current(version(&transaction).map_err(at)?, path)? {
        return Ok(());
    }
    transaction.execute_batch(SCHEMA).map_err(at)?;
    transaction.pragma_update(None, "user_version", SCHEMA_VERSION).map_err(at)?;
    transaction.commit().map_err(at)
}

/// False for a new file, an error for a schema that this program cannot read.
fn is_current(found: i64, path: &Path) -> Result<bool, StoreError> {
    let path = path.to_owned();
    match found {
        0 => Ok(false),
        SCHEMA_VERSION => Ok(true),
        _ if found > SCHEMA_VERSION => Err(StoreError::Newer { path, found, known: SCHEMA_VERSION }),
        _ => Err(StoreError::Outdated { path, found, known: SCHEMA_VERSION }),
    }
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}
