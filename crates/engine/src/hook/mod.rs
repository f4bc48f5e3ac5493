//! Handles hook events of agents and returns the text to inject. Invalid input never fails the agent.
//!
//! Each host has its own event names, fields and answers: a value in `hosts`, which `protocol.rs` applies.

mod answer;
mod hosts;
mod payload;
mod plugin_events;
mod protocol;
mod recognize;
mod spool;
mod undelivered;

use rethread_model::Agent;
use serde_json::{Value, json};

use crate::awareness::{Caller, HookToolCall, StartingSession, preview, prompt_event, start_event};
use crate::lifecycle::SessionEvent;
use crate::{EngineError, HookService};

pub use hosts::HOSTS;
use payload::HookPayload;
use protocol::HookEvent;
pub(crate) use protocol::HookEventKind;
pub use protocol::{DeliveryNotes, HostProtocol};
pub(crate) use spool::SpoolFile;
use spool::SpooledAction;

/// Maximum length of an event's name in the log.
const EVENT_NAME_CHARS: usize = 60;
/// Maximum length of the recorded reason of an end.
const REASON_CHARS: usize = 100;
/// Maximum length of an answer in the event log.
const ANSWER_CHARS: usize = 200;

impl HookService<'_> {
    /// Handles an event of an agent. Returns the JSON object to print, if any; a string is printed as it is.
    pub fn handle(self, agent: Agent, input: &[u8]) -> Result<Option<Value>, EngineError> {
        let Some((named, payload)) = HostProtocol::of(agent).zip(self.parse_payload(agent, input)) else {
            return Ok(None);
        };
        let Some(host) = recognize::calling_host(named, &payload, &self.engine.environment) else { return Ok(None) };
        if host.ignored.iter().any(|condition| condition.is_met(&payload)) {
            return Ok(None);
        }
        let Some(mut caller) = host.caller(&payload, &self.engine.environment.cwd) else {
            self.log_unknown_session(agent, host.event_name(&payload));
            return Ok(None);
        };
        let Some(event) = host.decode(&payload) else { return Ok(None) };
        caller.is_answer_dropped = !event.rule.delivers;
        // A sub-agent's context is not the session's: what it does not get now is of no use later.
        if caller.is_subagent() && !event.rule.delivers && event.rule.kind == HookEventKind::ToolStarting {
            return Ok(None);
        }
        let mut answer = match self.handle_event(&caller, &event).map(|text| self.deliverable(&caller, &event, text)) {
            Ok(text) => text.map(|text| host.context.encode(event.rule.name, &text)),
            // It would be lost; the next event that takes a notice brings it.
            Err(error) if !event.rule.takes_notice => return Err(error),
            Err(error) => {
                let notice = self.engine.maintenance().replace_store_in_hook(&error).ok_or(error)?;
                Some(host.encode_notice(event.rule.name, &notice))
            }
        };
        if let Some(field) = host.card_name.filter(|_| event.rule.kind == HookEventKind::Prompt)
            && let Some(name) = self.engine.cards().written_name(caller.key())?
        {
            answer.get_or_insert_with(|| json!({}))[field] = name.into();
        }
        Ok(answer)
    }

    /// Records an event and returns the text to inject. Excluded sessions are ignored.
    fn handle_event(self, caller: &Caller, event: &HookEvent) -> Result<Option<String>, EngineError> {
        let engine = self.engine;
        engine.config.ensure_usable()?;
        let mut excludes = engine.sync().exclude_rules()?;
        let path = caller.transcript.clone().unwrap_or_default();
        let is_agent_read = engine.sync().agents_to_read(None).contains(&caller.agent);
        if !is_agent_read || excludes.is_excluded(&path, caller.cwd.to_str()) {
            return Ok(None);
        }
        let HookEvent { text, call, .. } = event;
        // If that cannot be checked, the event counts: the next steps know what to do with a locked or damaged store.
        if self.is_repeated(caller, event).unwrap_or(false) {
            return Ok(None);
        }
        match event.rule.kind {
            HookEventKind::Ignored => Ok(None),
            HookEventKind::SessionStarted { is_context_new } => {
                let source = if text.is_empty() { "startup" } else { text };
                let start = StartingSession { source, is_context_new, brings_activity: event.rule.brings_activity };
                let event = start_event(source);
                let action = if is_context_new {
                    SpooledAction::StartWithNewContext(event)
                } else {
                    SpooledAction::Event(event)
                };
                self.or_spool(caller, action, || engine.awareness().inject_on_session_start(caller, &start))
            }
            HookEventKind::ContextCompacted => self.or_spool(caller, SpooledAction::ContextReplaced, || {
                engine.awareness().mark_context_new(caller).map(|()| None)
            }),
            HookEventKind::Prompt => {
                let inject = || engine.awareness().inject_on_prompt(caller, text);
                let injected = match prompt_event(text) {
                    Some(event) => self.or_spool(caller, SpooledAction::Event(event), inject)?,
                    None => inject()?,
                };
                let missed = self.missed_fix(caller);
                Ok(missed.into_iter().chain(injected).reduce(|missed, injected| format!("{missed}\n\n{injected}")))
            }
            HookEventKind::ToolStarting => self.before_call(caller, call),
            HookEventKind::ToolFinished | HookEventKind::ToolFailed => {
                let event = SessionEvent::of_tool_call(call, &caller.project());
                let is_recorded = self.record_or_spool(caller, &event, false)?.is_some();
                if caller.is_subagent() || !is_recorded {
                    return Ok(None);
                }
                match HostProtocol::of(caller.agent) {
                    Some(host) if host.hides_failures => engine.awareness().inject_after_hidden_failure(caller),
                    _ => engine.awareness().inject_after_failure(caller, call),
                }
            }
            HookEventKind::TurnFinished => {
                let event = SessionEvent::new("response_completed", preview(text, ANSWER_CHARS));
                match self.record_or_spool(caller, &event, true)? {
                    Some(()) => engine.cards().refresh_after_turn(caller.agent, &caller.external_id).map(|_| None),
                    None => Ok(None),
                }
            }
            HookEventKind::ContextCompacting => {
                let event = SessionEvent::new("context_compacted", String::new());
                self.record_or_spool(caller, &event, true).map(|_| None)
            }
            HookEventKind::SessionEnded | HookEventKind::RunEnded => {
                let action = SpooledAction::End { reason: preview(text, REASON_CHARS) };
                let end = || match event.rule.kind {
                    HookEventKind::RunEnded => engine.lifecycle().end_run(caller, text),
                    _ => engine.lifecycle().end_caller(caller, text).map(drop),
                };
                self.or_spool(caller, action, || end().map(Some)).map(|_| None)
            }
        }
    }

    /// What the agent has to know before a call: other sessions that change the same files, and that the user ruled a package
    /// out.
    fn before_call(self, caller: &Caller, call: &HookToolCall) -> Result<Option<String>, EngineError> {
        let awareness = self.engine.awareness();
        let collision = awareness.inject_before_call(caller, &call.collision_intents())?;
        let decision = match awareness.inject_before_install(caller, call) {
            // The collision is recorded as shown and would be lost.
            Err(error) if collision.is_some() => {
                self.engine.journal().error("inject", &error);
                None
            }
            decision => decision?,
        };
        Ok(collision.into_iter().chain(decision).reduce(|first, second| format!("{first}\n\n{second}")))
    }

    /// The known fix for a command that failed before a prompt, in hosts that may not report it in time.
    fn missed_fix(self, caller: &Caller) -> Option<String> {
        HostProtocol::of(caller.agent).filter(|host| host.may_miss_failures())?;
        self.engine.awareness().inject_after_hidden_failure(caller).unwrap_or_else(|error| {
            self.engine.journal().error("inject", &error);
            None
        })
    }

    /// Records an event, after new lines of the transcript if `reads_transcript`. `None` if it was spooled instead.
    fn record_or_spool(
        self,
        caller: &Caller,
        event: &SessionEvent,
        reads_transcript: bool,
    ) -> Result<Option<()>, EngineError> {
        let engine = self.engine;
        self.or_spool(caller, SpooledAction::Event(event.clone()), || {
            let mut store = engine.writer()?;
            if reads_transcript {
                engine.awareness().sync_caller_transcript(&mut store, caller)?;
                engine.index().update_quickly(&store);
            }
            engine.lifecycle().record(&mut store, caller.key(), engine.now(), event.clone(), None)?;
            // Afterwards: the event must not count as activity before itself.
            engine.awareness().save_as_session(&mut store, caller, event)?;
            engine.lifecycle().write_archives(&mut store);
            Ok(Some(()))
        })
    }

    /// Parses hook input. Invalid input is logged and gives `None`.
    fn parse_payload(self, agent: Agent, input: &[u8]) -> Option<HookPayload> {
        let payload = serde_json::from_slice::<Value>(input);
        if let Err(error) = &payload {
            let fields =
                [("agent", agent.as_str().into()), ("bytes", input.len().into()), ("why", error.to_string().into())];
            self.engine.journal().event("hook_not_understood", None, &fields);
        }
        // JSON of another type has no fields.
        payload.ok().map(|value| match value {
            Value::Object(fields) => fields,
            _ => HookPayload::new(),
        })
    }

    /// Logs an event that names no session: nothing can be injected for it.
    fn log_unknown_session(self, agent: Agent, event: &str) {
        let fields = [("agent", agent.as_str().into()), ("hook", preview(event, EVENT_NAME_CHARS).into())];
        self.engine.journal().event("hook_without_session", None, &fields);
    }
}
