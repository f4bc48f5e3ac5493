//! Why a thread could not be read or written, with where.

use std::io;
use std::path::{Path, PathBuf};

use rethread_model::thread::ThreadId;

/// Why a thread could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum ThreadError {
    /// There is no such thread.
    #[error("there is no thread {id}")]
    Missing {
        /// The id asked for.
        id: ThreadId,
    },
    /// It was deleted, perhaps just now.
    #[error("the thread {id} was deleted")]
    Deleted {
        /// The thread.
        id: ThreadId,
    },
    /// The disk is full, read-only, or gave an error. Nothing was acknowledged.
    #[error("{} cannot be {doing}", path.display())]
    Disk {
        /// The file or directory.
        path: PathBuf,
        /// What was tried: read, written, created, removed.
        doing: &'static str,
        /// What the system says.
        #[source]
        cause: io::Error,
    },
    /// An earlier write may or may not be on disk; whoever goes on must open the log again.
    #[error("{} failed to reach the disk earlier; nothing more is written through this handle", path.display())]
    Unsure {
        /// The log.
        path: PathBuf,
    },
    /// Something else lies where a log belongs: a link, a pipe.
    #[error("{} is not a regular file", path.display())]
    Foreign {
        /// What lies there.
        path: PathBuf,
    },
    /// The record is longer than any that is stored.
    #[error("a record of {bytes} bytes is longer than the {limit} that a thread takes")]
    TooLong {
        /// Its length.
        bytes: usize,
        /// The longest taken.
        limit: usize,
    },
    /// A result that answers no call, or one that has been answered.
    #[error("no call {call:?} is waiting for a result in the thread {id}")]
    NoSuchCall {
        /// The thread.
        id: ThreadId,
        /// The call it names.
        call: String,
    },
    /// Too many are waiting for their turn.
    #[error("as many turns as may wait in the thread {id} are waiting already: {limit}")]
    QueueFull {
        /// The thread.
        id: ThreadId,
        /// How many may wait.
        limit: usize,
    },
}

impl ThreadError {
    /// For `map_err`: what was done to which path.
    pub(crate) fn disk(path: &Path, doing: &'static str) -> impl FnOnce(io::Error) -> ThreadError + use<> {
        let path = path.to_owned();
        move |cause| ThreadError::Disk { path, doing, cause }
    }
}
