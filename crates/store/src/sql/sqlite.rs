//! The driver for SQLite: opens database files, sets PRAGMAs, binds values, reads the catalog, wipes.
//!
//! No other file but those of `salvage`, which read broken files, uses the SQLite library.

use std::borrow::Cow;
use std::path::Path;
use std::time::Duration;

use rethread_model::Space;
use rusqlite::config::DbConfig;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{CachedStatement, ErrorCode, OpenFlags, ToSql, TransactionBehavior};

pub(crate) use rusqlite::Connection;
use rusqlite::{Error as SqliteError, Row as SqliteRow, Transaction};

use super::driver::{CatalogColumn, DriverErrorKind};
use super::statement_check::note_statement;
use super::value::text_without_nul;
use super::{Driver, Sql, SqlValue, ValueKind};
use crate::open::Durability;
use crate::{StoreError, StoreLocation};

/// Page cache in KiB; bounded so that a first sync does not use much memory.
const CACHE_KIB: i64 = 32 * 1024;
/// Pages in the write-ahead log before a checkpoint, together 256 MiB. A first sync changes the same index pages again
/// and again; rare checkpoints write them to the database once instead of many times.
const CHECKPOINT_PAGES: u32 = 32 * 1024;
/// A longer log is cut when it starts over.
const MAX_IDLE_LOG_BYTES: u64 = 64 << 20;
/// Rewriting takes as long as copying the file, so it has to be worth it: this share of the pages must be unused.
const MIN_UNUSED_SHARE: f64 = 0.2;

impl Sql {
    /// Opens an existing file for writing.
    pub(super) fn open_file(location: &StoreLocation, space: Space) -> Result<Self, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(location.path(), flags);
        let connection = connection.map_err(|cause| StoreError::at(location, cause.into()))?;
        Ok(Self { driver: Driver::Sqlite(connection), space, location: location.clone() })
    }

    /// Opens an existing file for reading. On a read-only file system SQLite cannot create its side files: then the
    /// file is read as it is, without locks. `None` if it is not set up yet.
    pub(super) fn open_file_read_only(
        location: &StoreLocation,
        space: &Space,
        timeout: Duration,
    ) -> Result<Option<Self>, StoreError> {
        let open = |connect: fn(&StoreLocation) -> rusqlite::Result<Connection>| {
            let connect = || {
                let connection = connect(location)?;
                prepare_to_read(&connection, timeout)?;
                Ok(connection)
            };
            let connection = connect().map_err(|cause: SqliteError| StoreError::at(location, cause.into()))?;
            let sql = Self { driver: Driver::Sqlite(connection), space: space.clone(), location: location.clone() };
            Ok(sql.is_set_up()?.then_some(sql))
        };
        match open(connect_live) {
            Err(StoreError::Disk { .. }) if !can_write_beside(location.path()) => open(connect_frozen),
            other => other,
        }
    }
}

pub(super) fn prepare_to_write(
    connection: &Connection,
    timeout: Duration,
    durability: Durability,
) -> rusqlite::Result<()> {
    connection.busy_timeout(timeout)?;
    prepare_statements(connection)?;
    connection.execute_batch(&format!(
        "PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA foreign_keys = ON;
         PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}; PRAGMA journal_size_limit = {MAX_IDLE_LOG_BYTES};"
    ))?;
    set_durability(connection, durability)
}

fn prepare_to_read(connection: &Connection, timeout: Duration) -> rusqlite::Result<()> {
    connection.busy_timeout(timeout)?;
    prepare_statements(connection)?;
    connection.execute_batch("PRAGMA query_only = ON;")
}

/// What commits promise from now on.
pub(super) fn set_durability(connection: &Connection, durability: Durability) -> rusqlite::Result<()> {
    connection.execute_batch(durability_pragmas(durability))
}

/// Overwrites the bytes of rows that are deleted from now on.
pub(super) fn set_secure_delete(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("PRAGMA secure_delete = ON;")
}

/// Moves the log into the database only when it has that many pages, 0 for never, and not on close.
pub(super) fn delay_checkpoints(connection: &Connection, pages: u32) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.execute_batch(&format!("PRAGMA wal_autocheckpoint = {pages};"))
}

/// Starts a transaction that holds the write lock.
pub(super) fn begin(connection: &Connection) -> rusqlite::Result<Transaction<'_>> {
    Transaction::new_unchecked(connection, TransactionBehavior::Immediate)
}

/// Starts a transaction that only reads; `None` if there is one already.
pub(super) fn begin_reading(connection: &Connection) -> rusqlite::Result<Option<Transaction<'_>>> {
    connection.is_autocommit().then(|| connection.unchecked_transaction()).transpose()
}

pub(super) fn data_version(connection: &Connection) -> rusqlite::Result<i64> {
    pragma(connection, "data_version")
}

/// Gives unused pages back to the file system, if there are many.
pub(super) fn compact(connection: &Connection) -> rusqlite::Result<()> {
    let unused = pragma(connection, "freelist_count")? as f64;
    if unused < pragma(connection, "page_count")? as f64 * MIN_UNUSED_SHARE {
        return Ok(());
    }
    wipe(connection).map(drop)
}

/// Rewrites the file without deleted bytes and empties the log. False if another process still reads the log.
pub(super) fn wipe(connection: &Connection) -> rusqlite::Result<bool> {
    // The copy may be larger than the memory.
    connection.execute_batch("PRAGMA temp_store = FILE; VACUUM; PRAGMA temp_store = MEMORY;")?;
    let busy = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0))?;
    Ok(busy == 0)
}

/// What is wrong with the file.
pub(super) fn file_problems(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare("PRAGMA integrity_check")?;
    let mut problems: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    problems.retain(|problem| problem != "ok");
    Ok(problems)
}

/// The columns of a table, in order.
pub(super) fn catalog(connection: &Connection, table: &str) -> rusqlite::Result<Vec<CatalogColumn>> {
    let sql = "SELECT name, type, \"notnull\" AND dflt_value IS NULL, pk FROM pragma_table_info(?1)";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([table], |row| {
        let (name, kind) = (row.get(0)?, row.get(1)?);
        Ok(CatalogColumn { name, kind, is_required: row.get(2)?, key_place: row.get(3)? })
    })?;
    rows.collect()
}

/// Runs a statement and returns how many rows it changed.
pub(super) fn change(
    connection: &Connection,
    space: &str,
    sql: &str,
    values: &[SqlValue<'_>],
) -> Result<u64, SqliteError> {
    prepare(connection, space, sql, values)?.raw_execute().map(|rows| rows as u64)
}

pub(super) fn prepare<'c>(
    connection: &'c Connection,
    space: &str,
    sql: &str,
    values: &[SqlValue<'_>],
) -> Result<CachedStatement<'c>, SqliteError> {
    note_statement(sql);
    let mut statement = connection.prepare_cached(sql)?;
    let expected = statement.parameter_count();
    if expected != values.len() + 1 {
        return Err(SqliteError::InvalidParameterCount(values.len() + 1, expected));
    }
    statement.raw_bind_parameter(1, space)?;
    for (value, at) in values.iter().zip(2_usize..) {
        statement.raw_bind_parameter(at, value)?;
    }
    Ok(statement)
}

fn pragma(connection: &Connection, name: &str) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, name, |row| row.get(0))
}

impl ToSql for SqlValue<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match *self {
            SqlValue::Null(_) => ValueRef::Null,
            SqlValue::Int(number) => ValueRef::Integer(number),
            SqlValue::Bool(flag) => ValueRef::Integer(flag.into()),
            SqlValue::Text(text) => match text_without_nul(text) {
                Cow::Borrowed(text) => ValueRef::Text(text.as_bytes()),
                Cow::Owned(text) => return Ok(ToSqlOutput::Owned(text.into())),
            },
            SqlValue::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

pub(super) fn position(row: &SqliteRow<'_>, name: &str) -> Result<usize, SqliteError> {
    row.as_ref().column_index(name)
}

pub(super) fn value<'r>(row: &'r SqliteRow<'_>, at: usize) -> Result<SqlValue<'r>, SqliteError> {
    match row.get_ref(at)? {
        ValueRef::Null => Ok(SqlValue::Null(ValueKind::Unknown)),
        ValueRef::Integer(number) => Ok(SqlValue::Int(number)),
        ValueRef::Text(text) => {
            std::str::from_utf8(text).map(SqlValue::Text).map_err(|cause| SqliteError::Utf8Error(at, cause))
        }
        ValueRef::Blob(bytes) => Ok(SqlValue::Bytes(bytes)),
        ValueRef::Real(_) => Err(unexpected_value(row, at)),
    }
}

pub(super) fn unexpected_value(row: &SqliteRow<'_>, at: usize) -> SqliteError {
    let name = row.as_ref().column_name(at).unwrap_or_default().to_owned();
    match row.get_ref(at) {
        Ok(value) => SqliteError::InvalidColumnType(at, name, value.data_type()),
        Err(cause) => cause,
    }
}

pub(crate) fn error_kind(cause: &SqliteError) -> DriverErrorKind {
    match cause.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => DriverErrorKind::Locked,
        Some(
            ErrorCode::DiskFull
            | ErrorCode::ReadOnly
            | ErrorCode::SystemIoFailure
            | ErrorCode::CannotOpen
            | ErrorCode::PermissionDenied,
        ) => DriverErrorKind::Disk,
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => DriverErrorKind::Corrupt,
        Some(ErrorCode::ConstraintViolation) => DriverErrorKind::Constraint,
        _ => match cause {
            SqliteError::FromSqlConversionFailure(..)
            | SqliteError::InvalidColumnType(..)
            | SqliteError::IntegralValueOutOfRange(..)
            | SqliteError::Utf8Error(..) => DriverErrorKind::UnexpectedValue,
            _ => DriverErrorKind::Other,
        },
    }
}

/// An error that says what is broken.
pub(super) fn corrupt(message: &str) -> SqliteError {
    SqliteError::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT), Some(message.to_owned()))
}

/// `fullfsync` makes macOS flush the drive, too.
fn durability_pragmas(durability: Durability) -> &'static str {
    match durability {
        Durability::Flushed => "PRAGMA synchronous = FULL; PRAGMA fullfsync = ON;",
        Durability::Ordered => "PRAGMA synchronous = NORMAL; PRAGMA fullfsync = OFF;",
    }
}

/// A connection that takes part in locking but runs no statement that writes.
fn connect_live(location: &StoreLocation) -> rusqlite::Result<Connection> {
    // A connection opened read-only could not remove the side files that it has to create.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let has_log = location.log().exists();
    let connection = Connection::open_with_flags(location.path(), flags)?;
    // Closing the last connection would otherwise move the log into the database.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, has_log)?;
    Ok(connection)
}

/// A connection to a database whose directory cannot be written, by this process or any other.
fn connect_frozen(location: &StoreLocation) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    if std::fs::metadata(location.log()).is_ok_and(|log| log.len() > 0) {
        // Without locks and in exclusive mode SQLite keeps the index of the log in memory, not in a side file.
        let connection = Connection::open_with_flags_and_vfs(location.path(), flags, c"unix-none")?;
        connection.execute_batch("PRAGMA locking_mode = EXCLUSIVE;")?;
        return Ok(connection);
    }
    let address = format!("file:{}?immutable=1", percent_encoded(location.path()));
    Connection::open_with_flags(address, flags | OpenFlags::SQLITE_OPEN_URI)
}

fn prepare_statements(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_prepared_statement_cache_capacity(64);
    // Without this, SQLite plans a statement again for every new set of values, which costs more than running it.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.execute_batch(&format!("PRAGMA cache_size = -{CACHE_KIB}; PRAGMA temp_store = MEMORY;"))
}

fn can_write_beside(path: &Path) -> bool {
    let folder = path.parent().unwrap_or(Path::new("."));
    rustix::fs::access(folder, rustix::fs::Access::WRITE_OK).is_ok()
}

/// The path as part of a URI.
fn percent_encoded(path: &Path) -> String {
    use std::os::unix::ffi::OsStrExt;
    let bytes = path.as_os_str().as_bytes().iter();
    bytes
        .map(|byte| match byte {
            b'/' | b'-' | b'_' | b'.' | b'~' => char::from(*byte).to_string(),
            byte if byte.is_ascii_alphanumeric() => char::from(*byte).to_string(),
            byte => format!("%{byte:02X}"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use rethread_model::{Agent, Timestamp};

    use super::*;
    use crate::{AuthorizedSpace, Store};

    #[test]
    fn a_store_on_a_read_only_file_system_is_read_with_its_log() {
        // D63
        let folder = tempfile::tempdir().unwrap();
        let path = StoreLocation::in_folder(folder.path());
        let mut store = Store::open(&path, AuthorizedSpace::local()).unwrap();
        let mut batch = store.begin().unwrap();
        let key = crate::SessionKey { agent: Agent::Pi, external_id: "x" };
        batch.save_lifecycle(key, &crate::LifecycleRow::new(Timestamp::from_millis(7))).unwrap();
        batch.commit().unwrap();
        let copy = StoreLocation::at_path(folder.path().join("100% read-only?.db"));
        let touched = |connection: &Connection| -> rusqlite::Result<i64> {
            connection.query_row("SELECT touched_at FROM lifecycle", [], |row| row.get(0))
        };
        let only = |names: &[&Path]| {
            let all = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
            all.filter(|path| path.to_string_lossy().contains("read-only")).count() == names.len()
        };
        std::fs::copy(path.path(), copy.path()).unwrap();
        std::fs::copy(path.log(), copy.log()).unwrap();
        assert_eq!(touched(&connect_frozen(&copy).unwrap()).unwrap(), 7, "the row is only in the log");
        assert!(only(&[copy.path(), &copy.log()]), "no side file is created");
        drop(store);
        std::fs::remove_file(copy.log()).unwrap();
        std::fs::copy(path.path(), copy.path()).unwrap();
        assert_eq!(touched(&connect_frozen(&copy).unwrap()).unwrap(), 7);
        assert!(only(&[copy.path()]), "no side file is created");
    }
}
