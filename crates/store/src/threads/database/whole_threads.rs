//! Reads and writes whole threads as rows, for a copy of a store.

use rethread_model::thread::{ThreadId, ThreadMetadata};

use super::{lines, rows};
use crate::StoreError;
use crate::sql::{SpaceSql, values};
use crate::threads::files::parse_metadata;
use crate::threads::{ThreadError, Threads};

const ADD_THREAD: &str = "INSERT INTO thread (space, id, head, metadata, is_deleted) VALUES (?1, ?2, ?3, ?4, ?5)";

/// The rows of the threads of a space.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ThreadRows<'s>(pub(crate) SpaceSql<'s>);

impl ThreadRows<'_> {
    /// All threads, and whether they were deleted.
    pub(crate) fn ids(self) -> Result<Vec<(ThreadId, bool)>, StoreError> {
        let mut found = Vec::new();
        self.0.each("SELECT id, is_deleted FROM thread WHERE space = ?1", &[], |row| {
            let (id, is_deleted) = (row.parsed("id")?, row.flag("is_deleted")?);
            found.extend(id.map(|id| (id, is_deleted)));
            Ok::<_, StoreError>(())
        })?;
        Ok(found)
    }

    /// The metadata and the log of a thread. Damaged metadata are made again from the log.
    pub(crate) fn content(self, id: ThreadId) -> Result<(ThreadMetadata, Vec<u8>), StoreError> {
        let (mut log, mut stored, name) = (Vec::new(), Vec::new(), id.to_string());
        let lines = "SELECT line FROM thread_record WHERE space = ?1 AND thread = ?2 ORDER BY start_byte";
        self.0.each(lines, values![name], |row| {
            log.extend_from_slice(row.bytes("line")?);
            Ok::<_, StoreError>(())
        })?;
        self.0.each("SELECT metadata FROM thread WHERE space = ?1 AND id = ?2", values![name], |row| {
            stored.extend_from_slice(row.bytes("metadata")?);
            Ok::<_, StoreError>(())
        })?;
        let metadata = parse_metadata(id, &stored).filter(|stored| stored.log_bytes <= log.len() as u64);
        Ok((metadata.unwrap_or_else(|| Threads::metadata_of_log(id, &log)), log))
    }

    /// Adds a thread in the open transaction.
    pub(crate) fn add(self, id: ThreadId, metadata: &ThreadMetadata, log: &[u8]) -> Result<(), ThreadError> {
        let (name, append_id) = (id.to_string(), rows::random_id());
        self.0.run(ADD_THREAD, values![name, log.len() as u64, rows::encoded(metadata)?, 0])?;
        self.0.load("thread_record", &["thread", "start_byte", "append_id", "line"], |add| {
            lines(log).iter().try_for_each(|(start, line)| Ok(add(values![name, start, append_id, line])?))
        })
    }

    /// Notes in the open transaction that a thread was deleted.
    pub(crate) fn mark_deleted(self, id: ThreadId) -> Result<(), StoreError> {
        self.0.run(ADD_THREAD, values![id.to_string(), 0, Vec::new(), 1])
    }
}
