//! Builds the text injected into a session and records it. The same thing is never injected twice.

use std::path::PathBuf;
use std::time::Instant;

use rethread_ingest::is_machine_prompt;
use rethread_ingest::source::project;
use rethread_model::{Agent, SessionState, Timestamp};
use rethread_recall::{
    ActivityBlock, ActivityReader, ComposedInjection, InjectionSection, REFERENCE_CUT_MARK, SectionKind, SessionView,
    activity_block, compose_injection, extract_entities, resume_context,
};
use rethread_store::{
    Batch, InjectionRow, LifecycleEvent, PendingArchive, ReadStore, SessionKey, SessionNumber, Store, StoreError,
    WatermarkMove,
};
use serde_json::json;

use super::caller::Caller;
use super::other_sessions::OtherSessions;
use super::session_view::{OwnSession, SessionSummary};
use super::tool_call_text::{preview, preview_source, without_secrets};
use crate::EngineError;
use crate::awareness::AwarenessService;
use crate::hook::{HookEventKind, HostProtocol};
use crate::lifecycle::{EventContext, Lifecycle, SessionEvent};
use crate::resolver::slug;

/// Maximum length of a prompt in the event log.
const PREVIEW_CHARS: usize = 100;
/// Transcript lines younger than this belong to the event that is being handled.
const SAME_EVENT_MILLIS: i64 = 15_000;

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

/// The event that causes an injection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InjectionTrigger<'a> {
    /// A human typed this prompt.
    Prompt(&'a str),
    /// A session was opened again with its context intact.
    Resume,
    /// A session continues with a new context, after a compaction.
    NewContext,
    /// A session starts in the place of one whose context the user cleared, given by the agent's id.
    Cleared(&'a str),
}

/// Everything needed to decide what to inject: the session, the other sessions, and the time.
pub(super) struct InjectionContext {
    pub(super) own: OwnSession,
    pub(super) project: String,
    pub(super) activity: Option<ActivityBlock>,
    /// Last activity in the session before the current event.
    last_activity: Option<Timestamp>,
    other_sessions: OtherSessions,
    pub(super) lifecycle: Lifecycle,
    pub(super) state: SessionState,
    pub(super) silence_millis: i64,
    pub(super) now: Timestamp,
}

/// What to inject, before it is recorded.
struct PlannedInjection {
    context: InjectionContext,
    sections: Vec<InjectionSection>,
    /// The period that the event ends, if it does.
    ending: Option<PendingArchive>,
}

impl AwarenessService<'_> {
    /// The text to inject with a prompt. Marks it as injected.
    pub(crate) fn inject_on_prompt(self, caller: &Caller, prompt: &str) -> Result<Option<String>, EngineError> {
        let began = Instant::now();
        let mut store = self.engine.writer()?;
        let before = last_activity(&store, caller)?;
        if let Err(error) = self.sync_caller_transcript(&mut store, caller) {
            self.engine.journal().error("inject", &error);
        }
        if is_machine_prompt(prompt) {
            return Ok(None);
        }
        let project = self.project_of(&store, caller)?;
        match self.catch_up(&mut store, &project, Some(caller), self.engine.now()) {
            Ok(true) => {}
            // Too much to read while the agent waits: it is reported with the next prompt.
            Ok(false) => {
                self.engine.start_detached(&["sync"]);
            }
            // What was stored before is still worth reporting.
            Err(error) => self.engine.journal().error("inject", &error),
        }
        let Some(SessionEvent { kind, detail, .. }) = prompt_event(prompt) else { return Ok(None) };
        let event = LifecycleEvent { at: self.engine.now(), kind, detail };
        self.inject(&mut store, caller, InjectionTrigger::Prompt(prompt), before, &event, began)
    }

    /// What to inject before a message of a thread, if it fits into `max_tokens`. Marks it as injected.
    pub(crate) fn inject_into_thread(
        self,
        caller: &Caller,
        text: &str,
        max_tokens: u64,
        began: Instant,
    ) -> Result<Option<ComposedInjection>, EngineError> {
        let mut store = self.engine.writer()?;
        let (project, now) = (self.project_of(&store, caller)?, self.engine.now());
        self.catch_up(&mut store, &project, Some(caller), now)?;
        let snapshot = store.snapshot()?;
        let context = self.injection_context(&snapshot, caller, last_activity(&snapshot, caller)?, now)?;
        let (parts, _) = self.sections(&snapshot, caller, &context, InjectionTrigger::Prompt(text))?;
        drop(snapshot);
        if self.compose_sections(parts.clone()).is_none_or(|composed| composed.tokens > max_tokens) {
            return Ok(None);
        }
        let mut batch = store.begin()?;
        let composed = self.claim_sections(&mut batch, caller, &context, parts)?;
        if let Some(composed) = &composed {
            batch.add_injection(caller.key(), &injection_record(composed, "thread_send", now, began))?;
        }
        batch.commit()?;
        Ok(composed)
    }

    /// The text to inject when a session starts or resumes. A new context clears the record of what was injected
    /// before.
    pub(crate) fn inject_on_session_start(
        self,
        caller: &Caller,
        source: &str,
        is_context_new: bool,
    ) -> Result<Option<String>, EngineError> {
        let began = Instant::now();
        let mut store = self.engine.writer()?;
        let before = last_activity(&store, caller)?;
        self.sync_caller_transcript(&mut store, caller)?;
        if is_context_new {
            let mut batch = store.begin()?;
            batch.clear_injected(caller.key())?;
            batch.commit()?;
        }
        let mut cleared = None;
        if source == "clear" {
            let project = self.project_of(&store, caller)?;
            cleared = Self::cleared_session(&store, caller.key(), &project, self.engine.now())?;
            if let Some(cleared) = &cleared {
                self.skip_cleared_session(&mut store, caller.key(), cleared, (&project, self.engine.now()))?;
            }
        }
        let SessionEvent { kind, detail, .. } = start_event(source);
        let event = LifecycleEvent { at: self.engine.now(), kind, detail };
        let trigger = match &cleared {
            Some(external_id) => InjectionTrigger::Cleared(external_id),
            None if is_context_new => InjectionTrigger::NewContext,
            None => InjectionTrigger::Resume,
        };
        self.inject(&mut store, caller, trigger, before, &event, began)
    }

    /// Records that a session's context was replaced. Its own section is then injected with the next prompt.
    pub(crate) fn mark_context_new(self, caller: &Caller) -> Result<(), EngineError> {
        let mut store = self.engine.writer()?;
        self.sync_caller_transcript(&mut store, caller)?;
        replace_context(&mut store, caller.key())
    }

    /// What the other sessions did since the reader last looked. Moves the reader's watermarks unless `peek` is set.
    pub fn activity(self, reference: &str, peek: bool) -> Result<Option<ActivityBlock>, EngineError> {
        let mut store =
            self.engine.syncing_reader()?.ok_or_else(|| EngineError::UnknownReference(reference.to_owned()))?;
        let caller = self.caller(&store, reference)?;
        let now = self.engine.now();
        let project = self.project_of(&store, &caller)?;
        if let Some(store) = store.writer() {
            self.catch_up(store, &project, Some(&caller), now)?;
        }
        let context = self.injection_context(&store, &caller, last_activity(&store, &caller)?, now)?;
        if let Some(store) = store.writer().filter(|_| !peek) {
            let mut batch = store.begin()?;
            for mark in context.injected_watermarks().chain(&context.other_sessions.quiet_watermarks) {
                batch.move_watermark(caller.key(), *mark)?;
            }
            batch.commit()?;
        }
        Ok(context.activity)
    }

    /// Like [`AwarenessService::activity`] with `peek`, but only from what is already stored: no transcript is read.
    pub fn stored_activity(self, reference: &str) -> Result<Option<ActivityBlock>, EngineError> {
        let store = self.engine.reader()?.ok_or_else(|| EngineError::UnknownReference(reference.to_owned()))?;
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
        let context = self.injection_context(&store, &caller, before, self.engine.now())?;
        let view = context.own.view(&store, caller.key(), context.lifecycle, context.now)?;
        let session = OwnSession::summary(&view, context.state, context.now);
        if is_machine_prompt(prompt) {
            let skipped = vec!["everything: the prompt is empty or was written by a program".to_owned()];
            return Ok(InjectionExplanation { composed: None, skipped, state: context.state, session });
        }
        let (parts, skipped) = self.sections(&store, &caller, &context, InjectionTrigger::Prompt(prompt))?;
        Ok(InjectionExplanation { composed: self.compose_sections(parts), skipped, state: context.state, session })
    }

    /// The last texts injected into a session, newest first.
    pub fn injections(self, reference: &str, limit: u64) -> Result<Vec<InjectionRow>, EngineError> {
        let store = self.engine.reader()?.ok_or_else(|| EngineError::UnknownReference(reference.to_owned()))?;
        let caller = self.caller(&store, reference)?;
        Ok(store.injections(caller.key(), limit)?)
    }

    /// The text that would be injected if the session resumed now.
    pub fn resume_text(self, reference: &str) -> Result<String, EngineError> {
        let store = self.engine.reader()?.ok_or_else(|| EngineError::UnknownReference(reference.to_owned()))?;
        let caller = self.caller(&store, reference)?;
        let context = self.injection_context(&store, &caller, last_activity(&store, &caller)?, self.engine.now())?;
        let view = context.view_before_break(&store, caller.key())?;
        Ok(resume_context(&view, self.engine.settings().inject.detail, context.silence_millis, context.now))
    }

    fn inject(
        self,
        store: &mut Store,
        caller: &Caller,
        trigger: InjectionTrigger<'_>,
        before: Option<Timestamp>,
        event: &LifecycleEvent,
        began: Instant,
    ) -> Result<Option<String>, EngineError> {
        // Must be read before the event is recorded: afterwards the session is no longer idle.
        let snapshot = store.snapshot()?;
        let context = self.injection_context(&snapshot, caller, before, event.at)?;
        let (sections, _) = self.sections(&snapshot, caller, &context, trigger)?;
        let ending = self.engine.lifecycle().period_about_to_end(
            &snapshot,
            caller.key(),
            &context.own,
            context.last_activity,
            context.now,
        )?;
        drop(snapshot);
        let planned = PlannedInjection { context, sections, ending };
        let composed = match self.record_injection(store, caller, trigger, event, &planned, began) {
            Ok(composed) => composed,
            // Without the record, the worst that can happen is that the same is injected again. The event itself waits.
            Err(error) => {
                match prompt_event_of(trigger) {
                    Some(event) if error.is_locked() => self.engine.hooks().spool_event(caller, event)?,
                    _ if error.is_locked() => return Err(error),
                    _ => self.engine.journal().error("inject", &error),
                }
                return Ok(self.compose_sections(planned.sections).map(|composed| composed.text));
            }
        };
        for part in composed.iter().flat_map(|composed| &composed.sections) {
            if part.kind == SectionKind::References {
                let is_cut = part.text.contains(REFERENCE_CUT_MARK);
                let fields = [
                    ("outcome", part.reason.as_str().into()),
                    ("bytes", part.text.len().into()),
                    ("truncated", is_cut.into()),
                ];
                self.engine.journal().event("session-reference:inject", None, &fields);
            }
        }
        self.engine.lifecycle().write_archives(store);
        Ok(composed.map(|composed| composed.text))
    }

    /// Stores the event, the watermarks, what was injected and the injection, in one transaction.
    fn record_injection(
        self,
        store: &mut Store,
        caller: &Caller,
        trigger: InjectionTrigger<'_>,
        event: &LifecycleEvent,
        planned: &PlannedInjection,
        began: Instant,
    ) -> Result<Option<ComposedInjection>, EngineError> {
        let PlannedInjection { context, sections, ending } = planned;
        let mut batch = store.begin()?;
        caller.save_as_session(&mut batch, &context.project, event)?;
        let about = EventContext { entities: trigger.entities(), ..EventContext::default() };
        let ended = context.lifecycle.touch(&mut batch, caller.key(), context.last_activity, event, about)?;
        if let Some(period) = ending.as_ref().filter(|ending| ended == Some(ending.period)) {
            batch.add_pending_archive(period)?;
        }
        let composed = self.claim_sections(&mut batch, caller, context, sections.clone())?;
        let has_activity = |composed: &ComposedInjection| {
            composed.sections.iter().any(|section| section.kind == SectionKind::Activity)
        };
        if composed.as_ref().is_some_and(has_activity) {
            for (name, session) in context.injected_names() {
                batch.record_shown_name(caller.key(), &slug(name), session, context.now)?;
            }
        }
        if matches!(trigger, InjectionTrigger::Prompt(_)) {
            batch.set_new_context(caller.key(), false)?;
        }
        if let Some(composed) = &composed {
            batch.add_injection(
                caller.key(),
                &injection_record(composed, trigger.hook_event_name(caller.agent), context.now, began),
            )?;
        }
        batch.commit()?;
        Ok(composed)
    }

    /// Composes the sections that fit the token budget and marks them as injected. Sections that a concurrent hook
    /// injected first are dropped.
    fn claim_sections(
        self,
        batch: &mut Batch<'_>,
        caller: &Caller,
        context: &InjectionContext,
        parts: Vec<InjectionSection>,
    ) -> Result<Option<ComposedInjection>, EngineError> {
        for mark in &context.other_sessions.quiet_watermarks {
            batch.move_watermark(caller.key(), *mark)?;
        }
        let Some(composed) = self.compose_sections(parts) else { return Ok(None) };
        let mut fresh = Vec::new();
        for part in &composed.sections {
            let mut is_new = true;
            if part.kind == SectionKind::Activity {
                for mark in context.injected_watermarks() {
                    is_new &= batch.move_watermark(caller.key(), *mark)?;
                }
            }
            let mut says_new = part.dedupe_keys.is_empty();
            for key in &part.dedupe_keys {
                says_new |= batch.mark_injected(caller.key(), *key, context.now)?;
            }
            is_new &= says_new;
            fresh.extend(is_new.then(|| part.clone()));
        }
        Ok(if fresh.len() == composed.sections.len() { Some(composed) } else { self.compose_sections(fresh) })
    }

    /// Stores what a hook knows about a session, until its transcript is read.
    pub(crate) fn save_as_session(
        self,
        store: &mut Store,
        caller: &Caller,
        event: &SessionEvent,
    ) -> Result<(), EngineError> {
        let project = self.project_of(store, caller)?;
        let event = LifecycleEvent { at: self.engine.now(), kind: event.kind.clone(), detail: event.detail.clone() };
        let mut batch = store.begin_unflushed()?;
        caller.save_as_session(&mut batch, &project, &event)?;
        Ok(batch.commit()?)
    }

    /// The project of a session. The transcript decides, so a later change of directory does not change it.
    pub(super) fn project_of(self, store: &ReadStore, caller: &Caller) -> Result<String, EngineError> {
        if let Some(project) = store.session_by_external_id(caller.key())?.and_then(|(_, session)| session.project) {
            return Ok(project);
        }
        let variable = HostProtocol::of(caller.agent).and_then(|host| host.project_variable);
        let mut variables = self.engine.environment.variables.iter();
        let named = variables.find(|(name, _)| Some(name.as_str()) == variable).map(|(_, folder)| folder.as_str());
        Ok(project::project_of(named.unwrap_or(&caller.cwd.to_string_lossy())))
    }

    fn injection_context(
        self,
        store: &ReadStore,
        caller: &Caller,
        before: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<InjectionContext, EngineError> {
        let own = OwnSession::load_with_actions(store, caller.key())?;
        let lifecycle = Lifecycle::from_settings(self.engine.settings());
        let at = own.actions.entries.iter().filter_map(|entry| entry.at);
        // Agents may write the lines of a prompt before they call the hook for it.
        let last_activity = at.filter(|at| now.millis_since(*at) > SAME_EVENT_MILLIS).max().max(before);
        let state = if own.life.is_none() && own.stored.is_none() {
            SessionState::Active
        } else {
            lifecycle.state(own.life.as_ref(), last_activity, now)
        };
        let last = last_activity.max(own.life.as_ref().map(|life| life.touched_at));
        let silence_millis = last.map_or(0, |last| now.millis_since(last).max(0));
        let project = self.project_of(store, caller)?;
        let other_sessions = self.other_sessions(store, caller.key(), &project, now)?;
        let branch = own.stored.as_ref().and_then(|(_, session)| session.branch.as_deref());
        let reader = ActivityReader { files: &own.files(), branch };
        let activity = activity_block(&other_sessions.sessions, reader, now);
        Ok(InjectionContext {
            own,
            project,
            activity,
            last_activity,
            other_sessions,
            lifecycle,
            state,
            silence_millis,
            now,
        })
    }

    fn compose_sections(self, parts: Vec<InjectionSection>) -> Option<ComposedInjection> {
        let (budget, with_note) = (self.engine.settings().inject.budget_tokens, self.engine.settings().inject.note);
        compose_injection(parts, budget, with_note, self.engine.now())
    }

    /// Reads new lines of the caller's own transcript, if it has one.
    pub(crate) fn sync_caller_transcript(self, store: &mut Store, caller: &Caller) -> Result<(), EngineError> {
        match &caller.transcript {
            Some(path) => self.engine.sync().files_with(store, caller.agent, std::slice::from_ref(path)),
            None => Ok(()),
        }
    }

    /// The session for a reference, in the form hooks use.
    pub(crate) fn caller(self, store: &ReadStore, reference: &str) -> Result<Caller, EngineError> {
        let session = self.engine.sessions().resolve_in(store, reference)?.session;
        Ok(Caller {
            agent: session.agent,
            cwd: session.cwd.map_or_else(|| self.engine.environment.cwd.clone(), PathBuf::from),
            transcript: session.transcript.map(PathBuf::from),
            external_id: session.external_id,
            subagent: None,
        })
    }
}

impl InjectionContext {
    /// The session as it was before its break.
    pub(super) fn view_before_break(&self, store: &ReadStore, key: SessionKey<'_>) -> Result<SessionView, StoreError> {
        let own = match &self.own.life {
            Some(life) => &self.own.clone().limited_to_period(life),
            None => &self.own,
        };
        own.view(store, key, self.lifecycle, self.last_activity.or(own.last_event_at()).unwrap_or(self.now))
    }

    /// The time of the last activity before the break.
    pub(super) fn silent_since(&self) -> Timestamp {
        Timestamp::from_millis(self.now.as_millis() - self.silence_millis)
    }

    /// Whether the activity section covers that session.
    pub(super) fn covers_activity_of(&self, session: SessionNumber) -> bool {
        let mut included = self.activity.iter().flat_map(|activity| &activity.included);
        included.any(|at| self.other_sessions.numbers[*at] == session)
    }

    /// The names of the sessions covered by the activity section.
    fn injected_names(&self) -> impl Iterator<Item = (&str, SessionNumber)> {
        let included = self.activity.iter().flat_map(|activity| &activity.included);
        included.map(|at| (self.other_sessions.sessions[*at].name.as_str(), self.other_sessions.numbers[*at]))
    }

    /// The watermarks of the sessions covered by the activity section. Sessions that did not fit are shown next time,
    /// except after the first look: then the backlog is not worth more than one block.
    fn injected_watermarks(&self) -> impl Iterator<Item = &WatermarkMove> {
        let included = self.activity.iter().flat_map(|activity| &activity.included).copied();
        let has_looked = !self.other_sessions.is_first_look;
        let all = 0..self.activity.as_ref().map_or(0, |_| self.other_sessions.watermarks.len());
        let shown: Vec<usize> = if has_looked { included.collect() } else { all.collect() };
        shown.into_iter().flat_map(|at| &self.other_sessions.watermarks[at])
    }
}

impl InjectionTrigger<'_> {
    /// Entities named in the prompt, without secrets.
    fn entities(self) -> Vec<String> {
        match self {
            InjectionTrigger::Prompt(prompt) => entities_in(prompt),
            InjectionTrigger::Resume | InjectionTrigger::NewContext | InjectionTrigger::Cleared(_) => Vec::new(),
        }
    }

    /// The agent's own name for the event; the injection is recorded under it.
    fn hook_event_name(&self, agent: Agent) -> &'static str {
        let kind = match self {
            InjectionTrigger::Prompt(_) => HookEventKind::Prompt,
            InjectionTrigger::Resume | InjectionTrigger::NewContext | InjectionTrigger::Cleared(_) => {
                HookEventKind::SessionStarted { is_context_new: false }
            }
        };
        HostProtocol::of(agent).and_then(|host| host.name_of(kind)).unwrap_or_default()
    }
}

/// Forgets what was injected into a session's context, because that is gone.
pub(crate) fn replace_context(store: &mut Store, key: SessionKey<'_>) -> Result<(), EngineError> {
    let mut batch = store.begin_unflushed()?;
    batch.clear_injected(key)?;
    batch.set_new_context(key, true)?;
    Ok(batch.commit()?)
}

/// The event of a prompt; `None` if no human wrote it.
pub(crate) fn prompt_event(prompt: &str) -> Option<SessionEvent> {
    if is_machine_prompt(prompt) {
        return None;
    }
    let event = SessionEvent::new("prompt_submitted", preview(prompt, PREVIEW_CHARS));
    Some(SessionEvent { entities: entities_in(prompt), ..event })
}

fn prompt_event_of(trigger: InjectionTrigger<'_>) -> Option<SessionEvent> {
    match trigger {
        InjectionTrigger::Prompt(prompt) => prompt_event(prompt),
        InjectionTrigger::Resume | InjectionTrigger::NewContext | InjectionTrigger::Cleared(_) => None,
    }
}

/// The event of a session that starts or resumes.
pub(crate) fn start_event(source: &str) -> SessionEvent {
    let kind = if source == "compact" { "context_compacted" } else { "session_start" };
    SessionEvent::new(kind, preview(source, PREVIEW_CHARS))
}

/// Entities named in a prompt, without secrets.
fn entities_in(prompt: &str) -> Vec<String> {
    extract_entities(&without_secrets(preview_source(prompt)))
}

/// Last activity of a session, as far as its transcript has been read.
fn last_activity(store: &ReadStore, caller: &Caller) -> Result<Option<Timestamp>, EngineError> {
    Ok(store.session_by_external_id(caller.key())?.and_then(|(_, session)| session.last_activity_at))
}

/// Injects one section with a tool call, unless it was injected before. Returns the text.
pub(super) fn inject_once(
    store: &mut Store,
    caller: &Caller,
    section: InjectionSection,
    max_tokens: u64,
    event: &str,
    now: Timestamp,
    began: Instant,
) -> Result<Option<String>, EngineError> {
    let dedupe_keys = section.dedupe_keys.clone();
    let Some(composed) = compose_injection(vec![section], max_tokens, false, now) else { return Ok(None) };
    let mut batch = store.begin()?;
    let mut is_first = false;
    for key in dedupe_keys {
        is_first |= batch.mark_injected(caller.key(), key, now)?;
    }
    if is_first {
        batch.add_injection(caller.key(), &injection_record(&composed, event, now, began))?;
    }
    batch.commit()?;
    Ok(is_first.then_some(composed.text))
}

fn injection_record(composed: &ComposedInjection, hook: &str, now: Timestamp, began: Instant) -> InjectionRow {
    let part =
        |part: &InjectionSection| json!({"kind": part.kind.as_str(), "reason": part.reason, "bytes": part.text.len()});
    let parts: Vec<_> = composed.sections.iter().map(part).collect();
    let left_out: Vec<_> = composed.left_out.iter().map(part).collect();
    InjectionRow {
        at: now,
        event: hook.to_owned(),
        text: composed.text.clone(),
        sections_json: json!({"included": parts, "leftOut": left_out, "tokens": composed.tokens}).to_string(),
        text_hash: text_hash(&composed.text),
        duration_micros: began.elapsed().as_micros() as u64,
    }
}

/// A stable hash, used as a dedupe key.
pub(super) fn text_hash(text: &str) -> u64 {
    rethread_model::NativeKey::global(Agent::Native, text).as_stored() as u64
}
