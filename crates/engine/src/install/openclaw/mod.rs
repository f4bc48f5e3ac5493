//! OpenClaw: a plugin folder, and the settings that load it and let it see and extend prompts. It has no projects.

use std::path::PathBuf;

use rethread_model::Agent;
use serde_json::json;

use super::asset_text;
use super::entry::{SettingsEntry, server};
use super::host::{DEFAULTS, HostFiles, HostInstaller, HostPlace, SettingsFile, Switch};
use super::settings::Syntax;

const PLUGIN: [(&str, &str); 3] = [
    ("openclaw.plugin.json", include_str!("openclaw.plugin.json")),
    ("package.json", include_str!("package.json")),
    ("index.js", include_str!("index.js")),
];

pub(super) static INSTALLER: HostInstaller = HostInstaller {
    agent: Agent::OpenClaw,
    component: "plugin",
    has_project_scope: false,
    files,
    note: |_| Some("OpenClaw warns that it cannot verify where the plugin came from; it loads the plugin all the same"),
    switches,
    ..DEFAULTS
};

fn files(place: &HostPlace<'_>) -> HostFiles {
    let folder = place.home().join("extensions/rethread");
    let file = |entry| SettingsFile { path: config_file(place), syntax: Syntax::Json5, entries: vec![entry] };
    let hooks = json!({"allowConversationAccess": true, "allowPromptInjection": true});
    HostFiles {
        own: PLUGIN.map(|(name, text)| (folder.join(name), asset_text(text, place.binary, place.agent))).into(),
        settings: vec![file(SettingsEntry::Member(&["plugins", "entries"], json!({"enabled": true, "hooks": hooks})))],
        server: Some(file(SettingsEntry::Member(&["mcp", "servers"], server(place.binary)))),
        ..HostFiles::default()
    }
}

fn config_file(place: &HostPlace<'_>) -> PathBuf {
    let config = place.install.engine.source_config();
    let named = config.env_var("OPENCLAW_CONFIG_PATH").map(|path| config.expand_home(path));
    named.unwrap_or_else(|| place.home().join("openclaw.json"))
}

fn switches(place: &HostPlace<'_>) -> Vec<Switch> {
    let switch = |keys| Switch { path: config_file(place), syntax: Syntax::Json5, keys, off: false };
    vec![
        switch(&["plugins", "enabled"]),
        switch(&["plugins", "entries", "rethread", "enabled"]),
        switch(&["plugins", "entries", "rethread", "hooks", "allowConversationAccess"]),
        switch(&["plugins", "entries", "rethread", "hooks", "allowPromptInjection"]),
    ]
}
