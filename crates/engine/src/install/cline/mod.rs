//! Cline: a plugin folder, and the MCP server in its settings. It has no plugins of a project.

use rethread_model::Agent;

use super::asset_text;
use super::entry::{SettingsEntry, server};
use super::host::{DEFAULTS, HostFiles, HostInstaller, HostPlace, SettingsFile};
use super::settings::Syntax;

const PLUGIN: [(&str, &str); 2] =
    [("package.json", include_str!("package.json")), ("index.js", include_str!("index.js"))];

pub(super) static INSTALLER: HostInstaller =
    HostInstaller { agent: Agent::Cline, component: "plugin", has_project_scope: false, files, ..DEFAULTS };

fn files(place: &HostPlace<'_>) -> HostFiles {
    let folder = place.home().join("plugins/rethread");
    let config = place.install.engine.source_config();
    let data = config.env_var("CLINE_DATA_DIR").map(|folder| config.expand_home(folder));
    HostFiles {
        own: PLUGIN.map(|(name, text)| (folder.join(name), asset_text(text, place.binary, place.agent))).into(),
        server: Some(SettingsFile {
            path: data.unwrap_or_else(|| place.home().join("data")).join("settings/cline_mcp_settings.json"),
            syntax: Syntax::Json,
            entries: vec![SettingsEntry::Member(&["mcpServers"], server(place.binary))],
        }),
        ..HostFiles::default()
    }
}
