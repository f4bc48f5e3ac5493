//! Records what hooks and users report about a session: tool calls, task, notes, names, suspend and end.

use std::path::PathBuf;

use rethread_model::{Agent, SessionState, Timestamp, one_line};
use rethread_recall::NOTE_CHARS;
use rethread_store::{Batch, CloseKind, HotMemoryRow, LifecycleEvent, SessionKey, SessionLabels, Store, StoreError};

use super::state::{closed_life, last_event_at};
use super::{EventContext, LifecycleRules, LifecycleService, SessionEvent};
use crate::awareness::{Caller, OwnSession, preview, task_key, without_secrets};
use crate::hook::SpoolFile;
use crate::{EngineError, naming};

/// Maximum number of notes per session; older ones are dropped.
const MAX_NOTES: u64 = 5;
/// Maximum length of a task.
const TASK_CHARS: usize = 300;
/// Maximum length of an alias.
const MAX_ALIAS_CHARS: usize = 100;
/// Number of events looked at to count the prompts of a run. A run with more is worth an archive of its own.
const EVENTS_OF_A_RUN: u64 = 40;
/// Maximum length of the recorded start or end reason.
const REASON_CHARS: usize = 100;

/// The result of ending a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedSession {
    /// When the session ended: at its last activity if that is long ago, otherwise now.
    pub at: Timestamp,
    /// The archive file of its last period, if one was written.
    pub archive_path: Option<PathBuf>,
}

impl LifecycleService<'_> {
    /// Records an event that happened at a time. If it comes from the spool, it is recorded only once.
    pub(crate) fn record(
        self,
        store: &mut Store,
        key: SessionKey<'_>,
        at: Timestamp,
        event: SessionEvent,
        spooled: Option<&SpoolFile>,
    ) -> Result<(), EngineError> {
        let lifecycle = self.rules();
        let snapshot = store.snapshot()?;
        let own = OwnSession::load(&snapshot, key)?;
        let finished = self.period_about_to_end(&snapshot, key, &own, own.last_activity(), at)?;
        drop(snapshot);
        let SessionEvent { kind, detail, hot_text, entities, tool, file } = event;
        let about = EventContext { entities, tool, file };
        let mut batch = store.begin_unflushed()?;
        if let Some(file) = spooled
            && !file.claim(&mut batch)?
        {
            return Ok(());
        }
        let event = LifecycleEvent { at, kind, detail };
        let ended = lifecycle.touch(&mut batch, key, own.last_activity(), &event, about)?;
        if let Some(period) = finished.filter(|finished| ended == Some(finished.period)) {
            batch.add_pending_archive(&period)?;
        }
        if let Some(text) = hot_text {
            batch.add_hot_memory(key, &HotMemoryRow { at, text, is_note: false }, lifecycle.max_hot_entries)?;
        }
        Ok(batch.commit()?)
    }

    /// Ends a run of an agent without a terminal. With several prompts it ends like any session. With one, its period
    /// continues if another run follows soon, so that scripts that resume a session do not archive every prompt.
    pub(crate) fn end_run(self, caller: &Caller, reason: &str) -> Result<(), EngineError> {
        let mut store = self.engine.writer()?;
        let events = store.lifecycle_events(caller.key(), EVENTS_OF_A_RUN)?;
        let run = events.rsplit(|event| matches!(event.kind.as_str(), "session_start" | "session_end")).next();
        let run = run.unwrap_or_default();
        let prompts = run.iter().filter(|event| event.kind == "prompt_submitted").count();
        if prompts > 1 || run.len() as u64 == EVENTS_OF_A_RUN {
            return self.end_caller(caller, reason).map(drop);
        }
        self.engine.awareness().sync_caller_transcript(&mut store, caller)?;
        let (now, own) = (self.engine.now(), OwnSession::load(&store, caller.key())?);
        let life = own.life_or_inferred(self.rules(), now);
        let event = LifecycleEvent::new(now, "session_end", preview(reason, REASON_CHARS));
        let mut batch = store.begin()?;
        LifecycleRules::close(&mut batch, caller.key(), (&life, own.last_activity()), CloseKind::RunEnded, &event)?;
        Ok(batch.commit()?)
    }

    /// Ends a session and archives its period. Returns `None` if it had already ended or never began.
    pub(crate) fn end_caller(self, caller: &Caller, reason: &str) -> Result<Option<EndedSession>, EngineError> {
        let mut store = self.engine.writer()?;
        self.engine.awareness().sync_caller_transcript(&mut store, caller)?;
        let ended = self.end_in_store(&mut store, caller.key(), reason, self.engine.now(), None)?;
        let Some((at, period)) = ended else { return Ok(None) };
        let mut written = self.write_archives(&mut store).into_iter();
        let own = written.find(|(one, _)| one.external_id == caller.external_id && one.period == period);
        Ok(Some(EndedSession { at, archive_path: own.map(|(_, path)| path) }))
    }

    /// Ends a session and queues its period for the archive. Returns the end time and the period number.
    pub(crate) fn end_in_store(
        self,
        store: &mut Store,
        key: SessionKey<'_>,
        reason: &str,
        now: Timestamp,
        spooled: Option<&SpoolFile>,
    ) -> Result<Option<(Timestamp, u64)>, EngineError> {
        let lifecycle = self.rules();
        let own = OwnSession::load(store, key)?;
        if own.life.is_none() && own.stored.is_none() {
            return Ok(None);
        }
        let life = own.life_or_inferred(lifecycle, now);
        let last_activity = own.last_activity();
        let at = lifecycle.end_time(last_event_at(&life, last_activity), now);
        let event = LifecycleEvent::new(at, "session_end", preview(reason, REASON_CHARS));
        let Some(mut closed) = closed_life(life.clone(), last_activity, CloseKind::Ended, at) else { return Ok(None) };
        // Closing also adds a `session_end` event.
        closed.event_count += 1;
        let period = self.build_archive(store, key, &closed, &event)?;
        let mut batch = store.begin()?;
        if let Some(file) = spooled
            && !file.claim(&mut batch)?
        {
            return Ok(None);
        }
        let Some(closed) = LifecycleRules::close(&mut batch, key, (&life, last_activity), CloseKind::Ended, &event)?
        else {
            return Ok(None);
        };
        if let Some(period) = period.filter(|period| period.period == closed.period) {
            batch.add_pending_archive(&period)?;
        }
        batch.commit()?;
        Ok(Some((at, closed.period)))
    }

    /// Ends a session by reference. Returns `None` if it had already ended.
    pub fn end(self, reference: &str) -> Result<Option<EndedSession>, EngineError> {
        let caller = self.resolve_caller(reference)?;
        self.end_caller(&caller, "by hand")
    }

    /// Suspends a session by reference; its next prompt resumes it. Returns `false` if it had already ended and so
    /// could not be suspended.
    pub fn pause(self, reference: &str) -> Result<bool, EngineError> {
        let caller = self.resolve_caller(reference)?;
        let now = self.engine.now();
        let lifecycle = self.rules();
        let mut store = self.engine.writer()?;
        let own = OwnSession::load(&store, caller.key())?;
        if lifecycle.state(own.life.as_ref(), own.last_activity(), now) == SessionState::Ended {
            return Ok(false);
        }
        let life = own.life_or_inferred(lifecycle, now);
        let event = LifecycleEvent::new(now, "session_suspended", String::new());
        let mut batch = store.begin()?;
        LifecycleRules::close(&mut batch, caller.key(), (&life, own.last_activity()), CloseKind::Suspended, &event)?;
        batch.commit()?;
        Ok(true)
    }

    /// Sets the task of a session; an empty text clears it.
    pub fn set_task(self, reference: &str, task: &str) -> Result<(), EngineError> {
        let task = preview(task, TASK_CHARS);
        self.edit(reference, |batch, caller| {
            // Setting the same task again injects it again.
            batch.clear_injected_key(caller.key(), task_key(&task))?;
            let task = (!task.is_empty()).then_some(task);
            let labels = SessionLabels { task, ..batch.session_labels(caller.key())? };
            batch.save_session_labels(caller.key(), &labels)
        })
    }

    /// Adds a note to a session's hot memory, where tool calls do not push it out.
    pub fn add_note(self, reference: &str, text: &str) -> Result<(), EngineError> {
        check_note(text)?;
        let note = HotMemoryRow { at: self.engine.now(), text: preview(text, NOTE_CHARS), is_note: true };
        self.edit(reference, |batch, caller| batch.add_hot_memory(caller.key(), &note, MAX_NOTES))
    }

    /// Names a session; this overrides the agent's own name. An empty name restores the agent's.
    pub fn set_name(self, reference: &str, name: &str) -> Result<(), EngineError> {
        let caller = self.resolve_caller(reference)?;
        if caller.agent == Agent::Native {
            return self.engine.threads().rename(&caller.external_id, name);
        }
        let name = without_secrets(&one_line(name));
        let mut store = self.engine.writer()?;
        let mut batch = store.begin()?;
        let name = (!name.is_empty()).then_some(name);
        let labels = SessionLabels { name, ..batch.session_labels(caller.key())? };
        batch.save_session_labels(caller.key(), &labels)?;
        batch.commit()?;
        naming::refresh_name(&mut store, caller.key())
    }

    /// Sets a session's alias. An alias is unique: another session that had it loses it.
    pub fn set_alias(self, reference: &str, alias: &str) -> Result<(), EngineError> {
        let alias = alias.trim();
        check_alias(alias)?;
        self.edit(reference, |batch, caller| batch.set_alias(caller.agent, &caller.external_id, alias))
    }

    /// Changes what is stored about a session, in one transaction.
    pub(super) fn edit(
        self,
        reference: &str,
        change: impl FnOnce(&mut Batch<'_>, &Caller) -> Result<(), StoreError>,
    ) -> Result<(), EngineError> {
        let caller = self.resolve_caller(reference)?;
        let mut store = self.engine.writer()?;
        let mut batch = store.begin()?;
        change(&mut batch, &caller)?;
        Ok(batch.commit()?)
    }

    fn resolve_caller(self, reference: &str) -> Result<Caller, EngineError> {
        let store = self.engine.reader_for(reference)?;
        self.engine.awareness().caller(&store, reference)
    }
}

pub(super) fn check_note(text: &str) -> Result<(), EngineError> {
    if text.trim().is_empty() { Err(EngineError::EmptyNote) } else { Ok(()) }
}

/// An alias consists of letters, digits, dashes, dots and underscores.
pub(super) fn check_alias(alias: &str) -> Result<(), EngineError> {
    let fits = !alias.is_empty()
        && alias.chars().count() <= MAX_ALIAS_CHARS
        && alias.chars().all(|c| c.is_alphanumeric() || "-_.".contains(c));
    if fits { Ok(()) } else { Err(EngineError::InvalidAlias(preview(alias, MAX_ALIAS_CHARS))) }
}
