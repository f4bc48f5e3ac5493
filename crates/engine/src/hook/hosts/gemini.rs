//! The hooks of Gemini CLI.

use rethread_model::Agent;

use crate::hook::payload::PayloadCondition;
use crate::hook::protocol::{DeliveryNotes, EventRule, HookEventKind, HostProtocol};

pub(super) static PROTOCOL: HostProtocol = HostProtocol {
    tool_output: "tool_response.error.message|tool_response.error|tool_response.llmContent",
    ..HostProtocol::new(Agent::Gemini, EVENTS, DELIVERY)
};

const DELIVERY: DeliveryNotes = DeliveryNotes {
    session_start: "with the first prompt",
    prompt: "yes",
    before_tool: "with the result",
    after_failure: "yes",
    compaction: "–",
    mcp: "yes",
    verified: "client 0.61.0",
};

const EVENTS: &[EventRule] = &[
    // Without a terminal, context would be put before the prompt, and Gemini CLI drops such a prompt when the session
    // is resumed.
    EventRule::new("SessionStart", HookEventKind::SessionStarted { is_context_new: true })
        .when(PayloadCondition::Is("source", &["clear"]))
        .text("source")
        .takes_notice()
        .dropped(),
    EventRule::new("SessionStart", HookEventKind::SessionStarted { is_context_new: false })
        .text("source")
        .takes_notice()
        .dropped(),
    EventRule::new("BeforeAgent", HookEventKind::Prompt).text("prompt").takes_notice(),
    EventRule::new("BeforeTool", HookEventKind::ToolStarting).dropped(),
    EventRule::new("AfterTool", HookEventKind::ToolFinished),
    // Not `PreCompress`: it comes before every call of the model.
    EventRule::new("AfterAgent", HookEventKind::TurnFinished).text("prompt_response"),
    // The same reason with and without a terminal, and sometimes several times.
    EventRule::new("SessionEnd", HookEventKind::RunEnded).text("reason"),
];
