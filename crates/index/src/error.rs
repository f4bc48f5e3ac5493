//! Errors of the search index.

use std::path::PathBuf;

use rethread_store::StoreError;

/// Why the index could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// Reading the store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Writing the index files failed.
    #[error("cannot write the search index {}", path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// The I/O error.
        #[source]
        cause: std::io::Error,
    },
    /// The index is damaged and must be rebuilt.
    #[error("the search index is damaged")]
    Damaged(#[source] Box<tantivy::TantivyError>),
}

impl From<tantivy::TantivyError> for IndexError {
    fn from(error: tantivy::TantivyError) -> Self {
        Self::Damaged(Box::new(error))
    }
}

impl From<std::io::Error> for IndexError {
    fn from(error: std::io::Error) -> Self {
        Self::Damaged(Box::new(error.into()))
    }
}
