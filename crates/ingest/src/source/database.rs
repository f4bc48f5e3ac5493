//! Reads sessions from an agent's SQLite database. Never writes, never waits long, and holds no lock between two pages.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags, Row, params};
use serde_json::{Map, Value};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::file::FileStamp;

/// How long one attempt waits for a lock of the agent.
const BUSY_TIME: Duration = Duration::from_millis(100);
/// Attempts before an error is reported. While an agent merges its log into the database, readers get short errors.
const ATTEMPTS: u32 = 3;
/// Bytes of rows that are held in memory at a time.
const PAGE_BYTES: usize = 4 << 20;
/// A row with a longer value is skipped.
pub(super) const MAX_RECORD_BYTES: u64 = 16 << 20;
/// Separates the path of a database from the id of one of its sessions.
const SESSION_MARK: char = '#';

/// How an agent's sessions are stored in tables.
#[derive(Clone, Copy, Debug)]
pub struct DatabaseQueries {
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

/// A record as JSON, and the hash of its version. `None` if it is too long.
pub(super) type DatabaseRecord = (u64, Option<String>);

/// The address of a session: the path of its database, a mark and its id.
pub(super) fn session_address(database: &Path, id: &str) -> PathBuf {
    let mut address = database.as_os_str().to_owned();
    address.push(format!("{SESSION_MARK}{id}"));
    address.into()
}

/// The database and the session of an address; `None` if the file does not exist. Both may contain the mark.
pub(super) fn split_address(address: &Path) -> Option<(&Path, &str)> {
    let text = address.to_str()?;
    let mut splits = text.match_indices(SESSION_MARK).map(|(at, mark)| (&text[..at], &text[at + mark.len()..]));
    splits.find_map(|(file, id)| Some((Path::new(file), id)).filter(|(file, _)| file.is_file()))
}

/// The sessions of a database: their addresses and stamps.
pub(super) fn list_sessions(
    path: &Path,
    file: FileStamp,
    queries: &DatabaseQueries,
) -> io::Result<Vec<(PathBuf, FileStamp)>> {
    retry(|| {
        let connection = open(path)?;
        let mut statement = connection.prepare(queries.sessions)?;
        let mut rows = statement.query([])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            // One strange row must not hide the other sessions.
            let Ok(id) = row.get::<_, String>("id") else { continue };
            found.push((session_address(path, &id), session_stamp(file, &id, row)?));
        }
        Ok(found)
    })
}

impl DatabaseSession {
    /// Opens a database and looks up the session of an address.
    pub(super) fn open(address: &Path, queries: &'static DatabaseQueries) -> io::Result<Self> {
        let not_found = || io::Error::from(io::ErrorKind::NotFound);
        let (path, id) = split_address(address).ok_or_else(not_found)?;
        let (_, file) = super::file::open(path)?;
        let (connection, found) = retry(|| {
            let connection = open(path)?;
            let found = {
                let mut statement = connection.prepare(&format!("{} WHERE id = ?1", all_of(queries.sessions)))?;
                let mut rows = statement.query(params![id])?;
                match rows.next()? {
                    Some(row) => Some((session_stamp(file, id, row)?, row_json(row)?)),
                    None => None,
                }
            };
            Ok((connection, found))
        })?;
        let (stamp, header) = found.ok_or_else(not_found)?;
        Ok(Self { connection, queries, id: id.to_owned(), header: header.unwrap_or_default(), stamp })
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
        let DatabaseQueries { version, columns, from, .. } = self.queries;
        retry(|| {
            let query = format!("SELECT {version}, {columns} {from} LIMIT -1 OFFSET ?2");
            let mut statement = self.connection.prepare(&query)?;
            let mut rows = statement.query(params![self.id, skipped.cast_signed()])?;
            let (mut page, mut bytes) = (Vec::new(), 0);
            while bytes < PAGE_BYTES
                && let Some(row) = rows.next()?
            {
                let json = row_json(row)?;
                bytes += json.as_ref().map_or(0, String::len);
                page.push((version_hash(row)?, json));
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

/// Whether a database writes to a log (mode 2 in its header) that does not exist now.
fn has_unused_log(path: &Path) -> bool {
    let mut mode = [0];
    let is_wal = File::open(path).and_then(|file| file.read_exact_at(&mut mode, 18)).is_ok_and(|()| mode == [2]);
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    is_wal && !Path::new(&log).exists()
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

/// A stamp of the session's own: an inode that no other session has, and the time of its last change.
fn session_stamp(file: FileStamp, id: &str, row: &Row<'_>) -> rusqlite::Result<FileStamp> {
    let updated_at = match row.get_ref("updated_at")? {
        ValueRef::Integer(millis) => millis,
        ValueRef::Real(millis) => millis as i64,
        _ => 0,
    };
    let inode = file.inode ^ xxh3_64(id.as_bytes());
    // The size is not known without reading everything; it must not be 0, which means "not written yet".
    Ok(FileStamp { inode, size: 1, mtime: updated_at.saturating_mul(1_000_000), ..file })
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
