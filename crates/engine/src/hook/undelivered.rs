//! Text that a host did not pass on to the model waits for the next event whose text it does pass on.

use rethread_model::Timestamp;

use super::protocol::HookEvent;
use super::{HookEventKind, HostProtocol};
use crate::awareness::{Caller, prompt_event, start_event};
use crate::lifecycle::SessionEvent;
use crate::{EngineError, HookService};

/// Older text is about a state of the project that is gone.
const MAX_WAIT_MILLIS: i64 = 24 * 3_600_000;
/// A second report of an event comes within this time.
const REPEAT_MILLIS: i64 = 10_000;

impl HookService<'_> {
    /// The text to answer with: this event's and what waited for it. Text of an event whose answer the host drops waits.
    pub(super) fn deliverable(
        self,
        caller: &Caller,
        event: &HookEvent,
        text: Option<String>,
    ) -> Result<Option<String>, EngineError> {
        let can_wait = HostProtocol::of(caller.agent).is_some_and(HostProtocol::drops_answers);
        if !can_wait || caller.subagent.is_some() {
            return Ok(text.filter(|_| event.rule.delivers));
        }
        if !event.rule.delivers {
            if text.is_some() {
                let mut store = self.engine.writer()?;
                let mut batch = store.begin()?;
                batch.hold_last_injection(caller.key())?;
                batch.commit()?;
            }
            return Ok(None);
        }
        if !event.rule.kind.takes_context() {
            return Ok(text);
        }
        // What waits can wait longer; the text of this event cannot.
        let waiting = self.take_waiting(caller).unwrap_or_else(|error| {
            self.engine.journal().error("inject", &error);
            Vec::new()
        });
        let texts: Vec<String> = waiting.into_iter().chain(text).collect();
        Ok((!texts.is_empty()).then(|| texts.join("\n\n")))
    }

    fn take_waiting(self, caller: &Caller) -> Result<Vec<String>, EngineError> {
        let Some(mut store) = self.engine.existing_writer()? else { return Ok(Vec::new()) };
        if !store.has_held_injections(caller.key())? {
            return Ok(Vec::new());
        }
        let since = Timestamp::from_millis(self.engine.now().as_millis() - MAX_WAIT_MILLIS);
        let mut batch = store.begin()?;
        let texts = batch.release_injections(caller.key(), since)?;
        batch.commit()?;
        Ok(texts)
    }

    /// Whether a host that can report events twice has just reported this one.
    pub(super) fn is_repeated(self, caller: &Caller, event: &HookEvent) -> Result<bool, EngineError> {
        let repeats = HostProtocol::of(caller.agent).is_some_and(|host| host.repeats_events);
        let Some(event) = recorded_event(event, caller).filter(|_| repeats) else { return Ok(false) };
        let Some(store) = self.engine.existing_writer()? else { return Ok(false) };
        let now = self.engine.now();
        let known = store.lifecycle_events(caller.key(), 3)?;
        Ok(known.iter().any(|known| {
            known.kind == event.kind && known.detail == event.detail && now.millis_since(known.at) < REPEAT_MILLIS
        }))
    }
}

/// How an event is recorded; `None` if a second report of it does no harm.
fn recorded_event(event: &HookEvent, caller: &Caller) -> Option<SessionEvent> {
    match event.rule.kind {
        HookEventKind::Prompt => prompt_event(&event.text),
        HookEventKind::SessionStarted { .. } => Some(start_event(&event.text)),
        HookEventKind::ToolFinished | HookEventKind::ToolFailed => {
            Some(SessionEvent::of_tool_call(&event.call, &caller.project()))
        }
        _ => None,
    }
}

impl HookEventKind {
    /// Whether the answer can have text for the model.
    fn takes_context(self) -> bool {
        matches!(
            self,
            Self::SessionStarted { .. } | Self::Prompt | Self::ToolStarting | Self::ToolFinished | Self::ToolFailed
        )
    }
}
