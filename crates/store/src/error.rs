//! Errors of the store, each with the path of the database.

use std::path::PathBuf;

use crate::StoreLocation;
use crate::sql::{DriverError, DriverErrorKind};

/// A failed operation of the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another process kept the write lock longer than the caller was willing to wait.
    #[error("the store {} is in use by another process", path.display())]
    Locked {
        /// The database file.
        path: PathBuf,
        /// The error the database reported.
        #[source]
        cause: DriverError,
    },
    /// The disk is full, read-only or failing.
    #[error("cannot read or write the store {}", path.display())]
    Disk {
        /// The database file.
        path: PathBuf,
        /// The error the database reported.
        #[source]
        cause: DriverError,
    },
    /// The file is not a database, or it is corrupt.
    #[error("the store {} is damaged", path.display())]
    Damaged {
        /// The database file.
        path: PathBuf,
        /// The error the database reported.
        #[source]
        cause: DriverError,
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
    /// The schema on the server is older than this program.
    #[error("the store {} has schema {found}, this version needs schema {known}", path.display())]
    NotMigrated {
        /// The address of the server.
        path: PathBuf,
        /// Schema of the database; 0 if it has none.
        found: i64,
        /// Schema this program reads and writes.
        known: i64,
    },
    /// The server cannot be reached, or the connection was lost. Nothing was stored.
    #[error("the store {} is not available", path.display())]
    Unavailable {
        /// The address of the server.
        path: PathBuf,
        /// The error the database or its client reported.
        #[source]
        cause: DriverError,
    },
    /// The connection was lost during a commit. Read again to find out whether it was stored.
    #[error("the connection to the store {} was lost during a commit", path.display())]
    UnknownOutcome {
        /// The address of the server.
        path: PathBuf,
        /// The error the client reported.
        #[source]
        cause: DriverError,
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
        /// The error the database reported.
        #[source]
        cause: DriverError,
    },
}

impl StoreError {
    /// Whether the database has to be replaced: the database reported damage, or it belongs to an older version.
    pub fn is_unusable(&self) -> bool {
        match self {
            StoreError::Outdated { .. } => true,
            // A server is repaired by its administrators, never replaced.
            StoreError::Damaged { cause: DriverError::Postgres(_), .. } => false,
            StoreError::Damaged { cause, path } => {
                matches!(cause.kind(), DriverErrorKind::Corrupt | DriverErrorKind::UnexpectedValue)
                    || StoreLocation::at_path(path).is_damaged()
            }
            _ => false,
        }
    }

    /// Whether the server could not be reached or the connection was lost. What is safe to repeat may be repeated.
    pub fn is_lost_connection(&self) -> bool {
        matches!(self, StoreError::Unavailable { .. } | StoreError::UnknownOutcome { .. })
    }

    /// Whether the database works, and refused or cannot use a value. Other values may be fine.
    pub fn is_about_a_value(&self) -> bool {
        match self {
            StoreError::Rejected { .. } => true,
            StoreError::Damaged { cause, .. } => cause.kind() == DriverErrorKind::UnexpectedValue,
            _ => false,
        }
    }

    pub(crate) fn at(location: &StoreLocation, cause: DriverError) -> Self {
        let path = location.path().to_owned();
        match cause.kind() {
            DriverErrorKind::Locked => StoreError::Locked { path, cause },
            DriverErrorKind::Disk => StoreError::Disk { path, cause },
            DriverErrorKind::Corrupt | DriverErrorKind::UnexpectedValue => StoreError::Damaged { path, cause },
            DriverErrorKind::Unavailable => StoreError::Unavailable { path, cause },
            DriverErrorKind::UnknownOutcome => StoreError::UnknownOutcome { path, cause },
            // A table or row that is not as it should be looks like a bug of ours.
            _ if location.is_damaged() => StoreError::Damaged { path, cause },
            DriverErrorKind::Constraint | DriverErrorKind::Other => StoreError::Rejected { path, cause },
        }
    }
}
