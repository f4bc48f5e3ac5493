//! Continue: only the MCP server, because it calls no hooks.

use rethread_model::Agent;
use serde_json::json;

use super::entry::{NAME, SettingsEntry};
use super::host::{DEFAULTS, HostFiles, HostInstaller, HostPlace, SERVER_ONLY, SettingsFile, Skill};
use super::settings::Syntax;

pub(super) static INSTALLER: HostInstaller = HostInstaller {
    agent: Agent::Continue,
    component: SERVER_ONLY,
    has_project_scope: false,
    skill: Skill::Own,
    files,
    ..DEFAULTS
};

fn files(place: &HostPlace<'_>) -> HostFiles {
    let server = json!({"name": NAME, "command": place.binary, "args": ["mcp"]});
    HostFiles {
        server: Some(SettingsFile {
            path: place.home().join("config.yaml"),
            syntax: Syntax::Yaml,
            // Continue refuses a file without the first three.
            entries: vec![
                SettingsEntry::Default("name", json!("Local Config")),
                SettingsEntry::Default("version", json!("1.0.0")),
                SettingsEntry::Default("schema", json!("v1")),
                SettingsEntry::Items(&["mcpServers"], vec![server]),
            ],
        }),
        ..HostFiles::default()
    }
}
