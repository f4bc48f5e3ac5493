//! Copilot CLI: a file of hooks that is ours, and the MCP server.

use rethread_model::Agent;
use serde_json::json;

use super::InstallScope;
use super::entry::SettingsEntry;
use super::hook_groups::TIMEOUT_SECONDS;
use super::host::{DEFAULTS, HostFiles, HostInstaller, HostPlace, SettingsFile, Switch};
use super::settings::Syntax;

/// With these names the input is like that of Claude Code; Copilot has others for the same events.
const EVENTS: [&str; 8] = [
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PreCompact",
    "Stop",
    "SessionEnd",
];

pub(super) static INSTALLER: HostInstaller = HostInstaller { agent: Agent::Copilot, files, note, switches, ..DEFAULTS };

fn files(place: &HostPlace<'_>) -> HostFiles {
    let hook = json!({"type": "command", "bash": place.command(), "timeoutSec": TIMEOUT_SECONDS});
    let hooks = EVENTS.map(|event| (event, hook.clone()));
    let server = json!({"type": "local", "command": place.program(), "args": ["mcp"], "tools": ["*"]});
    HostFiles {
        settings: vec![SettingsFile {
            path: place.file(".github", "hooks/rethread.json"),
            syntax: Syntax::Json,
            entries: vec![SettingsEntry::Default("version", json!(1)), SettingsEntry::Hooks(&["hooks"], hooks.into())],
        }],
        server: (place.scope == InstallScope::User).then(|| SettingsFile {
            path: place.home().join("mcp-config.json"),
            syntax: Syntax::Json,
            entries: vec![SettingsEntry::Member(&["mcpServers"], server)],
        }),
        ..HostFiles::default()
    }
}

fn note(scope: InstallScope) -> Option<&'static str> {
    let hint = "Copilot CLI runs them only in folders you trust: confirm when it asks";
    (scope == InstallScope::Project).then_some(hint)
}

fn switches(place: &HostPlace<'_>) -> Vec<Switch> {
    let switch =
        |name| Switch { path: place.home().join(name), syntax: Syntax::Jsonc, keys: &["disableAllHooks"], off: true };
    ["settings.json", "config.json"].map(switch).into()
}
