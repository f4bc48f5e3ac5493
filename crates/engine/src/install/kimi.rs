//! Kimi Code: hooks in `config.toml`, and the MCP server in `mcp.json`. It has no hooks of a project.

use rethread_model::Agent;
use serde_json::{Value, json};

use super::entry::{SettingsEntry, server};
use super::hook_groups::{Event, TIMEOUT_SECONDS};
use super::host::{DEFAULTS, HostFiles, HostInstaller, HostPlace, SettingsFile};
use super::settings::Syntax;

/// Tools that change files or may do so.
const TOOLS: &str = "Bash|Write|Edit";
const EVENTS: [Event; 9] = [
    ("SessionStart", None),
    ("UserPromptSubmit", None),
    ("PreToolUse", Some(TOOLS)),
    ("PostToolUse", Some(TOOLS)),
    ("PostToolUseFailure", Some(TOOLS)),
    ("PreCompact", None),
    ("PostCompact", None),
    ("Stop", None),
    ("SessionEnd", None),
];

pub(super) static INSTALLER: HostInstaller =
    HostInstaller { agent: Agent::Kimi, has_project_scope: false, files, ..DEFAULTS };

fn files(place: &HostPlace<'_>) -> HostFiles {
    let hooks = EVENTS.map(|(event, matcher)| hook(event, matcher, &place.command()));
    HostFiles {
        settings: vec![SettingsFile {
            path: place.home().join("config.toml"),
            syntax: Syntax::Toml,
            entries: vec![SettingsEntry::Items(&["hooks"], hooks.into())],
        }],
        server: Some(SettingsFile {
            path: place.home().join("mcp.json"),
            syntax: Syntax::Json,
            entries: vec![SettingsEntry::Member(&["mcpServers"], server(place.program()))],
        }),
        ..HostFiles::default()
    }
}

fn hook(event: &str, matcher: Option<&str>, command: &str) -> Value {
    match matcher {
        Some(matcher) => json!({"event": event, "matcher": matcher, "command": command, "timeout": TIMEOUT_SECONDS}),
        None => json!({"event": event, "command": command, "timeout": TIMEOUT_SECONDS}),
    }
}
