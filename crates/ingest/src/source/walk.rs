//! Lists transcript files below a directory. Follows no links and opens no files.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use rethread_model::Warning;

use super::file::FileStamp;
use super::{TranscriptFile, TranscriptRoot};

/// Greater than the depth of any agent's folders.
const MAX_DEPTH: usize = 12;
/// Folders of agents that never contain transcripts.
const SKIPPED_FOLDERS: [&str; 2] = ["tool-results", "memory"];

/// All `*.jsonl` files below the root that `accept` takes, in no particular order. `accept` gets the path relative to
/// the root. Most of the time is spent waiting for the file system, so two threads share the folders of the root.
pub(super) fn walk(root: &TranscriptRoot, accept: fn(&Path) -> bool) -> (Vec<TranscriptFile>, Vec<Warning>) {
    let mut walker = TranscriptWalker::new(root, accept);
    // The root itself may be a link: users move their agents' directories to other disks.
    match fs::metadata(&root.path) {
        Ok(data) if data.is_dir() => {
            let folders = walker.collect_files(&root.path);
            let middle = folders.len() / 2;
            let mut other = TranscriptWalker::new(root, accept);
            thread::scope(|scope| {
                scope.spawn(|| folders[..middle].iter().for_each(|folder| other.visit_folder(folder, 1)));
                folders[middle..].iter().for_each(|folder| walker.visit_folder(folder, 1));
            });
            walker.found.append(&mut other.found);
            walker.warnings.append(&mut other.warnings);
        }
        Ok(data) if data.is_file() => walker.found.push(walker.transcript_file(&root.path, &data)),
        Ok(_) => walker.warn(&root.path, "not a file or directory; skipped"),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => walker.warn(&root.path, &format!("cannot open ({error}); skipped")),
    }
    (walker.found, walker.warnings)
}

struct TranscriptWalker<'a> {
    root: &'a TranscriptRoot,
    accept: fn(&Path) -> bool,
    found: Vec<TranscriptFile>,
    warnings: Vec<Warning>,
}

impl<'a> TranscriptWalker<'a> {
    fn new(root: &'a TranscriptRoot, accept: fn(&Path) -> bool) -> Self {
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
            } else if self.is_candidate(&path) {
                if !kind.is_file() {
                    self.warn(&path, "not a regular file (a link, a pipe or a device); skipped");
                } else if let Ok(data) = entry.metadata() {
                    self.found.push(self.transcript_file(&path, &data));
                }
            }
        }
        folders
    }

    fn is_candidate(&self, path: &Path) -> bool {
        path.extension().is_some_and(|extension| extension == "jsonl")
            && (self.accept)(path.strip_prefix(&self.root.path).unwrap_or(path))
    }

    fn transcript_file(&self, path: &Path, data: &fs::Metadata) -> TranscriptFile {
        TranscriptFile { agent: self.root.agent, path: path.to_owned(), stamp: FileStamp::from_metadata(data) }
    }

    fn warn(&mut self, path: &Path, message: &str) {
        self.warnings.push(Warning { file: path.display().to_string(), line: None, message: message.to_owned() });
    }
}
