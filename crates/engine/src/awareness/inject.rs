//! Builds the text injected into a session and records it. The same thing is never injected twice.

use std::time::Instant;

use rethread_ingest::is_machine_prompt;
use rethread_model::{Agent, Timestamp};
use rethread_recall::{
    ComposedInjection, InjectionSection, REFERENCE_CUT_MARK, SectionKind, compose_injection, extract_entities, slug,
};
use rethread_store::{Batch, InjectionRow, LifecycleEvent, PendingArchive, SessionKey, SessionNumber, Store};
use serde_json::json;

use super::caller::Caller;
use super::injection_context::{InjectionContext, last_activity};
use super::tool_call_text::{preview, preview_source, without_secrets};
use crate::EngineError;
use crate::awareness::AwarenessService;
use crate::hook::{HookEventKind, HostProtocol};
use crate::lifecycle::{EventContext, SessionEvent};

/// Maximum length of a prompt in the event log.
const PREVIEW_CHARS: usize = 100;

/// The event that causes an injection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InjectionTrigger<'a> {
    /// A human typed this prompt.
    Prompt(&'a str),
    /// A session was opened again with its context intact.
    Resume,
    /// The same in a host that may report no prompt.
    StartWithActivity,
    /// A session continues with a new context, after a compaction.
    NewContext,
    /// A session starts in the place of one whose context the user cleared, given by the agent's id.
    Cleared(&'a str),
}

/// A session that starts or resumes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StartingSession<'a> {
    /// The host's word for what started it, such as `resume` or `clear`.
    pub(crate) source: &'a str,
    /// Whether what was injected before is no longer in its context.
    pub(crate) is_context_new: bool,
    /// Whether to inject what other sessions did, because no prompt may be reported.
    pub(crate) brings_activity: bool,
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
        self.read_other_sessions(&mut store, caller)?;
        let Some(event) = prompt_event(prompt) else { return Ok(None) };
        let event = event.at(self.engine.now());
        self.inject(&mut store, caller, InjectionTrigger::Prompt(prompt), before, &event, began)
    }

    /// Reads what other sessions of the project wrote, as far as that is possible while the agent waits.
    fn read_other_sessions(self, store: &mut Store, caller: &Caller) -> Result<(), EngineError> {
        let project = self.project_of(store, caller)?;
        match self.catch_up(store, &project, Some(caller), self.engine.now()) {
            Ok(true) => {}
            // Too much to read: it is reported with the next prompt.
            Ok(false) => {
                self.engine.start_detached(&["sync"]);
            }
            // What was stored before is still worth reporting.
            Err(error) => self.engine.journal().error("inject", &error),
        }
        Ok(())
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
        start: &StartingSession<'_>,
    ) -> Result<Option<String>, EngineError> {
        let StartingSession { source, is_context_new, brings_activity } = *start;
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
        if brings_activity {
            self.read_other_sessions(&mut store, caller)?;
        }
        let event = start_event(source).at(self.engine.now());
        let trigger = match &cleared {
            Some(external_id) => InjectionTrigger::Cleared(external_id),
            None if brings_activity && !is_context_new => InjectionTrigger::StartWithActivity,
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
        let mut context = self.injection_context(&snapshot, caller, before, event.at)?;
        self.find_last_session(&snapshot, caller, &mut context, trigger)?;
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
        for (name, session) in composed.iter().flat_map(|composed| shown_names(composed, context)) {
            batch.record_shown_name(caller.key(), &slug(name), session, context.now)?;
        }
        if matches!(trigger, InjectionTrigger::Prompt(_)) {
            batch.set_new_context(caller.key(), false)?;
        }
        if let Some(composed) = &composed {
            let hook = trigger.hook_event_name(caller.agent);
            caller.add_injection(&mut batch, &injection_record(composed, hook, context.now, began))?;
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
        let mut batch = store.begin_unflushed()?;
        caller.save_as_session(&mut batch, &project, &event.at(self.engine.now()))?;
        Ok(batch.commit()?)
    }

    pub(super) fn compose_sections(self, parts: Vec<InjectionSection>) -> Option<ComposedInjection> {
        let (budget, with_note) = (self.engine.settings().inject.budget_tokens, self.engine.settings().inject.note);
        compose_injection(parts, budget, with_note, self.engine.now())
    }
}

impl InjectionTrigger<'_> {
    /// Entities named in the prompt, without secrets.
    fn entities(self) -> Vec<String> {
        match self {
            InjectionTrigger::Prompt(prompt) => entities_in(prompt),
            _ => Vec::new(),
        }
    }

    /// The agent's own name for the event; the injection is recorded under it.
    fn hook_event_name(&self, agent: Agent) -> &'static str {
        let kind = match self {
            InjectionTrigger::Prompt(_) => HookEventKind::Prompt,
            _ => HookEventKind::SessionStarted { is_context_new: false },
        };
        HostProtocol::of(agent).and_then(|host| host.name_of(kind)).unwrap_or_default()
    }
}

/// The names of sessions that an injection shows, so that a prompt can refer to them.
fn shown_names<'a>(
    composed: &ComposedInjection,
    context: &'a InjectionContext,
) -> impl Iterator<Item = (&'a str, SessionNumber)> {
    let has = |kind: SectionKind| composed.sections.iter().any(|section| section.kind == kind);
    let of_activity = has(SectionKind::Activity).then(|| context.injected_names());
    let of_last = context.last_session.session().filter(|_| has(SectionKind::LastSession));
    of_activity.into_iter().flatten().chain(of_last.map(|(last, number)| (last.name.as_str(), number)))
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
        _ => None,
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
        caller.add_injection(&mut batch, &injection_record(&composed, event, now, began))?;
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
pub(crate) fn text_hash(text: &str) -> u64 {
    rethread_model::NativeKey::global(Agent::Native, text).as_stored() as u64
}
