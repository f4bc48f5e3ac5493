//! The hooks of Cursor, the editor and its command line. It also runs the hooks of Claude Code, under their names.

use rethread_model::Agent;

use crate::hook::answer::AnswerForm;
use crate::hook::payload::PayloadCondition;
use crate::hook::protocol::{DeliveryNotes, EventRule, HookEventKind, HostProtocol};

/// Read by the hooks of both kinds.
const CONTEXT: AnswerForm = AnswerForm::Field("additional_context");

pub(super) static PROTOCOL: HostProtocol = HostProtocol {
    repeats_events: true,
    session_id: "conversation_id|session_id",
    cwd: "cwd|workspace_roots",
    subagent: "agent_id|subagent_id",
    tool_output: "tool_output|tool_response|output",
    error: "error_message|error",
    exit_code: "exit_code",
    context: CONTEXT,
    notice: None,
    // Longer texts become a file that the model may not read.
    max_context_bytes: Some(9_500),
    project_variable: Some("CURSOR_PROJECT_DIR"),
    ..HostProtocol::new(Agent::Cursor, EVENTS, DELIVERY)
};

const DELIVERY: DeliveryNotes = DeliveryNotes {
    session_start: "yes",
    prompt: "yes; in the command line only with a terminal",
    before_tool: "yes",
    after_failure: "yes",
    compaction: "with the next prompt",
    mcp: "yes",
    verified: "by documentation",
};

const EVENTS: &[EventRule] = &[
    EventRule::new("sessionStart", HookEventKind::SessionStarted { is_context_new: false })
        .text("source")
        .takes_notice(),
    EventRule::new("SessionStart", HookEventKind::SessionStarted { is_context_new: false })
        .text("source")
        .takes_notice(),
    EventRule::new("beforeSubmitPrompt", HookEventKind::Prompt).text("prompt").takes_notice(),
    EventRule::new("UserPromptSubmit", HookEventKind::Prompt).text("prompt").takes_notice(),
    EventRule::new("preToolUse", HookEventKind::ToolStarting),
    EventRule::new("PreToolUse", HookEventKind::ToolStarting),
    EventRule::new("postToolUse", HookEventKind::ToolFinished),
    EventRule::new("PostToolUse", HookEventKind::ToolFinished),
    EventRule::new("postToolUseFailure", HookEventKind::ToolFailed),
    EventRule::new("PostToolUseFailure", HookEventKind::ToolFailed),
    // Nothing is reported after a compaction.
    EventRule::new("preCompact", HookEventKind::ContextCompacted),
    EventRule::new("afterAgentResponse", HookEventKind::TurnFinished).text("text"),
    EventRule::new("sessionEnd", HookEventKind::RunEnded)
        .when(PayloadCondition::Is("reason", &["completed"]))
        .text("reason"),
    EventRule::new("sessionEnd", HookEventKind::SessionEnded).text("reason"),
    EventRule::new("SessionEnd", HookEventKind::SessionEnded).text("reason"),
];
