//! The hooks of Claude Code.

use rethread_model::Agent;

use crate::hook::payload::PayloadCondition;
use crate::hook::protocol::{DeliveryNotes, EventRule, HookEventKind, HostProtocol};

pub(super) static PROTOCOL: HostProtocol = HostProtocol {
    // The model is shown 10,000 characters; the injection tag and the note line need some of that.
    max_context_bytes: Some(9_500),
    project_variable: Some("CLAUDE_PROJECT_DIR"),
    ..HostProtocol::new(Agent::ClaudeCode, EVENTS, DELIVERY)
};

const DELIVERY: DeliveryNotes = DeliveryNotes {
    session_start: "yes",
    prompt: "yes",
    before_tool: "yes",
    after_failure: "yes",
    compaction: "yes",
    mcp: "yes",
    verified: "client 2.1.325",
};

const EVENTS: &[EventRule] = &[
    EventRule::new("SessionStart", HookEventKind::SessionStarted { is_context_new: true })
        .when(PayloadCondition::Is("source", &["clear", "compact"]))
        .text("source")
        .takes_notice(),
    EventRule::new("SessionStart", HookEventKind::SessionStarted { is_context_new: false })
        .text("source")
        .takes_notice(),
    // Newer versions report in `source` that a prompt was not typed by a human.
    EventRule::new("UserPromptSubmit", HookEventKind::Ignored)
        .when(PayloadCondition::IsOther("source", &["user", "sdk"])),
    EventRule::new("UserPromptSubmit", HookEventKind::Prompt).text("prompt").takes_notice(),
    EventRule::new("PreToolUse", HookEventKind::ToolStarting).takes_notice(),
    EventRule::new("PostToolUse", HookEventKind::ToolFinished).takes_notice(),
    EventRule::new("PostToolUseFailure", HookEventKind::ToolFailed).takes_notice(),
    EventRule::new("Stop", HookEventKind::TurnFinished).text("last_assistant_message").takes_notice(),
    EventRule::new("PreCompact", HookEventKind::ContextCompacting).takes_notice(),
    // In a terminal, the reason says what the user did; `claude -p` gives this one.
    EventRule::new("SessionEnd", HookEventKind::RunEnded)
        .when(PayloadCondition::Is("reason", &["other"]))
        .text("reason"),
    EventRule::new("SessionEnd", HookEventKind::SessionEnded).text("reason"),
];
