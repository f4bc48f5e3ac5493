//! Cursor: hooks in `hooks.json`, and the MCP server in `mcp.json`.

use rethread_model::Agent;
use serde_json::json;

use super::entry::{SettingsEntry, server};
use super::host::{DEFAULTS, HostFiles, HostInstaller, HostPlace, SettingsFile, Skill};
use super::settings::Syntax;

const EVENTS: [&str; 8] = [
    "sessionStart",
    "beforeSubmitPrompt",
    "preToolUse",
    "postToolUse",
    "postToolUseFailure",
    "afterAgentResponse",
    "preCompact",
    "sessionEnd",
];

pub(super) static INSTALLER: HostInstaller =
    HostInstaller { agent: Agent::Cursor, skill: Skill::Own, files, ..DEFAULTS };

fn files(place: &HostPlace<'_>) -> HostFiles {
    let hooks = EVENTS.map(|event| (event, json!({"command": place.command()})));
    HostFiles {
        settings: vec![SettingsFile {
            path: place.file(".cursor", "hooks.json"),
            syntax: Syntax::Json,
            entries: vec![SettingsEntry::Default("version", json!(1)), SettingsEntry::Hooks(&["hooks"], hooks.into())],
        }],
        server: Some(SettingsFile {
            path: place.file(".cursor", "mcp.json"),
            syntax: Syntax::Json,
            entries: vec![SettingsEntry::Member(&["mcpServers"], server(place.program()))],
        }),
        ..HostFiles::default()
    }
}
