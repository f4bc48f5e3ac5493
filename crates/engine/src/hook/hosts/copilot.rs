//! The hooks of Copilot CLI, under the names that give payloads like Claude Code's. Answers are its own.

use rethread_model::Agent;

use crate::hook::answer::AnswerForm;
use crate::hook::payload::PayloadCondition;
use crate::hook::protocol::{DeliveryNotes, EventRule, HookEventKind, HostProtocol};

/// The nested form of other hosts is ignored.
const CONTEXT: AnswerForm = AnswerForm::Field("additionalContext");

pub(super) static PROTOCOL: HostProtocol = HostProtocol {
    // A sub-agent's events have its own id, and its parent's here.
    parent_session: "parent_agent_id",
    tool_output: "tool_result.text_result_for_llm",
    context: CONTEXT,
    notice: None,
    ..HostProtocol::new(Agent::Copilot, EVENTS, DELIVERY)
};

const DELIVERY: DeliveryNotes = DeliveryNotes {
    session_start: "yes",
    prompt: "yes",
    before_tool: "with the result",
    after_failure: "yes",
    compaction: "with the next prompt",
    mcp: "yes",
    verified: "client 1.0.102",
};

const EVENTS: &[EventRule] = &[
    EventRule::new("SessionStart", HookEventKind::SessionStarted { is_context_new: true })
        .when(PayloadCondition::Is("source", &["clear"]))
        .text("source")
        .takes_notice(),
    EventRule::new("SessionStart", HookEventKind::SessionStarted { is_context_new: false })
        .text("source")
        .takes_notice(),
    EventRule::new("UserPromptSubmit", HookEventKind::Prompt).text("prompt").takes_notice(),
    EventRule::new("PreToolUse", HookEventKind::ToolStarting),
    EventRule::new("PostToolUse", HookEventKind::ToolFinished),
    // Only for tools that failed; a command with another exit code than 0 has succeeded here.
    EventRule::new("PostToolUseFailure", HookEventKind::ToolFailed),
    // Nothing is reported after a compaction.
    EventRule::new("PreCompact", HookEventKind::ContextCompacted),
    EventRule::new("Stop", HookEventKind::TurnFinished).text("last_assistant_message"),
    // `copilot -p` gives this reason.
    EventRule::new("SessionEnd", HookEventKind::RunEnded)
        .when(PayloadCondition::Is("reason", &["complete"]))
        .text("reason"),
    EventRule::new("SessionEnd", HookEventKind::SessionEnded).text("reason"),
];
