//! The rows of a thread: its head, its metadata and the lines of its log.

use rethread_model::thread::{ThreadId, ThreadMetadata};

use crate::sql::{Sql, values};
use crate::threads::files::{parse_metadata, without_counts};
use crate::threads::{ThreadError, read, record_counts};

/// The end of a log, and what the log says about the thread.
#[derive(Clone, Debug)]
pub(super) struct LogHead {
    /// Length of the log in bytes.
    pub(super) bytes: u64,
    pub(super) metadata: ThreadMetadata,
    /// An incomplete last line, which only an imported log can have.
    pub(super) torn: Vec<u8>,
}

/// A line to be stored, and where it starts.
pub(super) type NewLine = (u64, Vec<u8>);

/// Why there is no thread to work with.
pub(super) fn missing(sql: &Sql, id: ThreadId) -> Result<ThreadError, ThreadError> {
    let is_known = sql.exists("SELECT 1 FROM thread WHERE space = ?1 AND id = ?2", values![id.to_string()])?;
    Ok(if is_known { ThreadError::Deleted { id } } else { ThreadError::Missing { id } })
}

/// Locks a thread until the end of the transaction: others wait before they append to it or use its turn queue.
pub(super) fn lock(sql: &Sql, id: ThreadId) -> Result<(), ThreadError> {
    let lock = "UPDATE thread SET head = head WHERE space = ?1 AND id = ?2 AND is_deleted = 0";
    if sql.change(lock, values![id.to_string()])? == 0 { Err(missing(sql, id)?) } else { Ok(()) }
}

/// The stored metadata, and the length of the log that they describe.
pub(super) fn stored_metadata(sql: &Sql, id: ThreadId) -> Result<(u64, Vec<u8>), ThreadError> {
    let select = "SELECT head, metadata FROM thread WHERE space = ?1 AND id = ?2 AND is_deleted = 0";
    let found =
        sql.one(select, values![id.to_string()], |row| Ok((row.u64("head")?, row.bytes("metadata")?.to_vec())))?;
    found.map_or_else(|| Err(missing(sql, id)?), Ok)
}

/// The current head of a thread.
pub(super) fn head(sql: &Sql, id: ThreadId) -> Result<LogHead, ThreadError> {
    let (bytes, stored) = stored_metadata(sql, id)?;
    complete(sql, id, bytes, &stored)
}

/// The head with metadata as stored, plus every line after them. Damaged metadata are made again from the log.
pub(super) fn complete(sql: &Sql, id: ThreadId, bytes: u64, stored: &[u8]) -> Result<LogHead, ThreadError> {
    let mut metadata = match parse_metadata(id, stored) {
        Some(stored) if stored.log_bytes <= bytes => stored,
        Some(stored) => without_counts(stored),
        None => ThreadMetadata::new(id, id.created_at()),
    };
    let mut torn = Vec::new();
    if metadata.log_bytes < bytes {
        let rest = content(sql, id, metadata.log_bytes)?;
        let end = read::each_line(&*rest, &mut |line| record_counts::count_line(&mut metadata, line));
        torn = end.ok().flatten().unwrap_or_default();
    }
    Ok(LogHead { bytes, metadata, torn })
}

/// The bytes of a log from a position on, which is the start of a line.
pub(super) fn content(sql: &Sql, id: ThreadId, from: u64) -> Result<Vec<u8>, ThreadError> {
    let mut bytes = Vec::new();
    each_line(sql, id, from, |_, line| bytes.extend_from_slice(line))?;
    Ok(bytes)
}

/// Calls `each` with every stored line from a position on, and where it starts.
pub(super) fn each_line(
    sql: &Sql,
    id: ThreadId,
    from: u64,
    mut each: impl FnMut(u64, &[u8]),
) -> Result<(), ThreadError> {
    let select = "SELECT start_byte, line FROM thread_record WHERE space = ?1 AND thread = ?2 AND start_byte >= ?3
         ORDER BY start_byte";
    sql.each(select, values![id.to_string(), from], |row| {
        each(row.u64("start_byte")?, row.bytes("line")?);
        Ok(())
    })
}

/// Moves the head of a thread from a length that was read before. False if it has moved since, or is gone.
pub(super) fn move_head(sql: &Sql, from: u64, to: &LogHead) -> Result<bool, ThreadError> {
    let update =
        "UPDATE thread SET head = ?3, metadata = ?4 WHERE space = ?1 AND id = ?2 AND head = ?5 AND is_deleted = 0";
    let metadata = encoded(&to.metadata)?;
    Ok(sql.change(update, values![to.metadata.id.to_string(), to.bytes, metadata, from])? > 0)
}

/// Adds lines. `append_id` is random and the same for all of them.
pub(super) fn add_lines(sql: &Sql, id: ThreadId, append_id: &str, lines: &[NewLine]) -> Result<(), ThreadError> {
    let insert = "INSERT INTO thread_record (space, thread, start_byte, append_id, line) VALUES (?1, ?2, ?3, ?4, ?5)";
    let id = id.to_string();
    for (start, line) in lines {
        sql.run(insert, values![id, start, append_id, line])?;
    }
    Ok(())
}

/// Whether the line at a position was added with this id.
pub(super) fn was_added(sql: &Sql, id: ThreadId, start: u64, append_id: &str) -> Result<bool, ThreadError> {
    let select = "SELECT 1 FROM thread_record WHERE space = ?1 AND thread = ?2 AND start_byte = ?3 AND append_id = ?4";
    Ok(sql.exists(select, values![id.to_string(), start, append_id])?)
}

/// Metadata as stored.
pub(super) fn encoded(metadata: &ThreadMetadata) -> Result<Vec<u8>, ThreadError> {
    serde_json::to_vec(metadata)
        .map_err(|cause| ThreadError::disk(metadata.id.to_string().as_ref(), "written")(cause.into()))
}

/// An id that no other process makes.
pub(super) fn random_id() -> String {
    ThreadId::generate(rethread_model::Timestamp::from_millis(0)).to_string()
}
