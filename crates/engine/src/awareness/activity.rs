//! What users and programs can ask about a session: the activity of others, and what is or would be injected.

use rethread_ingest::is_machine_prompt;
use rethread_model::SessionState;
use rethread_recall::{ActivityBlock, ComposedInjection, resume_context, slug};
use rethread_store::InjectionRow;

use super::AwarenessService;
use super::caller::Caller;
use super::inject::InjectionTrigger;
use super::injection_context::last_activity;
use super::session_view::{OwnSession, SessionSummary};
use crate::{EngineError, SyncingReader};

/// What would be injected into a session, and why.
#[derive(Clone, Debug)]
pub struct InjectionExplanation {
    /// The text that would be injected; `None` if there is nothing to inject.
    pub composed: Option<ComposedInjection>,
    /// The sections that were skipped, each with the reason.
    pub skipped: Vec<String>,
    /// The lifecycle state of the session.
    pub state: SessionState,
    /// Key figures of the session.
    pub session: SessionSummary,
}

impl AwarenessService<'_> {
    /// What the other sessions did since the reader last looked. Moves the reader's watermarks unless `peek` is set.
    pub fn activity(self, reference: &str, peek: bool) -> Result<Option<ActivityBlock>, EngineError> {
        let mut store =
            self.engine.syncing_reader()?.ok_or_else(|| EngineError::UnknownReference(reference.to_owned()))?;
        let caller = self.caller(&store, reference)?;
        self.new_activity(&mut store, &caller, peek)
    }

    /// What the other sessions did since the reader last looked. Reads new transcript lines first.
    pub(super) fn new_activity(
        self,
        store: &mut SyncingReader,
        caller: &Caller,
        peek: bool,
    ) -> Result<Option<ActivityBlock>, EngineError> {
        let now = self.engine.now();
        let project = self.project_of(store, caller)?;
        if let Some(store) = store.writer() {
            self.catch_up(store, &project, Some(caller), now)?;
        }
        let context = self.injection_context(store, caller, last_activity(store, caller)?, now)?;
        if let Some(store) = store.writer().filter(|_| !peek) {
            let mut batch = store.begin()?;
            for mark in context.injected_watermarks().chain(&context.other_sessions.quiet_watermarks) {
                batch.move_watermark(caller.key(), *mark)?;
            }
            for (name, session) in context.injected_names() {
                batch.record_shown_name(caller.key(), &slug(name), session, now)?;
            }
            batch.commit()?;
        }
        Ok(context.activity)
    }

    /// Like [`AwarenessService::activity`] with `peek`, but only from what is already stored: no transcript is read.
    pub fn stored_activity(self, reference: &str) -> Result<Option<ActivityBlock>, EngineError> {
        let store = self.engine.reader_for(reference)?;
        let caller = self.caller(&store, reference)?;
        Ok(self.injection_context(&store, &caller, last_activity(&store, &caller)?, self.engine.now())?.activity)
    }

    /// What the prompt hook would inject, and why. Reads new transcript lines, but moves no watermark and marks nothing
    /// as injected.
    pub fn explain(self, reference: &str, prompt: &str) -> Result<InjectionExplanation, EngineError> {
        let mut store =
            self.engine.syncing_reader()?.ok_or_else(|| EngineError::UnknownReference(reference.to_owned()))?;
        let caller = self.caller(&store, reference)?;
        let before = last_activity(&store, &caller)?;
        let project = self.project_of(&store, &caller)?;
        // A reader without write access sees what was stored before.
        if let Some(store) = store.writer()
            && let Err(error) = self.catch_up(store, &project, Some(&caller), self.engine.now())
        {
            self.engine.journal().error("inject", &error);
        }
        let mut context = self.injection_context(&store, &caller, before, self.engine.now())?;
        let view = context.own.view(&store, caller.key(), context.lifecycle, context.now)?;
        let session = OwnSession::summary(&view, context.state, context.now);
        if is_machine_prompt(prompt) {
            let skipped = vec!["everything: the prompt is empty or was written by a program".to_owned()];
            return Ok(InjectionExplanation { composed: None, skipped, state: context.state, session });
        }
        let trigger = InjectionTrigger::Prompt(prompt);
        self.find_last_session(&store, &caller, &mut context, trigger)?;
        let (parts, skipped) = self.sections(&store, &caller, &context, trigger)?;
        Ok(InjectionExplanation { composed: self.compose_sections(parts), skipped, state: context.state, session })
    }

    /// The last texts injected into a session, newest first.
    pub fn injections(self, reference: &str, limit: u64) -> Result<Vec<InjectionRow>, EngineError> {
        let store = self.engine.reader_for(reference)?;
        let caller = self.caller(&store, reference)?;
        Ok(store.injections(caller.key(), limit)?)
    }

    /// The text that would be injected if the session resumed now.
    pub fn resume_text(self, reference: &str) -> Result<String, EngineError> {
        let store = self.engine.reader_for(reference)?;
        let caller = self.caller(&store, reference)?;
        let context = self.injection_context(&store, &caller, last_activity(&store, &caller)?, self.engine.now())?;
        let view = context.view_before_break(&store, caller.key())?;
        Ok(resume_context(&view, self.engine.settings().inject.detail, context.silence_millis, context.now))
    }
}
