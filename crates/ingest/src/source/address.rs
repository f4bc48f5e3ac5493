//! The address of a session in a file with several: the path of the file, a mark and the session's id.

use std::path::{Path, PathBuf};

/// Separates the path from the id.
const SESSION_MARK: char = '#';

/// The address of a session.
pub(super) fn session_address(file: &Path, id: &str) -> PathBuf {
    let mut address = file.as_os_str().to_owned();
    address.push(format!("{SESSION_MARK}{id}"));
    address.into()
}

/// The file and the session of an address; `None` if the file does not exist. Both may contain the mark.
pub(crate) fn split_address(address: &Path) -> Option<(&Path, &str)> {
    let text = address.to_str()?;
    let mut splits = text.match_indices(SESSION_MARK).map(|(at, mark)| (&text[..at], &text[at + mark.len()..]));
    splits.find_map(|(file, id)| Some((Path::new(file), id)).filter(|(file, _)| file.is_file()))
}
