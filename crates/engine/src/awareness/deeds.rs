//! What hooks and people say of a session: what it did, what it is working on, that it pauses or ends.

use std::path::PathBuf;

use rethread_ingest::Story;
use rethread_model::{Agent, State, Timestamp, one_line};
use rethread_recall::NOTE_CHARS;
use rethread_store::{Closed, Hot, LifeEvent, SessionKey, Store};

use super::Lifecycle;
use super::inject::Caller;
use super::lifecycle::{closing, last_of};
use super::news::hash_of_task;
use super::view::Own;
use super::words::{Used, preview, without_secrets};
use crate::{Engine, EngineError};

/// Notes that are kept for a session.
const NOTES_KEPT: u64 = 5;
/// Characters of what a session is working on.
const TASK_CHARS: usize = 300;
/// Characters of an alias.
const LONGEST_ALIAS: usize = 100;
/// Characters of why a session began or ended.
const REASON_CHARS: usize = 100;

/// A session that was ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// When it did the last thing.
    pub at: Timestamp,
    /// Where its period was archived, if it was worth it.
    pub archive: Option<PathBuf>,
}

impl Engine {
    /// Notes a tool call.
    pub(crate) fn note_call(&self, caller: &Caller, used: &Used) -> Result<(), EngineError> {
        let project = caller.project();
        self.note_event(caller, "tool_executed", &used.detail(&project), used.hot(&project))
    }

    /// Notes something that happened in a session, and what is worth keeping at hand. Both are without secrets.
    pub(crate) fn note_event(
        &self,
        caller: &Caller,
        kind: &str,
        detail: &str,
        hot: Option<String>,
    ) -> Result<(), EngineError> {
        let now = self.now();
        let lifecycle = Lifecycle::of(&self.config);
        let mut store = self.recorder()?;
        let (own, finished) = store.at_one_moment(|store| -> Result<_, EngineError> {
            let own = Own::find(store, caller.key())?;
            let finished = self.finished(store, caller.key(), &own, own.last_activity(), now)?;
            Ok((own, finished))
        })?;
        let event = LifeEvent { at: now, kind: kind.to_owned(), detail: detail.to_owned() };
        let mut batch = store.begin()?;
        let ended = lifecycle.touch(&mut batch, caller.key(), own.last_activity(), &event, Vec::new())?;
        if let Some(period) = finished.filter(|finished| ended == Some(finished.period)) {
            batch.keep_period(&period)?;
        }
        if let Some(text) = hot {
            batch.add_hot(caller.key(), &Hot { at: now, text, is_note: false }, lifecycle.hot_entries)?;
        }
        batch.commit()?;
        self.write_archives(&mut store);
        Ok(())
    }

    /// Ends a session, and archives what it did; nothing if it has been ended already.
    pub(crate) fn end(&self, caller: &Caller, reason: &str) -> Result<Option<Ended>, EngineError> {
        let mut store = self.recorder()?;
        self.read_own(&mut store, caller)?;
        let ended = self.end_in(&mut store, caller.key(), reason)?;
        let Some((at, period)) = ended else { return Ok(None) };
        let mut written = self.write_archives(&mut store).into_iter();
        let own = written.find(|(one, _)| one.external_id == caller.external_id && one.period == period);
        Ok(Some(Ended { at, archive: own.map(|(_, path)| path) }))
    }

    /// Ends a session and keeps its period for the archive: when it ended, and the number of the period.
    pub(super) fn end_in(
        &self,
        store: &mut Store,
        key: SessionKey<'_>,
        reason: &str,
    ) -> Result<Option<(Timestamp, u64)>, EngineError> {
        let now = self.now();
        let lifecycle = Lifecycle::of(&self.config);
        let own = Own::find(store, key)?;
        let life = own.life_or_story(lifecycle, now);
        let last_activity = own.last_activity();
        let at = lifecycle.end_of(last_of(&life, last_activity), now);
        let Some(mut closed) = closing(life.clone(), last_activity, Closed::Ended, at) else { return Ok(None) };
        // That it ended is noted with the end.
        closed.events += 1;
        let period = self.archive_of(store, key, &closed, at)?;
        let event = LifeEvent { at, kind: "session_end".to_owned(), detail: preview(reason, REASON_CHARS) };
        let mut batch = store.begin()?;
        let Some(closed) = Lifecycle::close(&mut batch, key, (&life, last_activity), Closed::Ended, &event)? else {
            return Ok(None);
        };
        if let Some(period) = period.filter(|period| period.period == closed.period) {
            batch.keep_period(&period)?;
        }
        batch.commit()?;
        Ok(Some((at, closed.period)))
    }

    /// Ends the session a reference means; nothing if it has been ended already.
    pub fn end_session(&self, reference: &str) -> Result<Option<Ended>, EngineError> {
        let caller = self.known_caller(reference)?;
        self.end(&caller, "by hand")
    }

    /// Pauses the session a reference means; the next prompt in it goes on. Says whether it could be paused: what has
    /// ended cannot.
    pub fn pause_session(&self, reference: &str) -> Result<bool, EngineError> {
        let caller = self.known_caller(reference)?;
        let now = self.now();
        let lifecycle = Lifecycle::of(&self.config);
        let mut store = self.writer()?;
        let own = Own::find(&store, caller.key())?;
        if lifecycle.state(own.life.as_ref(), own.last_activity(), now) == State::Ended {
            return Ok(false);
        }
        let life = own.life_or_story(lifecycle, now);
        let event = LifeEvent { at: now, kind: "session_suspended".to_owned(), detail: String::new() };
        let mut batch = store.begin()?;
        Lifecycle::close(&mut batch, caller.key(), (&life, own.last_activity()), Closed::Suspended, &event)?;
        batch.commit()?;
        Ok(true)
    }

    /// Says what a session is working on.
    pub fn set_task(&self, reference: &str, task: &str) -> Result<(), EngineError> {
        let caller = self.known_caller(reference)?;
        let task = preview(task, TASK_CHARS);
        let mut store = self.writer()?;
        let mut batch = store.begin()?;
        let now = self.now();
        let mut life = batch.life(caller.key())?.unwrap_or_else(|| rethread_store::Life::begin(now));
        // A task that is set again is told again.
        batch.untell_one(caller.key(), hash_of_task(&task))?;
        life.task = (!task.is_empty()).then_some(task);
        batch.save_life(caller.key(), &life)?;
        Ok(batch.commit()?)
    }

    /// Puts a note into a session's hot memory, where no deed pushes it out.
    pub fn add_note(&self, reference: &str, text: &str) -> Result<(), EngineError> {
        check_note(text)?;
        let caller = self.known_caller(reference)?;
        let note = Hot { at: self.now(), text: preview(text, NOTE_CHARS), is_note: true };
        let mut store = self.writer()?;
        let mut batch = store.begin()?;
        batch.add_hot(caller.key(), &note, NOTES_KEPT)?;
        Ok(batch.commit()?)
    }

    /// Gives a session a name, which it keeps whatever its agent calls it; an empty one gives the agent's back.
    pub fn set_name(&self, reference: &str, name: &str) -> Result<(), EngineError> {
        let caller = self.known_caller(reference)?;
        if caller.agent == Agent::Native {
            return self.thread_rename(&caller.external_id, name);
        }
        let name = without_secrets(&one_line(name));
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
        let alias = alias.trim();
        check_alias(alias)?;
        let caller = self.known_caller(reference)?;
        let mut store = self.writer()?;
        let mut batch = store.begin()?;
        batch.set_alias(caller.agent, &caller.external_id, alias)?;
        Ok(batch.commit()?)
    }

    pub(super) fn known_caller(&self, reference: &str) -> Result<Caller, EngineError> {
        let store = self.reader()?.ok_or_else(|| EngineError::UnknownReference(reference.to_owned()))?;
        self.caller(&store, reference)
    }
}

/// A note says something.
pub(super) fn check_note(text: &str) -> Result<(), EngineError> {
    if text.trim().is_empty() { Err(EngineError::NothingToNote) } else { Ok(()) }
}

/// An alias is one word of letters, digits, dashes, dots and underscores.
pub(super) fn check_alias(alias: &str) -> Result<(), EngineError> {
    let fits = !alias.is_empty()
        && alias.chars().count() <= LONGEST_ALIAS
        && alias.chars().all(|c| c.is_alphanumeric() || "-_.".contains(c));
    if fits { Ok(()) } else { Err(EngineError::BadAlias(preview(alias, LONGEST_ALIAS))) }
}
