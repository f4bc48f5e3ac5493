//! Why the store could not answer, with where.

use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

/// Why the store could not answer.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another process has been writing for longer than anybody should wait.
    #[error("the store {} is in use by another process", path.display())]
    Locked {
        /// The database file.
        path: PathBuf,
        /// What SQLite says.
        #[source]
        cause: rusqlite::Error,
    },
    /// The disk is full, read-only, or gave an error.
    #[error("the store {} cannot be written or read", path.display())]
    Disk {
        /// The database file.
        path: PathBuf,
        /// What SQLite says.
        #[source]
        cause: rusqlite::Error,
    },
    /// The file is not a database, or a damaged one.
    #[error("the store {} is damaged", path.display())]
    Damaged {
        /// The database file.
        path: PathBuf,
        /// What SQLite says.
        #[source]
        cause: rusqlite::Error,
    },
    /// A newer program made the database.
    #[error("the store {} has schema {found}, this program knows up to {known}", path.display())]
    Newer {
        /// The database file.
        path: PathBuf,
        /// Its schema.
        found: i64,
        /// The newest schema known here.
        known: i64,
    },
    /// The file could not be made.
    #[error("the store {} cannot be created", path.display())]
    File {
        /// The database file.
        path: PathBuf,
        /// What the system says.
        #[source]
        cause: std::io::Error,
    },
    /// Any other error of the database: a mistake of ours.
    #[error("the store {} refused a request", path.display())]
    Refused {
        /// The database file.
        path: PathBuf,
        /// What SQLite says.
        #[source]
        cause: rusqlite::Error,
    },
}

impl StoreError {
    pub(crate) fn at(path: &Path, cause: rusqlite::Error) -> Self {
        let path = path.to_owned();
        match cause.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Locked { path, cause },
            Some(
                ErrorCode::DiskFull
                | ErrorCode::ReadOnly
                | ErrorCode::SystemIoFailure
                | ErrorCode::CannotOpen
                | ErrorCode::PermissionDenied,
            ) => StoreError::Disk { path, cause },
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => StoreError::Damaged { path, cause },
            _ => StoreError::Refused { path, cause },
        }
    }
}
