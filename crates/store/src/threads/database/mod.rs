//! Threads in a database that several nodes share: rows instead of files, leases instead of locks.

mod append;
mod connections;
mod copies;
mod lease;
mod log;
mod rows;
mod turn_queue;
mod whole_threads;

#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::AuthorizedSpace;
use rethread_model::thread::{ThreadId, ThreadMetadata};

use super::files::parse_metadata;
use super::{ThreadError, ThreadSummaries, metadata_list, read};
use crate::StoreLocation;
use crate::sql::{Sql, values};
use connections::{Connections, in_transaction};

pub(super) use copies::stored_log_path;
pub(super) use lease::TurnLease;
pub use lease::lease_takeovers;
pub(super) use log::DatabaseLog;
pub(super) use turn_queue::{DatabaseTicket, DatabaseTurn};
pub(crate) use whole_threads::ThreadRows;

/// A turn of a process that is alive is renewed three times in this time.
const TURN_LEASE: Duration = Duration::from_secs(20);

/// All threads of one space.
#[derive(Clone, Debug)]
pub(super) struct DatabaseThreads {
    connections: Arc<Connections>,
    copies: PathBuf,
    turn_lease: Duration,
}

impl DatabaseThreads {
    pub(super) fn new(location: StoreLocation, space: AuthorizedSpace, copies: PathBuf) -> Self {
        Self { connections: Arc::new(Connections::new(location, space)), copies, turn_lease: TURN_LEASE }
    }

    pub(super) fn set_turn_lease(&mut self, lease: Duration) {
        self.turn_lease = lease;
    }

    /// Creates a thread. The metadata describe the complete lines of the log.
    pub(super) fn create(&self, metadata: &ThreadMetadata, log: &[u8]) -> Result<DatabaseLog, ThreadError> {
        let id = metadata.id;
        let stored = rows::encoded(metadata)?;
        let lines = lines(log);
        self.connections.transaction(|sql| {
            let insert = "INSERT INTO thread (space, id, head, metadata, is_deleted) VALUES (?1, ?2, ?3, ?4, 0)
                 ON CONFLICT (space, id) DO NOTHING";
            if sql.change(insert, values![id.to_string(), log.len() as u64, stored])? == 0 {
                return Err(if is_deleted(sql, id)? {
                    ThreadError::Deleted { id }
                } else {
                    ThreadError::Exists { id }
                });
            }
            rows::add_lines(sql, id, &rows::random_id(), &lines)
        })?;
        Ok(DatabaseLog::new(id, Arc::clone(&self.connections), log.len() as u64))
    }

    pub(super) fn open(&self, id: ThreadId) -> Result<DatabaseLog, ThreadError> {
        let (bytes, _) = self.read(id, |sql| rows::stored_metadata(sql, id))?;
        Ok(DatabaseLog::new(id, Arc::clone(&self.connections), bytes))
    }

    pub(super) fn log_content(&self, id: ThreadId) -> Result<Vec<u8>, ThreadError> {
        self.read(id, |sql| {
            let bytes = rows::content(sql, id, 0)?;
            if bytes.is_empty() {
                // It has no line, or there is no such thread.
                rows::stored_metadata(sql, id)?;
            }
            Ok(bytes)
        })
    }

    pub(super) fn metadata(&self, id: ThreadId) -> Result<ThreadMetadata, ThreadError> {
        self.read(id, |sql| rows::head(sql, id).map(|head| head.metadata))
    }

    pub(super) fn metadata_content(&self, id: ThreadId) -> Result<Vec<u8>, ThreadError> {
        self.read(id, |sql| rows::stored_metadata(sql, id).map(|(_, metadata)| metadata))
    }

    pub(super) fn has_damaged_metadata(&self, id: ThreadId) -> bool {
        self.metadata_content(id).is_ok_and(|stored| parse_metadata(id, &stored).is_none())
    }

    pub(super) fn has_content(&self, id: ThreadId) -> bool {
        self.metadata_content(id).is_ok()
    }

    pub(super) fn ids(&self) -> Result<Vec<ThreadId>, ThreadError> {
        let select = "SELECT id FROM thread WHERE space = ?1 AND is_deleted = 0 ORDER BY id";
        Ok(self.connections.read(|sql| Ok(sql.known(select, &[], |row| row.parsed("id"))?))?.unwrap_or_default())
    }

    pub(super) fn list(&self) -> Result<ThreadSummaries, ThreadError> {
        let select = "SELECT id, head, metadata FROM thread WHERE space = ?1 AND is_deleted = 0";
        let listed = self.connections.read(|sql| {
            let found = sql.known(select, &[], |row| {
                let id: Option<ThreadId> = row.parsed("id")?;
                Ok(id.map(|id| (id, row.u64("head"), row.bytes("metadata").map(<[u8]>::to_vec))))
            })?;
            let read =
                found.into_iter().map(|(id, head, metadata)| Ok(rows::complete(sql, id, head?, &metadata?)?.metadata));
            Ok(metadata_list(read.collect()))
        })?;
        Ok(listed.unwrap_or_default())
    }

    /// Deletes a thread in one step. Its row stays, empty, so that it does not come back.
    pub(super) fn delete(&self, id: ThreadId) -> Result<(), ThreadError> {
        let name = id.to_string();
        let remove = |sql: &Sql| {
            let mark = "UPDATE thread SET is_deleted = 1, head = 0, metadata = ?3
                 WHERE space = ?1 AND id = ?2 AND is_deleted = 0";
            if sql.change(mark, values![name, Vec::new()])? == 0 {
                return Err(rows::missing(sql, id)?);
            }
            sql.run("DELETE FROM thread_record WHERE space = ?1 AND thread = ?2", values![name])?;
            Ok(sql.run("DELETE FROM thread_turn WHERE space = ?1 AND thread = ?2", values![name])?)
        };
        self.connections.write(|sql| {
            sql.set_secure_delete()?;
            in_transaction(sql, remove)
        })?;
        self.remove_copy(id)
    }

    pub(super) fn deleted_ids(&self) -> Vec<ThreadId> {
        let select = "SELECT id FROM thread WHERE space = ?1 AND is_deleted = 1 ORDER BY id";
        let read = self.connections.read(|sql| Ok(sql.known(select, &[], |row| row.parsed("id"))?));
        read.ok().flatten().unwrap_or_default()
    }

    /// Deleted threads with a session, because the node that deleted them was killed.
    pub(super) fn deleted_and_synced(&self) -> Result<Vec<ThreadId>, ThreadError> {
        let select = "SELECT t.id FROM thread AS t JOIN session AS s ON s.space = t.space AND s.id = t.id
             WHERE t.space = ?1 AND t.is_deleted = 1 ORDER BY t.id";
        Ok(self.connections.read(|sql| Ok(sql.known(select, &[], |row| row.parsed("id"))?))?.unwrap_or_default())
    }

    pub(super) fn is_deleted(&self, id: ThreadId) -> bool {
        self.connections.read(|sql| is_deleted(sql, id)).ok().flatten().unwrap_or_default()
    }

    /// Reads a thread. Without a store there is none.
    fn read<T>(&self, id: ThreadId, action: impl FnOnce(&Sql) -> Result<T, ThreadError>) -> Result<T, ThreadError> {
        self.connections.read(action)?.ok_or(ThreadError::Missing { id })
    }
}

fn is_deleted(sql: &Sql, id: ThreadId) -> Result<bool, ThreadError> {
    let select = "SELECT 1 FROM thread WHERE space = ?1 AND id = ?2 AND is_deleted = 1";
    Ok(sql.exists(select, values![id.to_string()])?)
}

/// The lines of a log with their positions, an incomplete last one included.
fn lines(log: &[u8]) -> Vec<rows::NewLine> {
    let (mut found, mut start) = (Vec::new(), 0);
    let mut add = |line: &[u8]| {
        found.push((start, line.to_vec()));
        start += line.len() as u64;
    };
    let torn = read::each_line(log, &mut add).ok().flatten();
    if let Some(line) = torn {
        add(&line);
    }
    found
}
