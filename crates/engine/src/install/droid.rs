//! Factory Droid: hooks in `hooks.json`, whose events are at the top level, and the MCP server in `mcp.json`.

use rethread_model::Agent;
use serde_json::json;

use super::entry::SettingsEntry;
use super::hook_groups::{Event, TIMEOUT_SECONDS, groups};
use super::host::{DEFAULTS, HostFiles, HostInstaller, HostPlace, SettingsFile};
use super::settings::Syntax;

/// Tools that change files or may do so.
const TOOLS: &str = "Execute|Edit|MultiEdit|Create|ApplyPatch|Write";
const EVENTS: [Event; 7] = [
    ("SessionStart", None),
    ("UserPromptSubmit", None),
    ("PreToolUse", Some(TOOLS)),
    ("PostToolUse", Some(TOOLS)),
    ("PreCompact", None),
    ("Stop", None),
    ("SessionEnd", None),
];

pub(super) static INSTALLER: HostInstaller = HostInstaller { agent: Agent::Droid, files, ..DEFAULTS };

fn files(place: &HostPlace<'_>) -> HostFiles {
    let server = json!({"type": "stdio", "command": place.program(), "args": ["mcp"]});
    HostFiles {
        settings: vec![SettingsFile {
            path: place.file(".factory", "hooks.json"),
            syntax: Syntax::Jsonc,
            entries: vec![groups(&[], &EVENTS, &place.command(), TIMEOUT_SECONDS)],
        }],
        server: Some(SettingsFile {
            path: place.file(".factory", "mcp.json"),
            syntax: Syntax::Jsonc,
            entries: vec![SettingsEntry::Member(&["mcpServers"], server)],
        }),
        ..HostFiles::default()
    }
}
