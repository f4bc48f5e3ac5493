//! The hooks of Qwen Code.

use rethread_model::Agent;

use crate::hook::payload::PayloadCondition;
use crate::hook::protocol::{DeliveryNotes, EventRule, HookEventKind, HostProtocol};

pub(super) static PROTOCOL: HostProtocol =
    HostProtocol { tool_output: "tool_response.llmContent", ..HostProtocol::new(Agent::Qwen, EVENTS, DELIVERY) };

const DELIVERY: DeliveryNotes = DeliveryNotes {
    session_start: "yes",
    prompt: "yes",
    before_tool: "with the result",
    after_failure: "yes",
    compaction: "yes",
    mcp: "yes, found by its tool search",
    verified: "client 0.24.4",
};

const EVENTS: &[EventRule] = &[
    EventRule::new("SessionStart", HookEventKind::SessionStarted { is_context_new: true })
        .when(PayloadCondition::Is("source", &["clear", "compact"]))
        .text("source")
        .takes_notice(),
    EventRule::new("SessionStart", HookEventKind::SessionStarted { is_context_new: false })
        .text("source")
        .takes_notice(),
    // It reports every tool result as an empty prompt.
    EventRule::new("UserPromptSubmit", HookEventKind::Ignored).when(PayloadCondition::Blank("prompt")),
    EventRule::new("UserPromptSubmit", HookEventKind::Prompt).text("submitted_prompt|prompt").takes_notice(),
    EventRule::new("PreToolUse", HookEventKind::ToolStarting).dropped(),
    EventRule::new("PostToolUse", HookEventKind::ToolFinished),
    EventRule::new("PostToolUseFailure", HookEventKind::ToolFailed),
    EventRule::new("PreCompact", HookEventKind::ContextCompacting),
    EventRule::new("Stop", HookEventKind::TurnFinished).text("last_assistant_message"),
    EventRule::new("SessionEnd", HookEventKind::SessionEnded).text("reason"),
];
