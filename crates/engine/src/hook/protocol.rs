//! How a host talks to us: what its hook events are called, where their data is, and what an answer looks like.
//!
//! A host is a value, [`HostProtocol`]; this file reads every host's input and writes every host's answer.

use std::path::{Path, PathBuf};

use rethread_model::Agent;
use serde_json::{Map, Value, json};

use crate::awareness::{Caller, HookToolCall};

/// The JSON object that a host sends with an event.
pub(super) type HookPayload = Map<String, Value>;

/// A program that calls our hook. The fields after `ignored` say where an event's data is in the payload.
#[derive(Debug)]
pub struct HostProtocol {
    /// The agent whose sessions these are. Its name is the value of `rethread hook`.
    pub agent: Agent,
    /// The first rule that fits an event applies; other events are ignored.
    pub(super) events: &'static [EventRule],
    /// Input to ignore as a whole.
    pub(super) ignored: &'static [PayloadCondition],
    pub(super) event: &'static str,
    pub(super) session_id: &'static str,
    pub(super) transcript: &'static str,
    pub(super) cwd: &'static str,
    /// Present if a sub-agent caused the event.
    pub(super) subagent: &'static str,
    pub(super) tool_name: &'static str,
    pub(super) tool_input: &'static str,
    pub(super) tool_output: &'static str,
    /// The length of the output, if the host sends that instead.
    pub(super) output_chars: &'static str,
    pub(super) error: &'static str,
    /// True if the user interrupted the tool.
    pub(super) is_interrupt: &'static str,
    /// How text for the model is answered.
    pub(super) context: AnswerForm,
    /// How a message to the user is answered.
    pub(super) notice: AnswerForm,
    /// Where a prompt's answer has the name on the session's card, if the host can use it.
    pub(super) card_name: Option<&'static str>,
    /// The most bytes of one injection that reach the model.
    pub(crate) max_context_bytes: Option<usize>,
    /// The variable in which the host names the project it was started in.
    pub(crate) project_variable: Option<&'static str>,
}

/// What an event of a host means.
#[derive(Debug)]
pub(super) struct EventRule {
    /// The host's name for the event.
    pub(super) name: &'static str,
    pub(super) kind: HookEventKind,
    when: Option<PayloadCondition>,
    /// The field with the text of the event: prompt, answer, source or reason.
    text: &'static str,
    /// Whether the host shows a notice that it gets with this event. Notices wait for such an event.
    pub(super) takes_notice: bool,
}

impl EventRule {
    pub(super) const fn new(name: &'static str, kind: HookEventKind) -> Self {
        Self { name, kind, when: None, text: "", takes_notice: false }
    }

    pub(super) const fn when(self, when: PayloadCondition) -> Self {
        Self { when: Some(when), ..self }
    }

    pub(super) const fn text(self, text: &'static str) -> Self {
        Self { text, ..self }
    }

    pub(super) const fn takes_notice(self) -> Self {
        Self { takes_notice: true, ..self }
    }
}

/// A condition on the payload.
#[derive(Clone, Copy, Debug)]
pub(super) enum PayloadCondition {
    /// A field is one of these texts.
    Is(&'static str, &'static [&'static str]),
    /// A field is a text, but none of these.
    IsOther(&'static str, &'static [&'static str]),
    /// A field is true.
    True(&'static str),
    /// A field is not a text.
    Missing(&'static str),
}

impl PayloadCondition {
    pub(super) fn is_met(self, payload: &HookPayload) -> bool {
        let text = |field| payload.get(field).and_then(Value::as_str);
        match self {
            PayloadCondition::Is(field, texts) => text(field).is_some_and(|text| texts.contains(&text)),
            PayloadCondition::IsOther(field, texts) => text(field).is_some_and(|text| !texts.contains(&text)),
            PayloadCondition::True(field) => payload.get(field).is_some_and(|value| *value == true),
            PayloadCondition::Missing(field) => text(field).is_none(),
        }
    }
}

/// An event in a session, independent of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HookEventKind {
    /// Does not concern us.
    Ignored,
    /// The session starts or resumes. With a new context, everything may be injected again.
    SessionStarted { is_context_new: bool },
    /// Its context was compacted, and nothing can be injected before its next prompt.
    ContextCompacted,
    /// A prompt was submitted.
    Prompt,
    /// A tool is about to be called.
    ToolStarting,
    /// A tool call finished. It failed if there is an error text.
    ToolFinished,
    /// A tool call failed, with or without an error text.
    ToolFailed,
    /// The agent finished its turn.
    TurnFinished,
    /// The session's context is about to be compacted.
    ContextCompacting,
    /// The session ended.
    SessionEnded,
    /// A run without a terminal ended.
    RunEnded,
}

/// An event as its host sent it.
#[derive(Clone, Debug)]
pub(super) struct HookEvent {
    pub(super) rule: &'static EventRule,
    /// The prompt, the answer, the source of a start or the reason of an end.
    pub(super) text: String,
    /// Empty unless the event is about a tool call.
    pub(super) call: HookToolCall,
}

/// Where the text is in an answer.
#[derive(Clone, Copy, Debug)]
pub(super) enum AnswerForm {
    /// `{"hookSpecificOutput": {"hookEventName": "…", "additionalContext": "…"}}`.
    Nested,
    /// A field of this name.
    Field(&'static str),
    /// A message of this type: `{"customType": "…", "content": "…"}`.
    Message(&'static str),
}

impl AnswerForm {
    pub(super) fn encode(self, event: &str, text: &str) -> Value {
        match self {
            Self::Nested => json!({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}),
            Self::Field(name) => json!({name: text}),
            Self::Message(kind) => json!({"customType": kind, "content": text}),
        }
    }
}

impl HostProtocol {
    /// The form that Claude Code introduced and most hosts took over in part. A host states what differs.
    pub(super) const fn new(agent: Agent, events: &'static [EventRule]) -> Self {
        Self {
            agent,
            events,
            ignored: &[],
            event: "hook_event_name",
            session_id: "session_id",
            transcript: "transcript_path",
            cwd: "cwd",
            subagent: "agent_id",
            tool_name: "tool_name",
            tool_input: "tool_input",
            tool_output: "tool_response",
            output_chars: "output_chars",
            error: "error",
            is_interrupt: "is_interrupt",
            context: AnswerForm::Nested,
            notice: AnswerForm::Field("systemMessage"),
            card_name: None,
            max_context_bytes: None,
            project_variable: None,
        }
    }

    /// The session that sent the payload; `None` if it names none.
    pub(super) fn caller(&self, payload: &HookPayload, default_cwd: &Path) -> Option<Caller> {
        let text = |field: &str| payload.get(field).and_then(Value::as_str);
        Some(Caller {
            agent: self.agent,
            external_id: text(self.session_id).filter(|id| !id.is_empty())?.to_owned(),
            cwd: text(self.cwd).map_or_else(|| default_cwd.to_owned(), PathBuf::from),
            transcript: text(self.transcript).map(PathBuf::from),
            subagent: text(self.subagent).map(str::to_owned),
        })
    }

    /// The host's name for the event of a payload.
    pub(super) fn event_name<'a>(&self, payload: &'a HookPayload) -> &'a str {
        payload.get(self.event).and_then(Value::as_str).unwrap_or_default()
    }

    /// The event of a payload, or `None` if no rule fits it.
    pub(super) fn decode(&self, mut payload: HookPayload) -> Option<HookEvent> {
        let name = self.event_name(&payload);
        let fits = |rule: &&EventRule| rule.name == name && rule.when.is_none_or(|when| when.is_met(&payload));
        let rule = self.events.iter().find(fits)?;
        let text = take_text(&mut payload, rule.text).unwrap_or_default();
        // What a sub-agent does to files counts as done by its session. Everything else is between the two of them.
        let is_subagent = payload.get(self.subagent).is_some_and(|id| !id.is_null());
        let call = match rule.kind {
            kind @ (HookEventKind::ToolStarting | HookEventKind::ToolFinished | HookEventKind::ToolFailed) => {
                self.tool_call(kind, payload)
            }
            _ if is_subagent => return None,
            _ => HookToolCall::default(),
        };
        Some(HookEvent { rule, text, call })
    }

    /// The host's name for a kind of event.
    pub(crate) fn name_of(&self, kind: HookEventKind) -> Option<&'static str> {
        self.events.iter().find(|rule| rule.kind == kind).map(|rule| rule.name)
    }

    fn tool_call(&self, kind: HookEventKind, mut payload: HookPayload) -> HookToolCall {
        let error = take_text(&mut payload, self.error);
        let length = payload.get(self.output_chars).and_then(Value::as_u64).map(|length| length as usize);
        HookToolCall {
            name: take_text(&mut payload, self.tool_name).unwrap_or_default(),
            input: payload.get_mut(self.tool_input).map(Value::take).unwrap_or_default(),
            output_chars: length.unwrap_or_else(|| match payload.get(self.tool_output) {
                None | Some(Value::Null) => 0,
                Some(Value::String(text)) => text.chars().count(),
                Some(other) => other.to_string().chars().count(),
            }),
            error: error.or_else(|| (kind == HookEventKind::ToolFailed).then(|| "failed".to_owned())),
            is_interrupted: payload.get(self.is_interrupt).is_some_and(|value| *value == true),
        }
    }
}

/// Takes a text out of the payload; `None` if the field is missing or of another type.
fn take_text(payload: &mut HookPayload, field: &str) -> Option<String> {
    match payload.get_mut(field)?.take() {
        Value::String(text) => Some(text),
        _ => None,
    }
}
