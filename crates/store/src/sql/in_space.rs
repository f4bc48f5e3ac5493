//! The rows of any space of an open database, for work on more than the store's own space.

use rethread_model::Space;

use super::row::ColumnPositions;
use super::{Arguments, Driver, DriverRow, Row, Sql, SqlValue, StreamError, sqlite};
use crate::StoreError;

/// Adds a row to a table.
pub(crate) type AddRow<'a> = dyn FnMut(&[SqlValue<'_>]) -> Result<(), StoreError> + 'a;

/// An open database, and the space whose name is `?1` of its statements. For operators: never for a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpaceSql<'s> {
    sql: &'s Sql,
    space: &'s str,
}

impl Sql {
    /// The rows of that space.
    pub(crate) fn in_space<'s>(&'s self, space: &'s Space) -> SpaceSql<'s> {
        SpaceSql { sql: self, space: space.as_str() }
    }
}

impl<'s> SpaceSql<'s> {
    pub(crate) fn sql(self) -> &'s Sql {
        self.sql
    }

    /// Whether there is a row.
    pub(crate) fn exists(self, sql: &str) -> Result<bool, StoreError> {
        let mut found = false;
        self.sql.each_of(self.space, sql, &[], |_| {
            found = true;
            Ok::<_, StoreError>(false)
        })?;
        Ok(found)
    }

    /// Calls `read` with each row of a result that fits into the memory.
    pub(crate) fn each<E: From<StoreError>>(
        self,
        sql: &str,
        values: &[SqlValue<'_>],
        mut read: impl FnMut(&Row<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.sql.each_of(self.space, sql, values, |row| read(row).map(|()| true))
    }

    /// Calls `read` with each row. A server sends so many of them at a time.
    pub(crate) fn stream<E: From<StoreError>>(
        self,
        sql: &str,
        rows_at_a_time: usize,
        mut read: impl FnMut(&Row<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let Driver::Postgres(session) = &self.sql.driver else { return self.each(sql, &[], read) };
        let columns = ColumnPositions::default();
        let streamed = session.stream(sql, &Arguments::new(self.space, &[]), rows_at_a_time, |row| {
            let row = Row::new(self.sql, DriverRow::Postgres(row), &columns);
            read(&row).map(|()| true).map_err(StreamError::Caller)
        });
        streamed.map_err(|error| self.sql.unwrap_stream_error(error))
    }

    /// Runs a statement without results.
    pub(crate) fn run(self, sql: &str, values: &[SqlValue<'_>]) -> Result<(), StoreError> {
        match &self.sql.driver {
            Driver::Sqlite(connection) => {
                sqlite::change(connection, self.space, sql, values).map(drop).map_err(|cause| self.sql.error(cause))
            }
            Driver::Postgres(session) => session
                .change(sql, &Arguments::new(self.space, values))
                .map(drop)
                .map_err(|cause| self.sql.error(cause)),
        }
    }

    /// Makes the open transaction the only writer of this space.
    pub(crate) fn lock(self) -> Result<(), StoreError> {
        match &self.sql.driver {
            Driver::Sqlite(_) => Ok(()),
            Driver::Postgres(session) => session.lock_space(self.space).map_err(|cause| self.sql.error(cause)),
        }
    }

    /// Adds many rows to a table, in the open transaction: `feed` gets a function that adds one, with the values of
    /// these columns. Rows are sent while they come. Meanwhile this database answers nothing else.
    pub(crate) fn load<E: From<StoreError>>(
        self,
        table: &str,
        columns: &[&str],
        feed: impl FnOnce(&mut AddRow<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        match &self.sql.driver {
            Driver::Sqlite(_) => {
                let marks: Vec<String> = (1..columns.len() + 2).map(|at| format!("?{at}")).collect();
                let insert = format!("INSERT INTO {table} ({}) VALUES ({})", with_space(columns), marks.join(", "));
                feed(&mut |values| self.run(&insert, values))
            }
            Driver::Postgres(session) => {
                let loaded = session.load(self.space, table, columns, |add| {
                    let add = &mut |values: &[SqlValue<'_>]| add(values).map_err(|cause| self.sql.error(cause));
                    feed(add).map_err(StreamError::Caller)
                });
                loaded.map_err(|error| self.sql.unwrap_stream_error(error))
            }
        }
    }
}

/// The names of columns, the space first. Quoted, because databases reserve different words.
pub(crate) fn with_space(columns: &[&str]) -> String {
    let quoted = columns.iter().map(|name| format!("\"{name}\""));
    std::iter::once("space".to_owned()).chain(quoted).collect::<Vec<_>>().join(", ")
}
