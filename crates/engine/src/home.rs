//! Our own directory and the files in it: readable only by the owner, locked and written atomically.

use std::fs::{self, DirBuilder, File, Permissions, TryLockError};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use crate::EngineError;

/// Creates the directory if it is missing, and removes the permissions of other users.
pub(crate) fn ensure_private_folder(folder: &Path) -> Result<(), EngineError> {
    let failed = |cause| EngineError::Folder { path: folder.to_owned(), cause };
    match fs::metadata(folder) {
        Ok(data) if !data.is_dir() => Err(failed(std::io::Error::other("not a directory"))),
        Ok(data) if data.permissions().mode() & 0o077 != 0 => {
            fs::set_permissions(folder, Permissions::from_mode(0o700)).map_err(failed)
        }
        Ok(_) => Ok(()),
        Err(_) => DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed),
    }
}

/// Locks a file as long as the returned handle is open. `None` if another process holds the lock.
pub(crate) fn try_lock_file(path: &Path) -> Result<Option<File>, EngineError> {
    let failed = |cause| EngineError::Folder { path: path.to_owned(), cause };
    let file = fs::OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path);
    let file = file.map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(cause)) => Err(failed(cause)),
    }
}

/// Replaces one of our files atomically: readers see the old or the new content, never a mix. Only the owner can
/// read it.
pub(crate) fn write_atomic(path: &Path, text: &str) -> std::io::Result<()> {
    write_atomic_with(path, text, Permissions::from_mode(0o600))
}

/// Replaces a file atomically and gives it these permissions.
pub(crate) fn write_atomic_with(path: &Path, text: &str, permissions: Permissions) -> std::io::Result<()> {
    use std::io::Write;
    let temporary = path.with_extension(format!("tmp-{}", std::process::id()));
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.set_permissions(permissions));
    let written = written.and_then(|()| file.sync_all());
    let moved = written.and_then(|()| fs::rename(&temporary, path));
    if moved.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    moved
}
