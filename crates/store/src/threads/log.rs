//! The log of one thread, open for appending, wherever it is stored.

use rethread_model::Timestamp;
use rethread_model::thread::{ThreadId, ThreadMetadata, ThreadRecord};

use super::database::DatabaseLog;
use super::files::FileLog;
use super::{ThreadError, ThreadTurn};

/// The log of one thread, open for appending. It can be shared between threads of a process.
#[derive(Debug)]
pub struct ThreadLog {
    backend: LogBackend,
}

#[derive(Debug)]
enum LogBackend {
    File(FileLog),
    Database(DatabaseLog),
}

impl ThreadLog {
    pub(super) fn in_file(log: FileLog) -> Self {
        Self { backend: LogBackend::File(log) }
    }

    pub(super) fn in_database(log: DatabaseLog) -> Self {
        Self { backend: LogBackend::Database(log) }
    }

    /// Id of the thread.
    pub fn id(&self) -> ThreadId {
        match &self.backend {
            LogBackend::File(log) => log.id(),
            LogBackend::Database(log) => log.id(),
        }
    }

    /// Numbers the record and writes it. When this returns `Ok`, the record is on disk or committed.
    ///
    /// A tool result must belong to a call that waits for one; it gets the tool's name from the call. If the database
    /// cannot be reached, it is unknown whether the record was stored: appending the same record again through the same
    /// log finds out, and stores it once.
    ///
    /// In a database, a message whose client id another process has stored since this log was opened is refused. A
    /// caller that opens the log first and then looks for the client id in it stores every message once.
    pub fn append(&self, record: ThreadRecord) -> Result<ThreadRecord, ThreadError> {
        match &self.backend {
            LogBackend::File(log) => log.append(record),
            LogBackend::Database(log) => log.append(record),
        }
    }

    /// Refuses appends once another process has taken the turn over, as it does when a lease expires. Before that, and
    /// after the turn has ended, this changes nothing.
    pub fn require_turn(&self, turn: &ThreadTurn) {
        if let (LogBackend::Database(log), Some(lease)) = (&self.backend, turn.lease()) {
            log.require_lease(lease);
        }
    }

    /// The current metadata of the thread, including what other processes wrote.
    pub fn metadata(&self) -> Result<ThreadMetadata, ThreadError> {
        match &self.backend {
            LogBackend::File(log) => log.metadata(),
            LogBackend::Database(log) => log.metadata(),
        }
    }

    /// Changes the settings: name, model, system prompt. The log has them too, so that lost metadata lose nothing.
    pub fn update_settings(
        &self,
        now: Timestamp,
        change: impl FnOnce(&mut ThreadMetadata),
    ) -> Result<ThreadMetadata, ThreadError> {
        match &self.backend {
            LogBackend::File(log) => log.update_settings(now, change),
            LogBackend::Database(log) => log.update_settings(now, change),
        }
    }

    /// Saves the metadata, so that the next process to open the log does not have to read all of it. A database has
    /// them already.
    pub fn save_unsaved_metadata(&self) -> Result<(), ThreadError> {
        match &self.backend {
            LogBackend::File(log) => log.save_unsaved_metadata(),
            LogBackend::Database(_) => Ok(()),
        }
    }
}
