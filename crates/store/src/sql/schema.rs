//! Creates the schema in a new database, migrates an older one and refuses a newer one.

use super::Sql;
use super::sqlite::{Connection, DriverError, corrupt};
use crate::StoreError;

/// The steps to the present schema, each with the version it leads to. The first creates a new database. Databases
/// from before it belong to builds that were never released: they are replaced, and what they hold is carried over.
const MIGRATIONS: [(i64, &str); 4] = [
    (13, include_str!("../../migrations/sqlite/0013-schema.sql")),
    (14, include_str!("../../migrations/sqlite/0014-drop-triggers.sql")),
    (15, include_str!("../../migrations/sqlite/0015-held-injections.sql")),
    (17, include_str!("../../migrations/sqlite/0017-threads.sql")),
];

/// Stored as `user_version`; 0 is a new, empty file.
const SCHEMA_VERSION: i64 = MIGRATIONS[MIGRATIONS.len() - 1].0;

impl Sql {
    /// Creates or migrates the schema, in one transaction. Several processes may open a file at once: the first does
    /// it, the others find it done.
    pub(crate) fn migrate(&self) -> Result<(), StoreError> {
        if self.checked_version()? == SCHEMA_VERSION {
            return Ok(());
        }
        let transaction = self.begin()?;
        let version = self.checked_version()?;
        let is_empty = || objects(self.connection()).map(|objects| objects.is_empty());
        if version == 0 && !is_empty().map_err(|cause| self.error(cause))? {
            return Err(self.error(corrupt("the schema version is missing")));
        }
        let migrate = || {
            run_migrations(self.connection(), version, SCHEMA_VERSION)?;
            self.connection().pragma_update(None, "user_version", SCHEMA_VERSION)?;
            transaction.commit()
        };
        migrate().map_err(|cause| self.error(cause))
    }

    /// Whether the schema is there, for a reader, which must not create or migrate it. No migration so far changed what
    /// readers read.
    pub(super) fn is_set_up(&self) -> Result<bool, StoreError> {
        Ok(self.checked_version()? != 0)
    }

    pub(crate) fn schema_version(&self) -> Result<i64, StoreError> {
        version(self.connection()).map_err(|cause| self.error(cause))
    }

    /// Whether the tables are as they were created.
    pub(crate) fn is_schema_intact(&self) -> Result<bool, StoreError> {
        is_intact(self.connection()).map_err(|cause| self.error(cause))
    }

    fn checked_version(&self) -> Result<i64, StoreError> {
        let (found, known) = (self.schema_version()?, SCHEMA_VERSION);
        let path = self.location().path().to_owned();
        match found {
            _ if found > known => Err(StoreError::Newer { path, found, known }),
            _ if found != 0 && found < MIGRATIONS[0].0 => Err(StoreError::Outdated { path, found, known }),
            _ => Ok(found),
        }
    }
}

/// Creates the present schema in an empty database.
pub(crate) fn create(connection: &Connection) -> Result<(), DriverError> {
    run_migrations(connection, 0, SCHEMA_VERSION)
}

/// Whether the tables match the version of the database. With an unknown version, they must not be those of the present
/// one.
pub(crate) fn is_intact(connection: &Connection) -> Result<bool, DriverError> {
    // Version and tables belong to the same state, even if another process migrates the store right now.
    let _snapshot = connection.is_autocommit().then(|| connection.unchecked_transaction()).transpose()?;
    let found = version(connection)?;
    let is_known = MIGRATIONS.iter().any(|(version, _)| *version == found);
    let own = Connection::open_in_memory()?;
    run_migrations(&own, 0, if is_known { found } else { SCHEMA_VERSION })?;
    Ok(is_known == (objects(connection)? == objects(&own)?))
}

fn run_migrations(connection: &Connection, from: i64, to: i64) -> Result<(), DriverError> {
    let steps = MIGRATIONS.iter().filter(|(version, _)| (from + 1..=to).contains(version));
    steps.map(|(_, sql)| *sql).try_for_each(|sql| connection.execute_batch(sql))
}

/// Names and definitions of all tables, indexes and triggers. SQLite's own statistics do not count.
fn objects(connection: &Connection) -> Result<Vec<(String, Option<String>)>, DriverError> {
    let sql = "SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat%' ORDER BY name";
    connection.prepare(sql)?.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

fn version(connection: &Connection) -> Result<i64, DriverError> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}
