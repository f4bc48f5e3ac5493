//! VS Code Copilot Chat, which runs the hooks of Claude Code. Its names of fields have changed with its versions.

use rethread_model::Agent;

use crate::hook::payload::PayloadCondition;
use crate::hook::protocol::{DeliveryNotes, EventRule, HookEventKind, HostProtocol};

pub(super) static PROTOCOL: HostProtocol = HostProtocol {
    runs_hooks_of: Some(Agent::ClaudeCode),
    repeats_events: true,
    event: "hook_event_name|hookEventName",
    session_id: "session_id|sessionId",
    transcript: "transcript_path|transcriptPath",
    subagent: "agent_id|agentId",
    tool_name: "tool_name|toolName",
    tool_input: "tool_input|toolInput",
    tool_output: "tool_response|toolResponse",
    ..HostProtocol::new(Agent::VscodeCopilot, EVENTS, DELIVERY)
};

const DELIVERY: DeliveryNotes = DeliveryNotes {
    session_start: "yes",
    prompt: "yes",
    before_tool: "yes",
    after_failure: "–",
    compaction: "with the next prompt",
    mcp: "–",
    verified: "by documentation",
};

const EVENTS: &[EventRule] = &[
    EventRule::new("SessionStart", HookEventKind::SessionStarted { is_context_new: false })
        .text("source")
        .takes_notice(),
    EventRule::new("UserPromptSubmit", HookEventKind::Ignored).when(PayloadCondition::Blank("prompt")),
    EventRule::new("UserPromptSubmit", HookEventKind::Prompt).text("prompt").takes_notice(),
    EventRule::new("PreToolUse", HookEventKind::ToolStarting).takes_notice(),
    EventRule::new("PostToolUse", HookEventKind::ToolFinished).takes_notice(),
    EventRule::new("PreCompact", HookEventKind::ContextCompacted),
    EventRule::new("Stop", HookEventKind::TurnFinished).text("last_assistant_message"),
];
