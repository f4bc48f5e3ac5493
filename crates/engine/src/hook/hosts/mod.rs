//! The hosts that can call our hook, one file each.

mod claude_code;
mod cline;
mod codex;
mod copilot;
mod cursor;
mod droid;
mod gemini;
mod hermes;
mod kilo;
mod kimi;
mod openclaw;
mod opencode;
mod pi;
mod qwen;
#[cfg(test)]
mod tests;
mod vscode_copilot;

use rethread_model::Agent;

use super::protocol::HostProtocol;

/// Every host, in display order. Each has fixtures in `tests/fixtures/hosts/<host>/`.
pub static HOSTS: [&HostProtocol; 15] = [
    &claude_code::PROTOCOL,
    &pi::PROTOCOL,
    &cline::PROTOCOL,
    &codex::PROTOCOL,
    &copilot::PROTOCOL,
    &cursor::PROTOCOL,
    &droid::PROTOCOL,
    &gemini::PROTOCOL,
    &hermes::PROTOCOL,
    &kilo::PROTOCOL,
    &kimi::PROTOCOL,
    &openclaw::PROTOCOL,
    &opencode::PROTOCOL,
    &qwen::PROTOCOL,
    &vscode_copilot::PROTOCOL,
];

impl HostProtocol {
    /// The host of an agent; `None` if it calls no hooks.
    pub fn of(agent: Agent) -> Option<&'static Self> {
        HOSTS.into_iter().find(|host| host.agent == agent)
    }
}
