//! Lists transcript files below a directory. Follows no links and opens nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use rethread_model::Warning;

use super::file::Stamp;
use super::{Found, Root};

/// Deeper than any agent nests its files.
const MAX_DEPTH: usize = 12;
/// Directories of agents that never hold transcripts.
const SKIPPED_FOLDERS: [&str; 2] = ["tool-results", "memory"];

/// All `*.jsonl` files below the root that `accept` takes, in no particular order. `accept` sees the path below the
/// root. Waiting for the file system is most of the work, so two threads share the folders of the root.
pub(super) fn walk(root: &Root, accept: fn(&Path) -> bool) -> (Vec<Found>, Vec<Warning>) {
    let mut walker = Walker::new(root, accept);
    // The root itself may be a link: users move their agents' directories to other disks.
    match fs::metadata(&root.path) {
        Ok(data) if data.is_dir() => {
            let folders = walker.files_of(&root.path);
            let middle = folders.len() / 2;
            let mut other = Walker::new(root, accept);
            thread::scope(|scope| {
                scope.spawn(|| folders[..middle].iter().for_each(|folder| other.folder(folder, 1)));
                folders[middle..].iter().for_each(|folder| walker.folder(folder, 1));
            });
            walker.found.append(&mut other.found);
            walker.warnings.append(&mut other.warnings);
        }
        Ok(data) if data.is_file() => walker.found.push(walker.file(&root.path, &data)),
        Ok(_) => walker.warn(&root.path, "neither a file nor a directory; skipped"),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => walker.warn(&root.path, &format!("cannot be opened ({error}); skipped")),
    }
    (walker.found, walker.warnings)
}

struct Walker<'a> {
    root: &'a Root,
    accept: fn(&Path) -> bool,
    found: Vec<Found>,
    warnings: Vec<Warning>,
}

impl<'a> Walker<'a> {
    fn new(root: &'a Root, accept: fn(&Path) -> bool) -> Self {
        Self { root, accept, found: Vec::new(), warnings: Vec::new() }
    }

    fn folder(&mut self, folder: &Path, depth: usize) {
        for below in self.files_of(folder) {
            if depth < MAX_DEPTH {
                self.folder(&below, depth + 1);
            }
        }
    }

    /// Takes the files of a folder; the folders in it that are to be looked into.
    fn files_of(&mut self, folder: &Path) -> Vec<PathBuf> {
        let mut folders = Vec::new();
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) => {
                self.warn(folder, &format!("cannot be listed ({error}); skipped"));
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
            } else if self.is_wanted(&path) {
                if !kind.is_file() {
                    self.warn(&path, "not a regular file (a link, a pipe or a device); skipped");
                } else if let Ok(data) = entry.metadata() {
                    self.found.push(self.file(&path, &data));
                }
            }
        }
        folders
    }

    fn is_wanted(&self, path: &Path) -> bool {
        path.extension().is_some_and(|extension| extension == "jsonl")
            && (self.accept)(path.strip_prefix(&self.root.path).unwrap_or(path))
    }

    fn file(&self, path: &Path, data: &fs::Metadata) -> Found {
        Found { agent: self.root.agent, path: path.to_owned(), stamp: Stamp::of(data) }
    }

    fn warn(&mut self, path: &Path, message: &str) {
        self.warnings.push(Warning { file: path.display().to_string(), line: None, message: message.to_owned() });
    }
}
