//! The events that our pi extension (`install/pi/rethread.ts`) sends.

use rethread_model::Agent;

use crate::hook::answer::AnswerForm;
use crate::hook::payload::PayloadCondition;
use crate::hook::protocol::{DeliveryNotes, EventRule, HookEventKind, HostProtocol};

/// The extension adds messages of this type; the transcript reader skips them.
const MESSAGE: AnswerForm = AnswerForm::Message("session-update");

pub(super) static PROTOCOL: HostProtocol = HostProtocol {
    event: "event",
    transcript: "session_file",
    // Without a file the session is private (`pi --no-session`).
    ignored: &[PayloadCondition::Missing("session_file")],
    context: MESSAGE,
    notice: Some(MESSAGE),
    // pi shows a session that has no name under this one.
    card_name: Some("name"),
    ..HostProtocol::new(Agent::Pi, EVENTS, DELIVERY)
};

const DELIVERY: DeliveryNotes = DeliveryNotes {
    session_start: "with the first prompt",
    prompt: "yes",
    before_tool: "with the result",
    after_failure: "yes",
    compaction: "with the next prompt",
    mcp: "a tool of the extension",
    verified: "client 0.87.1",
};

const EVENTS: &[EventRule] = &[
    // Nothing can be injected at `session_start`; a break is detected with the first prompt.
    EventRule::new("session_compact", HookEventKind::ContextCompacted),
    // Written by an extension, not by a human.
    EventRule::new("before_agent_start", HookEventKind::Ignored)
        .when(PayloadCondition::Is("message_type", &["custom"])),
    EventRule::new("before_agent_start", HookEventKind::Prompt).text("prompt").takes_notice(),
    EventRule::new("tool_call", HookEventKind::ToolStarting).takes_notice(),
    EventRule::new("tool_result", HookEventKind::ToolFailed).when(PayloadCondition::True("is_error")),
    EventRule::new("tool_result", HookEventKind::ToolFinished),
    EventRule::new("agent_end", HookEventKind::TurnFinished).text("last_assistant_message"),
    EventRule::new("session_before_compact", HookEventKind::ContextCompacting),
    // The same session continues; pi only reloads its extensions.
    EventRule::new("session_shutdown", HookEventKind::Ignored).when(PayloadCondition::Is("reason", &["reload"])),
    // pi runs a single prompt; with a terminal or for another program, the mode is `tui` or `rpc`.
    EventRule::new("session_shutdown", HookEventKind::RunEnded)
        .when(PayloadCondition::Is("mode", &["print", "json"]))
        .text("reason"),
    EventRule::new("session_shutdown", HookEventKind::SessionEnded).text("reason"),
];
