//! Where a store is: today always a file, with the side files that SQLite puts beside it.

use std::ffi::OsString;
use std::fmt;
use std::fs::{self, Metadata};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Name of the database in Rethread's folder, and in the folders of stores that were set aside.
const FILE_NAME: &str = "memory.db";

/// Where a store is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StoreLocation {
    file: PathBuf,
}

impl StoreLocation {
    /// The store in a folder.
    pub fn in_folder(folder: &Path) -> Self {
        Self::at_path(folder.join(FILE_NAME))
    }

    /// The store in that file.
    pub fn at_path(file: impl Into<PathBuf>) -> Self {
        Self { file: file.into() }
    }

    /// The file, to show it to users.
    pub fn path(&self) -> &Path {
        &self.file
    }

    /// Whether there is a store.
    pub fn exists(&self) -> bool {
        self.file.exists()
    }

    /// A number that differs once another store was put in its place. `None` if there is no store.
    pub fn identity(&self) -> Option<u64> {
        fs::metadata(&self.file).ok().map(|data| data.ino())
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
