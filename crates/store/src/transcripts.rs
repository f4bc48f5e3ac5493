//! Transcript files and how far each was read.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use rethread_model::Agent;

use crate::sql::{Row, SqlValue, values};
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

const COLUMNS: &str =
    "number, path, agent, session, device, inode, size, mtime, read_offset, read_lines, head_hash, tail_hash";

impl ReadStore {
    /// The transcript at that path.
    pub fn transcript(&self, path: &str) -> Result<Option<TranscriptRow>, StoreError> {
        Ok(self.select_transcripts("path = ?2", values![path])?.pop())
    }

    /// All known transcripts, by number.
    pub fn transcripts(&self) -> Result<Vec<TranscriptRow>, StoreError> {
        self.select_transcripts("TRUE", &[])
    }

    /// The transcripts of a session, in the order in which they were first read.
    pub fn session_transcripts(&self, session: SessionNumber) -> Result<Vec<TranscriptRow>, StoreError> {
        self.select_transcripts("session = ?2", values![session])
    }

    /// The transcript with that number.
    pub fn transcript_by_number(&self, number: TranscriptNumber) -> Result<Option<TranscriptRow>, StoreError> {
        Ok(self.select_transcripts("number = ?2", values![number])?.pop())
    }

    /// The transcripts that entries of a session are in, by the entries' `seq`. Entries that are no longer in one, because
    /// an agent rewrote it, are left out.
    pub fn entry_transcripts(
        &self,
        session: SessionNumber,
        seqs: RangeInclusive<u64>,
    ) -> Result<HashMap<u64, TranscriptNumber>, StoreError> {
        let mut found = HashMap::new();
        self.sql.each(
            "SELECT seq, transcript FROM entry WHERE space = ?1 AND session = ?2 AND seq BETWEEN ?3 AND ?4
             AND transcript IS NOT NULL AND NOT is_superseded",
            values![session, *seqs.start(), *seqs.end()],
            |row| {
                found.insert(row.u64("seq")?, TranscriptNumber(row.int("transcript")?));
                Ok::<_, StoreError>(())
            },
        )?;
        Ok(found)
    }

    fn select_transcripts(&self, condition: &str, values: &[SqlValue<'_>]) -> Result<Vec<TranscriptRow>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM transcript WHERE space = ?1 AND {condition} ORDER BY number");
        self.sql.known(&sql, values, from_row)
    }
}

/// None for a row of an agent that only a newer version of the program knows.
fn from_row(row: &Row<'_>) -> Result<Option<TranscriptRow>, StoreError> {
    let Some(agent) = row.parsed("agent")? else { return Ok(None) };
    Ok(Some(TranscriptRow {
        number: TranscriptNumber(row.int("number")?),
        path: row.string("path")?,
        agent,
        session: row.opt_int("session")?.map(SessionNumber),
        fingerprint: FileFingerprint {
            device: row.u64("device")?,
            inode: row.u64("inode")?,
            size: row.u64("size")?,
            mtime: row.int("mtime")?,
        },
        cursor: ReadCursor {
            offset: row.u64("read_offset")?,
            lines: row.u64("read_lines")?,
            head_hash: row.u64("head_hash")?,
            tail_hash: row.u64("tail_hash")?,
        },
    }))
}
