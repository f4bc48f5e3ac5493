//! Transcript files and how far each has been read.

use rethread_model::Agent;
use rusqlite::{OptionalExtension, Row, params};

use crate::{SessionNumber, Store, StoreError};

/// Our number of a transcript file, in the order files were first met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TranscriptNumber(pub(crate) i64);

/// How a file is recognised when it is met again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Fingerprint {
    /// Device of the file.
    pub device: u64,
    /// Number of the file on its device.
    pub inode: u64,
    /// Size in bytes when it was last looked at.
    pub size: u64,
    /// Modification time in nanoseconds when it was last looked at.
    pub mtime: i64,
}

/// How far a transcript has been read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Cursor {
    /// Byte after the last line read; never past an unterminated line.
    pub offset: u64,
    /// Lines read.
    pub line: u64,
    /// Hash of the file's first bytes, up to the offset.
    pub head_hash: u64,
    /// Hash of the bytes before the offset.
    pub tail_hash: u64,
}

/// One transcript file as stored.
#[derive(Clone, Debug)]
pub struct TranscriptRow {
    /// Its number.
    pub number: TranscriptNumber,
    /// Where it is.
    pub path: String,
    /// Whose it is.
    pub agent: Agent,
    /// Its session, if it could be told.
    pub session: Option<SessionNumber>,
    /// How it is recognised.
    pub fingerprint: Fingerprint,
    /// How far it has been read.
    pub cursor: Cursor,
}

pub(crate) const COLUMNS: &str =
    "num, path, agent, session, device, inode, size, mtime, offset, line, head_hash, tail_hash";

impl Store {
    /// The transcript at that path.
    pub fn transcript(&self, path: &str) -> Result<Option<TranscriptRow>, StoreError> {
        let read = || -> rusqlite::Result<Option<TranscriptRow>> {
            let sql = format!("SELECT {COLUMNS} FROM transcript WHERE space = ?1 AND path = ?2");
            let found = self.connection.prepare_cached(&sql)?.query_row(params![self.space.as_str(), path], from_row);
            Ok(found.optional()?.flatten())
        };
        read().map_err(|cause| self.err(cause))
    }

    /// All transcripts ever met, in the order of their numbers.
    pub fn transcripts(&self) -> Result<Vec<TranscriptRow>, StoreError> {
        let read = || -> rusqlite::Result<Vec<TranscriptRow>> {
            let sql = format!("SELECT {COLUMNS} FROM transcript WHERE space = ?1 ORDER BY num");
            let mut statement = self.connection.prepare_cached(&sql)?;
            let rows = statement.query_map(params![self.space.as_str()], from_row)?;
            rows.filter_map(Result::transpose).collect()
        };
        read().map_err(|cause| self.err(cause))
    }
}

/// A row, or nothing when a newer program wrote it for an agent unknown here.
pub(crate) fn from_row(row: &Row<'_>) -> rusqlite::Result<Option<TranscriptRow>> {
    let Ok(agent) = row.get_ref(2)?.as_str()?.parse() else { return Ok(None) };
    let unsigned = |at: usize| row.get::<_, i64>(at).map(|number| number as u64);
    Ok(Some(TranscriptRow {
        number: TranscriptNumber(row.get(0)?),
        path: row.get(1)?,
        agent,
        session: row.get::<_, Option<i64>>(3)?.map(SessionNumber),
        fingerprint: Fingerprint { device: unsigned(4)?, inode: unsigned(5)?, size: unsigned(6)?, mtime: row.get(7)? },
        cursor: Cursor { offset: unsigned(8)?, line: unsigned(9)?, head_hash: unsigned(10)?, tail_hash: unsigned(11)? },
    }))
}
