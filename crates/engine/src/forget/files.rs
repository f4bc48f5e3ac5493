//! Finds and removes forgotten sessions and texts in our own files: cards, archives, logs, threads.

use std::fs;
use std::path::{Path, PathBuf};

use rethread_model::Session;
use rethread_store::{RowCounts, TextMatcher, remove_file};
use serde_json::Value;

use super::ForgetPlan;
use crate::cards::file_stem;
use crate::{EngineError, ForgetService, home};

/// A shorter id could occur in a text by chance.
const MIN_UNIQUE_ID_BYTES: usize = 16;
/// JSON fields that contain only an id.
const ID_FIELDS: [&str; 4] = ["id", "sessionId", "externalId", "session"];

/// Files to delete, and logs to rewrite.
#[derive(Debug, Default)]
pub(super) struct ForgetFiles {
    cards: Vec<PathBuf>,
    archives: Vec<PathBuf>,
    /// Logs: path, remaining text, and number of removed lines.
    logs: Vec<(PathBuf, String, u64)>,
    threads: u64,
}

impl ForgetFiles {
    /// Counts by kind of file.
    pub(super) fn counts(&self) -> RowCounts {
        RowCounts::from([
            ("card files", self.cards.len() as u64),
            ("archives", self.archives.len() as u64),
            ("log lines", self.logs.iter().map(|(_, _, lines)| lines).sum()),
            ("thread logs", self.threads),
        ])
    }
}

impl ForgetService<'_> {
    /// The files that contain anything to be forgotten.
    pub(super) fn files(self, plan: &ForgetPlan) -> ForgetFiles {
        let mut files = ForgetFiles::default();
        let names: Vec<String> =
            plan.whole_sessions.iter().chain(&plan.partial_sessions).map(|(_, one)| file_stem(one)).collect();
        for path in files_in(&self.engine.cards().folder()) {
            let stem = path.file_name().and_then(|name| name.to_str()?.split('.').next()).unwrap_or_default();
            if names.iter().any(|one| one == stem)
                || read_lossy(&path).is_some_and(|text| plan.is_mentioned_in(&text, TextMatcher::matches_json))
            {
                files.cards.push(path);
            }
        }
        let archives = files_in(&self.engine.lifecycle().archive_folder());
        files.archives = archives
            .filter(|path| {
                read_lossy(path).is_some_and(|text| plan.is_mentioned_in(&text, TextMatcher::matches_archive))
            })
            .collect();
        files.logs =
            files_in(&self.engine.folder.join("logs")).filter_map(|path| log_without_mentions(path, plan)).collect();
        let threads = self.engine.thread_store();
        files.threads = plan.threads.iter().filter(|id| threads.has_content(**id)).count() as u64;
        files
    }

    /// Deletes or rewrites those files.
    pub(super) fn remove_files(self, plan: &ForgetPlan) -> Result<(), EngineError> {
        let files = self.files(plan);
        for path in files.cards.iter().chain(&files.archives) {
            remove_file(path).map_err(|cause| EngineError::Folder { path: path.clone(), cause })?;
        }
        for (path, kept, _) in files.logs {
            home::write_atomic(&path, &kept).map_err(|cause| EngineError::Folder { path, cause })?;
        }
        self.remove_threads(&plan.threads)
    }
}

impl ForgetPlan {
    /// Whether a text of ours mentions anything to be forgotten.
    fn is_mentioned_in(&self, text: &str, contains: fn(&TextMatcher, &str) -> bool) -> bool {
        if self.needle.as_ref().is_some_and(|needle| contains(needle, text)) {
            return true;
        }
        match serde_json::from_str(text) {
            Ok(value) => self.whole_sessions.iter().any(|(_, session)| names_session(&value, None, session)),
            Err(_) => self.whole_sessions.iter().any(|(_, session)| is_named_in(text, session)),
        }
    }
}

/// Whether a JSON value contains the id of a session.
fn names_session(value: &Value, field: Option<&str>, session: &Session) -> bool {
    match value {
        Value::String(text) => {
            let is_id = field.is_some_and(|field| ID_FIELDS.contains(&field));
            is_named_in(text, session) || (is_id && *text == session.external_id)
        }
        Value::Array(all) => all.iter().any(|one| names_session(one, field, session)),
        Value::Object(fields) => fields.iter().any(|(field, one)| names_session(one, Some(field), session)),
        _ => false,
    }
}

fn is_named_in(text: &str, session: &Session) -> bool {
    let id = &session.external_id;
    text.contains(&session.id.to_string()) || (id.len() >= MIN_UNIQUE_ID_BYTES && text.contains(id.as_str()))
}

/// A log without the lines to be forgotten; `None` if it has none.
fn log_without_mentions(path: PathBuf, plan: &ForgetPlan) -> Option<(PathBuf, String, u64)> {
    let text = read_lossy(&path)?;
    let (gone, kept): (Vec<&str>, Vec<&str>) =
        text.lines().partition(|line| plan.is_mentioned_in(line, TextMatcher::matches_json));
    let kept = kept.into_iter().fold(String::new(), |all, line| all + line + "\n");
    (!gone.is_empty()).then_some((path, kept, gone.len() as u64))
}

/// The text of a file, with invalid UTF-8 replaced.
fn read_lossy(path: &Path) -> Option<String> {
    fs::read(path).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// Regular files in a folder, including temporary ones.
fn files_in(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file())).map(|entry| entry.path())
}
