//! Opens transcripts safely and recognises them when they are met again.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;
use xxhash_rust::xxh3::xxh3_64;

/// How many bytes at either end of what was read are remembered by their hash.
const HASHED_BYTES: u64 = 4096;

/// What the file system says about a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Stamp {
    /// Device.
    pub device: u64,
    /// Number on the device.
    pub inode: u64,
    /// Size in bytes.
    pub size: u64,
    /// Modification time in nanoseconds.
    pub mtime: i64,
}

impl Stamp {
    pub(super) fn of(data: &Metadata) -> Self {
        Self {
            device: data.dev(),
            inode: data.ino(),
            size: data.size(),
            mtime: data.mtime().saturating_mul(1_000_000_000).saturating_add(data.mtime_nsec()),
        }
    }
}

/// Hashes of what was read, by which a rewritten file is told from one that has grown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Hashes {
    /// Of the first bytes.
    pub head: u64,
    /// Of the bytes before the offset.
    pub tail: u64,
}

/// Opens a regular file for reading. Follows no link in its last part and never waits for a pipe.
pub fn open(path: &Path) -> io::Result<(File, Stamp)> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)?;
    let data = file.metadata()?;
    if !data.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    Ok((file, Stamp::of(&data)))
}

/// Hashes of both ends of the first `offset` bytes.
pub fn hashes(file: &File, offset: u64) -> io::Result<Hashes> {
    let length = offset.min(HASHED_BYTES);
    let mut buffer = vec![0; length as usize];
    file.read_exact_at(&mut buffer, 0)?;
    let head = xxh3_64(&buffer);
    file.read_exact_at(&mut buffer, offset - length)?;
    Ok(Hashes { head, tail: xxh3_64(&buffer) })
}

/// Whether the first `offset` bytes are still those that were read.
pub fn has_only_grown(file: &File, size: u64, offset: u64, known: Hashes) -> bool {
    size >= offset && hashes(file, offset).is_ok_and(|now| now == known)
}
