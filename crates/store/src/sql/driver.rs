//! The drivers behind one interface: what each of them does to open, lock, commit and inspect a database.

use std::time::{Duration, Instant};

use rethread_model::Space;

use super::in_space::with_space;
use super::postgres::{COMMIT_COUNTER, PostgresError, PostgresSession, PostgresTransaction};
use super::{Arguments, Column, Dialect, Sql, SqlValue, sqlite};
use crate::open::Durability;
use crate::{StoreError, StoreLocation};

/// The connection to a database.
#[derive(Debug)]
pub(crate) enum Driver {
    Sqlite(sqlite::Connection),
    Postgres(Box<PostgresSession>),
}

/// An error that a database or its client library reported.
#[derive(Debug, thiserror::Error)]
pub enum DriverError {
    /// From SQLite.
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    /// From PostgreSQL.
    #[error(transparent)]
    Postgres(#[from] PostgresError),
}

/// What went wrong, as far as the store makes a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DriverErrorKind {
    Locked,
    Disk,
    Corrupt,
    /// A column holds what no write could have put there: all tables are strict.
    UnexpectedValue,
    Constraint,
    /// The server cannot be reached, or the connection to it was lost.
    Unavailable,
    /// The connection was lost during a commit.
    UnknownOutcome,
    Other,
}

/// A column of a table, as the catalog describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CatalogColumn {
    pub(crate) name: String,
    /// `INTEGER`, `TEXT` or `BLOB`.
    pub(crate) kind: String,
    /// Whether a row needs a value for it.
    pub(crate) is_required: bool,
    /// Its place in the primary key, from 1; 0 if it is not part of it.
    pub(crate) key_place: i64,
}

/// An open transaction. Rolled back when dropped without a commit.
#[derive(Debug)]
pub(crate) enum Transaction<'s> {
    Sqlite(rusqlite::Transaction<'s>),
    Postgres(PostgresTransaction<'s>),
}

/// A row as the driver has it.
#[derive(Clone, Copy)]
pub(super) enum DriverRow<'r> {
    Sqlite(&'r rusqlite::Row<'r>),
    Postgres(&'r postgres::Row),
}

impl Driver {
    pub(super) fn dialect(&self) -> Dialect {
        match self {
            Self::Sqlite(_) => Dialect::Sqlite,
            Self::Postgres(_) => Dialect::Postgres,
        }
    }
}

impl DriverError {
    pub(crate) fn kind(&self) -> DriverErrorKind {
        match self {
            Self::Sqlite(cause) => sqlite::error_kind(cause),
            Self::Postgres(cause) => cause.kind(),
        }
    }
}

impl Transaction<'_> {
    pub(crate) fn commit(self) -> Result<(), DriverError> {
        match self {
            Self::Sqlite(transaction) => Ok(transaction.commit()?),
            Self::Postgres(transaction) => Ok(transaction.commit()?),
        }
    }
}

impl Sql {
    /// Opens an existing file, or a database on a server, for writing.
    pub(crate) fn open(location: &StoreLocation, space: Space, patience: Duration) -> Result<Self, StoreError> {
        match location.server() {
            None => Self::open_file(location, space),
            Some(server) => {
                let driver = Driver::Postgres(Box::new(PostgresSession::new(server.clone(), patience)));
                Ok(Self { driver, space, location: location.clone() })
            }
        }
    }

    /// Opens an existing file, or a database on a server, for reading. `None` if it is not set up yet.
    pub(crate) fn open_read_only(
        location: &StoreLocation,
        space: &Space,
        timeout: Duration,
    ) -> Result<Option<Self>, StoreError> {
        if location.server().is_none() {
            return Self::open_file_read_only(location, space, timeout);
        }
        let sql = Self::open(location, space.clone(), timeout)?;
        Ok(sql.is_set_up()?.then_some(sql))
    }

    pub(crate) fn location(&self) -> &StoreLocation {
        &self.location
    }

    pub(crate) fn prepare_to_write(&self, timeout: Duration, durability: Durability) -> Result<(), StoreError> {
        self.on_sqlite(|connection| sqlite::prepare_to_write(connection, timeout, durability)).map(drop)
    }

    /// What commits promise from now on. A server always flushes.
    pub(crate) fn set_durability(&self, durability: Durability) -> Result<(), StoreError> {
        self.on_sqlite(|connection| sqlite::set_durability(connection, durability)).map(drop)
    }

    pub(crate) fn set_secure_delete(&self) -> Result<(), StoreError> {
        self.on_sqlite(sqlite::set_secure_delete).map(drop)
    }

    pub(crate) fn delay_checkpoints(&self, pages: u32) -> Result<(), StoreError> {
        self.on_sqlite(|connection| sqlite::delay_checkpoints(connection, pages)).map(drop)
    }

    /// How long to wait for another writer from now on.
    pub(crate) fn set_timeout(&self, timeout: Duration) -> Result<(), StoreError> {
        match &self.driver {
            Driver::Sqlite(connection) => connection.busy_timeout(timeout).map_err(|cause| self.error(cause)),
            Driver::Postgres(session) => {
                session.set_patience(timeout);
                Ok(())
            }
        }
    }

    /// Starts a transaction that is the only writer: of the file, or of the space on a server.
    pub(crate) fn begin(&self) -> Result<Transaction<'_>, StoreError> {
        match &self.driver {
            Driver::Sqlite(connection) => {
                sqlite::begin(connection).map(Transaction::Sqlite).map_err(|cause| self.error(cause))
            }
            Driver::Postgres(session) => {
                session.begin_writing(self.space()).map(Transaction::Postgres).map_err(|cause| self.error(cause))
            }
        }
    }

    /// Starts a write transaction that takes no part in the order of the space's changes, for rows that have an order
    /// of their own: on a server it waits for no other writer of the space.
    pub(crate) fn begin_unordered(&self) -> Result<Transaction<'_>, StoreError> {
        match &self.driver {
            Driver::Sqlite(_) => self.begin(),
            Driver::Postgres(session) => {
                session.begin_unordered().map(Transaction::Postgres).map_err(|cause| self.error(cause))
            }
        }
    }

    /// Starts a transaction that only reads; `None` if there is one already.
    pub(crate) fn begin_reading(&self) -> Result<Option<Transaction<'_>>, StoreError> {
        match &self.driver {
            Driver::Sqlite(connection) => {
                let begun = sqlite::begin_reading(connection).map_err(|cause| self.error(cause))?;
                Ok(begun.map(Transaction::Sqlite))
            }
            Driver::Postgres(session) => {
                let begun = session.begin_reading().map_err(|cause| self.error(cause))?;
                Ok(begun.map(Transaction::Postgres))
            }
        }
    }

    /// A number that changes when another connection commits. Only comparable while this connection is open.
    pub(crate) fn data_version(&self) -> Result<i64, StoreError> {
        let session = match &self.driver {
            Driver::Sqlite(connection) => {
                return sqlite::data_version(connection).map_err(|cause| self.error(cause));
            }
            Driver::Postgres(session) => session,
        };
        if let Some(known) = session.server().known_commit(self.space()) {
            return Ok(known);
        }
        let (asked_at, sql) = (Instant::now(), "SELECT value FROM counter WHERE space = ?1 AND name = ?2");
        let number = self.count(sql, &[SqlValue::Text(COMMIT_COUNTER)])? as i64;
        // A transaction may see an older state, or its own number, which is not committed yet.
        if !session.is_in_transaction() {
            session.server().note_commit(self.space(), number, asked_at);
        }
        Ok(number)
    }

    /// Differs after a fail-over, which may have undone the last commits: change numbers are given a second time then.
    pub(crate) fn history(&self) -> i64 {
        match &self.driver {
            Driver::Sqlite(_) => 0,
            Driver::Postgres(session) => session.server().timeline(),
        }
    }

    /// Gives unused pages back to the file system, if there are many. A server does so itself.
    pub(crate) fn compact(&self) -> Result<(), StoreError> {
        self.on_sqlite(sqlite::compact).map(drop)
    }

    /// Removes the bytes of deleted rows, as far as the database can. False if another process still needs them.
    pub(crate) fn wipe(&self) -> Result<bool, StoreError> {
        match &self.driver {
            Driver::Sqlite(connection) => sqlite::wipe(connection).map_err(|cause| self.error(cause)),
            Driver::Postgres(session) => session.vacuum().map(|()| true).map_err(|cause| self.error(cause)),
        }
    }

    /// What is wrong with the file. A server checks its own files.
    pub(crate) fn file_problems(&self) -> Result<Vec<String>, StoreError> {
        Ok(self.on_sqlite(sqlite::file_problems)?.unwrap_or_default())
    }

    /// The columns of a table, in order.
    pub(crate) fn catalog(&self, table: &str) -> Result<Vec<CatalogColumn>, StoreError> {
        match &self.driver {
            Driver::Sqlite(connection) => sqlite::catalog(connection, table).map_err(|cause| self.error(cause)),
            Driver::Postgres(session) => session.catalog(table).map_err(|cause| self.error(cause)),
        }
    }

    /// The columns of a table's primary key, in key order.
    pub(crate) fn primary_key(&self, table: &str) -> Result<Vec<String>, StoreError> {
        let mut columns = self.catalog(table)?;
        columns.retain(|column| column.key_place > 0);
        columns.sort_by_key(|column| column.key_place);
        Ok(columns.into_iter().map(|column| column.name).collect())
    }

    /// The error for a row that must exist.
    pub(crate) fn missing_row(&self) -> StoreError {
        match &self.driver {
            Driver::Sqlite(_) => self.error(rusqlite::Error::QueryReturnedNoRows),
            Driver::Postgres(_) => self.error(PostgresError::MissingRow),
        }
    }

    /// Like [`Sql::change`], with the error of the driver.
    pub(crate) fn try_change(&self, sql: &str, values: &[SqlValue<'_>]) -> Result<u64, DriverError> {
        match &self.driver {
            Driver::Sqlite(connection) => Ok(sqlite::change(connection, self.space(), sql, values)?),
            Driver::Postgres(session) => Ok(session.change(sql, &Arguments::new(self.space(), values))?),
        }
    }

    /// Inserts a row in the open transaction on a server, before its next statement, together with others. Without
    /// `keeps_known`, there must be no row with its key. False for a file, where it saves nothing.
    pub(crate) fn insert_later(
        &self,
        table: &str,
        columns: &[Column<'_>],
        keeps_known: bool,
    ) -> Result<bool, StoreError> {
        let Driver::Postgres(session) = &self.driver else { return Ok(false) };
        let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
        let head = format!("INSERT INTO {table} ({}) VALUES ", with_space(&names));
        let tail = if keeps_known { " ON CONFLICT DO NOTHING" } else { "" };
        let waits = session.insert_later(self.space(), head, columns, tail);
        waits.map(|()| true).map_err(|cause| self.error(cause))
    }

    /// Runs what only a file needs; `None` on a server.
    pub(crate) fn on_sqlite<T>(
        &self,
        work: impl FnOnce(&sqlite::Connection) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        match &self.driver {
            Driver::Sqlite(connection) => work(connection).map(Some).map_err(|cause| self.error(cause)),
            Driver::Postgres(_) => Ok(None),
        }
    }
}

impl<'r> DriverRow<'r> {
    pub(super) fn position(self, name: &str) -> Result<usize, DriverError> {
        match self {
            Self::Sqlite(row) => Ok(sqlite::position(row, name)?),
            Self::Postgres(row) => {
                let found = row.columns().iter().position(|column| column.name() == name);
                Ok(found.ok_or_else(|| PostgresError::UnexpectedValue { column: name.to_owned() })?)
            }
        }
    }

    pub(super) fn value(self, at: usize) -> Result<SqlValue<'r>, DriverError> {
        match self {
            Self::Sqlite(row) => Ok(sqlite::value(row, at)?),
            Self::Postgres(row) => row.try_get(at).map_err(|_| self.unexpected_value(at)),
        }
    }

    pub(super) fn unexpected_value(self, at: usize) -> DriverError {
        match self {
            Self::Sqlite(row) => sqlite::unexpected_value(row, at).into(),
            Self::Postgres(row) => {
                let column = row.columns().get(at).map(|column| column.name().to_owned()).unwrap_or_default();
                PostgresError::UnexpectedValue { column }.into()
            }
        }
    }
}
