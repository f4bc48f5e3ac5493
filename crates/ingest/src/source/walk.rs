//! Lists transcript files below a directory. Follows no links and opens no files.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use rethread_model::Warning;

use super::file::FileStamp;

/// Greater than the depth of any agent's folders.
const MAX_DEPTH: usize = 12;
/// Folders of agents that never contain transcripts.
const SKIPPED_FOLDERS: [&str; 2] = ["tool-results", "memory"];

/// Decides whether a file is listed.
type AcceptPath<'a> = dyn Fn(&Path) -> bool + Sync + 'a;

/// All files below the root that `accept` takes, in no particular order. `accept` gets the path relative to the root.
/// Most of the time is spent waiting for the file system, so two threads share the folders of the root.
pub(super) fn walk(root: &Path, accept: &AcceptPath<'_>) -> (Vec<(PathBuf, FileStamp)>, Vec<Warning>) {
    let mut walker = TranscriptWalker::new(root, accept);
    // The root itself may be a link: users move their agents' directories to other disks.
    match fs::metadata(root) {
        Ok(data) if data.is_dir() => {
            let folders = walker.collect_files(root);
            let middle = folders.len() / 2;
            let mut other = TranscriptWalker::new(root, accept);
            thread::scope(|scope| {
                scope.spawn(|| folders[..middle].iter().for_each(|folder| other.visit_folder(folder, 1)));
                folders[middle..].iter().for_each(|folder| walker.visit_folder(folder, 1));
            });
            walker.found.append(&mut other.found);
            walker.warnings.append(&mut other.warnings);
        }
        Ok(data) if data.is_file() => walker.found.push((root.to_owned(), FileStamp::from_metadata(&data))),
        Ok(_) => walker.warn(root, "not a file or directory; skipped"),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => walker.warn(root, &format!("cannot open ({error}); skipped")),
    }
    (walker.found, walker.warnings)
}

struct TranscriptWalker<'a> {
    root: &'a Path,
    accept: &'a AcceptPath<'a>,
    found: Vec<(PathBuf, FileStamp)>,
    warnings: Vec<Warning>,
}

impl<'a> TranscriptWalker<'a> {
    fn new(root: &'a Path, accept: &'a AcceptPath<'a>) -> Self {
        Self { root, accept, found: Vec::new(), warnings: Vec::new() }
    }

    fn visit_folder(&mut self, folder: &Path, depth: usize) {
        for below in self.collect_files(folder) {
            if depth < MAX_DEPTH {
                self.visit_folder(&below, depth + 1);
            }
        }
    }

    /// Collects the files of a folder and returns its subfolders.
    fn collect_files(&mut self, folder: &Path) -> Vec<PathBuf> {
        let mut folders = Vec::new();
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) => {
                self.warn(folder, &format!("cannot list ({error}); skipped"));
                return folders;
            }
        };
        for entry in entries.filter_map(Result::ok) {
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            if kind.is_dir() {
                let name = entry.file_name();
                if !SKIPPED_FOLDERS.iter().any(|skipped| name == *skipped) {
                    folders.push(path);
                }
            } else if (self.accept)(path.strip_prefix(self.root).unwrap_or(&path)) {
                if !kind.is_file() {
                    self.warn(&path, "not a regular file (a link, a pipe or a device); skipped");
                } else if let Ok(data) = entry.metadata() {
                    self.found.push((path, FileStamp::from_metadata(&data)));
                }
            }
        }
        folders
    }

    fn warn(&mut self, path: &Path, message: &str) {
        self.warnings.push(Warning { file: path.display().to_string(), line: None, message: message.to_owned() });
    }
}
