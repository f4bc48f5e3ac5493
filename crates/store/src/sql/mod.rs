//! The one way to SQL: statements with values, rows with named columns, errors with the location of the store.
//!
//! `?1` of every statement is the space, so that no query can forget whose rows it means; values start at `?2`.
//! Statements are written in the SQL that SQLite and PostgreSQL share. What has to differ is in `dialect.rs`, and what
//! only one driver does in `driver.rs`.

mod dialect;
mod driver;
mod in_space;
pub(crate) mod postgres;
mod row;
pub(crate) mod schema;
pub(crate) mod sqlite;
mod statement_check;
mod value;

use rethread_model::Space;

pub(crate) use dialect::Dialect;
pub use driver::DriverError;
pub(crate) use driver::{CatalogColumn, DriverErrorKind, Transaction};
pub(crate) use in_space::SpaceSql;
pub(crate) use row::Row;
pub use statement_check::on_new_statement;
pub(crate) use value::{AsValue, Column, OwnedValue, SqlValue, ValueKind, columns, text_without_nul, values};

use crate::{StoreError, StoreLocation};
use driver::{Driver, DriverRow};
use postgres::Arguments;
use row::ColumnPositions;

/// Rows that a server sends at a time while streaming.
const STREAMED_ROWS: usize = 2_000;

/// An open database.
#[derive(Debug)]
pub(crate) struct Sql {
    driver: Driver,
    space: Space,
    location: StoreLocation,
}

impl Sql {
    pub(crate) fn space(&self) -> &str {
        self.space.as_str()
    }

    /// The space itself, where its name alone is not enough.
    pub(crate) fn owner(&self) -> &Space {
        &self.space
    }

    /// Runs a statement without results.
    pub(crate) fn run(&self, sql: &str, values: &[SqlValue<'_>]) -> Result<(), StoreError> {
        self.change(sql, values).map(drop)
    }

    /// Runs a statement and returns how many rows it inserted, updated or deleted.
    pub(crate) fn change(&self, sql: &str, values: &[SqlValue<'_>]) -> Result<u64, StoreError> {
        self.try_change(sql, values).map_err(|cause| self.error(cause))
    }

    /// The first row, if there is one.
    pub(crate) fn one<T>(
        &self,
        sql: &str,
        values: &[SqlValue<'_>],
        mut read: impl FnMut(&Row<'_>) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        let mut found = None;
        self.each_while(sql, values, |row| {
            found = Some(read(row)?);
            Ok::<_, StoreError>(false)
        })?;
        Ok(found)
    }

    /// All rows.
    pub(crate) fn all<T>(
        &self,
        sql: &str,
        values: &[SqlValue<'_>],
        mut read: impl FnMut(&Row<'_>) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        self.known(sql, values, |row| read(row).map(Some))
    }

    /// All rows but those that `read` returns `None` for: only a newer version of the program knows what they mean.
    pub(crate) fn known<T>(
        &self,
        sql: &str,
        values: &[SqlValue<'_>],
        mut read: impl FnMut(&Row<'_>) -> Result<Option<T>, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let mut rows = Vec::new();
        self.each(sql, values, |row| {
            rows.extend(read(row)?);
            Ok::<_, StoreError>(())
        })?;
        Ok(rows)
    }

    /// Calls `read` with each row.
    pub(crate) fn each<E: From<StoreError>>(
        &self,
        sql: &str,
        values: &[SqlValue<'_>],
        mut read: impl FnMut(&Row<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.each_while(sql, values, |row| read(row).map(|()| true))
    }

    /// Calls `read` with each row until it returns false.
    pub(crate) fn each_while<E: From<StoreError>>(
        &self,
        sql: &str,
        values: &[SqlValue<'_>],
        read: impl FnMut(&Row<'_>) -> Result<bool, E>,
    ) -> Result<(), E> {
        self.each_of(self.space(), sql, values, read)
    }

    /// The same for the rows of any space.
    fn each_of<E: From<StoreError>>(
        &self,
        space: &str,
        sql: &str,
        values: &[SqlValue<'_>],
        mut read: impl FnMut(&Row<'_>) -> Result<bool, E>,
    ) -> Result<(), E> {
        let columns = ColumnPositions::default();
        match &self.driver {
            Driver::Sqlite(connection) => {
                let mut statement =
                    sqlite::prepare(connection, space, sql, values).map_err(|cause| self.error(cause))?;
                let mut rows = statement.raw_query();
                while let Some(row) = rows.next().map_err(|cause| self.error(cause))? {
                    if !read(&Row::new(self, DriverRow::Sqlite(row), &columns))? {
                        break;
                    }
                }
            }
            Driver::Postgres(session) => {
                let rows = session.query(sql, &Arguments::new(space, values));
                for row in rows.map_err(|cause| self.error(cause))? {
                    if !read(&Row::new(self, DriverRow::Postgres(&row), &columns))? {
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    /// Calls `read` with each row until it returns false, for results that may be larger than the memory. Statements
    /// inside of `read` see the same state.
    pub(crate) fn stream_while<E: From<StoreError>>(
        &self,
        sql: &str,
        values: &[SqlValue<'_>],
        mut read: impl FnMut(&Row<'_>) -> Result<bool, E>,
    ) -> Result<(), E> {
        let Driver::Postgres(session) = &self.driver else { return self.each_while(sql, values, read) };
        let columns = ColumnPositions::default();
        let streamed = session.stream(sql, &Arguments::new(self.space(), values), STREAMED_ROWS, |row| {
            read(&Row::new(self, DriverRow::Postgres(row), &columns)).map_err(StreamError::Caller)
        });
        streamed.map_err(|error| self.unwrap_stream_error(error))
    }

    /// Calls `read` with each row, for results that may be larger than the memory.
    pub(crate) fn stream<E: From<StoreError>>(
        &self,
        sql: &str,
        values: &[SqlValue<'_>],
        mut read: impl FnMut(&Row<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.stream_while(sql, values, |row| read(row).map(|()| true))
    }

    /// Whether there is a row.
    pub(crate) fn exists(&self, sql: &str, values: &[SqlValue<'_>]) -> Result<bool, StoreError> {
        Ok(self.one(sql, values, |_| Ok(()))?.is_some())
    }

    /// The number in the only column of the first row; 0 if there is none.
    pub(crate) fn count(&self, sql: &str, values: &[SqlValue<'_>]) -> Result<u64, StoreError> {
        let number = self.one(sql, values, |row| row.int_at(0))?;
        Ok(number.flatten().unwrap_or(0) as u64)
    }

    pub(crate) fn dialect(&self) -> Dialect {
        self.driver.dialect()
    }

    /// Makes a query use an index, where the planner would choose a worse one.
    pub(crate) fn index(&self, name: &str) -> String {
        self.dialect().index(name)
    }

    pub(crate) fn error(&self, cause: impl Into<DriverError>) -> StoreError {
        StoreError::at(&self.location, cause.into())
    }

    fn unwrap_stream_error<E: From<StoreError>>(&self, error: StreamError<E>) -> E {
        match error {
            StreamError::Driver(cause) => self.error(cause).into(),
            StreamError::Caller(error) => error,
        }
    }
}

/// An error of the driver or of the caller's own work.
enum StreamError<E> {
    Driver(postgres::PostgresError),
    Caller(E),
}

impl<E> From<postgres::PostgresError> for StreamError<E> {
    fn from(cause: postgres::PostgresError) -> Self {
        Self::Driver(cause)
    }
}
