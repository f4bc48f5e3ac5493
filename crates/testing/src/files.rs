//! Lists and reads whole directory trees.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// All files below a directory, sorted by path. Empty if the directory does not exist.
pub fn files_below(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() { files.extend(files_below(&path)) } else { files.push(path) }
    }
    files.sort();
    files
}

/// Path and bytes of every regular file below a directory, without the files that change on a plain read:
/// the shared memory of SQLite and our own log.
pub fn contents_below(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let is_content = |path: &PathBuf| {
        let name = path.to_string_lossy();
        // Several readers at once may leave an empty log of the database.
        let is_empty_log = || name.ends_with("-wal") && path.metadata().is_ok_and(|about| about.len() == 0);
        path.is_file() && !name.ends_with("-shm") && !name.contains("/logs/") && !is_empty_log()
    };
    let files = files_below(directory).into_iter().filter(is_content);
    files.map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}
