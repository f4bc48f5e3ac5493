//! Errors of threads, each with the thread or path.

use std::io;
use std::path::{Path, PathBuf};

use rethread_model::thread::ThreadId;

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
}

impl ThreadError {
    /// For `map_err`.
    pub(crate) fn disk(path: &Path, doing: &'static str) -> impl FnOnce(io::Error) -> ThreadError + use<> {
        let path = path.to_owned();
        move |cause| ThreadError::Disk { path, operation: doing, cause }
    }
}
