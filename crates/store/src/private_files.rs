//! Private directories and the one way to replace a file: atomically, and on disk when the call returns.
//!
//! Every file that Rethread replaces, its own or an agent's, is written by [`PrivateFolder::replace`].

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, Dir, Mode, OFlags};

/// Permissions of our own files.
pub const OWNER_ONLY: u32 = 0o600;
/// Permissions of our own directories.
pub const OWNER_ONLY_FOLDER: u32 = 0o700;

/// End of the names of temporary files.
const TEMPORARY_SUFFIX: &str = ".rethread-tmp";
/// Writing takes a moment, so an older temporary file was left by a killed process.
const STALE_AFTER: Duration = Duration::from_hours(1);

/// A directory held open, so that it cannot be swapped for another one between two steps.
#[derive(Debug)]
pub struct PrivateFolder(OwnedFd);

impl PrivateFolder {
    /// Opens a directory. Fails if the path is a link.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::open_with(path, OFlags::NOFOLLOW)
    }

    /// Opens a directory that may be a link, such as an agent's settings directory.
    pub fn open_following_links(path: &Path) -> io::Result<Self> {
        Self::open_with(path, OFlags::empty())
    }

    fn open_with(path: &Path, flags: OFlags) -> io::Result<Self> {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let flags = flags | OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self(rustix::fs::open(path, flags, Mode::empty())?))
    }

    /// Opens a regular file in the directory. Anything else is `InvalidInput`.
    pub(crate) fn file(&self, name: impl AsRef<OsStr>, flags: OFlags) -> io::Result<File> {
        // Opening a pipe would otherwise block until its other end is opened.
        let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::openat(&self.0, name.as_ref(), flags, Mode::RUSR | Mode::WUSR)?);
        if file.metadata()?.is_file() { Ok(file) } else { Err(io::ErrorKind::InvalidInput.into()) }
    }

    pub(crate) fn bytes(&self, name: impl AsRef<OsStr>) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        io::Read::read_to_end(&mut self.file(name, OFlags::RDONLY)?, &mut bytes)?;
        Ok(bytes)
    }

    /// Replaces a file: readers see the old or the new content, and so does everyone after a power cut. When this
    /// returns, the new content is on disk under its name.
    pub fn replace(&self, name: impl AsRef<OsStr>, bytes: &[u8], mode: u32) -> io::Result<()> {
        let name = name.as_ref();
        self.write_temporary(name, bytes, mode, |temporary| {
            Ok(rustix::fs::renameat(&self.0, temporary, &self.0, name)?)
        })
    }

    /// Creates a complete file, on disk when this returns. Fails with `AlreadyExists` if the name is taken.
    pub fn create(&self, name: impl AsRef<OsStr>, bytes: &[u8], mode: u32) -> io::Result<()> {
        let name = name.as_ref();
        self.write_temporary(name, bytes, mode, |temporary| {
            let linked = rustix::fs::linkat(&self.0, temporary, &self.0, name, AtFlags::empty());
            match linked.map_err(io::Error::from) {
                Ok(()) => self.remove(temporary),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists || self.contains(name) => {
                    Err(io::ErrorKind::AlreadyExists.into())
                }
                // Some file systems do not support hard links.
                Err(_) => Ok(rustix::fs::renameat(&self.0, temporary, &self.0, name)?),
            }
        })
    }

    /// Writes a temporary file, flushes it, lets `place` give it its name, and flushes the directory.
    fn write_temporary(
        &self,
        name: &OsStr,
        bytes: &[u8],
        mode: u32,
        place: impl FnOnce(&OsStr) -> io::Result<()>,
    ) -> io::Result<()> {
        self.sweep();
        let temporary = temporary_name(name);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&self.0, &temporary, flags, Mode::RUSR | Mode::WUSR)?;
        let write = |mut file: File| -> io::Result<()> {
            file.write_all(bytes)?;
            rustix::fs::fchmod(&file, Mode::from_raw_mode(mode as rustix::fs::RawMode))?;
            file.sync_all()
        };
        let placed = write(File::from(file)).and_then(|()| place(&temporary));
        if placed.is_err() {
            let _ = self.remove(&temporary);
        }
        placed.and_then(|()| self.sync())
    }

    /// Removes temporary files that killed processes left in the directory. Errors do not matter: the next writer
    /// tries again.
    fn sweep(&self) {
        let Ok(entries) = Dir::read_from(&self.0) else { return };
        for entry in entries.flatten() {
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if is_temporary_name(name) && self.is_stale(name) {
                let _ = self.remove(name);
            }
        }
    }

    fn is_stale(&self, name: &OsStr) -> bool {
        let Ok(about) = rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW) else { return false };
        let modified = SystemTime::UNIX_EPOCH + Duration::from_secs(about.st_mtime.max(0).cast_unsigned());
        modified.elapsed().is_ok_and(|age| age > STALE_AFTER)
    }

    fn contains(&self, name: &OsStr) -> bool {
        rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    /// Renames a file and replaces one that has the new name.
    pub(crate) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        rustix::fs::renameat(&self.0, from, &self.0, to)?;
        self.sync()
    }

    pub(crate) fn remove(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.0, name.as_ref(), AtFlags::empty())?)
    }

    /// Flushes the directory, so that created, renamed and removed files stay so after a power cut.
    pub fn sync(&self) -> io::Result<()> {
        match rustix::fs::fsync(&self.0) {
            // Some network file systems cannot flush a directory.
            Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOTSUP) => Ok(()),
            other => Ok(other?),
        }
    }
}

/// Replaces the file at a path, see [`PrivateFolder::replace`]. Its directory must exist and may be a link.
pub fn replace_file(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    PrivateFolder::open_following_links(path.parent().unwrap_or(Path::new("")))?.replace(name, bytes, mode)
}

/// Removes the file at a path; after a power cut it stays removed.
pub fn remove_file(path: &Path) -> io::Result<()> {
    std::fs::remove_file(path)?;
    PrivateFolder::open_following_links(path.parent().unwrap_or(Path::new("")))?.sync()
}

/// Creates a directory and its missing parents, on disk when this returns. Existing ones are left as they are.
pub fn create_folders(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    if path.as_os_str().is_empty() || path.is_dir() {
        return Ok(());
    }
    let parent = path.parent().unwrap_or(Path::new(""));
    create_folders(parent, mode)?;
    match std::fs::DirBuilder::new().mode(mode).create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        Err(error) => Err(error),
        Ok(()) => PrivateFolder::open_following_links(parent)?.sync(),
    }
}

/// A name that no other process, dead or alive, uses for its temporary file.
fn temporary_name(name: &OsStr) -> OsString {
    // Every `RandomState` has its own keys, from the random numbers of the operating system.
    let random = RandomState::new().build_hasher().finish();
    let mut temporary = OsString::from(".");
    temporary.push(name);
    temporary.push(format!(".{random:016x}{TEMPORARY_SUFFIX}"));
    temporary
}

fn is_temporary_name(name: &OsStr) -> bool {
    name.as_bytes().starts_with(b".") && name.as_bytes().ends_with(TEMPORARY_SUFFIX.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn leftovers_of_killed_processes_never_block_and_are_swept_when_stale() {
        // D71
        let folder = tempfile::tempdir().unwrap();
        let stale = folder.path().join(".config.toml.0123456789abcdef.rethread-tmp");
        let fresh = folder.path().join(".config.toml.fedcba9876543210.rethread-tmp");
        fs::write(&stale, "half").unwrap();
        fs::write(&fresh, "half").unwrap();
        let long_ago = SystemTime::now() - 2 * STALE_AFTER;
        File::options().write(true).open(&stale).unwrap().set_modified(long_ago).unwrap();
        for text in ["one", "two"] {
            replace_file(&folder.path().join("config.toml"), text.as_bytes(), OWNER_ONLY).unwrap();
        }
        assert_eq!(names(folder.path()), [".config.toml.fedcba9876543210.rethread-tmp", "config.toml"]);
        assert_eq!(fs::read_to_string(folder.path().join("config.toml")).unwrap(), "two");
    }

    #[test]
    fn a_file_is_created_once_and_replaced_with_the_given_permissions() {
        // D62
        let folder = tempfile::tempdir().unwrap();
        let private = PrivateFolder::open(folder.path()).unwrap();
        private.create("a", b"one", OWNER_ONLY).unwrap();
        assert_eq!(private.create("a", b"two", OWNER_ONLY).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(private.bytes("a").unwrap(), b"one");
        private.replace("a", b"three", 0o640).unwrap();
        let about = fs::metadata(folder.path().join("a")).unwrap();
        assert_eq!(
            (private.bytes("a").unwrap().as_slice(), about.permissions().mode() & 0o777),
            (&b"three"[..], 0o640)
        );
        assert_eq!(names(folder.path()), ["a"]);
    }

    #[test]
    fn planted_links_are_not_followed() {
        // D71
        let folder = tempfile::tempdir().unwrap();
        let elsewhere = folder.path().join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        fs::write(elsewhere.join("victim"), "safe").unwrap();
        std::os::unix::fs::symlink(&elsewhere, folder.path().join("threads")).unwrap();
        assert!(PrivateFolder::open(&folder.path().join("threads")).is_err());
        std::os::unix::fs::symlink(elsewhere.join("victim"), folder.path().join("token")).unwrap();
        replace_file(&folder.path().join("token"), b"new", OWNER_ONLY).unwrap();
        assert_eq!(fs::read_to_string(elsewhere.join("victim")).unwrap(), "safe");
    }
}
