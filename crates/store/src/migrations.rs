//! Brings a database to the newest schema, one numbered file at a time.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use crate::StoreError;

/// All schemas, oldest first. A file, once released, is never changed.
const MIGRATIONS: [&str; 11] = [
    include_str!("migrations/0001-intake.sql"),
    include_str!("migrations/0002-search.sql"),
    include_str!("migrations/0003-ledger.sql"),
    include_str!("migrations/0004-awareness.sql"),
    include_str!("migrations/0005-periods.sql"),
    include_str!("migrations/0006-cards.sql"),
    include_str!("migrations/0007-questions.sql"),
    include_str!("migrations/0008-facts.sql"),
    include_str!("migrations/0009-tombstones.sql"),
    include_str!("migrations/0010-enrichment.sql"),
    include_str!("migrations/0011-changes.sql"),
];

/// Applies what is missing. Several processes may try at once: the first does the work, the others find it done.
pub(crate) fn apply(connection: &mut Connection, path: &Path) -> Result<(), StoreError> {
    let known = MIGRATIONS.len() as i64;
    let at = |cause| StoreError::at(path, cause);
    let found = version(connection).map_err(at)?;
    if found == known {
        return Ok(());
    }
    if found > known {
        return Err(StoreError::Newer { path: path.to_owned(), found, known });
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(at)?;
    let found = version(&transaction).map_err(at)?;
    for migration in MIGRATIONS.iter().skip(found as usize) {
        transaction.execute_batch(migration).map_err(at)?;
    }
    transaction.pragma_update(None, "user_version", known).map_err(at)?;
    transaction.commit().map_err(at)
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}
