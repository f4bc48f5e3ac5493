//! Transcript files and how far each was read.

use rethread_model::Agent;
use rusqlite::{OptionalExtension, Row, params};

use crate::{ReadStore, SessionNumber, StoreError};

/// Our number of a transcript, counted from 1 in the order in which transcripts were first read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TranscriptNumber(pub(crate) i64);

/// Recognizes an unchanged or replaced file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct FileFingerprint {
    /// Device the file is on.
    pub device: u64,
    /// Inode number on that device.
    pub inode: u64,
    /// Size in bytes at the last sync.
    pub size: u64,
    /// Modification time at the last sync, in nanoseconds since 1970.
    pub mtime: i64,
}

/// How far a transcript was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ReadCursor {
    /// Byte after the last line read. A line without a newline is not read.
    pub offset: u64,
    /// Number of lines read.
    pub lines: u64,
    /// Hash of the file's first bytes, up to the offset.
    pub head_hash: u64,
    /// Hash of the bytes before the offset.
    pub tail_hash: u64,
}

/// One transcript file as stored.
#[derive(Clone, Debug)]
pub struct TranscriptRow {
    /// Identifies it in later calls.
    pub number: TranscriptNumber,
    /// Path of the file.
    pub path: String,
    /// The agent that writes it.
    pub agent: Agent,
    /// Its session; `None` until it is known.
    pub session: Option<SessionNumber>,
    /// State of the file at the last sync.
    pub fingerprint: FileFingerprint,
    /// How far it was read.
    pub cursor: ReadCursor,
}

pub(crate) const COLUMNS: &str =
    "number, path, agent, session, device, inode, size, mtime, read_offset, read_lines, head_hash, tail_hash";

impl ReadStore {
    /// The transcript at that path.
    pub fn transcript(&self, path: &str) -> Result<Option<TranscriptRow>, StoreError> {
        let read = || -> rusqlite::Result<Option<TranscriptRow>> {
            let sql = format!("SELECT {COLUMNS} FROM transcript WHERE space = ?1 AND path = ?2");
            let found = self.connection.prepare_cached(&sql)?.query_row(params![self.space.as_str(), path], from_row);
            Ok(found.optional()?.flatten())
        };
        read().map_err(|cause| self.err(cause))
    }

    /// All known transcripts, by number.
    pub fn transcripts(&self) -> Result<Vec<TranscriptRow>, StoreError> {
        let read = || -> rusqlite::Result<Vec<TranscriptRow>> {
            let sql = format!("SELECT {COLUMNS} FROM transcript WHERE space = ?1 ORDER BY number");
            let mut statement = self.connection.prepare_cached(&sql)?;
            let rows = statement.query_map(params![self.space.as_str()], from_row)?;
            rows.filter_map(Result::transpose).collect()
        };
        read().map_err(|cause| self.err(cause))
    }
}

/// None for a row of an agent that only a newer version of the program knows.
pub(crate) fn from_row(row: &Row<'_>) -> rusqlite::Result<Option<TranscriptRow>> {
    let Ok(agent) = row.get_ref(2)?.as_str()?.parse() else { return Ok(None) };
    let unsigned = |at: usize| row.get::<_, i64>(at).map(|number| number as u64);
    Ok(Some(TranscriptRow {
        number: TranscriptNumber(row.get(0)?),
        path: row.get(1)?,
        agent,
        session: row.get::<_, Option<i64>>(3)?.map(SessionNumber),
        fingerprint: FileFingerprint {
            device: unsigned(4)?,
            inode: unsigned(5)?,
            size: unsigned(6)?,
            mtime: row.get(7)?,
        },
        cursor: ReadCursor {
            offset: unsigned(8)?,
            lines: unsigned(9)?,
            head_hash: unsigned(10)?,
            tail_hash: unsigned(11)?,
        },
    }))
}
