//! Lists transcript files below a directory. Follows no links and opens nothing.

use std::fs;
use std::path::Path;

use rethread_model::Warning;

use super::file::Stamp;
use super::{Found, Root};

/// Deeper than any agent nests its files.
const MAX_DEPTH: usize = 12;
/// Directories of agents that never hold transcripts.
const SKIPPED_FOLDERS: [&str; 2] = ["tool-results", "memory"];

/// All `*.jsonl` files below the root that `accept` takes, sorted by path. `accept` sees the path below the root.
pub(super) fn walk(root: &Root, accept: fn(&Path) -> bool) -> (Vec<Found>, Vec<Warning>) {
    let mut walker = Walker { root, accept, found: Vec::new(), warnings: Vec::new() };
    // The root itself may be a link: users move their agents' directories to other disks.
    match fs::metadata(&root.path) {
        Ok(data) if data.is_dir() => walker.folder(&root.path, 0),
        Ok(data) if data.is_file() => walker.found.push(walker.file(&root.path, &data)),
        Ok(_) => walker.warn(&root.path, "neither a file nor a directory; skipped"),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => walker.warn(&root.path, &format!("cannot be opened ({error}); skipped")),
    }
    walker.found.sort_by(|a, b| a.path.cmp(&b.path));
    (walker.found, walker.warnings)
}

struct Walker<'a> {
    root: &'a Root,
    accept: fn(&Path) -> bool,
    found: Vec<Found>,
    warnings: Vec<Warning>,
}

impl Walker<'_> {
    fn folder(&mut self, folder: &Path, depth: usize) {
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) => return self.warn(folder, &format!("cannot be listed ({error}); skipped")),
        };
        for entry in entries.filter_map(Result::ok) {
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            if kind.is_dir() {
                let name = entry.file_name();
                if depth < MAX_DEPTH && !SKIPPED_FOLDERS.iter().any(|skipped| name == *skipped) {
                    self.folder(&path, depth + 1);
                }
            } else if self.is_wanted(&path) {
                if !kind.is_file() {
                    self.warn(&path, "not a regular file (a link, a pipe or a device); skipped");
                } else if let Ok(data) = entry.metadata() {
                    self.found.push(self.file(&path, &data));
                }
            }
        }
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
