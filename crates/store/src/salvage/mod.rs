//! Sets a damaged or outdated store aside and carries over into a new one what can still be read.
//!
//! The store is often the only copy of what agents have deleted, so a broken page may cost no more than its own rows,
//! and the old file is kept.

mod carry_over;
mod pages;
mod tables;

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::is_corrupt;
use crate::{Store, schema};

pub use carry_over::{CarriedOver, RereadDecision};

impl Store {
    /// Moves a database and its side files into a directory that does not exist yet. Returns the new path.
    pub fn move_aside(path: &Path, folder: &Path) -> std::io::Result<PathBuf> {
        use std::os::unix::fs::DirBuilderExt;
        let parent = folder.parent().unwrap_or(folder);
        fs::DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
        fs::DirBuilder::new().mode(0o700).create(folder)?;
        let name = path.file_name().unwrap_or_default();
        // The log goes first: beside a new database it would be replayed into that.
        for suffix in ["-wal", "-shm", ""] {
            let mut from = path.as_os_str().to_owned();
            from.push(suffix);
            let mut to = folder.join(name).into_os_string();
            to.push(suffix);
            match fs::rename(&from, &to) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound && !suffix.is_empty() => {}
                moved => moved?,
            }
        }
        Ok(folder.join(name))
    }

    /// Whether the file proves to be damaged. A locked or unreadable one is not.
    pub fn is_damaged(path: &Path) -> bool {
        let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_WRITE | rusqlite::OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let check = || -> rusqlite::Result<bool> {
            let connection = rusqlite::Connection::open_with_flags(path, flags)?;
            let found: String = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
            Ok(found == "ok" && schema::is_intact(&connection)?)
        };
        match check() {
            Ok(is_intact) => !is_intact,
            Err(cause) => is_corrupt(&cause),
        }
    }
}
