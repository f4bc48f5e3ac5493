//! Threads: our own conversations, in a folder or in a database, behind one API.
//!
//! A log is a sequence of JSON lines that only grows. The metadata of a thread say what its log contains.

mod append_queue;
mod database;
mod error;
mod files;
mod log;
mod new_record;
mod partial_answer;
mod read;
mod record_counts;
mod turns;

use std::cmp::Reverse;
use std::path::PathBuf;
use std::time::Duration;

use crate::AuthorizedSpace;
use rethread_model::thread::{ThreadId, ThreadMetadata};

use crate::{StoreLocation, TextMatcher};
use database::DatabaseThreads;

pub(crate) use database::ThreadRows;
pub use database::lease_takeovers;
pub use error::ThreadError;
pub(crate) use files::FileThreads;
pub use log::ThreadLog;
pub use new_record::MAX_RECORD_BYTES;
pub use partial_answer::PartialAnswer;
pub use read::{ThreadLineProblem, ThreadRecords};
pub use turns::{ThreadTurn, TurnTicket};

/// Metadata of threads, most recently used first, and the errors of those that cannot be read.
pub type ThreadSummaries = (Vec<ThreadMetadata>, Vec<ThreadError>);

/// All threads of one Rethread home, or of one space of a database.
#[derive(Clone, Debug)]
pub struct Threads {
    backend: ThreadBackend,
}

#[derive(Clone, Debug)]
enum ThreadBackend {
    Files(FileThreads),
    Database(DatabaseThreads),
}

impl Threads {
    /// Threads below this directory, which need not exist.
    pub fn in_folder(root: PathBuf) -> Self {
        Self { backend: ThreadBackend::Files(FileThreads::new(root)) }
    }

    /// Threads of a space in a database. `copies` is the directory for the files that [`Threads::log_file`] writes.
    pub fn in_database(location: StoreLocation, space: AuthorizedSpace, copies: PathBuf) -> Self {
        Self { backend: ThreadBackend::Database(DatabaseThreads::new(location, space, copies)) }
    }

    /// How long a turn in a database outlives its process. Turns in a folder end with their process.
    #[must_use]
    pub fn with_turn_lease(mut self, lease: Duration) -> Self {
        if let ThreadBackend::Database(threads) = &mut self.backend {
            threads.set_turn_lease(lease);
        }
        self
    }

    /// Whether the threads are in a database, which other nodes may use too.
    pub fn is_in_database(&self) -> bool {
        matches!(self.backend, ThreadBackend::Database(_))
    }

    /// Path of a thread's log; `None` in a database.
    pub fn log_path(&self, id: ThreadId) -> Option<PathBuf> {
        match &self.backend {
            ThreadBackend::Files(threads) => Some(threads.log_path(id)),
            ThreadBackend::Database(_) => None,
        }
    }

    /// A file with the log of a thread, and its metadata beside it: the log itself or, for a thread in a database, a
    /// copy that is brought up to date first.
    pub fn log_file(&self, id: ThreadId) -> Result<PathBuf, ThreadError> {
        match &self.backend {
            ThreadBackend::Files(threads) => Ok(threads.log_path(id)),
            ThreadBackend::Database(threads) => threads.update_copy(id),
        }
    }

    /// Brings the files of all threads up to date, for a reader of files.
    pub fn update_log_files(&self) -> Result<(), ThreadError> {
        match &self.backend {
            ThreadBackend::Files(_) => Ok(()),
            ThreadBackend::Database(threads) => threads.update_copies(),
        }
    }

    /// Path of a thread's log in the store, for a thread in a database: the same on all nodes.
    pub fn stored_log_path(id: ThreadId) -> String {
        database::stored_log_path(id)
    }

    /// Threads in a database whose logs are longer than what was synced of them, and how many bytes were.
    pub fn unsynced(&self) -> Result<Vec<(ThreadId, u64)>, ThreadError> {
        match &self.backend {
            ThreadBackend::Files(_) => Ok(Vec::new()),
            ThreadBackend::Database(threads) => threads.unsynced(),
        }
    }

    /// Creates a thread: a log without messages, and metadata. Both are durable when this returns.
    pub fn create(&self, metadata: &ThreadMetadata) -> Result<ThreadLog, ThreadError> {
        let log = new_record::settings_line(metadata);
        self.create_with_log(&ThreadMetadata { log_bytes: log.len() as u64, ..metadata.clone() }, &log)
    }

    /// Creates a thread with this log, byte for byte. Fails if there is or was a thread with this id.
    pub fn import(&self, id: ThreadId, log: &[u8]) -> Result<ThreadMetadata, ThreadError> {
        if self.is_deleted(id) {
            return Err(ThreadError::Deleted { id });
        }
        if self.ids()?.contains(&id) {
            return Err(ThreadError::Exists { id });
        }
        let metadata = Self::metadata_of_log(id, log);
        self.create_with_log(&metadata, log)?;
        Ok(metadata)
    }

    /// What a log says about its thread.
    pub(crate) fn metadata_of_log(id: ThreadId, log: &[u8]) -> ThreadMetadata {
        let mut metadata = ThreadMetadata::new(id, id.created_at());
        // Reading from memory cannot fail.
        let _ = read::each_line(log, &mut |line| record_counts::count_line(&mut metadata, line));
        metadata
    }

    fn create_with_log(&self, metadata: &ThreadMetadata, log: &[u8]) -> Result<ThreadLog, ThreadError> {
        match &self.backend {
            ThreadBackend::Files(threads) => threads.create(metadata, log).map(ThreadLog::in_file),
            ThreadBackend::Database(threads) => threads.create(metadata, log).map(ThreadLog::in_database),
        }
    }

    /// Opens a thread for appending.
    pub fn open(&self, id: ThreadId) -> Result<ThreadLog, ThreadError> {
        match &self.backend {
            ThreadBackend::Files(threads) => threads.open(id).map(ThreadLog::in_file),
            ThreadBackend::Database(threads) => threads.open(id).map(ThreadLog::in_database),
        }
    }

    /// All records of a thread, and the lines that are not records.
    pub fn read(&self, id: ThreadId) -> Result<ThreadRecords, ThreadError> {
        match &self.backend {
            ThreadBackend::Files(threads) => threads.read(id),
            ThreadBackend::Database(threads) => Ok(read::records_in(&threads.log_content(id)?)),
        }
    }

    /// The log of a thread, byte for byte.
    pub fn export(&self, id: ThreadId) -> Result<Vec<u8>, ThreadError> {
        match &self.backend {
            ThreadBackend::Files(threads) => threads.log_content(id),
            ThreadBackend::Database(threads) => threads.log_content(id),
        }
    }

    /// The records in an exported log, and the lines that are not records.
    pub fn parse_log(log: &[u8]) -> ThreadRecords {
        read::records_in(log)
    }

    /// The current metadata of a thread. Does not write, even if the stored metadata is out of date.
    pub fn metadata(&self, id: ThreadId) -> Result<ThreadMetadata, ThreadError> {
        match &self.backend {
            ThreadBackend::Files(threads) => threads.metadata(id),
            ThreadBackend::Database(threads) => threads.metadata(id),
        }
    }

    /// Whether the stored metadata of a thread cannot be parsed.
    pub fn has_damaged_metadata(&self, id: ThreadId) -> bool {
        match &self.backend {
            ThreadBackend::Files(threads) => threads.has_damaged_metadata(id),
            ThreadBackend::Database(threads) => threads.has_damaged_metadata(id),
        }
    }

    /// Whether the log or the metadata of a thread contain a text.
    pub fn contains_text(&self, id: ThreadId, needle: &TextMatcher) -> bool {
        let stored = match &self.backend {
            ThreadBackend::Files(threads) => [threads.metadata_content(id), threads.log_content(id)],
            ThreadBackend::Database(threads) => [threads.metadata_content(id), threads.log_content(id)],
        };
        stored.into_iter().flatten().any(|bytes| {
            let text = String::from_utf8_lossy(&bytes);
            text.lines().any(|line| needle.matches_json(line)) || needle.matches_json(&text)
        })
    }

    /// Whether anything is stored of a thread, also if its deletion was interrupted.
    pub fn has_content(&self, id: ThreadId) -> bool {
        match &self.backend {
            ThreadBackend::Files(threads) => threads.has_content(id),
            ThreadBackend::Database(threads) => threads.has_content(id),
        }
    }

    /// The ids of all threads, oldest first.
    pub fn ids(&self) -> Result<Vec<ThreadId>, ThreadError> {
        match &self.backend {
            ThreadBackend::Files(threads) => threads.ids(),
            ThreadBackend::Database(threads) => threads.ids(),
        }
    }

    /// Metadata of all threads, most recently used first, and the errors of those that cannot be read.
    pub fn list(&self) -> Result<ThreadSummaries, ThreadError> {
        match &self.backend {
            ThreadBackend::Files(threads) => threads.list(),
            ThreadBackend::Database(threads) => threads.list(),
        }
    }

    /// Deletes a thread for good. Processes that have its log open can no longer append.
    pub fn delete(&self, id: ThreadId) -> Result<(), ThreadError> {
        match &self.backend {
            ThreadBackend::Files(threads) => threads.delete(id),
            ThreadBackend::Database(threads) => threads.delete(id),
        }
    }

    /// The ids of all deleted threads.
    pub fn deleted_ids(&self) -> Vec<ThreadId> {
        match &self.backend {
            ThreadBackend::Files(threads) => threads.deleted_ids(),
            ThreadBackend::Database(threads) => threads.deleted_ids(),
        }
    }

    /// Deleted threads of which something may be left in the store.
    pub fn deleted_and_synced(&self) -> Result<Vec<ThreadId>, ThreadError> {
        match &self.backend {
            ThreadBackend::Files(threads) => Ok(threads.deleted_ids()),
            ThreadBackend::Database(threads) => threads.deleted_and_synced(),
        }
    }

    /// Whether a thread with this id was deleted.
    pub fn is_deleted(&self, id: ThreadId) -> bool {
        match &self.backend {
            ThreadBackend::Files(threads) => threads.is_deleted(id),
            ThreadBackend::Database(threads) => threads.is_deleted(id),
        }
    }

    /// Removes what interrupted deletions and creations left behind.
    pub fn sweep_all(&self) -> Result<(), ThreadError> {
        match &self.backend {
            ThreadBackend::Files(threads) => threads.sweep_all(),
            ThreadBackend::Database(threads) => threads.sweep_all(),
        }
    }

    /// Enters the queue of a thread, in which at most `limit` turns wait behind the current one.
    pub fn enter_turn_queue(&self, id: ThreadId, limit: usize) -> Result<TurnTicket, ThreadError> {
        match &self.backend {
            ThreadBackend::Files(threads) => threads.enter_turn_queue(id, limit).map(TurnTicket::in_file),
            ThreadBackend::Database(threads) => threads.enter_turn_queue(id, limit).map(TurnTicket::in_database),
        }
    }

    /// Whether a killed process left a partial answer and no turn is queued that would record it.
    pub fn has_partial_answer(&self, id: ThreadId) -> bool {
        match &self.backend {
            ThreadBackend::Files(threads) => threads.has_partial_answer(id),
            ThreadBackend::Database(threads) => threads.has_partial_answer(id),
        }
    }
}

/// Sorts metadata by last use. Threads that were deleted since the listing are left out.
fn metadata_list(read: Vec<Result<ThreadMetadata, ThreadError>>) -> ThreadSummaries {
    let (mut found, mut problems) = (Vec::with_capacity(read.len()), Vec::new());
    for one in read {
        match one {
            Ok(metadata) => found.push(metadata),
            Err(ThreadError::Missing { .. } | ThreadError::Deleted { .. }) => {}
            Err(error) => problems.push(error),
        }
    }
    found.sort_by_key(|metadata| (Reverse(metadata.last_message_at), Reverse(metadata.id)));
    (found, problems)
}
