//! Our own directory and the files in it: readable only by the owner, locked and written atomically.

use std::fs::{self, File, Permissions, TryLockError};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rethread_store::{OWNER_ONLY, OWNER_ONLY_FOLDER, create_folders, replace_file};

use crate::{Engine, EngineError};

/// Set if all users can change a directory.
const WRITABLE_BY_ALL: u32 = 0o002;
/// All permission bits of other users.
const OTHERS: u32 = 0o077;

impl Engine {
    /// Creates our directory if it is missing, unless the memory in it was just deleted. Refuses one that all users can write to, because anything in it may
    /// be theirs, and makes one that they can read private.
    pub(crate) fn ensure_home(&self) -> Result<(), EngineError> {
        if self.is_memory_deleted() {
            return Err(EngineError::MemoryDeleted(self.folder.clone()));
        }
        match self.make_home_private()? {
            Some(mode) => {
                let fields = [("mode", format!("{mode:04o}").into())];
                self.journal().event("home_made_private", None, &fields);
                Ok(())
            }
            None if self.folder.is_dir() => Ok(()),
            None => create_folders(&self.folder, OWNER_ONLY_FOLDER).map_err(failed(&self.folder)),
        }
    }

    /// Makes our directory private and says what was changed, and what else the user should know about it. An error if
    /// all users can write to it.
    pub fn home_warnings(&self) -> Result<Vec<String>, EngineError> {
        let folder = self.home.display();
        let mut warnings = Vec::new();
        match self.make_home_private() {
            Ok(Some(mode)) => warnings
                .push(format!("other users could use {folder} (mode {mode:04o}); changed to {OWNER_ONLY_FOLDER:04o}")),
            Ok(None) => {}
            Err(EngineError::Folder { .. }) if is_read_only(&self.home) => {
                warnings.push(format!("other users can use {folder}"));
            }
            Err(error) => return Err(error),
        }
        if self.home.is_dir() && is_read_only(&self.home) {
            warnings.push(format!("{folder} is read-only: this shows what is stored, and nothing can be saved"));
        }
        Ok(warnings)
    }

    /// Returns the permissions that were removed.
    fn make_home_private(&self) -> Result<Option<u32>, EngineError> {
        let folder = &self.home;
        let Ok(about) = fs::metadata(folder) else { return Ok(None) };
        let mode = about.permissions().mode() & 0o7777;
        if !about.is_dir() {
            return Err(failed(folder)(std::io::Error::other("not a directory")));
        }
        if mode & WRITABLE_BY_ALL != 0 {
            return Err(EngineError::SharedHome { path: folder.clone(), mode });
        }
        if mode & OTHERS == 0 {
            return Ok(None);
        }
        fs::set_permissions(folder, Permissions::from_mode(OWNER_ONLY_FOLDER)).map_err(failed(folder))?;
        Ok(Some(mode))
    }
}

/// Creates a directory inside ours if it is missing, and removes the permissions of other users. Refuses a link: it
/// would lead our files elsewhere.
pub(crate) fn ensure_private_folder(folder: &Path) -> Result<(), EngineError> {
    match fs::symlink_metadata(folder) {
        Ok(about) if about.is_symlink() => Err(failed(folder)(std::io::Error::other("it is a symbolic link"))),
        Ok(about) if !about.is_dir() => Err(failed(folder)(std::io::Error::other("not a directory"))),
        Ok(about) if about.permissions().mode() & OTHERS != 0 => {
            fs::set_permissions(folder, Permissions::from_mode(OWNER_ONLY_FOLDER)).map_err(failed(folder))
        }
        Ok(_) => Ok(()),
        Err(_) => create_folders(folder, OWNER_ONLY_FOLDER).map_err(failed(folder)),
    }
}

/// Locks a file as long as the returned handle is open. `None` if another process holds the lock.
pub(crate) fn try_lock_file(path: &Path) -> Result<Option<File>, EngineError> {
    let file = fs::OpenOptions::new().write(true).create(true).truncate(false).mode(OWNER_ONLY).open(path);
    let file = file.map_err(failed(path))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(cause)) => Err(failed(path)(cause)),
    }
}

/// Replaces one of our files, which only the owner can read. It is on disk when this returns.
pub(crate) fn write_atomic(path: &Path, text: &str) -> std::io::Result<()> {
    replace_file(path, text.as_bytes(), OWNER_ONLY)
}

fn is_read_only(folder: &Path) -> bool {
    rustix::fs::access(folder, rustix::fs::Access::WRITE_OK).is_err()
}

fn failed(path: &Path) -> impl FnOnce(std::io::Error) -> EngineError + use<> {
    let path = path.to_owned();
    move |cause| EngineError::Folder { path, cause }
}
