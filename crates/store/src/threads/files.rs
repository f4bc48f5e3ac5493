//! Files for their owner only, opened without following links, replaced as a whole.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, Mode, OFlags};

/// A directory held open, so that nobody can put another one in its place between two steps.
#[derive(Debug)]
pub(super) struct Folder(OwnedFd);

/// Whether a file must be on disk before it takes its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flush {
    /// It holds what nothing else does.
    Now,
    /// It can be made again.
    Later,
}

/// Distinguishes temporary files of one process.
static TEMPORARY: AtomicU64 = AtomicU64::new(0);

impl Folder {
    /// Opens a directory that is no link.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(Self(rustix::fs::open(path, flags, Mode::empty())?))
    }

    /// Opens a regular file in it.
    pub(super) fn file(&self, name: &str, flags: OFlags) -> io::Result<File> {
        // A pipe would make the opening wait for somebody at its other end.
        let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::openat(&self.0, name, flags, Mode::RUSR | Mode::WUSR)?);
        if file.metadata()?.is_file() { Ok(file) } else { Err(io::ErrorKind::InvalidInput.into()) }
    }

    /// The bytes of a regular file in it.
    pub(super) fn bytes(&self, name: &str) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        io::Read::read_to_end(&mut self.file(name, OFlags::RDONLY)?, &mut bytes)?;
        Ok(bytes)
    }

    /// Replaces a file: readers see the old or the new one, never a part.
    pub(super) fn replace(&self, name: &str, bytes: &[u8], flush: Flush) -> io::Result<()> {
        let number = TEMPORARY.fetch_add(1, Ordering::Relaxed);
        let temporary = format!(".{name}.{}.{number}", std::process::id());
        let written = self.write_new(&temporary, bytes, flush);
        let renamed = written.and_then(|()| Ok(rustix::fs::renameat(&self.0, temporary.as_str(), &self.0, name)?));
        if renamed.is_err() {
            let _ = self.remove(&temporary);
        }
        renamed
    }

    /// Gives a file another name, instead of any that had it.
    pub(super) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.0, from, &self.0, to)?)
    }

    /// Removes a file.
    pub(super) fn remove(&self, name: &str) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.0, name, AtFlags::empty())?)
    }

    /// Makes sure that the names in it are on disk.
    pub(super) fn sync(&self) -> io::Result<()> {
        Ok(rustix::fs::fsync(&self.0)?)
    }

    fn write_new(&self, name: &str, bytes: &[u8], flush: Flush) -> io::Result<()> {
        // What a process that was killed left under the same name is worth nothing.
        let mut file = self.file(name, OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC)?;
        file.write_all(bytes)?;
        if flush == Flush::Now { file.sync_data() } else { Ok(()) }
    }
}

/// Makes a directory for the owner only, in one that is there.
pub(super) fn make_one_folder(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().mode(0o700).create(path)
}

/// Makes a directory for the owner only, with those above it.
pub(super) fn make_folder(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}
