//! Reads the records of a transcript, whatever it is stored in: lines, a document or rows of a database.

use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::path::Path;

use rethread_model::{Agent, EntryLocation};
use xxhash_rust::xxh3::xxh3_64;

use super::database::{DatabaseRecord, DatabaseSession, MAX_RECORD_BYTES, next_hash};
use super::document::JsonDocument;
use super::file::{self, FileStamp, PrefixHashes};
use super::lines::{TranscriptLine, TranscriptLines};
use super::peek::TranscriptHead;
use crate::agents::{Storage, format_of};

/// How far a transcript was read.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadPosition {
    /// Bytes before the position.
    pub offset: u64,
    /// Records before the position.
    pub lines: u64,
    /// Hashes of what comes before the position.
    pub hashes: PrefixHashes,
}

/// An open transcript.
#[derive(Debug)]
pub struct TranscriptReader {
    /// Identifies the version that was opened.
    pub stamp: FileStamp,
    storage: OpenStorage,
}

#[derive(Debug)]
enum OpenStorage {
    Lines(File),
    Document(JsonDocument),
    Database(DatabaseSession),
}

/// The records of a transcript after some position.
#[derive(Debug)]
pub enum TranscriptRecords<'a> {
    /// The lines of a file.
    Lines(TranscriptLines<&'a File>),
    /// The records of a document or a database.
    Stored(StoredRecords<'a>),
}

/// Records that can change in place, so that all of them before a position are hashed.
#[derive(Debug)]
pub struct StoredRecords<'a> {
    storage: &'a OpenStorage,
    position: ReadPosition,
    page: std::vec::IntoIter<DatabaseRecord>,
    current: String,
}

impl TranscriptReader {
    /// Opens a transcript of an agent. `InvalidData` means that the agent may be writing it right now.
    pub fn open(agent: Agent, path: &Path) -> io::Result<Self> {
        let storage = format_of(agent).storage;
        if let Storage::Database(queries) = storage {
            let session = DatabaseSession::open(path, queries)?;
            return Ok(Self { stamp: session.stamp, storage: OpenStorage::Database(session) });
        }
        let (file, stamp) = file::open(path)?;
        let storage = match storage {
            Storage::Document { records } => OpenStorage::Document(JsonDocument::read(file, stamp.size, records)?),
            _ => OpenStorage::Lines(file),
        };
        Ok(Self { stamp, storage })
    }

    /// What is stored about the session as a whole, as JSON. Lines have no such record.
    pub fn header(&self) -> Option<&str> {
        match &self.storage {
            OpenStorage::Lines(_) => None,
            OpenStorage::Document(document) => Some(&document.header),
            OpenStorage::Database(session) => Some(&session.header),
        }
    }

    /// The beginning of the transcript.
    pub(super) fn head(&self) -> TranscriptHead {
        match &self.storage {
            OpenStorage::Lines(file) => TranscriptHead::read(file, self.stamp.size),
            OpenStorage::Document(document) => TranscriptHead::from_header(&document.header),
            OpenStorage::Database(session) => TranscriptHead::from_header(&session.header),
        }
    }

    /// Whether everything before the position is as it was read.
    pub fn has_only_grown(&self, position: &ReadPosition) -> bool {
        let hash = match &self.storage {
            OpenStorage::Lines(file) => {
                return file::has_only_grown(file, self.stamp.size, position.offset, position.hashes);
            }
            OpenStorage::Document(document) => (0..position.lines)
                .try_fold(0, |hash, number| Some(next_hash(hash, xxh3_64(document.record(number)?.0.as_bytes())))),
            OpenStorage::Database(session) => session.hash_records(position.lines).ok().flatten(),
        };
        hash == Some(position.hashes.head)
    }

    /// Whether the agent never changes what it wrote, so that a change means another file.
    pub fn only_grows(&self) -> bool {
        matches!(self.storage, OpenStorage::Lines(_))
    }

    /// Whether it is the file that had this inode. A document gets another one when it is rewritten.
    pub fn is_same_file(&self, inode: u64) -> bool {
        inode == 0 || inode == self.stamp.inode || !self.only_grows()
    }

    /// The records after a position.
    pub fn records(&self, position: ReadPosition) -> io::Result<TranscriptRecords<'_>> {
        Ok(match &self.storage {
            OpenStorage::Lines(file) => {
                let mut file: &File = file;
                file.seek(SeekFrom::Start(position.offset))?;
                let rest = self.stamp.size.saturating_sub(position.offset);
                TranscriptRecords::Lines(TranscriptLines::new(file, position.offset, position.lines, rest))
            }
            storage => TranscriptRecords::Stored(StoredRecords {
                storage,
                position,
                page: Vec::new().into_iter(),
                current: String::new(),
            }),
        })
    }
}

impl TranscriptRecords<'_> {
    /// The next record, or `None` at the end.
    pub fn next_line(&mut self) -> io::Result<Option<TranscriptLine<'_>>> {
        match self {
            TranscriptRecords::Lines(lines) => lines.next_line(),
            TranscriptRecords::Stored(records) => records.next_record(),
        }
    }

    /// The hashes of everything before an offset that was reached by reading.
    pub fn hashes(&self, offset: u64) -> io::Result<PrefixHashes> {
        match self {
            TranscriptRecords::Lines(lines) => file::hash_prefix(lines.reader(), offset),
            TranscriptRecords::Stored(records) => Ok(records.position.hashes),
        }
    }
}

impl StoredRecords<'_> {
    fn next_record(&mut self) -> io::Result<Option<TranscriptLine<'_>>> {
        let storage = self.storage;
        let ReadPosition { offset, lines, .. } = self.position;
        let (bytes, hash, at) = match storage {
            OpenStorage::Document(document) => {
                let Some((text, at)) = document.record(lines) else { return Ok(None) };
                (Some(text), xxh3_64(text.as_bytes()), at as u64)
            }
            OpenStorage::Database(session) => {
                if self.page.len() == 0 {
                    self.page = session.page(lines)?.into_iter();
                }
                let Some((hash, json)) = self.page.next() else { return Ok(None) };
                let is_kept = json.is_some();
                self.current = json.unwrap_or_default();
                (is_kept.then_some(self.current.as_str()), hash, offset)
            }
            OpenStorage::Lines(_) => return Ok(None),
        };
        let length = bytes.map_or(MAX_RECORD_BYTES, |bytes| bytes.len() as u64);
        let hash = next_hash(self.position.hashes.head, hash);
        // A line would end with a newline.
        self.position =
            ReadPosition { offset: at + length + 1, lines: lines + 1, hashes: PrefixHashes { head: hash, tail: 0 } };
        let location = EntryLocation { line: lines + 1, offset: at, length };
        let bytes_or_empty = bytes.unwrap_or_default().as_bytes();
        Ok(Some(TranscriptLine { bytes: bytes_or_empty, location, has_newline: true, is_skipped: bytes.is_none() }))
    }
}
