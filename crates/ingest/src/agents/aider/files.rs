//! Where Aider stores its histories: in the projects themselves.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rethread_model::Timestamp;

use super::history::{self, HEADING, input_times, runs};
use crate::parse::folded::{FoldedHeader, folded_document};
use crate::source::{ArchivedSession, SessionDocument, SourceConfig, TranscriptHead, read_text};

const FILE_NAME: &str = ".aider.chat.history.md";
/// What the user typed, with times.
const INPUTS: &str = ".aider.input.history";
const MAX_BYTES: u64 = 256 << 20;
/// Directories above a working directory that are looked at: the history is at the root of the repository.
const MAX_LEVELS: usize = 6;
/// Folders of the home directory that are looked at.
const MAX_FOLDERS: usize = 500;

pub(super) fn home(source_config: &SourceConfig) -> PathBuf {
    source_config.home.join(".aider")
}

/// The histories of known projects, of the home directory and of the folders directly in it.
pub(super) fn roots(source_config: &SourceConfig) -> Vec<(PathBuf, &'static str)> {
    let named = source_config.env_var("AIDER_CHAT_HISTORY_FILE").map(|path| source_config.expand_home(path));
    let named = named.filter(|path| path.is_absolute()).map(|path| (path, "AIDER_CHAT_HISTORY_FILE"));
    let mut roots: Vec<_> = named.into_iter().collect();
    let above = source_config.work_dirs.iter().flat_map(|dir| dir.ancestors().take(MAX_LEVELS)).map(Path::to_owned);
    let folders = fs::read_dir(&source_config.home).into_iter().flatten().filter_map(Result::ok).take(MAX_FOLDERS);
    let folders = folders.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path());
    for folder in above.chain([source_config.home.clone()]).chain(folders) {
        let path = folder.join(FILE_NAME);
        if path.is_file() && !roots.iter().any(|(known, _)| *known == path) {
            roots.push((path, "a project's history"));
        }
    }
    roots
}

pub(super) fn is_transcript(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == FILE_NAME)
}

pub(super) fn recognizes(head: &TranscriptHead) -> bool {
    head.0.trim_ascii_start().starts_with(HEADING.as_bytes())
}

/// The runs in a history. Their ids are the project's name and the second in which they began.
pub(super) fn sessions(path: &Path) -> io::Result<Vec<ArchivedSession>> {
    let text = read_text(path, MAX_BYTES)?;
    let session = |(id, run): (String, history::AiderRun<'_>)| {
        let begun = run.started_at.map_or(0, Timestamp::as_millis);
        // A run only grows.
        ArchivedSession { id, version: begun + i64::try_from(run.body.len()).unwrap_or_default() }
    };
    Ok(runs(&text, &project_name(path)).into_iter().map(session).collect())
}

pub(super) fn load(path: &Path, id: &str) -> io::Result<SessionDocument> {
    let text = read_text(path, MAX_BYTES)?;
    let all = runs(&text, &project_name(path));
    let run = all.into_iter().find(|(found, _)| found == id).map(|(_, run)| run);
    let run = run.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "no such run in the history"))?;
    // Times are in another file, if it has not been moved or deleted.
    let inputs = read_text(&path.with_file_name(INPUTS), MAX_BYTES).unwrap_or_default();
    let folded = history::fold(&run, input_times(&inputs));
    let header = FoldedHeader {
        session_id: Some(id.to_owned()),
        cwd: path.parent().and_then(Path::to_str).map(str::to_owned),
        model: folded.model,
        timestamp: run.started_at,
        ..FoldedHeader::default()
    };
    folded_document(&header, &folded.records)
}

fn project_name(path: &Path) -> String {
    let name = path.parent().and_then(Path::file_name).and_then(|name| name.to_str()).unwrap_or_default();
    name.chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect()
}
