//! The events that our plugins for OpenCode, Kilo, Cline, OpenClaw and Hermes send: one form for all of them.

use rethread_model::Agent;

use crate::hook::answer::AnswerForm;
use crate::hook::payload::PayloadCondition;
use crate::hook::protocol::{DeliveryNotes, EventRule, HookEventKind, HostProtocol};

/// The plugin decides where the host takes the text.
const CONTEXT: AnswerForm = AnswerForm::Field("context");

/// The protocol of a host with one of our plugins.
pub(super) const fn protocol(agent: Agent, delivery: DeliveryNotes) -> HostProtocol {
    HostProtocol {
        event: "event",
        exit_code: "exit_code",
        context: CONTEXT,
        notice: None,
        ..HostProtocol::new(agent, EVENTS, delivery)
    }
}

const EVENTS: &[EventRule] = &[
    EventRule::new("session_start", HookEventKind::SessionStarted { is_context_new: true })
        .when(PayloadCondition::Is("source", &["clear"]))
        .text("source")
        .takes_notice(),
    EventRule::new("session_start", HookEventKind::SessionStarted { is_context_new: false })
        .text("source")
        .takes_notice(),
    EventRule::new("prompt", HookEventKind::Ignored).when(PayloadCondition::Blank("prompt")),
    EventRule::new("prompt", HookEventKind::Prompt).text("prompt").takes_notice(),
    EventRule::new("tool_start", HookEventKind::ToolStarting),
    EventRule::new("tool_end", HookEventKind::ToolFailed).when(PayloadCondition::True("is_error")),
    EventRule::new("tool_end", HookEventKind::ToolFinished),
    EventRule::new("turn_end", HookEventKind::TurnFinished).text("last_assistant_message"),
    EventRule::new("compacting", HookEventKind::ContextCompacting),
    EventRule::new("compacted", HookEventKind::ContextCompacted),
    EventRule::new("session_end", HookEventKind::RunEnded).when(PayloadCondition::Is("mode", &["run"])).text("reason"),
    EventRule::new("session_end", HookEventKind::SessionEnded).text("reason"),
];
