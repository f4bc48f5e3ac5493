//! Errors of threads, each with the thread or path.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rethread_model::thread::ThreadId;

use crate::StoreError;

/// A failed operation on a thread.
#[derive(Debug, thiserror::Error)]
pub enum ThreadError {
    /// No thread has this id.
    #[error("there is no thread {id}")]
    Missing {
        /// The requested id.
        id: ThreadId,
    },
    /// The thread was deleted, possibly during the operation.
    #[error("the thread {id} was deleted")]
    Deleted {
        /// The thread concerned.
        id: ThreadId,
    },
    /// The disk is full, read-only or failing. Nothing was acknowledged.
    #[error("{} cannot be {operation}", path.display())]
    Disk {
        /// The file or directory.
        path: PathBuf,
        /// The operation as a participle: read, written, created, removed.
        operation: &'static str,
        /// The error the operating system reported.
        #[source]
        cause: io::Error,
    },
    /// An earlier write may or may not be on disk; the caller must open the log again.
    #[error("an earlier write to {} failed; open the thread again to continue", path.display())]
    FailedEarlier {
        /// Path of the log.
        path: PathBuf,
    },
    /// The log is not a regular file but a link, a pipe or the like.
    #[error("{} is not a regular file", path.display())]
    NotRegularFile {
        /// Path of the log.
        path: PathBuf,
    },
    /// The record exceeds the maximum length.
    #[error("the record has {bytes} bytes, the limit is {limit}")]
    TooLong {
        /// Length of the record.
        bytes: usize,
        /// Longest record that is accepted.
        limit: usize,
    },
    /// A tool result for an unknown call, or for one that has a result already.
    #[error("no call {call:?} is waiting for a result in the thread {id}")]
    NoSuchCall {
        /// The thread concerned.
        id: ThreadId,
        /// Id of the call in the result.
        call: String,
    },
    /// The turn queue of the thread is full.
    #[error("the queue of the thread {id} is full: {limit} turns are waiting")]
    QueueFull {
        /// The thread concerned.
        id: ThreadId,
        /// How many turns may wait.
        limit: usize,
    },
    /// There is a thread with this id already.
    #[error("there is a thread {id} already")]
    Exists {
        /// The requested id.
        id: ThreadId,
    },
    /// Another process took the turn over, because its lease had expired. Nothing was appended.
    #[error("the turn of the thread {id} was taken over by another process")]
    TurnLost {
        /// The thread concerned.
        id: ThreadId,
    },
    /// Another process has stored a message under this client id. Nothing was appended.
    #[error("a message with the client id {client_id:?} is already in the thread {id}")]
    ClientIdTaken {
        /// The thread concerned.
        id: ThreadId,
        /// The client's id of the message.
        client_id: String,
    },
    /// The database failed.
    #[error("the threads in the database cannot be used")]
    Database {
        /// The error of the store. Appends that were sent together share it.
        #[source]
        cause: Arc<StoreError>,
    },
}

impl From<StoreError> for ThreadError {
    fn from(cause: StoreError) -> Self {
        ThreadError::Database { cause: Arc::new(cause) }
    }
}

impl ThreadError {
    /// The same error for another record that was to be written with the first: causes cannot be cloned.
    pub(super) fn repeated(&self) -> ThreadError {
        match self {
            ThreadError::Deleted { id } => ThreadError::Deleted { id: *id },
            ThreadError::Missing { id } => ThreadError::Missing { id: *id },
            ThreadError::TurnLost { id } => ThreadError::TurnLost { id: *id },
            ThreadError::ClientIdTaken { id, client_id } => {
                ThreadError::ClientIdTaken { id: *id, client_id: client_id.clone() }
            }
            ThreadError::Database { cause } => ThreadError::Database { cause: Arc::clone(cause) },
            ThreadError::FailedEarlier { path } => ThreadError::FailedEarlier { path: path.clone() },
            ThreadError::Disk { path, operation, cause } => {
                ThreadError::Disk { path: path.clone(), operation, cause: cause.kind().into() }
            }
            _ => ThreadError::FailedEarlier { path: PathBuf::new() },
        }
    }

    /// For `map_err`.
    pub(crate) fn disk(path: &Path, doing: &'static str) -> impl FnOnce(io::Error) -> ThreadError + use<> {
        let path = path.to_owned();
        move |cause| ThreadError::Disk { path, operation: doing, cause }
    }
}
