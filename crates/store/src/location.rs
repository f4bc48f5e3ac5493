//! Where a store is: in a file, with the side files that SQLite puts beside it, or on a PostgreSQL server.

use std::ffi::OsString;
use std::fmt;
use std::fs::{self, Metadata};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use crate::StoreError;
use crate::sql::postgres::{InvalidStoreUrl, PoolStatus, Server, ServerAddress, has_password, is_server_url};

/// Name of the database in Rethread's folder, and in the folders of stores that were set aside.
const FILE_NAME: &str = "memory.db";

/// Connections to a server that one process opens at most by default.
const DEFAULT_CONNECTIONS: usize = 24;

/// Where a store is.
#[derive(Clone, Debug)]
pub struct StoreLocation {
    /// The file, or the address of the server without its password.
    file: PathBuf,
    server: Option<Arc<Server>>,
}

impl StoreLocation {
    /// The store in a folder.
    pub fn in_folder(folder: &Path) -> Self {
        Self::at_path(folder.join(FILE_NAME))
    }

    /// The store in that file.
    pub fn at_path(file: impl Into<PathBuf>) -> Self {
        Self { file: file.into(), server: None }
    }

    /// The store in a database on a server, such as `postgres://user@host/database`. Clones share their connections.
    /// The password may also be given apart. Nothing is connected yet.
    pub fn at_url(url: &str, password: Option<&str>, connections: Option<usize>) -> Result<Self, InvalidStoreUrl> {
        let server = Server::new(ServerAddress::parse(url, password)?, connections.unwrap_or(DEFAULT_CONNECTIONS))?;
        Ok(Self { file: server.shown().into(), server: Some(Arc::new(server)) })
    }

    /// Whether a text is meant as the address of a server.
    pub fn is_url(text: &str) -> bool {
        is_server_url(text)
    }

    /// Whether an address contains a password, which must not be visible in a list of processes.
    pub fn has_password(url: &str) -> bool {
        has_password(url)
    }

    /// Whether the store is on a server.
    pub fn is_on_server(&self) -> bool {
        self.server.is_some()
    }

    /// Numbers of the connections to the server; `None` for a file.
    pub fn pool_status(&self) -> Option<PoolStatus> {
        self.server.as_ref().map(|server| server.pool_status())
    }

    /// Creates or migrates the schema on a server. Returns the version before and now; `None` for a file, whose schema
    /// is migrated when it is opened.
    pub fn migrate(&self) -> Result<Option<(i64, i64)>, StoreError> {
        let Some(server) = &self.server else { return Ok(None) };
        let failed = |cause: crate::sql::postgres::PostgresError| StoreError::at(self, cause.into());
        let before = server.migrate().map_err(failed)?;
        Ok(Some((before, server.schema_version().map_err(failed)?)))
    }

    /// Refuses a schema on a server that is newer or older than this program, or missing. A file migrates by itself.
    pub fn check_schema(&self) -> Result<(), StoreError> {
        let Some(server) = &self.server else { return Ok(()) };
        let found = server.schema_version().map_err(|cause| StoreError::at(self, cause.into()))?;
        crate::sql::schema::check_server_version(self, found)
    }

    /// Starts to follow notifications about commits of other nodes, so that the database is asked less often.
    pub fn start_listening(&self) {
        if let Some(server) = &self.server {
            server.start_listening();
        }
    }

    pub(crate) fn server(&self) -> Option<&Arc<Server>> {
        self.server.as_ref()
    }

    /// The file, or the address of the server without its password, to show it to users.
    pub fn path(&self) -> &Path {
        &self.file
    }

    /// Whether there is a store. On a server there always is one; it may be empty.
    pub fn exists(&self) -> bool {
        self.is_on_server() || self.file.exists()
    }

    /// A number that differs once another store was put in its place. `None` if there is no store.
    pub fn identity(&self) -> Option<u64> {
        match &self.server {
            Some(_) => Some(0),
            None => fs::metadata(&self.file).ok().map(|data| data.ino()),
        }
    }

    /// Size of all its files in bytes.
    pub fn size_bytes(&self) -> u64 {
        self.files().map(|(_, data)| data.len()).sum()
    }

    /// When something was last written to it.
    pub fn written_at(&self) -> Option<SystemTime> {
        let files = self.files().filter(|(suffix, data)| *suffix != "-shm" && data.len() > 0);
        files.filter_map(|(_, data)| data.modified().ok()).max()
    }

    /// Whether other users can read it.
    pub fn is_readable_by_others(&self) -> bool {
        fs::metadata(&self.file).is_ok_and(|data| data.permissions().mode() & 0o077 != 0)
    }

    /// Moves the store into a folder that does not exist yet.
    pub fn move_aside(&self, folder: &Path) -> std::io::Result<Self> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder.parent().unwrap_or(folder))?;
        fs::DirBuilder::new().mode(0o700).create(folder)?;
        let moved = Self::in_folder(folder);
        // The log goes first: beside a new database it would be replayed into that.
        for suffix in ["-wal", "-shm", ""] {
            match fs::rename(self.side_file(suffix), moved.side_file(suffix)) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound && !suffix.is_empty() => {}
                result => result?,
            }
        }
        Ok(moved)
    }

    /// The write-ahead log, which holds the latest changes until they are moved into the database.
    pub(crate) fn log(&self) -> PathBuf {
        self.side_file("-wal")
    }

    fn side_file(&self, suffix: &str) -> PathBuf {
        let mut name = OsString::from(&self.file);
        name.push(suffix);
        name.into()
    }

    fn files(&self) -> impl Iterator<Item = (&'static str, Metadata)> {
        ["", "-wal", "-shm"].into_iter().filter_map(|suffix| Some((suffix, fs::metadata(self.side_file(suffix)).ok()?)))
    }
}

impl fmt::Display for StoreLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.file.display().fmt(f)
    }
}

impl PartialEq for StoreLocation {
    fn eq(&self, other: &Self) -> bool {
        self.file == other.file && self.server.is_some() == other.server.is_some()
    }
}

impl Eq for StoreLocation {}
