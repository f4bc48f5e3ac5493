//! How a host talks to us: what its hook events are called, where their data is, and what an answer looks like.
//!
//! A host is a value, [`HostProtocol`]; this file reads every host's input.

use std::path::{Path, PathBuf};

use rethread_ingest::agents::format_of;
use rethread_ingest::{tool_kind, typed_text};
use rethread_model::{Agent, INJECTION_TAG, ToolKind};
use serde_json::Value;

use super::answer::AnswerForm;
use super::payload::{HookPayload, PayloadCondition, PayloadPlace, path_at, text_at, value_at};
use crate::awareness::{Caller, HookToolCall};

/// A program that calls our hook. The fields after `ignored` say where an event's data is in the payload.
#[derive(Debug)]
pub struct HostProtocol {
    /// The agent whose sessions these are. Its name is the value of `rethread hook`.
    pub agent: Agent,
    /// Whose hooks the host runs, if it has none of its own that we install.
    pub runs_hooks_of: Option<Agent>,
    /// Whether the host can report an event twice, because it also runs another host's hooks.
    pub(super) repeats_events: bool,
    /// The first rule that fits an event applies; other events are ignored.
    pub(super) events: &'static [EventRule],
    /// Input to ignore as a whole.
    pub(super) ignored: &'static [PayloadCondition],
    pub(super) event: PayloadPlace,
    pub(super) session_id: PayloadPlace,
    /// The session of a sub-agent's parent, if `session_id` is then the sub-agent's.
    pub(super) parent_session: PayloadPlace,
    pub(super) transcript: PayloadPlace,
    pub(super) cwd: PayloadPlace,
    /// Present if a sub-agent caused the event.
    pub(super) subagent: PayloadPlace,
    pub(super) tool_name: PayloadPlace,
    pub(super) tool_input: PayloadPlace,
    pub(super) tool_output: PayloadPlace,
    /// The length of the output, if the host sends that instead.
    pub(super) output_chars: PayloadPlace,
    pub(super) error: PayloadPlace,
    /// The exit code of a command. Without one, the agent's `shell_report` looks for it in the output.
    pub(super) exit_code: PayloadPlace,
    /// Whether the payload does not show if a command failed.
    pub(super) hides_outcome: bool,
    /// Whether the host reports only tool calls that succeeded.
    pub(super) hides_failures: bool,
    /// True if the user interrupted the tool.
    pub(super) is_interrupt: PayloadPlace,
    /// How text for the model is answered.
    pub(super) context: AnswerForm,
    /// How a message to the user is answered. Without a form for it, the model gets it.
    pub(super) notice: Option<AnswerForm>,
    /// Where a prompt's answer has the name on the session's card, if the host can use it.
    pub(super) card_name: Option<&'static str>,
    /// The most bytes of one injection that reach the model.
    pub(crate) max_context_bytes: Option<usize>,
    /// The variable in which the host names the project it was started in.
    pub(crate) project_variable: Option<&'static str>,
    /// Where our text gets to the model, and how that was verified.
    pub delivery: DeliveryNotes,
}

/// What the documentation says about a host: which text reaches the model, by event. `–` if none does.
#[derive(Clone, Copy, Debug)]
pub struct DeliveryNotes {
    /// When a session starts or resumes.
    pub session_start: &'static str,
    /// With each prompt.
    pub prompt: &'static str,
    /// Before a tool is called.
    pub before_tool: &'static str,
    /// After a failed command.
    pub after_failure: &'static str,
    /// After the context was compacted.
    pub compaction: &'static str,
    /// Whether the model can use our MCP tools.
    pub mcp: &'static str,
    /// With which version of the host this was seen, or that it is taken from documentation.
    pub verified: &'static str,
}

/// What an event of a host means.
#[derive(Debug)]
pub(super) struct EventRule {
    /// The host's name for the event.
    pub(super) name: &'static str,
    pub(super) kind: HookEventKind,
    when: Option<PayloadCondition>,
    /// The place of the event's text: prompt, answer, source or reason.
    text: PayloadPlace,
    /// Whether the host shows a notice that it gets with this event. Notices wait for such an event.
    pub(super) takes_notice: bool,
    /// Whether text in the answer reaches the model. Otherwise it waits for an event whose text does.
    pub(super) delivers: bool,
    /// Whether a starting session learns what other sessions did, because the host may report no prompt.
    pub(super) brings_activity: bool,
}

impl EventRule {
    pub(super) const fn new(name: &'static str, kind: HookEventKind) -> Self {
        Self { name, kind, when: None, text: "", takes_notice: false, delivers: true, brings_activity: false }
    }

    pub(super) const fn when(self, when: PayloadCondition) -> Self {
        Self { when: Some(when), ..self }
    }

    pub(super) const fn text(self, text: PayloadPlace) -> Self {
        Self { text, ..self }
    }

    pub(super) const fn takes_notice(self) -> Self {
        Self { takes_notice: true, ..self }
    }

    /// The host does not pass the answer on to the model.
    pub(super) const fn dropped(self) -> Self {
        Self { delivers: false, ..self }
    }

    pub(super) const fn brings_activity(self) -> Self {
        Self { brings_activity: true, ..self }
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
    /// A tool call finished. It failed if there is an error text or an exit code other than 0.
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

impl HostProtocol {
    /// The form that Claude Code introduced and most hosts took over in part. A host states what differs.
    pub(super) const fn new(agent: Agent, events: &'static [EventRule], delivery: DeliveryNotes) -> Self {
        Self {
            agent,
            runs_hooks_of: None,
            repeats_events: false,
            events,
            ignored: &[],
            event: "hook_event_name",
            session_id: "session_id",
            parent_session: "",
            transcript: "transcript_path",
            cwd: "cwd",
            subagent: "agent_id",
            tool_name: "tool_name",
            tool_input: "tool_input",
            tool_output: "tool_response",
            output_chars: "output_chars",
            error: "error",
            exit_code: "",
            hides_outcome: false,
            hides_failures: false,
            is_interrupt: "is_interrupt",
            context: AnswerForm::Nested,
            notice: Some(AnswerForm::Field("systemMessage")),
            card_name: None,
            max_context_bytes: None,
            project_variable: None,
            delivery,
        }
    }

    /// The session that sent the payload; `None` if it names none.
    pub(super) fn caller(&self, payload: &HookPayload, default_cwd: &Path) -> Option<Caller> {
        let text = |place| value_at(payload, place).and_then(Value::as_str);
        let subagent = text(self.subagent).map(str::to_owned);
        let parent = text(self.parent_session).filter(|_| subagent.is_some());
        Some(Caller {
            agent: self.agent,
            external_id: parent.or(text(self.session_id)).filter(|id| !id.is_empty())?.to_owned(),
            cwd: path_at(payload, self.cwd).map_or_else(|| default_cwd.to_owned(), PathBuf::from),
            transcript: text(self.transcript).map(PathBuf::from),
            subagent,
            is_answer_dropped: false,
        })
    }

    /// The host's name for the event of a payload.
    pub(super) fn event_name<'a>(&self, payload: &'a HookPayload) -> &'a str {
        value_at(payload, self.event).and_then(Value::as_str).unwrap_or_default()
    }

    /// The event of a payload, or `None` if no rule fits it.
    pub(super) fn decode(&self, payload: &HookPayload) -> Option<HookEvent> {
        let name = self.event_name(payload);
        let fits = |rule: &&EventRule| rule.name == name && rule.when.is_none_or(|when| when.is_met(payload));
        let rule = self.events.iter().find(fits)?;
        let text = text_at(payload, rule.text).unwrap_or_default();
        let text = match rule.kind {
            // Hosts put what other hooks returned around the prompt.
            HookEventKind::Prompt => typed_text(&text).into_owned(),
            _ => text.into_owned(),
        };
        // What a sub-agent does to files counts as done by its session. Everything else is between the two of them.
        let is_subagent = value_at(payload, self.subagent).is_some();
        let call = match rule.kind {
            kind @ (HookEventKind::ToolStarting | HookEventKind::ToolFinished | HookEventKind::ToolFailed) => {
                self.tool_call(kind, payload)
            }
            _ if is_subagent => return None,
            _ => HookToolCall::default(),
        };
        Some(HookEvent { rule, text, call })
    }

    /// The answer with a message to the user.
    pub(super) fn encode_notice(&self, event: &str, notice: &str) -> Value {
        match self.notice {
            Some(form) => form.encode(event, notice),
            // In the tag, so that it is not read back from the transcript.
            None => self.context.encode(event, &format!("<{INJECTION_TAG}>\n{notice}\n</{INJECTION_TAG}>")),
        }
    }

    /// Whether a rule says what an event of this name means.
    #[cfg(test)]
    pub(crate) fn handles(&self, event: &str) -> bool {
        self.events.iter().any(|rule| rule.name == event && rule.kind != HookEventKind::Ignored)
    }

    /// The host's name for a kind of event.
    pub(crate) fn name_of(&self, kind: HookEventKind) -> Option<&'static str> {
        self.events.iter().find(|rule| rule.kind == kind).map(|rule| rule.name)
    }

    /// Whether a command can fail without our answer getting through. A host that drops the answer does not wait for it
    /// either, and may end the hook first.
    pub(super) fn may_miss_failures(&self) -> bool {
        self.hides_failures || self.events.iter().any(|rule| rule.kind == HookEventKind::ToolFailed && !rule.delivers)
    }

    /// Whether text can wait for a later event.
    pub(super) fn drops_answers(&self) -> bool {
        self.events.iter().any(|rule| !rule.delivers)
    }

    fn tool_call(&self, kind: HookEventKind, payload: &HookPayload) -> HookToolCall {
        let name = text_at(payload, self.tool_name).unwrap_or_default().into_owned();
        let is_command = tool_kind(&name) == ToolKind::Command;
        let length = value_at(payload, self.output_chars).and_then(Value::as_u64).map(|length| length as usize);
        let output = text_at(payload, self.tool_output);
        let error = text_at(payload, self.error).filter(|error| !error.is_empty());
        let has_error = error.is_some();
        let result = error.or_else(|| output.clone()).unwrap_or_default();
        let report = (format_of(self.agent).shell_report)(&result).filter(|_| is_command);
        let reported_code = report.as_ref().and_then(|report| report.exit_code.map(i64::from));
        let code = value_at(payload, self.exit_code).and_then(Value::as_i64).or(reported_code);
        let has_failed = kind == HookEventKind::ToolFailed || has_error || code.is_some_and(|code| code != 0);
        let message = report.map_or(result.as_ref(), |report| report.output);
        HookToolCall {
            output_chars: length.unwrap_or_else(|| match (&output, value_at(payload, self.tool_output)) {
                (Some(text), _) => text.chars().count(),
                (None, other) => other.map_or(0, |other| other.to_string().chars().count()),
            }),
            error: has_failed.then(|| if message.is_empty() { "failed".to_owned() } else { message.to_owned() }),
            unjudged_output: output.filter(|_| self.hides_outcome && is_command && !has_failed).map(Into::into),
            is_interrupted: value_at(payload, self.is_interrupt).is_some_and(|value| *value == true),
            input: value_at(payload, self.tool_input).cloned().unwrap_or_default(),
            name,
        }
    }
}
