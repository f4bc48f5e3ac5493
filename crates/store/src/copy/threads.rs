//! Copies threads where one of the stores has them as files: between files, or between files and rows.

use std::collections::BTreeMap;
use std::path::Path;

use rethread_model::thread::{ThreadId, ThreadMetadata};

use super::CopyError;
use super::rows::{RowDigest, RowHasher};
use crate::sql::{SpaceSql, SqlValue};
use crate::threads::{FileThreads, ThreadRows};

/// The threads of one store.
#[derive(Clone, Debug)]
pub(super) enum ThreadSide<'s> {
    Files(FileThreads),
    Rows(ThreadRows<'s>),
}

/// The metadata and the log of a thread; `None` if it was deleted.
type ThreadContent = Option<(ThreadMetadata, Vec<u8>)>;

impl<'s> ThreadSide<'s> {
    pub(super) fn new(files: Option<&Path>, rows: SpaceSql<'s>) -> Self {
        files.map_or(Self::Rows(ThreadRows(rows)), |folder| Self::Files(FileThreads::new(folder.to_owned())))
    }

    /// Copies all threads. Files are complete one by one; those of an earlier copy that was interrupted are kept.
    pub(super) fn copy_to(&self, target: &Self) -> Result<RowDigest, CopyError> {
        let mut hasher = RowHasher::default();
        for (id, is_deleted) in self.ids()? {
            let content = self.content(id, is_deleted)?;
            add(&mut hasher, id, content.as_ref());
            target.store(id, content)?;
        }
        Ok(hasher.finish())
    }

    /// Counts and hashes all threads.
    pub(super) fn digest(&self) -> Result<RowDigest, CopyError> {
        let mut hasher = RowHasher::default();
        for (id, is_deleted) in self.ids()? {
            add(&mut hasher, id, self.content(id, is_deleted)?.as_ref());
        }
        Ok(hasher.finish())
    }

    /// Whether there is a thread that `source` does not have, or has with another log.
    pub(super) fn has_other_threads(&self, source: &Self) -> Result<bool, CopyError> {
        let known = source.ids()?;
        for (id, is_deleted) in self.ids()? {
            if known.get(&id) != Some(&is_deleted) {
                return Ok(true);
            }
            let log = |side: &Self| Ok::<_, CopyError>(side.content(id, is_deleted)?.map(|(_, log)| log));
            if log(self)? != log(source)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// All threads, and whether they were deleted.
    fn ids(&self) -> Result<BTreeMap<ThreadId, bool>, CopyError> {
        match self {
            Self::Files(threads) => {
                let deleted = threads.deleted_ids().into_iter().map(|id| (id, true));
                Ok(threads.ids()?.into_iter().map(|id| (id, false)).chain(deleted).collect())
            }
            Self::Rows(threads) => Ok(threads.ids()?.into_iter().collect()),
        }
    }

    fn content(&self, id: ThreadId, is_deleted: bool) -> Result<ThreadContent, CopyError> {
        Ok(match self {
            _ if is_deleted => None,
            // The log may grow meanwhile; metadata that describe less of it are completed when they are read.
            Self::Files(threads) => Some((threads.metadata(id)?, threads.log_content(id)?)),
            Self::Rows(threads) => Some(threads.content(id)?),
        })
    }

    fn store(&self, id: ThreadId, content: ThreadContent) -> Result<(), CopyError> {
        match (self, content) {
            (Self::Files(threads), None) => threads.mark_deleted(id)?,
            (Self::Files(threads), Some(_)) if threads.has_content(id) => {}
            (Self::Files(threads), Some((metadata, log))) => drop(threads.create(&metadata, &log)?),
            (Self::Rows(threads), None) => threads.mark_deleted(id)?,
            (Self::Rows(threads), Some((metadata, log))) => threads.add(id, &metadata, &log)?,
        }
        Ok(())
    }
}

fn add(hasher: &mut RowHasher, id: ThreadId, content: Option<&(ThreadMetadata, Vec<u8>)>) {
    let log = content.map_or(SqlValue::Bool(true), |(_, log)| SqlValue::Bytes(log));
    hasher.add(&[SqlValue::Text(&id.to_string()), log]);
}
