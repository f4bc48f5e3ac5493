//! The hooks of Factory Droid. It reports no failed tools, and without a terminal no prompts.

use rethread_model::Agent;

use crate::hook::payload::PayloadCondition;
use crate::hook::protocol::{DeliveryNotes, EventRule, HookEventKind, HostProtocol};

pub(super) static PROTOCOL: HostProtocol = HostProtocol {
    hides_failures: true,
    project_variable: Some("FACTORY_PROJECT_DIR"),
    ..HostProtocol::new(Agent::Droid, EVENTS, DELIVERY)
};

const DELIVERY: DeliveryNotes = DeliveryNotes {
    session_start: "yes",
    prompt: "in a terminal; else at session start",
    before_tool: "with the result",
    after_failure: "with the next result",
    compaction: "yes, by documentation",
    mcp: "yes, found by its tool search",
    verified: "client 0.225.2, without a terminal",
};

const EVENTS: &[EventRule] = &[
    EventRule::new("SessionStart", HookEventKind::SessionStarted { is_context_new: true })
        .when(PayloadCondition::Is("source", &["clear", "compact"]))
        .text("source")
        .takes_notice()
        .brings_activity(),
    EventRule::new("SessionStart", HookEventKind::SessionStarted { is_context_new: false })
        .text("source")
        .takes_notice()
        .brings_activity(),
    EventRule::new("UserPromptSubmit", HookEventKind::Prompt).text("prompt").takes_notice(),
    EventRule::new("PreToolUse", HookEventKind::ToolStarting).dropped(),
    EventRule::new("PostToolUse", HookEventKind::ToolFinished),
    EventRule::new("PreCompact", HookEventKind::ContextCompacting),
    EventRule::new("Stop", HookEventKind::TurnFinished).text("last_assistant_message"),
    // `droid exec` gives this reason.
    EventRule::new("SessionEnd", HookEventKind::RunEnded)
        .when(PayloadCondition::Is("reason", &["other"]))
        .text("reason"),
    EventRule::new("SessionEnd", HookEventKind::SessionEnded).text("reason"),
];
