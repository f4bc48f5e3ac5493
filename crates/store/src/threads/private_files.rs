//! Files readable only by their owner, opened without following links and replaced atomically.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, Mode, OFlags};

/// A directory held open, so that it cannot be swapped for another one between two steps.
#[derive(Debug)]
pub(super) struct PrivateFolder(OwnedFd);

/// Whether a file must be on disk before it replaces the old one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flush {
    /// For data that exists nowhere else.
    Now,
    /// For data that can be rebuilt.
    Later,
}

/// Distinguishes temporary files of one process.
static TEMPORARY_COUNTER: AtomicU64 = AtomicU64::new(0);

impl PrivateFolder {
    /// Fails if the path is a link.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(Self(rustix::fs::open(path, flags, Mode::empty())?))
    }

    /// Opens a regular file in the directory. Anything else is `InvalidInput`.
    pub(super) fn file(&self, name: &str, flags: OFlags) -> io::Result<File> {
        // Opening a pipe would otherwise block until its other end is opened.
        let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::openat(&self.0, name, flags, Mode::RUSR | Mode::WUSR)?);
        if file.metadata()?.is_file() { Ok(file) } else { Err(io::ErrorKind::InvalidInput.into()) }
    }

    pub(super) fn bytes(&self, name: &str) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        io::Read::read_to_end(&mut self.file(name, OFlags::RDONLY)?, &mut bytes)?;
        Ok(bytes)
    }

    /// Replaces a file atomically: readers see the old or the new content.
    pub(super) fn replace(&self, name: &str, bytes: &[u8], flush: Flush) -> io::Result<()> {
        let number = TEMPORARY_COUNTER.fetch_add(1, Ordering::Relaxed);
        let temporary = format!(".{name}.{}.{number}", std::process::id());
        let result = self.write_new(&temporary, bytes, flush);
        let result = result.and_then(|()| Ok(rustix::fs::renameat(&self.0, temporary.as_str(), &self.0, name)?));
        if result.is_err() {
            let _ = self.remove(&temporary);
        }
        result
    }

    /// Renames a file and replaces one that has the new name.
    pub(super) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.0, from, &self.0, to)?)
    }

    pub(super) fn remove(&self, name: &str) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.0, name, AtFlags::empty())?)
    }

    /// Flushes the directory, so that created and renamed files survive a power cut.
    pub(super) fn sync(&self) -> io::Result<()> {
        Ok(rustix::fs::fsync(&self.0)?)
    }

    fn write_new(&self, name: &str, bytes: &[u8], flush: Flush) -> io::Result<()> {
        // A killed process with the same id may have left such a file; it is overwritten.
        let mut file = self.file(name, OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC)?;
        file.write_all(bytes)?;
        if flush == Flush::Now { file.sync_data() } else { Ok(()) }
    }
}

/// The parent directory must exist.
pub(super) fn create_folder(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().mode(0o700).create(path)
}

pub(super) fn create_folder_and_parents(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}
