//! What is left of sessions and texts in our files: cards, archives, logs, threads.

use std::fs;
use std::path::{Path, PathBuf};

use rethread_model::Session;
use rethread_store::{Needle, Places};
use serde_json::Value;

use super::Doom;
use crate::cards::file_stem;
use crate::{Engine, EngineError, home};

/// An id that is shorter may stand in a text by chance.
const LONG_ID: usize = 16;
/// Fields that hold ids and nothing else.
const ID_FIELDS: [&str; 4] = ["id", "sessionId", "externalId", "session"];

/// The files that must go, or lose lines.
#[derive(Debug, Default)]
pub(super) struct Files {
    cards: Vec<PathBuf>,
    archives: Vec<PathBuf>,
    /// Logs, with what is to stay of them and how many lines are not.
    logs: Vec<(PathBuf, String, u64)>,
    threads: u64,
}

impl Files {
    /// How many there are.
    pub(super) fn places(&self) -> Places {
        Places::from([
            ("card files", self.cards.len() as u64),
            ("archives", self.archives.len() as u64),
            ("log lines", self.logs.iter().map(|(_, _, lines)| lines).sum()),
            ("thread logs", self.threads),
        ])
    }
}

impl Engine {
    /// The files that hold something of what is to go.
    pub(super) fn files_of(&self, doom: &Doom) -> Files {
        let mut files = Files::default();
        let whose: Vec<String> = doom.whole.iter().chain(&doom.shortened).map(|(_, one)| file_stem(one)).collect();
        for path in files_in(&self.cards_folder()) {
            let stem = path.file_name().and_then(|name| name.to_str()?.split('.').next()).unwrap_or_default();
            if whose.iter().any(|one| one == stem)
                || read(&path).is_some_and(|text| doom.is_told_in(&text, Needle::is_in_json))
            {
                files.cards.push(path);
            }
        }
        let archives = files_in(&self.archive_folder());
        files.archives = archives
            .filter(|path| read(path).is_some_and(|text| doom.is_told_in(&text, Needle::is_in_archive)))
            .collect();
        files.logs = files_in(&self.folder.join("logs")).filter_map(|path| shorter_log(path, doom)).collect();
        let threads = self.threads();
        let is_there = |id: &&_| threads.log_path(**id).parent().is_some_and(Path::exists);
        files.threads = doom.threads.iter().filter(is_there).count() as u64;
        files
    }

    /// Removes them.
    pub(super) fn remove_files(&self, doom: &Doom) -> Result<(), EngineError> {
        let files = self.files_of(doom);
        for path in files.cards.iter().chain(&files.archives) {
            fs::remove_file(path).map_err(|cause| EngineError::Folder { path: path.clone(), cause })?;
        }
        for (path, kept, _) in files.logs {
            home::write_whole(&path, &kept).map_err(|cause| EngineError::Folder { path, cause })?;
        }
        self.remove_threads(&doom.threads)
    }
}

impl Doom {
    /// Whether a file or a line of ours tells of something that is to go.
    fn is_told_in(&self, text: &str, contains: fn(&Needle, &str) -> bool) -> bool {
        if self.needle.as_ref().is_some_and(|needle| contains(needle, text)) {
            return true;
        }
        match serde_json::from_str(text) {
            Ok(value) => self.whole.iter().any(|(_, session)| names(&value, None, session)),
            Err(_) => self.whole.iter().any(|(_, session)| is_named_in(text, session)),
        }
    }
}

/// Whether a value names a session.
fn names(value: &Value, field: Option<&str>, session: &Session) -> bool {
    match value {
        Value::String(text) => {
            let is_id = field.is_some_and(|field| ID_FIELDS.contains(&field));
            is_named_in(text, session) || (is_id && *text == session.external_id)
        }
        Value::Array(all) => all.iter().any(|one| names(one, field, session)),
        Value::Object(fields) => fields.iter().any(|(field, one)| names(one, Some(field), session)),
        _ => false,
    }
}

fn is_named_in(text: &str, session: &Session) -> bool {
    let id = &session.external_id;
    text.contains(&session.id.to_string()) || (id.len() >= LONG_ID && text.contains(id.as_str()))
}

/// A log without the lines that must go; nothing if there are none.
fn shorter_log(path: PathBuf, doom: &Doom) -> Option<(PathBuf, String, u64)> {
    let text = read(&path)?;
    let (gone, kept): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| doom.is_told_in(line, Needle::is_in_json));
    let kept = kept.into_iter().fold(String::new(), |all, line| all + line + "\n");
    (!gone.is_empty()).then_some((path, kept, gone.len() as u64))
}

/// The text of a file; what is no text is read as well as it can be.
fn read(path: &Path) -> Option<String> {
    fs::read(path).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// Regular files in a folder, temporary ones too.
fn files_in(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file())).map(|entry| entry.path())
}
