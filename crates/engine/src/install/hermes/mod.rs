//! Hermes: a plugin folder, which `config.yaml` has to list, and the MCP server there. It has no projects.

use rethread_model::Agent;
use serde_json::json;

use super::asset_text;
use super::entry::{NAME, SettingsEntry, server};
use super::host::{DEFAULTS, HostFiles, HostInstaller, HostPlace, SettingsFile, Skill};
use super::settings::Syntax;

const PLUGIN: [(&str, &str); 2] =
    [("plugin.yaml", include_str!("plugin.yaml")), ("__init__.py", include_str!("__init__.py"))];

pub(super) static INSTALLER: HostInstaller = HostInstaller {
    agent: Agent::Hermes,
    component: "plugin",
    has_project_scope: false,
    skill: Skill::Own,
    files,
    ..DEFAULTS
};

fn files(place: &HostPlace<'_>) -> HostFiles {
    let folder = place.home().join("plugins/rethread");
    let file =
        |entry| SettingsFile { path: place.home().join("config.yaml"), syntax: Syntax::Yaml, entries: vec![entry] };
    HostFiles {
        own: PLUGIN.map(|(name, text)| (folder.join(name), asset_text(text, place.binary, place.agent))).into(),
        settings: vec![file(SettingsEntry::Items(&["plugins", "enabled"], vec![json!(NAME)]))],
        server: Some(file(SettingsEntry::Member(&["mcp_servers"], server(place.binary)))),
        ..HostFiles::default()
    }
}
