//! Why a store could not be copied. Nothing of a failed copy is visible in the target.

use std::path::PathBuf;

use rethread_model::Space;

use crate::{StoreError, ThreadError};

/// Why a store could not be copied.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// One of the two stores failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A thread could not be read or written.
    #[error(transparent)]
    Thread(#[from] ThreadError),
    /// There is nothing to copy.
    #[error("there is no store at {}", .0.display())]
    NoStore(PathBuf),
    /// Another version of the program wrote the source.
    #[error("the store {} has schema {found}, this version needs schema {known}", path.display())]
    OutdatedSource {
        /// The file.
        path: PathBuf,
        /// Its schema.
        found: i64,
        /// The schema that can be copied.
        known: i64,
    },
    /// The source has no such space.
    #[error("the store {} has no space \"{space}\"", path.display())]
    UnknownSpace {
        /// The source.
        path: PathBuf,
        /// The space that was named.
        space: Space,
    },
    /// Several spaces cannot become one.
    #[error("the store {} has {count} spaces, and only one can become \"{space}\"", path.display())]
    SeveralSpaces {
        /// The source.
        path: PathBuf,
        /// How many spaces it has.
        count: usize,
        /// The space that was named for the target.
        space: Space,
    },
    /// Source and target are the same.
    #[error("FROM and TO are the same space \"{0}\" of the same store")]
    SameSpace(Space),
    /// The target has rows already.
    #[error("the space \"{space}\" of {} is not empty: it has rows in {table}", path.display())]
    NotEmpty {
        /// The target.
        path: PathBuf,
        /// The space.
        space: Space,
        /// A table with rows.
        table: &'static str,
    },
    /// What was read from the target is not what was read from the source.
    #[error("the copy of {table} in the space \"{space}\" differs: {expected} rows were read, {found} are stored")]
    Different {
        /// The space of the target.
        space: Space,
        /// The table.
        table: &'static str,
        /// Rows of the source.
        expected: u64,
        /// Rows of the target.
        found: u64,
    },
}
