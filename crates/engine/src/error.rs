//! Why a verb could not be done. Each error knows whose fault it is and what to do next.

use std::path::PathBuf;

use rethread_index::IndexError;
use rethread_ingest::source::exclude::BadPattern;
use rethread_model::{Session, UnknownAgent};
use rethread_recall::SearchError;
use rethread_store::StoreError;

use crate::ConfigError;

/// Why a verb could not be done.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The search index.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The configuration.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A pattern in the configuration.
    #[error(transparent)]
    Exclude(#[from] BadPattern),
    /// An agent nobody knows.
    #[error(transparent)]
    Agent(#[from] UnknownAgent),
    /// Our own directory.
    #[error("the directory {} cannot be used", path.display())]
    Folder {
        /// The directory.
        path: PathBuf,
        /// What the system says.
        #[source]
        cause: std::io::Error,
    },
    /// A path given by the user does not exist.
    #[error("there is nothing at {}", .0.display())]
    NothingThere(PathBuf),
    /// No session fits a reference.
    #[error("no session fits {0:?}")]
    UnknownReference(String),
    /// A time given by the user cannot be understood.
    #[error("{0:?} is no time")]
    BadTime(String),
    /// Several sessions fit a reference.
    #[error("{reference:?} fits {} sessions", candidates.len())]
    AmbiguousReference {
        /// The reference.
        reference: String,
        /// Those that fit.
        candidates: Vec<Session>,
    },
    /// A part of a session's memory could not be written down: a mistake of ours.
    #[error("the memory of a session cannot be written")]
    Memory(#[source] serde_json::Error),
    /// The file system could not be watched.
    #[error("the transcripts cannot be watched")]
    Watch(#[source] notify::Error),
}

impl From<SearchError> for EngineError {
    fn from(error: SearchError) -> Self {
        match error {
            SearchError::Index(error) => Self::Index(error),
            SearchError::Store(error) => Self::Store(error),
        }
    }
}
