//! What hooks and people say of a session: what it did, what it is working on, that it pauses or ends.

use std::path::PathBuf;

use rethread_ingest::{Findings, Redactor, Story};
use rethread_model::{Agent, clip, one_line};
use rethread_store::{Closed, LifeEvent, Store};
use serde_json::Value;

use super::Lifecycle;
use super::inject::Caller;
use super::view::Own;
use crate::{Engine, EngineError};

/// Characters of a command, and of the pieces of an edit, in a hot entry.
const COMMAND_CHARS: usize = 50;
const PIECE_CHARS: usize = 30;
/// Characters of an error in a hot entry.
const ERROR_CHARS: usize = 100;

/// A tool call as a hook tells it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Used {
    /// The tool, as the agent names it.
    pub(crate) name: String,
    /// What it was called with.
    pub(crate) input: Value,
    /// Characters it gave back.
    pub(crate) output_chars: usize,
    /// Why it failed, if it did.
    pub(crate) error: Option<String>,
}

impl Used {
    pub(crate) fn path(&self) -> Option<&str> {
        ["file_path", "path", "notebook_path"].iter().find_map(|name| self.input.get(*name)?.as_str())
    }

    /// What matters of it for a while; nothing for calls that change nothing.
    pub(crate) fn hot(&self) -> Option<String> {
        // Several edits in one call are known by the first.
        let value = |name: &str| self.input.get(name).or_else(|| self.input.get("edits")?.get(0)?.get(name));
        let text = |name: &str| value(name).and_then(Value::as_str).unwrap_or_default();
        let short = |text: &str, chars: usize| clip(&one_line(text), chars).into_owned();
        let path = self.path().unwrap_or_default();
        if let Some(error) = &self.error {
            let what = if path.is_empty() { text("command") } else { path };
            return Some(format!(
                "Failed: {} {}: {}",
                self.name,
                short(what, COMMAND_CHARS),
                short(error, ERROR_CHARS)
            ));
        }
        match self.name.to_ascii_lowercase().as_str() {
            // A line break at the end ends the last line and begins none.
            "write" => Some(format!("Created {path} ({} lines)", text("content").lines().count())),
            "edit" => {
                let old = [text("old_string"), text("oldText")].concat();
                let new = [text("new_string"), text("newText")].concat();
                Some(format!("Edited {path}: '{}' -> '{}'", short(&old, PIECE_CHARS), short(&new, PIECE_CHARS)))
            }
            "multiedit" | "notebookedit" => Some(format!("Edited {path}")),
            "bash" => Some(format!("Ran: {}", short(text("command"), COMMAND_CHARS))),
            _ => None,
        }
    }
}

impl Engine {
    /// Notes a tool call.
    pub(crate) fn note_call(&self, caller: &Caller, used: &Used) -> Result<(), EngineError> {
        let detail = match used.path() {
            Some(path) => format!("{} {path} ({} characters)", used.name, used.output_chars),
            None => format!("{} ({} characters)", used.name, used.output_chars),
        };
        let hot = used.hot().map(|hot| Self::without_secrets(&hot));
        self.note_event(caller, "tool_executed", &detail, hot.as_deref())
    }

    /// Notes something that happened in a session, and what is worth keeping at hand.
    pub(crate) fn note_event(
        &self,
        caller: &Caller,
        kind: &str,
        detail: &str,
        hot: Option<&str>,
    ) -> Result<(), EngineError> {
        let now = self.now();
        let lifecycle = Lifecycle::of(&self.config);
        let mut store = self.writer()?;
        let last = store.session_of(caller.key())?.and_then(|(_, session)| session.last_activity_at);
        let event = LifeEvent { at: now, kind: kind.to_owned(), detail: Self::without_secrets(detail) };
        let mut batch = store.begin()?;
        lifecycle.touch(&mut batch, caller.key(), last, &event)?;
        if let Some(hot) = hot {
            batch.add_hot(caller.key(), now, hot, lifecycle.hot_entries)?;
        }
        Ok(batch.commit()?)
    }

    /// Ends a session: what it did is archived. Where to, if it was.
    pub(crate) fn end(&self, caller: &Caller) -> Result<Option<PathBuf>, EngineError> {
        let now = self.now();
        let mut store = self.writer()?;
        self.read_own(&mut store, caller)?;
        let own = Own::read(&store, caller.key(), now)?;
        let view = own.view(&store, caller.key(), Lifecycle::of(&self.config), now)?;
        let mut batch = store.begin()?;
        let life = Lifecycle::close(&mut batch, caller.key(), Closed::Ended, now)?;
        batch.commit()?;
        Ok(self.archive(caller.key(), &life, &own, &view, now))
    }

    /// Ends the session a reference means.
    pub fn end_session(&self, reference: &str) -> Result<Option<PathBuf>, EngineError> {
        let caller = self.known_caller(reference)?;
        self.end(&caller)
    }

    /// Pauses the session a reference means; the next prompt in it goes on.
    pub fn pause_session(&self, reference: &str) -> Result<(), EngineError> {
        let caller = self.known_caller(reference)?;
        let mut store = self.writer()?;
        let mut batch = store.begin()?;
        Lifecycle::close(&mut batch, caller.key(), Closed::Suspended, self.now())?;
        Ok(batch.commit()?)
    }

    /// Says what a session is working on.
    pub fn set_task(&self, reference: &str, task: &str) -> Result<(), EngineError> {
        let caller = self.known_caller(reference)?;
        let task = Self::without_secrets(task.trim());
        let mut store = self.writer()?;
        let mut batch = store.begin()?;
        let now = self.now();
        let mut life = batch.life(caller.key())?.unwrap_or_else(|| rethread_store::Life::begin(now));
        life.task = (!task.is_empty()).then_some(task);
        batch.save_life(caller.key(), &life)?;
        Ok(batch.commit()?)
    }

    /// Puts a note into a session's hot memory.
    pub fn add_note(&self, reference: &str, text: &str) -> Result<(), EngineError> {
        let caller = self.known_caller(reference)?;
        let text = Self::without_secrets(&one_line(text));
        let mut store = self.writer()?;
        let mut batch = store.begin()?;
        batch.add_hot(caller.key(), self.now(), &text, Lifecycle::of(&self.config).hot_entries)?;
        Ok(batch.commit()?)
    }

    /// Gives a session a name, which it keeps whatever its agent calls it; an empty one gives the agent's back.
    pub fn set_name(&self, reference: &str, name: &str) -> Result<(), EngineError> {
        let caller = self.known_caller(reference)?;
        if caller.agent == Agent::Native {
            return self.thread_rename(&caller.external_id, name);
        }
        let name = Self::without_secrets(&one_line(name));
        let now = self.now();
        let mut store = self.writer()?;
        let mut batch = store.begin()?;
        let mut life = batch.life(caller.key())?.unwrap_or_else(|| rethread_store::Life::begin(now));
        life.name = (!name.is_empty()).then_some(name);
        batch.save_life(caller.key(), &life)?;
        batch.commit()?;
        Self::retell_name(&mut store, &caller)
    }

    /// Has a session's name chosen again.
    fn retell_name(store: &mut Store, caller: &Caller) -> Result<(), EngineError> {
        let Some((number, _)) = store.session_of(caller.key())? else { return Ok(()) };
        let mut batch = store.begin()?;
        let Some((session, Some(memory))) = batch.stored_session(number)? else { return Ok(()) };
        let Ok(mut story) = Story::resume(session.agent, &session.external_id, &memory) else { return Ok(()) };
        let name = batch.life(caller.key())?.and_then(|life| life.name).unwrap_or_default();
        story.given_name(&name);
        let memory = story.save().map_err(EngineError::Memory)?;
        batch.rename_session(number, story.name(), &memory)?;
        Ok(batch.commit()?)
    }

    /// Gives a session a short name of its own; it leaves any other session that had it.
    pub fn set_alias(&self, reference: &str, alias: &str) -> Result<(), EngineError> {
        let caller = self.known_caller(reference)?;
        let mut store = self.writer()?;
        let mut batch = store.begin()?;
        batch.set_alias(caller.agent, &caller.external_id, alias)?;
        Ok(batch.commit()?)
    }

    fn known_caller(&self, reference: &str) -> Result<Caller, EngineError> {
        let store = self.reader()?.ok_or_else(|| EngineError::UnknownReference(reference.to_owned()))?;
        self.caller(&store, reference)
    }

    pub(crate) fn without_secrets(text: &str) -> String {
        Redactor::shared().clean(text, &mut Findings::default()).into_owned()
    }
}
