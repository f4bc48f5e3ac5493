//! Reads sessions from an agent's SQLite database. Never writes, never waits long, and holds no lock between two pages.

use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::functions::FunctionFlags;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags, Row, params};
use serde_json::{Map, Value};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::address::{session_address, split_address};
use super::file::{self, FileStamp};
use super::zstd::unzstd;

/// How long one attempt waits for a lock of the agent.
const BUSY_TIME: Duration = Duration::from_millis(100);
/// Attempts before an error is reported. While an agent merges its log into the database, readers get short errors.
const ATTEMPTS: u32 = 3;
/// Bytes of rows that are held in memory at a time.
const PAGE_BYTES: usize = 4 << 20;
/// A row with a longer value is skipped.
pub(super) const MAX_RECORD_BYTES: u64 = 16 << 20;

/// How an agent's sessions are stored in tables, in one generation of them.
#[derive(Clone, Copy, Debug)]
pub struct DatabaseQueries {
    /// Query that gives a row if the database has tables of this generation. An error means that it has not; an empty
    /// query means that it has if `sessions` can be prepared.
    pub applies: &'static str,
    /// Query with a row per session: `id`, `updated_at` in milliseconds, and what the parser needs of it as its header.
    /// `updated_at` must change with every record of the session. With the names `sessionId`, `cwd`,
    /// `parentSessionId` and `timestamp`, no other `peek` is needed.
    pub sessions: &'static str,
    /// What identifies a version of a record: its id, and a number or text that changes with it.
    pub version: &'static str,
    /// The columns of a record.
    pub columns: &'static str,
    /// Tables, condition and order of the records of the session `?1`. The order must not change.
    pub from: &'static str,
    /// Whether a record is complete, as an expression. The first one that is not, and all after it, are read again the
    /// next time.
    pub finished: &'static str,
}

/// One session of a database.
#[derive(Debug)]
pub(super) struct DatabaseSession {
    connection: Connection,
    queries: &'static DatabaseQueries,
    id: String,
    /// The row of the session, as JSON.
    pub(super) header: String,
    pub(super) stamp: FileStamp,
}

/// A row of the records.
#[derive(Debug)]
pub(super) struct DatabaseRecord {
    /// Hash of its version.
    pub(super) version: u64,
    /// The row as JSON. `None` if it is too long.
    pub(super) json: Option<String>,
    /// Whether the agent has written all of it.
    pub(super) is_finished: bool,
}

/// The sessions of a database: their addresses and stamps.
pub(super) fn list_sessions(
    path: &Path,
    file: FileStamp,
    generations: &'static [DatabaseQueries],
) -> io::Result<Vec<(PathBuf, FileStamp)>> {
    retry(|| {
        let connection = open(path)?;
        let (mut found, mut ids) = (Vec::new(), HashSet::new());
        for queries in applicable(&connection, generations)? {
            let mut statement = connection.prepare(&all_of(queries.sessions))?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                // One strange row must not hide the other sessions.
                let Ok(id) = row.get::<_, String>("id") else { continue };
                let stamp = session_stamp(file, &id, row)?;
                if !ids.contains(&id) {
                    found.push((session_address(path, &id), stamp));
                    ids.insert(id);
                }
            }
        }
        Ok(found)
    })
}

/// Whether a database has tables of one of the generations.
pub(super) fn is_applicable(path: &Path, generations: &'static [DatabaseQueries]) -> bool {
    let found = open(path).and_then(|connection| applicable(&connection, generations));
    found.is_ok_and(|found| !found.is_empty())
}

/// The generations of a database. An agent that moves its sessions to new tables one by one has several. None is fine
/// while the agent has not created its tables; an error if they are damaged or have other columns than any known version.
fn applicable(
    connection: &Connection,
    generations: &'static [DatabaseQueries],
) -> rusqlite::Result<Vec<&'static DatabaseQueries>> {
    let is_it = |query: &str| query.is_empty() || connection.query_row(query, [], |_| Ok(())).is_ok();
    let (mut found, mut problem) = (Vec::new(), None);
    for queries in generations {
        match connection.prepare(queries.sessions) {
            Ok(_) if is_it(queries.applies) => found.push(queries),
            Ok(_) => {}
            Err(rusqlite::Error::SqlInputError { error, msg, .. }) if msg.starts_with("no such column") => {
                let message = format!("tables of an unknown version: {msg}");
                problem = Some(rusqlite::Error::SqliteFailure(error, Some(message)));
            }
            // A missing table, or a view in its place.
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::Unknown) => {}
            Err(error) => problem = Some(error),
        }
    }
    problem.filter(|_| found.is_empty()).map_or(Ok(found), Err)
}

/// The row of a session, if it is stored in tables of that generation: its stamp and its header.
fn find_session(
    connection: &Connection,
    queries: &DatabaseQueries,
    file: FileStamp,
    id: &str,
) -> rusqlite::Result<Option<(FileStamp, String)>> {
    let mut statement = connection.prepare(&format!("{} WHERE id = ?1", all_of(queries.sessions)))?;
    let mut rows = statement.query(params![id])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    Ok(Some((session_stamp(file, id, row)?, row_json(row)?.unwrap_or_default())))
}

impl DatabaseSession {
    /// Opens a database and looks up the session of an address.
    pub(super) fn open(address: &Path, generations: &'static [DatabaseQueries]) -> io::Result<Self> {
        let not_found = || io::Error::from(io::ErrorKind::NotFound);
        let (path, id) = split_address(address).ok_or_else(not_found)?;
        let file = database_stamp(path).ok_or_else(not_found)?;
        let found = retry(|| {
            let connection = open(path)?;
            for queries in applicable(&connection, generations)? {
                if let Some((stamp, header)) = find_session(&connection, queries, file, id)? {
                    return Ok(Some((connection, queries, stamp, header)));
                }
            }
            Ok(None)
        })?;
        let (connection, queries, stamp, header) = found.ok_or_else(not_found)?;
        Ok(Self { connection, queries, id: id.to_owned(), header, stamp })
    }

    /// Continues a hash over the versions of the first records. `None` if there are fewer.
    pub(super) fn hash_records(&self, count: u64) -> io::Result<Option<u64>> {
        let DatabaseQueries { version, from, .. } = self.queries;
        retry(|| {
            let mut statement = self.connection.prepare(&format!("SELECT {version} {from} LIMIT ?2"))?;
            let mut rows = statement.query(params![self.id, count.cast_signed()])?;
            let (mut hash, mut found) = (0, 0);
            while let Some(row) = rows.next()? {
                hash = next_hash(hash, version_hash(row)?);
                found += 1;
            }
            Ok((found == count).then_some(hash))
        })
    }

    /// The next records after the first `skipped` ones, as many as fit into a page.
    pub(super) fn page(&self, skipped: u64) -> io::Result<Vec<DatabaseRecord>> {
        let DatabaseQueries { version, columns, from, finished, .. } = self.queries;
        retry(|| {
            let query = format!("SELECT {version}, ({finished}) AS is_finished, {columns} {from} LIMIT -1 OFFSET ?2");
            let mut statement = self.connection.prepare(&query)?;
            let mut rows = statement.query(params![self.id, skipped.cast_signed()])?;
            let (mut page, mut bytes) = (Vec::new(), 0);
            while bytes < PAGE_BYTES
                && let Some(row) = rows.next()?
            {
                let json = row_json(row)?;
                bytes += json.as_ref().map_or(0, String::len);
                let is_finished = matches!(row.get_ref("is_finished")?, ValueRef::Integer(flag) if flag != 0);
                page.push(DatabaseRecord { version: version_hash(row)?, json, is_finished });
            }
            Ok(page)
        })
    }
}

/// The hash after one more record.
pub(super) fn next_hash(hash: u64, record: u64) -> u64 {
    xxh3_64_with_seed(&record.to_le_bytes(), hash)
}

fn all_of(query: &str) -> String {
    format!("SELECT * FROM ({query})")
}

/// Runs queries on a database of an agent that a layout does not read by its [`DatabaseQueries`].
pub(crate) fn open_database<T>(path: &Path, mut run: impl FnMut(&Connection) -> rusqlite::Result<T>) -> io::Result<T> {
    retry(|| run(&open(path)?))
}

/// Opens a database for reading. If the agent does not have it open, no file is created beside it.
fn open(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let uri = |option: &str| {
        let path = path.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
        format!("file:{path}{option}")
    };
    let connect = |option: &str| {
        let connection = Connection::open_with_flags(uri(option), flags)?;
        connection.busy_timeout(BUSY_TIME)?;
        connection.pragma_update(None, "query_only", true)?;
        // A database can come with a cloned project. No agent has views, and one in place of a table can have no end.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        connection.create_scalar_function("unzstd", 1, FunctionFlags::SQLITE_DETERMINISTIC, |arguments| {
            let packed = arguments.get_raw(0).as_blob_or_null()?;
            // One damaged value must not hide the other rows.
            let text = packed.and_then(|packed| unzstd(packed, MAX_RECORD_BYTES).ok());
            Ok(text.map(|text| String::from_utf8_lossy(&text).into_owned()))
        })?;
        Ok(connection)
    };
    if has_unused_log(path) {
        return connect("?immutable=1");
    }
    let connection = connect("")?;
    // The directory may not be writable; then the log cannot be shared with the agent.
    match connection.query_row("SELECT count(*) FROM sqlite_master", [], |_| Ok(())) {
        Err(rusqlite::Error::SqliteFailure(error, _)) if error.code == ErrorCode::CannotOpen => connect("?immutable=1"),
        found => found.map(|()| connection),
    }
}

/// The version of a database with its log: it changes when a session in it does.
pub(super) fn database_stamp(path: &Path) -> Option<FileStamp> {
    let database = file::stamp(path)?;
    let log = file::stamp(&log_path(path));
    let mtime = log.map_or(database.mtime, |log| log.mtime.max(database.mtime));
    Some(FileStamp { mtime, size: database.size.saturating_add(log.map_or(0, |log| log.size)), ..database })
}

fn log_path(database: &Path) -> PathBuf {
    let mut log = database.as_os_str().to_owned();
    log.push("-wal");
    log.into()
}

/// Whether a database writes to a log (mode 2 in its header) that does not exist now.
fn has_unused_log(path: &Path) -> bool {
    let mut mode = [0];
    let is_wal = File::open(path).and_then(|file| file.read_exact_at(&mut mode, 18)).is_ok_and(|()| mode == [2]);
    is_wal && !log_path(path).exists()
}

fn retry<T>(mut attempt: impl FnMut() -> rusqlite::Result<T>) -> io::Result<T> {
    let mut left = ATTEMPTS;
    loop {
        left -= 1;
        match attempt() {
            Err(rusqlite::Error::SqliteFailure(error, _))
                if left > 0
                    && matches!(
                        error.code,
                        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::SystemIoFailure
                    ) =>
            {
                thread::sleep(BUSY_TIME / 10);
            }
            other => return other.map_err(io::Error::other),
        }
    }
}

fn session_stamp(file: FileStamp, id: &str, row: &Row<'_>) -> rusqlite::Result<FileStamp> {
    let updated_at = match row.get_ref("updated_at")? {
        ValueRef::Integer(millis) => millis,
        ValueRef::Real(millis) => millis as i64,
        _ => 0,
    };
    Ok(file.of_session(id, updated_at))
}

/// The hash of the first two columns.
fn version_hash(row: &Row<'_>) -> rusqlite::Result<u64> {
    let mut hash = 0;
    for column in 0..2 {
        hash = match row.get_ref(column)? {
            ValueRef::Integer(number) => xxh3_64_with_seed(&number.to_le_bytes(), hash),
            ValueRef::Real(number) => xxh3_64_with_seed(&number.to_le_bytes(), hash),
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => xxh3_64_with_seed(bytes, hash),
            ValueRef::Null => hash,
        };
    }
    Ok(hash)
}

/// A row as a JSON object; blobs are left out. `None` if a value is too long.
fn row_json(row: &Row<'_>) -> rusqlite::Result<Option<String>> {
    let mut object = Map::new();
    for (at, name) in row.as_ref().column_names().enumerate() {
        let value = match row.get_ref(at)? {
            ValueRef::Integer(number) => number.into(),
            ValueRef::Real(number) => number.into(),
            ValueRef::Text(text) if text.len() as u64 > MAX_RECORD_BYTES => return Ok(None),
            ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned().into(),
            ValueRef::Blob(_) | ValueRef::Null => continue,
        };
        object.insert(name.to_owned(), value);
    }
    Ok(Some(Value::Object(object).to_string()))
}
