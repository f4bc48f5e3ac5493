//! Text that a host did not pass on to the model waits for the next event whose text it does pass on.

use rethread_model::Timestamp;

use super::protocol::HookEvent;
use super::{HookEventKind, HostProtocol};
use crate::awareness::{Caller, text_hash};
use crate::{EngineError, HookService};

/// Older text is about a state of the project that is gone.
const MAX_WAIT_MILLIS: i64 = 24 * 3_600_000;
/// A second report of an event comes within this time.
const REPEAT_MILLIS: i64 = 10_000;

impl HookService<'_> {
    /// The text to answer with: this event's and what waited for it. If the host drops the answer, there is none, and
    /// the text was recorded as waiting.
    pub(super) fn deliverable(self, caller: &Caller, event: &HookEvent, text: Option<String>) -> Option<String> {
        if !event.rule.delivers {
            return None;
        }
        let can_wait = HostProtocol::of(caller.agent).is_some_and(HostProtocol::drops_answers);
        if !can_wait || caller.is_subagent() || !event.rule.kind.takes_context() {
            return text;
        }
        // What waits can wait longer; the text of this event cannot.
        let waiting = self.take_waiting(caller).unwrap_or_else(|error| {
            self.engine.journal().error("inject", &error);
            Vec::new()
        });
        let texts: Vec<String> = waiting.into_iter().chain(text).collect();
        (!texts.is_empty()).then(|| texts.join("\n\n"))
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

    /// Whether a host that can report events twice has just reported this one. The first report claims the event.
    pub(super) fn is_repeated(self, caller: &Caller, event: &HookEvent) -> Result<bool, EngineError> {
        let repeats = HostProtocol::of(caller.agent).is_some_and(|host| host.repeats_events);
        if !repeats || !event.rule.kind.takes_context() {
            return Ok(false);
        }
        let now = self.engine.now();
        let period = now.as_millis() / REPEAT_MILLIS;
        let key = |period| text_hash(&format!("event {} {period}", identity(event)));
        let mut store = self.engine.writer()?;
        if store.was_injected(caller.key(), key(period - 1))? {
            return Ok(true);
        }
        let mut batch = store.begin_unflushed()?;
        let is_first = batch.mark_injected(caller.key(), key(period), now)?;
        batch.commit()?;
        Ok(!is_first)
    }
}

/// What two reports of one event have in common.
fn identity(event: &HookEvent) -> String {
    let call = &event.call;
    match event.rule.kind {
        HookEventKind::SessionStarted { .. } => "start".to_owned(),
        HookEventKind::Prompt => format!("prompt {}", event.text),
        kind => format!("{kind:?} {} {} {:?}", call.name, call.input, call.error),
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
