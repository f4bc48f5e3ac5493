//! Opens transcripts safely and detects whether a known file was rewritten.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;
use xxhash_rust::xxh3::xxh3_64;

/// Number of bytes hashed at each end of the part that was read.
const HASHED_BYTES: u64 = 4096;
/// Larger files beside a transcript are not read.
const MAX_JSON_BYTES: u64 = 64 << 20;
/// Some editors write it at the beginning of a file.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// File system metadata that identifies a version of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct FileStamp {
    /// Device number.
    pub device: u64,
    /// Inode number on the device.
    pub inode: u64,
    /// Size in bytes.
    pub size: u64,
    /// Modification time in nanoseconds since the Unix epoch.
    pub mtime: i64,
}

impl FileStamp {
    pub(super) fn from_metadata(data: &Metadata) -> Self {
        Self {
            device: data.dev(),
            inode: data.ino(),
            size: data.size(),
            mtime: data.mtime().saturating_mul(1_000_000_000).saturating_add(data.mtime_nsec()),
        }
    }
}

impl FileStamp {
    /// Not 0, which means "not written yet".
    const UNKNOWN_SIZE: u64 = 1;

    /// The stamp of one session in a file with several: an inode that no other session has, and the time of the
    /// session's last change in milliseconds.
    pub(super) fn of_session(self, id: &str, updated_at: i64) -> Self {
        let inode = self.inode ^ xxh3_64(id.as_bytes());
        Self { inode, size: Self::UNKNOWN_SIZE, mtime: updated_at.saturating_mul(1_000_000), ..self }
    }

    /// Whether the size is known: that of one session in a file with several is not, before it is read.
    pub fn has_known_size(self) -> bool {
        self.size != Self::UNKNOWN_SIZE
    }
}

/// The name of a folder above a file; 1 is the folder that contains it.
pub(crate) fn name_above(path: &Path, levels: usize) -> Option<&str> {
    path.ancestors().nth(levels)?.file_name()?.to_str()
}

/// Hashes of the part that was read; they distinguish a rewritten file from one that only grew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct PrefixHashes {
    /// Hash of the first bytes.
    pub head: u64,
    /// Hash of the last bytes before the offset.
    pub tail: u64,
}

/// Opens a regular file for reading. Does not follow a symbolic link at the path and never blocks on a pipe.
pub fn open(path: &Path) -> io::Result<(File, FileStamp)> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path);
    let file = opened.map_err(|error| match error.raw_os_error() {
        Some(code) if code == Errno::LOOP.raw_os_error() => {
            io::Error::other("it is a link, and links are not followed")
        }
        _ => error,
    })?;
    let data = file.metadata()?;
    if !data.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    Ok((file, FileStamp::from_metadata(&data)))
}

/// The text of a small file, without a byte order mark. Invalid UTF-8 is replaced.
pub(crate) fn read_text(path: &Path, max_bytes: u64) -> io::Result<String> {
    let (file, stamp) = open(path)?;
    if stamp.size > max_bytes {
        return Err(io::Error::other(format!("file of {} MB", stamp.size >> 20)));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(stamp.size).unwrap_or_default());
    file.take(max_bytes).read_to_end(&mut bytes)?;
    if bytes.starts_with(BYTE_ORDER_MARK) {
        bytes.drain(..BYTE_ORDER_MARK.len());
    }
    Ok(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

/// The content of a small JSON file; `None` if it is missing, too large or not JSON.
pub(crate) fn read_json(path: &Path) -> Option<serde_json::Value> {
    serde_json::from_str(&read_text(path, MAX_JSON_BYTES).ok()?).ok()
}

/// The metadata of a regular file, without opening it; `None` for anything else, also for a link.
pub fn stamp(path: &Path) -> Option<FileStamp> {
    let data = std::fs::symlink_metadata(path).ok().filter(Metadata::is_file)?;
    Some(FileStamp::from_metadata(&data))
}

/// When a file or directory was modified, in nanoseconds since the Unix epoch.
pub(super) fn modified_at(path: &Path) -> Option<i64> {
    Some(FileStamp::from_metadata(&std::fs::symlink_metadata(path).ok()?).mtime)
}

/// Hashes both ends of the first `offset` bytes.
pub fn hash_prefix(file: &File, offset: u64) -> io::Result<PrefixHashes> {
    let length = offset.min(HASHED_BYTES);
    let mut buffer = vec![0; length as usize];
    file.read_exact_at(&mut buffer, 0)?;
    let head = xxh3_64(&buffer);
    file.read_exact_at(&mut buffer, offset - length)?;
    Ok(PrefixHashes { head, tail: xxh3_64(&buffer) })
}

/// Whether the first `offset` bytes are unchanged.
pub fn has_only_grown(file: &File, size: u64, offset: u64, known: PrefixHashes) -> bool {
    size >= offset && hash_prefix(file, offset).is_ok_and(|now| now == known)
}
