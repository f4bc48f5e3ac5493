//! Spreads the tables of a store over the nodes of Citus.

use std::path::PathBuf;

use crate::sql::postgres::PlacementError;
use crate::sql::{schema, sqlite};
use crate::{CitusTable, StoreError, StoreLocation};

/// Why a store could not be distributed.
#[derive(Debug, thiserror::Error)]
pub enum DistributeError {
    /// The store is a file.
    #[error("the store {} is a local file", .0.display())]
    LocalFile(PathBuf),
    /// The database is plain PostgreSQL.
    #[error("the database of the store {} does not have the Citus extension", .0.display())]
    NoCitus(PathBuf),
    /// The role is not the owner of a table, or may not use the functions of Citus.
    #[error("not permitted to distribute the table {table:?}")]
    NotPermitted {
        /// Its name.
        table: String,
    },
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl StoreLocation {
    /// Has Citus store each table by space, and tables without one on every node. Tables that are stored like that are
    /// left alone, so that this can be repeated after an error and after a migration. Shows each table once it is done;
    /// with `is_dry_run`, only shows them.
    pub fn distribute(&self, is_dry_run: bool, mut show: impl FnMut(&CitusTable)) -> Result<(), DistributeError> {
        let path = || self.path().to_owned();
        let Some(server) = self.server() else { return Err(DistributeError::LocalFile(path())) };
        let failed = |cause| StoreError::at(self, cause);
        let found = server.schema_version().map_err(|cause| failed(cause.into()))?;
        if found != schema::SCHEMA_VERSION {
            return Err(StoreError::NotMigrated { path: path(), found, known: schema::SCHEMA_VERSION }.into());
        }
        let mut tables = table_names().map_err(|cause| failed(cause.into()))?;
        tables.push("schema_version".to_owned());
        server.distribute(&tables, is_dry_run, &mut show).map_err(|error| match error {
            PlacementError::NoCitus => DistributeError::NoCitus(path()),
            PlacementError::NotPermitted { table } => DistributeError::NotPermitted { table },
            PlacementError::Driver(cause) => failed(cause.into()).into(),
        })
    }
}

/// The tables of the present schema.
fn table_names() -> rusqlite::Result<Vec<String>> {
    let own = sqlite::Connection::open_in_memory()?;
    schema::create(&own)?;
    let names = schema::tables(&own)?;
    Ok(names)
}
