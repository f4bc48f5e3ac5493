//! Recognizes the host that calls a hook. Cursor and VS Code Copilot Chat also run the hooks of Claude Code.
//!
//! Variables such as `CLAUDE_PROJECT_DIR` prove nothing: most hosts set them.

use rethread_model::Agent;
use serde_json::Value;

use super::HostProtocol;
use super::payload::{HookPayload, value_at};
use crate::Environment;

/// Set by Cursor, and only for hooks.
const CURSOR_VARIABLE: &str = "CURSOR_VERSION";
/// Fields that only Cursor sends.
const CURSOR_FIELDS: [&str; 3] = ["cursor_version", "conversation_id", "workspace_roots"];
/// Set by Copilot CLI for its hooks. VS Code reads the same files.
const COPILOT_VARIABLE: &str = "COPILOT_CLI";
/// Fields of Copilot Chat that Claude Code writes in another way.
const VSCODE_FIELDS: [&str; 2] = ["hookEventName", "sessionId"];
/// Folders in the paths of VS Code's transcripts.
const VSCODE_FOLDERS: [&str; 3] = ["/workspaceStorage/", "/globalStorage/", "/GitHub.copilot-chat/"];
/// Folders of agents that may come to run Claude Code's hooks. Their sessions are not Claude Code's.
const OTHER_FOLDERS: [&str; 8] =
    ["/.codex/", "/.continue/", "/.copilot/", "/.factory/", "/.gemini/", "/.grok/", "/.kimi-code/", "/.qwen/"];

/// The host that sent a payload to the hook of `named`; `None` if it is one that must not be answered.
pub(super) fn calling_host(
    named: &'static HostProtocol,
    payload: &HookPayload,
    environment: &Environment,
) -> Option<&'static HostProtocol> {
    let has = |fields: &[&str]| fields.iter().any(|field| payload.contains_key(*field));
    let transcript = value_at(payload, "transcript_path|transcriptPath").and_then(Value::as_str).unwrap_or_default();
    let is_below = |folders: &[&str]| folders.iter().any(|folder| transcript.contains(folder));
    match named.agent {
        Agent::ClaudeCode if environment.variable(CURSOR_VARIABLE).is_some() || has(&CURSOR_FIELDS) => {
            HostProtocol::of(Agent::Cursor)
        }
        Agent::ClaudeCode if has(&VSCODE_FIELDS) || is_below(&VSCODE_FOLDERS) => HostProtocol::of(Agent::VscodeCopilot),
        Agent::ClaudeCode if is_below(&OTHER_FOLDERS) => None,
        Agent::Copilot
            if environment.variable(COPILOT_VARIABLE).is_none()
                && (has(&VSCODE_FIELDS) || is_below(&VSCODE_FOLDERS)) =>
        {
            HostProtocol::of(Agent::VscodeCopilot)
        }
        _ => Some(named),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::json;

    use super::*;

    fn check(named: Agent, payload: &Value, variables: &[&str], expect: Option<Agent>) {
        let mut environment = Environment::for_home(Path::new("/home/dev"));
        environment.variables = variables.iter().map(|name| ((*name).to_owned(), "1".to_owned())).collect();
        let host = calling_host(HostProtocol::of(named).unwrap(), payload.as_object().unwrap(), &environment);
        assert_eq!(host.map(|host| host.agent), expect, "{payload}");
    }

    #[test]
    fn hosts_that_run_the_hooks_of_claude_code_are_recognized() {
        let claude = json!({"session_id": "s", "transcript_path": "/home/dev/.claude/projects/-app/s.jsonl"});
        check(Agent::ClaudeCode, &claude, &["CLAUDE_PROJECT_DIR", "VSCODE_PID"], Some(Agent::ClaudeCode));
        check(Agent::ClaudeCode, &claude, &["CURSOR_VERSION"], Some(Agent::Cursor));
        check(Agent::ClaudeCode, &json!({"conversation_id": "c"}), &[], Some(Agent::Cursor));
        check(Agent::ClaudeCode, &json!({"sessionId": "s", "hookEventName": "Stop"}), &[], Some(Agent::VscodeCopilot));
        let stored = json!({"session_id": "s", "transcript_path": "/x/User/workspaceStorage/1/chatSessions/s.jsonl"});
        check(Agent::ClaudeCode, &stored, &[], Some(Agent::VscodeCopilot));
        let other = json!({"session_id": "s", "transcript_path": "/home/dev/.factory/sessions/-app/s.jsonl"});
        check(Agent::ClaudeCode, &other, &["CLAUDE_PROJECT_DIR"], None);
    }

    #[test]
    fn copilot_cli_and_chat_are_distinguished() {
        let camel = json!({"sessionId": "s", "hookEventName": "Stop"});
        check(Agent::Copilot, &camel, &[], Some(Agent::VscodeCopilot));
        check(Agent::Copilot, &camel, &["COPILOT_CLI"], Some(Agent::Copilot));
        check(Agent::Copilot, &json!({"session_id": "s"}), &[], Some(Agent::Copilot));
        check(Agent::Codex, &camel, &["CURSOR_VERSION"], Some(Agent::Codex));
    }
}
