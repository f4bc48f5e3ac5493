//! Files that would be written or removed: planned first, shown, and changed only if nobody was quicker.

use std::fs::{self, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::record::Record;
use super::{DiffLine, InstallError, diff};

/// What would become of some files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The files it is about, also those that stay as they are.
    pub files: Vec<FileChange>,
    /// What is to be done about our memory of a file that is not ours.
    pub(super) memo: Memo,
    /// Folders that go if nothing is left in them, innermost first.
    pub(super) folders: Vec<PathBuf>,
}

/// What becomes of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Memo {
    /// The files are our own: there is nothing to bring back.
    None,
    /// It is kept in this file before anything is changed.
    Keep(PathBuf, Record),
    /// It has served.
    Drop(PathBuf),
}

impl Plan {
    /// A plan for files of our own.
    pub(super) fn of(files: Vec<FileChange>) -> Self {
        Self { files, memo: Memo::None, folders: Vec::new() }
    }

    /// Whether nothing would change.
    pub fn is_empty(&self) -> bool {
        self.changes().next().is_none()
    }

    /// The files that would change.
    pub fn changes(&self) -> impl Iterator<Item = &FileChange> {
        self.files.iter().filter(|file| !file.is_empty())
    }
}

/// What would become of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// The file, as the agent names it.
    pub path: PathBuf,
    /// The text there is; nothing if there is no file.
    pub before: Option<String>,
    /// The text there would be; nothing if the file would be removed.
    pub after: Option<String>,
    /// The file that is written, where links lead to it.
    pub(super) target: PathBuf,
}

impl FileChange {
    /// A file as it is, and so it would stay.
    pub(super) fn read(path: PathBuf) -> Result<Self, InstallError> {
        let failed = |cause| InstallError::File { path: path.clone(), cause };
        let target = resolve(&path).map_err(failed)?;
        let text = |bytes| String::from_utf8(bytes).map_err(|_| std::io::Error::other("it is not UTF-8"));
        let before = read(&target).and_then(|bytes| bytes.map(text).transpose()).map_err(failed)?;
        Ok(Self { path, after: before.clone(), before, target })
    }

    /// The same file with another text, or none.
    pub(super) fn becoming(self, after: Option<String>) -> Self {
        Self { after, ..self }
    }

    /// Whether nothing would change.
    pub fn is_empty(&self) -> bool {
        self.before == self.after
    }

    /// The lines that would change, with a few around them.
    pub fn diff(&self) -> Vec<DiffLine> {
        diff::lines(self.before.as_deref().unwrap_or_default(), self.after.as_deref().unwrap_or_default())
    }

    /// Fails if somebody changed the file since it was read.
    pub(super) fn must_still_hold(&self) -> Result<(), InstallError> {
        let now = read(&self.target).map_err(|cause| self.failed(cause))?;
        if now.as_deref() == self.before.as_deref().map(str::as_bytes) {
            Ok(())
        } else {
            Err(InstallError::Changed(self.path.clone()))
        }
    }

    /// Does it.
    pub(super) fn carry_out(&self) -> Result<(), InstallError> {
        write(&self.target, self.after.as_deref()).map_err(|cause| self.failed(cause))
    }

    fn failed(&self, cause: std::io::Error) -> InstallError {
        InstallError::File { path: self.path.clone(), cause }
    }
}

/// The file that a path means, through all links. What is not there yet is named by the part that is.
fn resolve(path: &Path) -> std::io::Result<PathBuf> {
    let Some(there) = path.ancestors().find(|part| part.symlink_metadata().is_ok()) else {
        return Ok(path.to_owned());
    };
    let base = there.canonicalize()?;
    match path.strip_prefix(there) {
        Ok(rest) if !rest.as_os_str().is_empty() => Ok(base.join(rest)),
        _ => Ok(base),
    }
}

fn read(path: &Path) -> std::io::Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Writes or removes a file in one step, and leaves its permissions as they are.
fn write(path: &Path, text: Option<&str>) -> std::io::Result<()> {
    let Some(text) = text else { return fs::remove_file(path) };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let permissions = fs::metadata(path).map_or_else(|_| Permissions::from_mode(0o600), |data| data.permissions());
    crate::home::write_with(path, text, permissions)
}
