//! A file of an export, which gets its name only once it is complete.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use rethread_engine::slug;
use rethread_model::{Session, short_id};
use tempfile::{NamedTempFile, PersistError};

use crate::cli::transfer::ExportFormat;
use crate::failure::{Failure, FailureKind};
use crate::render::session_label;

/// Characters of a session's name in the name of its file.
const MAX_NAME_CHARS: usize = 60;
/// Names that are tried before giving up.
const MAX_NAMES: u32 = 1000;

/// A file that is being written. Only its owner can read it.
#[derive(Debug)]
pub(crate) struct ExportFile {
    path: PathBuf,
    draft: BufWriter<NamedTempFile>,
}

/// Where an export goes that a user named.
#[derive(Debug)]
pub(crate) enum NamedExport {
    /// A file, which is replaced once the export is complete.
    File(ExportFile),
    /// A pipe or a device, which nothing can replace.
    Stream(PathBuf, BufWriter<File>),
}

impl NamedExport {
    /// Opens what a path leads to. Links are followed.
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        let path = link_target(path);
        match std::fs::metadata(&path) {
            Ok(found) if found.is_dir() => {
                let failure = Failure::new(FailureKind::Usage, format!("{} is a directory", path.display()));
                Err(failure.hint("name a file in it"))
            }
            Ok(found) if !found.is_file() => {
                let file = OpenOptions::new().write(true).open(&path).map_err(|cause| failure(&path, &cause))?;
                Ok(Self::Stream(path, BufWriter::new(file)))
            }
            _ => Ok(Self::File(ExportFile::create(path)?)),
        }
    }

    pub(crate) fn write(&mut self, text: &str) -> Result<(), Failure> {
        match self {
            NamedExport::File(file) => file.write(text),
            NamedExport::Stream(_, stream) => Ok(stream.write_all(text.as_bytes())?),
        }
    }

    /// Ends the export. Returns where it is.
    pub(crate) fn finish(self) -> Result<PathBuf, Failure> {
        match self {
            NamedExport::File(file) => file.replace(),
            NamedExport::Stream(path, mut stream) => stream.flush().map(|()| path).map_err(Failure::from),
        }
    }
}

impl ExportFile {
    pub(crate) fn create(path: PathBuf) -> Result<Self, Failure> {
        let folder = path.parent().unwrap_or(Path::new("/"));
        // The kind alone: the text of the error has the name of the draft.
        let draft = NamedTempFile::new_in(folder).map_err(|cause| failure(&path, &cause.kind()))?;
        Ok(Self { path, draft: BufWriter::new(draft) })
    }

    pub(crate) fn write(&mut self, text: &str) -> Result<(), Failure> {
        Ok(self.draft.write_all(text.as_bytes())?)
    }

    /// Gives the file its name, and replaces a file that has it.
    fn replace(self) -> Result<PathBuf, Failure> {
        let Self { path, draft } = self;
        let replaced = finish(draft)?.persist(&path).map_err(PersistError::into).and_then(|file: File| file.sync_all());
        replaced.map_err(|cause: io::Error| failure(&path, &cause))?;
        Ok(path)
    }

    /// Gives the file its name, or one with a number if there is such a file. Returns the path.
    pub(crate) fn keep_existing(self) -> Result<PathBuf, Failure> {
        let Self { path, draft } = self;
        let mut draft = finish(draft)?;
        for number in 1..=MAX_NAMES {
            let numbered = with_number(&path, number);
            match draft.persist_noclobber(&numbered) {
                Ok(file) => {
                    file.sync_all()?;
                    return Ok(numbered);
                }
                Err(taken) if taken.error.kind() == io::ErrorKind::AlreadyExists => draft = taken.file,
                Err(failed) => return Err(failed.error.into()),
            }
        }
        Err(Failure::new(FailureKind::Output, format!("{} exists in {MAX_NAMES} versions", path.display())))
    }
}

fn failure(path: &Path, cause: &impl std::fmt::Display) -> Failure {
    Failure::new(FailureKind::Output, format!("cannot write {}: {cause}", path.display()))
}

/// The target of a link, even if that file does not exist yet.
fn link_target(path: &Path) -> PathBuf {
    let target = || Some(path.parent()?.join(std::fs::read_link(path).ok()?));
    path.canonicalize().ok().or_else(target).unwrap_or_else(|| path.to_path_buf())
}

fn finish(draft: BufWriter<NamedTempFile>) -> Result<NamedTempFile, Failure> {
    draft.into_inner().map_err(|error| Failure::from(error.into_error()))
}

/// `notes.md`, `notes-2.md`, `notes-3.md`.
fn with_number(path: &Path, number: u32) -> PathBuf {
    let part = |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
    match number {
        1 => path.to_path_buf(),
        _ => path.with_file_name(format!("{}-{number}.{}", part(path.file_stem()), part(path.extension()))),
    }
}

/// A name for the file of a session: words of the session's name, and the end of its id.
pub(crate) fn export_file_name(session: &Session, format: ExportFormat) -> String {
    let (name, id) = (file_words(&session_label(session)), session.id.to_string());
    format!("{name}-{}.{}", short_id(&id).to_lowercase(), format.extension())
}

/// A name from a transcript as the start of a file's name: only words and dashes.
fn file_words(name: &str) -> String {
    let words: String = slug(name).chars().take(MAX_NAME_CHARS).collect();
    if words.is_empty() { "session".to_owned() } else { words.trim_end_matches('-').to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(path: &Path, text: &str) -> ExportFile {
        let mut file = ExportFile::create(path.to_path_buf()).unwrap();
        file.write(text).unwrap();
        file
    }

    #[test]
    fn an_existing_file_is_kept_or_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.md");
        assert_eq!(written(&path, "one").keep_existing().unwrap(), path);
        assert_eq!(written(&path, "two").keep_existing().unwrap(), folder.path().join("notes-2.md"));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one");
        written(&path, "three").replace().unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "three");
    }

    fn export_to(path: &Path, text: &str) {
        let mut export = NamedExport::open(path).unwrap();
        export.write(text).unwrap();
        export.finish().unwrap();
    }

    #[test]
    fn a_link_is_followed_and_a_folder_refused() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("target"), "before").unwrap();
        std::os::unix::fs::symlink("target", at("link")).unwrap();
        std::os::unix::fs::symlink("new", at("dangling")).unwrap();
        export_to(&at("link"), "one");
        export_to(&at("dangling"), "two");
        assert_eq!(std::fs::read_to_string(at("target")).unwrap(), "one");
        assert_eq!(std::fs::read_to_string(at("new")).unwrap(), "two");
        assert!(at("link").is_symlink() && at("dangling").is_symlink());
        let refused = NamedExport::open(folder.path()).unwrap_err().source.to_string();
        assert!(refused.ends_with(" is a directory"), "{refused}");
        let refused = NamedExport::open(&at("none/file")).unwrap_err().source.to_string();
        assert!(refused.contains("none/file: ") && !refused.contains("none/.tmp"), "{refused}");
    }

    #[test]
    fn a_pipe_is_written_to() {
        use std::os::unix::fs::FileTypeExt as _;

        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || std::fs::read_to_string(pipe).unwrap()
        });
        export_to(&pipe, "lines");
        assert_eq!(reader.join().unwrap(), "lines");
        assert!(std::fs::metadata(&pipe).unwrap().file_type().is_fifo());
    }

    #[test]
    fn a_file_that_is_not_finished_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        drop(written(&folder.path().join("notes.md"), "one"));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_name_from_a_transcript_is_only_words() {
        let check = |name: &str, expect: &str| assert_eq!(file_words(name), expect);
        check("../../etc/\u{1b}]52;c;eA==\u{7} Fix it", "etc-52-c-ea-fix-it");
        check("日本語 のテスト", "日本語-のテスト");
        check("/.", "session");
        check(&"long ".repeat(60), &"long-".repeat(12)[..59]);
    }
}
