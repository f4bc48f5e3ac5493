//! The hooks of Kimi Code. Only the answer to a prompt reaches the model, as plain text.

use rethread_model::Agent;

use crate::hook::answer::AnswerForm;
use crate::hook::payload::PayloadCondition;
use crate::hook::protocol::{DeliveryNotes, EventRule, HookEventKind, HostProtocol};

pub(super) static PROTOCOL: HostProtocol = HostProtocol {
    tool_output: "tool_output",
    error: "error.message|error",
    context: AnswerForm::Plain,
    notice: None,
    ..HostProtocol::new(Agent::Kimi, EVENTS, DELIVERY)
};

const DELIVERY: DeliveryNotes = DeliveryNotes {
    session_start: "with the first prompt",
    prompt: "yes",
    before_tool: "with the next prompt",
    after_failure: "with the next prompt",
    compaction: "with the next prompt",
    mcp: "yes",
    verified: "client 2.1.0",
};

const EVENTS: &[EventRule] = &[
    EventRule::new("SessionStart", HookEventKind::SessionStarted { is_context_new: true })
        .when(PayloadCondition::Is("source", &["clear"]))
        .text("source")
        .dropped(),
    EventRule::new("SessionStart", HookEventKind::SessionStarted { is_context_new: false }).text("source").dropped(),
    EventRule::new("UserPromptSubmit", HookEventKind::Prompt).text("prompt").takes_notice(),
    EventRule::new("PreToolUse", HookEventKind::ToolStarting).dropped(),
    EventRule::new("PostToolUse", HookEventKind::ToolFinished).dropped(),
    EventRule::new("PostToolUseFailure", HookEventKind::ToolFailed).dropped(),
    EventRule::new("PreCompact", HookEventKind::ContextCompacting),
    EventRule::new("PostCompact", HookEventKind::ContextCompacted),
    EventRule::new("Stop", HookEventKind::TurnFinished),
    EventRule::new("SessionEnd", HookEventKind::SessionEnded).text("reason"),
];
