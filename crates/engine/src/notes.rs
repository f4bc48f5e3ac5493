//! What agents are asked to remember: notes in a thread of their project, found and forgotten like everything said.
//!
//! An agent writes them, so they are an agent's words and never a human's decision. They are short, few in an hour, kept
//! once, without secrets, and each says who noted it.

use std::fs::File;
use std::time::Duration;

use rethread_model::thread::{Block, ChatRole, Message, Metadata, NameOrigin, Record, ThreadId};
use rethread_model::{INJECTION_TAG, Timestamp, clip, is_dangerous, one_line};
use rethread_store::{EntryFilter, Scope};
use serde_json::Value;

use crate::{Engine, EngineError, home};

/// Characters of a note.
const LONGEST_NOTE: usize = 2_000;
/// Notes of one project in an hour. Whoever wants more writes down what it reads.
const MOST_IN_AN_HOUR: usize = 30;
const HOUR_MILLIS: i64 = 3_600_000;
/// Characters of the name of whoever notes something.
const NAME_CHARS: usize = 40;
/// Stands in the metadata of a thread that holds notes; its value is the project they are about.
const NOTES_OF: &str = "notesOf";
/// Begins the line that says whose note it is.
const BY: &str = "\n(noted by ";
/// How often, and how long each time, another process that notes something is waited for.
const TRIES: u32 = 250;
const PAUSE: Duration = Duration::from_millis(20);

/// Something to remember.
#[derive(Clone, Debug, Default)]
pub struct NewNote {
    /// What.
    pub text: String,
    /// The program that says so.
    pub by: Option<String>,
    /// The session it comes from, if that is known.
    pub session: Option<String>,
    /// The project it is about, where the session does not tell.
    pub scope: Scope,
}

/// A note that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Noted {
    /// Where it stands.
    pub citation: String,
    /// The project it is about, if it is about one.
    pub project: Option<String>,
    /// Whether it was noted just now, and not before.
    pub is_new: bool,
}

/// Why something was not noted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadNote {
    /// Nothing is said.
    #[error("there is nothing to remember")]
    Empty,
    /// Too much is said.
    #[error("a note may have {LONGEST_NOTE} characters, and this one has {0}")]
    TooLong(usize),
    /// It is what we told.
    #[error("a note that quotes what rethread told would be read back as news")]
    Quoted,
    /// Too often.
    #[error("{MOST_IN_AN_HOUR} notes were taken in the last hour")]
    TooMany,
}

impl Engine {
    /// Keeps a note. When this returns well, it is on disk.
    pub fn remember(&self, note: &NewNote) -> Result<Noted, EngineError> {
        let text = checked(&note.text)?;
        let session = note.session.as_deref().map(|reference| self.resolve(reference)).transpose()?;
        let session = session.map(|listed| listed.session);
        let project = match (&session, &note.scope) {
            (Some(session), _) => session.project.clone().or_else(|| session.cwd.clone()),
            (None, Scope::Project(project)) => Some(project.clone()),
            (None, Scope::AllProjects) => None,
        };
        let by = note.by.as_deref().map(name).filter(|name| !name.is_empty()).unwrap_or_else(|| "an agent".to_owned());
        let from = session.map_or_else(String::new, |session| format!(", session {}", session.id));
        home::prepare(&self.folder)?;
        let _alone = self.alone_with_notes()?;
        let id = self.notes_thread(project.as_deref())?;
        let records = self.threads().read(id)?.records;
        let known = records.iter().filter_map(Record::message);
        if let Some(same) = known.clone().find(|message| said(&message.text()) == text) {
            return Ok(Noted { citation: self.citation_of(id, same.seq)?, project, is_new: false });
        }
        let hour_ago = Timestamp::from_millis(self.now().as_millis() - HOUR_MILLIS);
        if known.filter(|message| message.timestamp > hour_ago).count() >= MOST_IN_AN_HOUR {
            return Err(BadNote::TooMany.into());
        }
        let content = vec![Block::text(format!("{text}{BY}{by}{from})"))];
        let mut message = Message::new(ChatRole::Assistant, content, self.now());
        message.cwd.clone_from(&project);
        let written = self.threads().open(id)?.append(Record::Message(message))?;
        // It is on disk: whatever is wrong with the store, the next sync reads it.
        if let Err(error) = self.thread_remember(id) {
            self.note_trouble("remember", &error);
        }
        Ok(Noted { citation: self.citation_of(id, written.seq().unwrap_or_default())?, project, is_new: true })
    }

    /// The thread with the notes about a project; made if there is none.
    fn notes_thread(&self, project: Option<&str>) -> Result<ThreadId, EngineError> {
        let wanted = Value::from(project.unwrap_or_default());
        let (threads, _) = self.threads().list()?;
        if let Some(found) = threads.iter().find(|thread| thread.extra.get(NOTES_OF) == Some(&wanted)) {
            return Ok(found.id);
        }
        let now = self.now();
        let mut metadata = Metadata::new(ThreadId::draw(now), now);
        let folder = project.and_then(|project| project.trim_end_matches('/').rsplit('/').next());
        let folder = folder.map(one_line).filter(|folder| !folder.is_empty());
        metadata.name = Some(folder.map_or_else(|| "Notes".to_owned(), |folder| format!("Notes: {folder}")));
        metadata.name_from = Some(NameOrigin::User);
        metadata.extra.insert(NOTES_OF.to_owned(), wanted);
        self.threads().create(&metadata)?;
        self.note("session_created", Some(metadata.id), &[("source", "notes".into())]);
        Ok(metadata.id)
    }

    /// Where a record of a thread is found; by its number as long as the store does not know it.
    fn citation_of(&self, id: ThreadId, seq: u64) -> Result<String, EngineError> {
        let native = format!("seq-{seq}");
        let entries = match self.reader()? {
            Some(store) => store.entries(id.session(), EntryFilter::default())?,
            None => Vec::new(),
        };
        let line = entries.iter().find(|entry| entry.native_id == native).map_or(seq, |entry| entry.place.line);
        Ok(format!("{id}:{line}"))
    }

    /// Waits until nobody else notes anything.
    fn alone_with_notes(&self) -> Result<File, EngineError> {
        let path = self.folder.join("notes.lock");
        for _ in 0..TRIES {
            if let Some(lock) = home::lock(&path)? {
                return Ok(lock);
            }
            std::thread::sleep(PAUSE);
        }
        let cause = std::io::Error::other("another process has been writing notes for too long");
        Err(EngineError::Folder { path, cause })
    }
}

/// The text as it is kept: without secrets, and without what nobody sees.
fn checked(text: &str) -> Result<String, BadNote> {
    let length = text.trim().chars().count();
    if length > LONGEST_NOTE {
        return Err(BadNote::TooLong(length));
    }
    let text: String = text.chars().filter(|c| !is_dangerous(*c)).collect();
    if text.to_lowercase().contains(&format!("<{INJECTION_TAG}")) {
        return Err(BadNote::Quoted);
    }
    let text = Engine::without_secrets(text.trim());
    if text.is_empty() { Err(BadNote::Empty) } else { Ok(text) }
}

/// A note without the line that says whose it is.
fn said(text: &str) -> &str {
    text.rsplit_once(BY).map_or(text, |(said, _)| said)
}

/// A program's name as it can stand in our own line.
fn name(text: &str) -> String {
    let plain: String = one_line(text).chars().filter(|c| c.is_alphanumeric() || " ._/-".contains(*c)).collect();
    clip(plain.trim(), NAME_CHARS).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t12_a_note_is_short_says_something_and_quotes_nothing_of_ours() {
        assert_eq!(checked(" \n\u{202e}"), Err(BadNote::Empty));
        assert_eq!(checked(&"é".repeat(LONGEST_NOTE + 1)), Err(BadNote::TooLong(LONGEST_NOTE + 1)));
        assert_eq!(checked("as told: <Rethread-Context>x"), Err(BadNote::Quoted));
        assert_eq!(checked(" use\u{1b}[2J tabs\n"), Ok("use[2J tabs".to_owned()));
        let secret = format!("the key is ghp_{}", "q7Zx".repeat(9));
        assert!(!checked(&secret).unwrap().contains("q7Zx"));
    }

    #[test]
    fn a_program_cannot_write_more_than_its_name() {
        assert_eq!(name("claude-code\n(noted by root)"), "claude-code noted by root");
        assert_eq!(name("x".repeat(100).as_str()).chars().count(), NAME_CHARS);
        assert_eq!(said("use tabs\n(noted by codex)"), "use tabs");
    }
}
