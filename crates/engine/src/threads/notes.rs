//! Notes that agents ask to remember: stored in one thread per project, searchable and forgettable like all entries.
//!
//! An agent writes them, so they count as an agent's words and never as a user's decision. Notes are short, limited per
//! hour, stored once, without secrets, and each names its author.

use std::fs::File;
use std::time::Duration;

use rethread_model::thread::{
    ChatRole, ContentBlock, NameOrigin, ThreadId, ThreadMessage, ThreadMetadata, ThreadRecord,
};
use rethread_model::{INJECTION_TAG, Timestamp, clip, is_unsafe_to_display, one_line};
use rethread_store::{EntryFilter, SessionScope};
use serde_json::Value;

use crate::awareness::without_secrets;
use crate::{EngineError, ThreadService, home};

/// Maximum length of a note.
const MAX_NOTE_CHARS: usize = 2_000;
/// Limit for one project. An agent that needs more is copying what it reads.
const MAX_NOTES_PER_HOUR: usize = 30;
const HOUR_MILLIS: i64 = 3_600_000;
/// Maximum length of an author's name.
const MAX_AUTHOR_CHARS: usize = 40;
/// Metadata key of a thread that holds notes. Its value is the project they are about.
const NOTES_PROJECT_KEY: &str = "notesOf";
/// Start of the line that names the author of a note. Part of the stored text.
const AUTHOR_LINE_START: &str = "\n(noted by ";
/// How often, and after which pause, to retry while another process holds the notes lock.
const MAX_LOCK_ATTEMPTS: u32 = 250;
const LOCK_RETRY_WAIT: Duration = Duration::from_millis(20);

/// A note to store.
#[derive(Clone, Debug, Default)]
pub struct NewNote {
    /// The text. At most 2,000 characters.
    pub text: String,
    /// The program that writes it.
    pub author: Option<String>,
    /// The session it comes from, if known.
    pub session: Option<String>,
    /// The project it is about. Used only without a session.
    pub scope: SessionScope,
}

/// A stored note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedNote {
    /// Where to find it: `THREAD:LINE`.
    pub citation: String,
    /// The project it is about, if any.
    pub project: Option<String>,
    /// False if the same note was stored before.
    pub is_new: bool,
}

/// Why a note was rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidNote {
    /// It has no visible text.
    #[error("the note is empty")]
    Empty,
    /// It has this many characters.
    #[error("the note has {0} characters; at most {MAX_NOTE_CHARS} are allowed")]
    TooLong(usize),
    /// It contains text that Rethread injected.
    #[error("the note quotes text injected by rethread, which would be injected again")]
    QuotesInjection,
    /// The project has reached its hourly limit.
    #[error("too many notes: {MAX_NOTES_PER_HOUR} in the last hour")]
    TooMany,
}

impl ThreadService<'_> {
    /// Stores a note as a message of the project's notes. It is on disk when this returns `Ok`.
    ///
    /// ```
    /// use rethread_engine::{Engine, Environment, NewNote};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let engine = Engine::open(Environment::for_home(folder.path()))?;
    /// let note = NewNote { text: "use tabs".to_owned(), ..NewNote::default() };
    /// assert!(engine.threads().remember(&note)?.is_new);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn remember(self, note: &NewNote) -> Result<SavedNote, EngineError> {
        let text = clean_note(&note.text)?;
        let session = note.session.as_deref().map(|reference| self.engine.sessions().resolve(reference)).transpose()?;
        let session = session.map(|listed| listed.session);
        let project = match (&session, &note.scope) {
            (Some(session), _) => session.project.clone().or_else(|| session.cwd.clone()),
            (None, SessionScope::Project(project)) => Some(project.clone()),
            (None, SessionScope::AllProjects) => None,
        };
        let by = note
            .author
            .as_deref()
            .map(author_name)
            .filter(|name| !name.is_empty())
            .unwrap_or_else(|| "an agent".to_owned());
        let from = session.map_or_else(String::new, |session| format!(", session {}", session.id));
        self.engine.ensure_home()?;
        let _lock = self.lock_notes()?;
        let id = self.notes_thread(project.as_deref())?;
        let records = self.engine.thread_store().read(id)?.records;
        let known = records.iter().filter_map(ThreadRecord::message);
        if let Some(same) = known.clone().find(|message| note_text(&message.text()) == text) {
            return Ok(SavedNote { citation: self.record_citation(id, same.seq)?, project, is_new: false });
        }
        let hour_ago = Timestamp::from_millis(self.engine.now().as_millis() - HOUR_MILLIS);
        if known.filter(|message| message.timestamp > hour_ago).count() >= MAX_NOTES_PER_HOUR {
            return Err(InvalidNote::TooMany.into());
        }
        let content = vec![ContentBlock::text(format!("{text}{AUTHOR_LINE_START}{by}{from})"))];
        let mut message = ThreadMessage::new(ChatRole::Assistant, content, self.engine.now());
        message.cwd.clone_from(&project);
        let written = self.engine.thread_store().open(id)?.append(ThreadRecord::Message(message))?;
        // The note is on disk: if the store fails now, the next sync reads it.
        if let Err(error) = self.sync(id) {
            self.engine.journal().error("remember", &error);
        }
        Ok(SavedNote { citation: self.record_citation(id, written.seq().unwrap_or_default())?, project, is_new: true })
    }

    /// The thread with the notes of a project. Created if missing.
    fn notes_thread(self, project: Option<&str>) -> Result<ThreadId, EngineError> {
        let project_value = Value::from(project.unwrap_or_default());
        let (threads, _) = self.engine.thread_store().list()?;
        if let Some(found) = threads.iter().find(|thread| thread.extra.get(NOTES_PROJECT_KEY) == Some(&project_value)) {
            return Ok(found.id);
        }
        let now = self.engine.now();
        let mut metadata = ThreadMetadata::new(ThreadId::generate(now), now);
        let folder = project.and_then(|project| project.trim_end_matches('/').rsplit('/').next());
        let folder = folder.map(one_line).filter(|folder| !folder.is_empty());
        metadata.name = Some(folder.map_or_else(|| "Notes".to_owned(), |folder| format!("Notes: {folder}")));
        metadata.name_from = Some(NameOrigin::User);
        metadata.extra.insert(NOTES_PROJECT_KEY.to_owned(), project_value);
        self.engine.thread_store().create(&metadata)?;
        self.engine.journal().event("session_created", Some(metadata.id), &[("source", "notes".into())]);
        Ok(metadata.id)
    }

    /// The citation of a record. Until the store knows the record, its number is used as the line.
    fn record_citation(self, id: ThreadId, seq: u64) -> Result<String, EngineError> {
        let native = format!("seq-{seq}");
        let entries = match self.engine.reader()? {
            Some(store) => store.entries(id.session_id(), EntryFilter::default())?,
            None => Vec::new(),
        };
        let line = entries.iter().find(|entry| entry.native_id == native).map_or(seq, |entry| entry.location.line);
        Ok(format!("{id}:{line}"))
    }

    /// Takes the notes lock. Waits for other processes.
    fn lock_notes(self) -> Result<File, EngineError> {
        let path = self.engine.folder.join("notes.lock");
        for _ in 0..MAX_LOCK_ATTEMPTS {
            if let Some(lock) = home::try_lock_file(&path)? {
                return Ok(lock);
            }
            std::thread::sleep(LOCK_RETRY_WAIT);
        }
        let cause = std::io::Error::other("another process has been writing notes for too long");
        Err(EngineError::Folder { path, cause })
    }
}

/// The text to store: without secrets and invisible characters.
fn clean_note(text: &str) -> Result<String, InvalidNote> {
    let length = text.trim().chars().count();
    if length > MAX_NOTE_CHARS {
        return Err(InvalidNote::TooLong(length));
    }
    let text: String = text.chars().filter(|c| !is_unsafe_to_display(*c)).collect();
    if text.to_lowercase().contains(&format!("<{INJECTION_TAG}")) {
        return Err(InvalidNote::QuotesInjection);
    }
    let text = without_secrets(text.trim());
    if text.is_empty() { Err(InvalidNote::Empty) } else { Ok(text) }
}

/// A note without the line that names its author.
fn note_text(text: &str) -> &str {
    text.rsplit_once(AUTHOR_LINE_START).map_or(text, |(note, _)| note)
}

/// A program's name, reduced to characters that are safe inside our own line.
fn author_name(text: &str) -> String {
    let plain: String = one_line(text).chars().filter(|c| c.is_alphanumeric() || " ._/-".contains(*c)).collect();
    clip(plain.trim(), MAX_AUTHOR_CHARS).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    // T12
    fn a_note_is_short_not_empty_and_quotes_no_injection() {
        assert_eq!(clean_note(" \n\u{202e}"), Err(InvalidNote::Empty));
        assert_eq!(clean_note(&"é".repeat(MAX_NOTE_CHARS + 1)), Err(InvalidNote::TooLong(MAX_NOTE_CHARS + 1)));
        assert_eq!(clean_note("as told: <Rethread-Context>x"), Err(InvalidNote::QuotesInjection));
        assert_eq!(clean_note(" use\u{1b}[2J tabs\n"), Ok("use[2J tabs".to_owned()));
        let secret = format!("the key is ghp_{}", "q7Zx".repeat(9));
        assert!(!clean_note(&secret).unwrap().contains("q7Zx"));
    }

    #[test]
    fn an_author_cannot_write_more_than_a_name() {
        assert_eq!(author_name("claude-code\n(noted by root)"), "claude-code noted by root");
        assert_eq!(author_name("x".repeat(100).as_str()).chars().count(), MAX_AUTHOR_CHARS);
        assert_eq!(note_text("use tabs\n(noted by codex)"), "use tabs");
    }
}
