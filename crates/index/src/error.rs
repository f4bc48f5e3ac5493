//! Why the index could not be used.

use std::path::PathBuf;

use rethread_store::StoreError;

/// Why the index could not be used.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The store it follows.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Files of the index.
    #[error("the search index {} cannot be written", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// What the system says.
        #[source]
        cause: std::io::Error,
    },
    /// The index is damaged; it can be made again.
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
