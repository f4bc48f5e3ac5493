//! Planned file changes: shown to the user first, and applied only if the files have not changed since.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rethread_store::{OWNER_ONLY, create_folders, remove_file, replace_file};

use super::program::ProgramCopy;
use super::record::InstallRecord;
use super::{DiffLine, InstallError, diff};

/// A set of planned file changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InstallPlan {
    /// The files it covers, including those that stay unchanged.
    pub files: Vec<FileChange>,
    /// The copy of this program that the files call, if it is missing or outdated.
    pub program: Option<ProgramCopy>,
    /// What to do with the records of the original settings files.
    pub(super) records: Vec<RecordChange>,
    /// Folders to remove if they are empty afterwards, innermost first.
    pub(super) folders: Vec<PathBuf>,
}

/// What to do with the record of an original file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RecordChange {
    /// Write the record to this path before anything is changed.
    Save(PathBuf, InstallRecord),
    /// Delete the record; it is no longer needed.
    Delete(PathBuf),
}

impl InstallPlan {
    /// A plan for files that are our own.
    pub(super) fn of_own_files(files: Vec<FileChange>) -> Self {
        Self { files, ..Self::default() }
    }

    /// Both plans as one.
    pub(super) fn join(mut self, other: Self) -> Self {
        self.files.extend(other.files);
        self.records.extend(other.records);
        self.folders.extend(other.folders);
        self.program = self.program.or(other.program);
        self
    }

    /// Whether the plan changes no file.
    pub fn is_empty(&self) -> bool {
        self.program.is_none() && self.changes().next().is_none()
    }

    /// The files whose content would change.
    pub fn changes(&self) -> impl Iterator<Item = &FileChange> {
        self.files.iter().filter(|file| !file.is_empty())
    }
}

/// A planned change of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// Path of the file as the agent knows it.
    pub path: PathBuf,
    /// The current text; `None` if the file does not exist.
    pub before: Option<String>,
    /// The planned text; `None` if the file would be removed.
    pub after: Option<String>,
    /// Whether the whole file is ours, so that there is nothing else in it to look at.
    pub is_own: bool,
    /// The file that is written, with symbolic links resolved.
    pub(super) target: PathBuf,
}

impl FileChange {
    /// Reads a file; the planned text is the current one.
    pub(super) fn read(path: PathBuf) -> Result<Self, InstallError> {
        let failed = |cause| InstallError::File { path: path.clone(), cause };
        let target = resolve(&path).map_err(failed)?;
        let text = |bytes| String::from_utf8(bytes).map_err(|_| std::io::Error::other("not valid UTF-8"));
        let before = read(&target).and_then(|bytes| bytes.map(text).transpose()).map_err(failed)?;
        Ok(Self { path, after: before.clone(), before, is_own: false, target })
    }

    /// Sets the planned text; `None` removes the file.
    pub(super) fn with_text(self, after: Option<String>) -> Self {
        Self { after, ..self }
    }

    /// Marks a file that contains nothing but our text.
    pub(super) fn own(self) -> Self {
        Self { is_own: true, ..self }
    }

    /// Whether the planned text equals the current one.
    pub fn is_empty(&self) -> bool {
        self.before == self.after
    }

    /// The lines that would change, with some context.
    pub fn diff(&self) -> Vec<DiffLine> {
        diff::diff_lines(self.before.as_deref().unwrap_or_default(), self.after.as_deref().unwrap_or_default())
    }

    /// Fails if the file has changed since it was read, or if its owner has write-protected it.
    pub(super) fn ensure_replaceable(&self) -> Result<(), InstallError> {
        // Replacing a file needs write permission only for its folder, so the file itself has to be checked.
        if fs::metadata(&self.target).is_ok_and(|data| data.permissions().readonly()) {
            return Err(InstallError::ReadOnly(self.path.clone()));
        }
        let now = read(&self.target).map_err(|cause| self.failed(cause))?;
        if now.as_deref() == self.before.as_deref().map(str::as_bytes) {
            Ok(())
        } else {
            Err(InstallError::Changed(self.path.clone()))
        }
    }

    /// Writes or removes the file.
    pub(super) fn apply(&self) -> Result<(), InstallError> {
        write(&self.target, self.after.as_deref()).map_err(|cause| self.failed(cause))
    }

    fn failed(&self, cause: std::io::Error) -> InstallError {
        InstallError::File { path: self.path.clone(), cause }
    }
}

/// What to restore if a plan fails halfway.
#[derive(Debug, Default)]
pub(super) struct Undo {
    /// Each file with the text it had; `None` if it did not exist.
    files: Vec<(PathBuf, Option<String>)>,
    /// Folders that did not exist, innermost first for each file.
    folders: Vec<PathBuf>,
}

impl Undo {
    /// Notes a file that is about to be changed.
    pub(super) fn note(&mut self, path: &Path, before: Option<String>) {
        self.files.push((path.to_owned(), before));
        self.folders.extend(path.ancestors().skip(1).take_while(|folder| !folder.exists()).map(Path::to_owned));
    }

    /// Restores what was noted, as far as possible: the error that led here is the one to report.
    pub(super) fn run(self) {
        for (path, before) in self.files.iter().rev() {
            // The file that failed may still be as it was.
            if read(path).is_ok_and(|now| now.as_deref() != before.as_deref().map(str::as_bytes)) {
                let _ = write(path, before.as_deref());
            }
        }
        for folder in &self.folders {
            let _ = fs::remove_dir(folder);
        }
    }
}

/// Resolves symbolic links. If the path does not exist yet, the existing part of it is resolved.
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

/// Writes or removes a file atomically, keeping its permissions.
fn write(path: &Path, text: Option<&str>) -> std::io::Result<()> {
    let Some(text) = text else { return remove_file(path) };
    if let Some(folder) = path.parent() {
        // An agent's own directory: the umask decides who can read it.
        create_folders(folder, 0o777)?;
    }
    let mode = fs::metadata(path).map_or(OWNER_ONLY, |about| about.permissions().mode() & 0o7777);
    replace_file(path, text.as_bytes(), mode)
}
