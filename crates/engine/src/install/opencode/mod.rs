//! OpenCode and Kilo, which has the same plugins: a plugin file, and the MCP server in the configuration.

use std::path::{Path, PathBuf};

use rethread_model::Agent;
use serde_json::json;

use super::entry::SettingsEntry;
use super::host::{DEFAULTS, HostFiles, HostInstaller, HostPlace, SettingsFile};
use super::settings::Syntax;
use super::{InstallScope, asset_text};

const PLUGIN: &str = include_str!("rethread.js");
/// Loaded from any file in this folder.
const PLUGIN_FILE: &str = "plugins/rethread.js";

pub(super) static OPENCODE: HostInstaller = HostInstaller {
    agent: Agent::OpenCode,
    component: "plugin",
    files: |place| files(place, "OPENCODE_CONFIG_DIR", "opencode"),
    ..DEFAULTS
};

pub(super) static KILO: HostInstaller = HostInstaller {
    agent: Agent::Kilo,
    component: "plugin",
    files: |place| files(place, "KILO_CONFIG_DIR", "kilo"),
    ..DEFAULTS
};

fn files(place: &HostPlace<'_>, variable: &str, name: &str) -> HostFiles {
    let project = place.install.project_folder();
    let (folder, config) = match place.scope {
        InstallScope::User => {
            let folder = place.config_folder(variable, name);
            (folder.clone(), folder)
        }
        InstallScope::Project => (project.join(format!(".{name}")), project),
    };
    let server = json!({"type": "local", "command": [place.program(), "mcp"], "enabled": true});
    HostFiles {
        own: vec![(folder.join(PLUGIN_FILE), asset_text(PLUGIN, place.program(), place.agent))],
        server: Some(SettingsFile {
            path: config_file(&config, name),
            syntax: Syntax::Jsonc,
            entries: vec![SettingsEntry::Member(&["mcp"], server)],
        }),
        ..HostFiles::default()
    }
}

/// The configuration that is there. Both names are read; the one with comments is written by newer versions.
fn config_file(folder: &Path, name: &str) -> PathBuf {
    let [plain, commented] = ["json", "jsonc"].map(|ending| folder.join(format!("{name}.{ending}")));
    if commented.exists() && !plain.exists() { commented } else { plain }
}
