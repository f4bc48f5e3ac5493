//! Creates the schema in a new database, migrates an older one and refuses a newer one.

use super::sqlite::{Connection, corrupt};
use super::{Driver, Sql};
use crate::{StoreError, StoreLocation};

/// One step to the present schema. Both databases get the same tables and columns.
#[derive(Debug)]
pub(crate) struct Migration {
    /// The version it leads to.
    pub(crate) version: i64,
    sqlite: &'static str,
    pub(crate) postgres: &'static str,
}

macro_rules! migrations {
    ($($version:literal: $name:literal),* $(,)?) => {
        [$(Migration {
            version: $version,
            sqlite: include_str!(concat!("../../migrations/sqlite/", $name, ".sql")),
            postgres: include_str!(concat!("../../migrations/postgres/", $name, ".sql")),
        }),*]
    };
}

/// The steps to the present schema. The first creates a new database. Files from before it belong to builds that were
/// never released: they are replaced, and what they hold is carried over.
pub(crate) const MIGRATIONS: [Migration; 6] = migrations! {
    13: "0013-schema",
    14: "0014-drop-triggers",
    15: "0015-held-injections",
    16: "0016-members",
    17: "0017-threads",
    18: "0018-pins-and-tags",
};

/// Stored as `user_version` in a file, in `schema_version` on a server; 0 is a new, empty database.
pub(crate) const SCHEMA_VERSION: i64 = MIGRATIONS[MIGRATIONS.len() - 1].version;

impl Sql {
    /// Creates or migrates the schema of a file, in one transaction. Several processes may open a file at once: the
    /// first does it, the others find it done. On a server an administrator migrates, because other nodes use it.
    pub(crate) fn migrate(&self) -> Result<(), StoreError> {
        let version = self.checked_version()?;
        if version == SCHEMA_VERSION {
            return Ok(());
        }
        let Driver::Sqlite(connection) = &self.driver else {
            let path = self.location().path().to_owned();
            return Err(StoreError::NotMigrated { path, found: version, known: SCHEMA_VERSION });
        };
        let transaction = self.begin()?;
        let version = self.checked_version()?;
        let is_empty = || objects(connection).map(|objects| objects.is_empty());
        if version == 0 && !is_empty().map_err(|cause| self.error(cause))? {
            return Err(self.error(corrupt("the schema version is missing")));
        }
        run_migrations(connection, version, SCHEMA_VERSION).map_err(|cause| self.error(cause))?;
        let written = connection.pragma_update(None, "user_version", SCHEMA_VERSION);
        written.map_err(|cause| self.error(cause))?;
        transaction.commit().map_err(|cause| self.error(cause))
    }

    /// Whether the schema is there, for a reader, which must not create or migrate it. What readers read has changed
    /// since, so they ask [`Sql::has_version`]; on a server nodes of several versions run at once, so that each needs
    /// its own.
    pub(crate) fn is_set_up(&self) -> Result<bool, StoreError> {
        let (version, known) = (self.checked_version()?, SCHEMA_VERSION);
        if matches!(self.driver, Driver::Postgres(_)) && version != 0 && version != known {
            let path = self.location().path().to_owned();
            return Err(StoreError::NotMigrated { path, found: version, known });
        }
        Ok(version != 0)
    }

    /// Whether the schema has what a version added. A file is migrated by the first process that writes to it; until
    /// then readers find an older one.
    pub(crate) fn has_version(&self, version: i64) -> Result<bool, StoreError> {
        Ok(matches!(self.driver, Driver::Postgres(_)) || self.schema_version()? >= version)
    }

    pub(crate) fn schema_version(&self) -> Result<i64, StoreError> {
        match &self.driver {
            Driver::Sqlite(connection) => version(connection).map_err(|cause| self.error(cause)),
            Driver::Postgres(session) => session.server().schema_version().map_err(|cause| self.error(cause)),
        }
    }

    /// Whether the tables are as they were created.
    pub(crate) fn is_schema_intact(&self) -> Result<bool, StoreError> {
        match &self.driver {
            Driver::Sqlite(connection) => is_intact(connection).map_err(|cause| self.error(cause)),
            Driver::Postgres(_) => self.has_all_columns(),
        }
    }

    /// Whether every table has the columns that it has in a file.
    fn has_all_columns(&self) -> Result<bool, StoreError> {
        let expected = || -> rusqlite::Result<Vec<_>> {
            let own = Connection::open_in_memory()?;
            create(&own)?;
            tables(&own)?.into_iter().map(|table| Ok((super::sqlite::catalog(&own, &table)?, table))).collect()
        };
        for (columns, table) in expected().map_err(|cause| self.error(cause))? {
            if self.catalog(&table)? != columns {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn checked_version(&self) -> Result<i64, StoreError> {
        let (found, known) = (self.schema_version()?, SCHEMA_VERSION);
        let path = self.location().path().to_owned();
        match found {
            _ if found > known => Err(StoreError::Newer { path, found, known }),
            _ if found != 0 && found < MIGRATIONS[0].version => Err(StoreError::Outdated { path, found, known }),
            _ => Ok(found),
        }
    }
}

/// On a server nodes of several versions run at once, so that each needs its own schema.
pub(crate) fn check_server_version(location: &StoreLocation, found: i64) -> Result<(), StoreError> {
    let (path, known) = (location.path().to_owned(), SCHEMA_VERSION);
    match found {
        _ if found > known => Err(StoreError::Newer { path, found, known }),
        _ if found < known => Err(StoreError::NotMigrated { path, found, known }),
        _ => Ok(()),
    }
}

/// Creates the present schema in an empty file.
pub(crate) fn create(connection: &Connection) -> rusqlite::Result<()> {
    run_migrations(connection, 0, SCHEMA_VERSION)
}

/// The names of all tables.
pub(crate) fn tables(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name";
    connection.prepare(sql)?.query_map([], |row| row.get(0))?.collect()
}

/// Whether the tables match the version of the file. With an unknown version, they must not be those of the present
/// one.
pub(crate) fn is_intact(connection: &Connection) -> rusqlite::Result<bool> {
    // Version and tables belong to the same state, even if another process migrates the store right now.
    let _snapshot = connection.is_autocommit().then(|| connection.unchecked_transaction()).transpose()?;
    let found = version(connection)?;
    let is_known = MIGRATIONS.iter().any(|migration| migration.version == found);
    let own = Connection::open_in_memory()?;
    run_migrations(&own, 0, if is_known { found } else { SCHEMA_VERSION })?;
    Ok(is_known == (objects(connection)? == objects(&own)?))
}

fn run_migrations(connection: &Connection, from: i64, to: i64) -> rusqlite::Result<()> {
    let steps = MIGRATIONS.iter().filter(|migration| (from + 1..=to).contains(&migration.version));
    steps.map(|migration| migration.sqlite).try_for_each(|sql| connection.execute_batch(sql))
}

/// Names and definitions of all tables, indexes and triggers. SQLite's own statistics do not count.
fn objects(connection: &Connection) -> rusqlite::Result<Vec<(String, Option<String>)>> {
    let sql = "SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat%' ORDER BY name";
    connection.prepare(sql)?.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}
