//! Reads the records of a transcript, whatever it is stored in: lines, a document or rows of a database.

use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::path::Path;

use rethread_model::{Agent, EntryLocation};
use xxhash_rust::xxh3::xxh3_64;

use super::address::split_address;
use super::database::{DatabaseRecord, DatabaseSession, MAX_RECORD_BYTES, next_hash};
use super::document::{ArchivedSession, SessionDocument, complete_header};
use super::file::{self, FileStamp, PrefixHashes};
use super::lines::{TranscriptLine, TranscriptLines};
use super::peek::TranscriptHead;
use super::stamp_with_files_beside;
use crate::agents::{Layout, Storage, format_of};

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
    /// How it is stored.
    pub layout: &'static Layout,
    storage: OpenStorage,
}

#[derive(Debug)]
enum OpenStorage {
    Lines(File, Option<String>),
    Document(SessionDocument),
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
    /// The end of the finished records.
    position: ReadPosition,
    /// Records and bytes before the next one.
    read: (u64, u64),
    page: std::vec::IntoIter<DatabaseRecord>,
    current: String,
}

impl TranscriptReader {
    /// Opens a transcript of an agent. `InvalidData` means that the agent may be writing it right now.
    pub fn open(agent: Agent, path: &Path) -> io::Result<Self> {
        let layout = format_of(agent).layout_of(path);
        let (storage, stamp) = match layout.storage {
            Storage::Database(generations) => {
                let mut session = DatabaseSession::open(path, generations)?;
                if let Some(more) = (layout.header)(path).and_then(|more| serde_json::from_str(&more).ok()) {
                    session.header = complete_header(&session.header, more);
                }
                let stamp = session.stamp;
                (OpenStorage::Database(session), stamp)
            }
            Storage::Archive { sessions, load } => {
                let (file, id) = split_address(path).ok_or(io::ErrorKind::NotFound)?;
                let stamp = archived_stamp(file, id, sessions)?;
                (OpenStorage::Document(load(file, id)?), stamp)
            }
            Storage::Document { load } => {
                // The stamp first: what is written after it is read the next time.
                let stamp = stamp_with_files_beside(layout, path, file::open(path)?.1);
                (OpenStorage::Document(load(path)?), stamp)
            }
            Storage::Lines => {
                let (file, stamp) = file::open(path)?;
                let stamp = stamp_with_files_beside(layout, path, stamp);
                (OpenStorage::Lines(file, (layout.header)(path)), stamp)
            }
        };
        Ok(Self { stamp, layout, storage })
    }

    /// What is stored about the session as a whole, as JSON.
    pub fn header(&self) -> Option<&str> {
        match &self.storage {
            OpenStorage::Lines(_, header) => header.as_deref(),
            OpenStorage::Document(document) => Some(&document.header),
            OpenStorage::Database(session) => Some(&session.header),
        }
    }

    /// The beginning of the transcript.
    pub(super) fn head(&self) -> TranscriptHead {
        match &self.storage {
            OpenStorage::Lines(file, header) => {
                TranscriptHead::read(file, self.stamp.size).after_header(header.as_deref())
            }
            OpenStorage::Document(document) => TranscriptHead::from_header(&document.header),
            OpenStorage::Database(session) => TranscriptHead::from_header(&session.header),
        }
    }

    /// Whether everything before the position is as it was read.
    pub fn has_only_grown(&self, position: &ReadPosition) -> bool {
        let hash = match &self.storage {
            OpenStorage::Lines(file, _) => {
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
        matches!(self.storage, OpenStorage::Lines(..))
    }

    /// Whether it is the file that had this inode. A document gets another one when it is rewritten.
    pub fn is_same_file(&self, inode: u64) -> bool {
        inode == 0 || inode == self.stamp.inode || !self.only_grows()
    }

    /// The records after a position.
    pub fn records(&self, position: ReadPosition) -> io::Result<TranscriptRecords<'_>> {
        Ok(match &self.storage {
            OpenStorage::Lines(file, _) => {
                let mut file: &File = file;
                file.seek(SeekFrom::Start(position.offset))?;
                let rest = self.stamp.size.saturating_sub(position.offset);
                TranscriptRecords::Lines(TranscriptLines::new(file, position.offset, position.lines, rest))
            }
            storage => TranscriptRecords::Stored(StoredRecords {
                storage,
                position,
                read: (position.lines, position.offset),
                page: Vec::new().into_iter(),
                current: String::new(),
            }),
        })
    }
}

impl TranscriptRecords<'_> {
    /// Gives up at a line that is longer.
    pub(crate) fn with_max_line(self, max_line: u64) -> Self {
        match self {
            TranscriptRecords::Lines(lines) => TranscriptRecords::Lines(lines.with_max_line(max_line)),
            // Other records have a limit of their own.
            TranscriptRecords::Stored(records) => TranscriptRecords::Stored(records),
        }
    }

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
        let (lines, offset) = self.read;
        // Everything after an unfinished record is read again together with it.
        let mut is_finished = lines == self.position.lines;
        let (bytes, hash, at) = match storage {
            OpenStorage::Document(document) => {
                let Some((text, at)) = document.record(lines) else { return Ok(None) };
                (Some(text), xxh3_64(text.as_bytes()), at as u64)
            }
            OpenStorage::Database(session) => {
                if self.page.len() == 0 {
                    self.page = session.page(lines)?.into_iter();
                }
                let Some(record) = self.page.next() else { return Ok(None) };
                is_finished &= record.is_finished;
                let is_kept = record.json.is_some();
                self.current = record.json.unwrap_or_default();
                (is_kept.then_some(self.current.as_str()), record.version, offset)
            }
            OpenStorage::Lines(..) => return Ok(None),
        };
        let length = bytes.map_or(MAX_RECORD_BYTES, |bytes| bytes.len() as u64);
        // A line would end with a newline.
        self.read = (lines + 1, at + length + 1);
        if is_finished {
            let hashes = PrefixHashes { head: next_hash(self.position.hashes.head, hash), tail: 0 };
            self.position = ReadPosition { offset: at + length + 1, lines: lines + 1, hashes };
        }
        let location = EntryLocation { line: lines + 1, offset: at, length };
        let bytes_or_empty = bytes.unwrap_or_default().as_bytes();
        let is_skipped = bytes.is_none();
        Ok(Some(TranscriptLine { bytes: bytes_or_empty, location, has_newline: is_finished, is_skipped }))
    }
}

/// The version of a session in a file with several.
fn archived_stamp(
    file: &Path,
    id: &str,
    sessions: fn(&Path) -> io::Result<Vec<ArchivedSession>>,
) -> io::Result<FileStamp> {
    let (_, stamp) = file::open(file)?;
    let found = sessions(file)?.into_iter().find(|session| session.id == id).ok_or(io::ErrorKind::NotFound)?;
    Ok(stamp.of_session(id, found.version))
}
