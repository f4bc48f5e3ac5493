//! Errors of the store, each with the path of the database.

use std::path::PathBuf;

use rusqlite::ErrorCode;

use crate::StoreLocation;

/// A failed operation of the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another process kept the write lock longer than the caller was willing to wait.
    #[error("the store {} is in use by another process", path.display())]
    Locked {
        /// The database file.
        path: PathBuf,
        /// The error SQLite reported.
        #[source]
        cause: rusqlite::Error,
    },
    /// The disk is full, read-only or failing.
    #[error("cannot read or write the store {}", path.display())]
    Disk {
        /// The database file.
        path: PathBuf,
        /// The error SQLite reported.
        #[source]
        cause: rusqlite::Error,
    },
    /// The file is not a database, or it is corrupt.
    #[error("the store {} is damaged", path.display())]
    Damaged {
        /// The database file.
        path: PathBuf,
        /// The error SQLite reported.
        #[source]
        cause: rusqlite::Error,
    },
    /// A newer version of the program created the database.
    #[error("the store {} has schema {found}, this version supports schema {known}", path.display())]
    Newer {
        /// The database file.
        path: PathBuf,
        /// Schema of the file.
        found: i64,
        /// Schema this program reads and writes.
        known: i64,
    },
    /// A development build created the database; there is no upgrade from its schema.
    #[error("the store {} has the outdated schema {found}, this version needs schema {known}", path.display())]
    Outdated {
        /// The database file.
        path: PathBuf,
        /// Schema of the file.
        found: i64,
        /// Schema this program reads and writes.
        known: i64,
    },
    /// The database file could not be created.
    #[error("cannot create the store {}", path.display())]
    Create {
        /// The database file.
        path: PathBuf,
        /// The error the operating system reported.
        #[source]
        cause: std::io::Error,
    },
    /// Any other database error, such as invalid SQL: a bug.
    #[error("the store {} rejected a request", path.display())]
    Rejected {
        /// The database file.
        path: PathBuf,
        /// The error SQLite reported.
        #[source]
        cause: rusqlite::Error,
    },
}

impl StoreError {
    /// Whether the database has to be replaced: SQLite reported damage, or it belongs to an older version.
    pub fn is_unusable(&self) -> bool {
        match self {
            StoreError::Outdated { .. } => true,
            StoreError::Damaged { cause, path } => {
                is_corrupt(cause) || has_unexpected_value(cause) || StoreLocation::at_path(path).is_damaged()
            }
            _ => false,
        }
    }

    pub(crate) fn at(location: &StoreLocation, cause: rusqlite::Error) -> Self {
        let path = location.path().to_owned();
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
            _ if has_unexpected_value(&cause) => StoreError::Damaged { path, cause },
            // A table or row that is not as it should be looks like a bug of ours.
            _ if location.is_damaged() => StoreError::Damaged { path, cause },
            _ => StoreError::Rejected { path, cause },
        }
    }
}

pub(crate) fn is_corrupt(cause: &rusqlite::Error) -> bool {
    matches!(cause.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
}

/// Whether a column holds what no write could have put there: all tables are strict.
fn has_unexpected_value(cause: &rusqlite::Error) -> bool {
    matches!(
        cause,
        rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::Utf8Error(..)
    )
}
