//! Our own directory: made for the owner only, and refused when others could look into it.

use std::fs::{self, DirBuilder, File, Permissions, TryLockError};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use crate::EngineError;

/// Makes the directory if it is missing, and closes it to others.
pub(crate) fn prepare(folder: &Path) -> Result<(), EngineError> {
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

/// The lock on a file, held as long as the file is open. Nothing if another process has it.
pub(crate) fn lock(path: &Path) -> Result<Option<File>, EngineError> {
    let failed = |cause| EngineError::Folder { path: path.to_owned(), cause };
    let file = fs::OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path);
    let file = file.map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(cause)) => Err(failed(cause)),
    }
}

/// Writes a file of ours in one step: readers see the old or the new one, never half of it.
pub(crate) fn write_whole(path: &Path, text: &str) -> std::io::Result<()> {
    write_with(path, text, Permissions::from_mode(0o600))
}

/// Writes a file in one step, with these permissions.
pub(crate) fn write_with(path: &Path, text: &str, permissions: Permissions) -> std::io::Result<()> {
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
