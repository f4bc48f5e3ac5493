//! The hooks of Codex. It refuses answers with fields that it does not know.

use rethread_model::Agent;

use crate::hook::payload::PayloadCondition;
use crate::hook::protocol::{DeliveryNotes, EventRule, HookEventKind, HostProtocol};

pub(super) static PROTOCOL: HostProtocol = HostProtocol {
    // It writes the output of commands without their exit codes.
    hides_outcome: true,
    // Above 2,500 tokens, the model only gets the path of a file.
    max_context_bytes: Some(9_000),
    ..HostProtocol::new(Agent::Codex, EVENTS, DELIVERY)
};

const DELIVERY: DeliveryNotes = DeliveryNotes {
    session_start: "yes",
    prompt: "yes",
    before_tool: "yes",
    after_failure: "yes, by the text of the output",
    compaction: "yes",
    mcp: "yes",
    verified: "client 0.166.0",
};

// Not `PostCompact`: it shows users an error if that is answered, and `SessionStart` follows.
const EVENTS: &[EventRule] = &[
    EventRule::new("SessionStart", HookEventKind::SessionStarted { is_context_new: true })
        .when(PayloadCondition::Is("source", &["clear", "compact"]))
        .text("source")
        .takes_notice(),
    EventRule::new("SessionStart", HookEventKind::SessionStarted { is_context_new: false })
        .text("source")
        .takes_notice(),
    EventRule::new("UserPromptSubmit", HookEventKind::Prompt).text("prompt").takes_notice(),
    EventRule::new("PreToolUse", HookEventKind::ToolStarting),
    EventRule::new("PostToolUse", HookEventKind::ToolFinished),
    EventRule::new("PreCompact", HookEventKind::ContextCompacting),
    EventRule::new("Stop", HookEventKind::TurnFinished).text("last_assistant_message"),
    // `codex exec` gives this reason.
    EventRule::new("SessionEnd", HookEventKind::RunEnded)
        .when(PayloadCondition::Is("reason", &["other"]))
        .text("reason"),
    EventRule::new("SessionEnd", HookEventKind::SessionEnded).text("reason"),
];
