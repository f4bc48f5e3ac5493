//! A folder that Claude Code takes our plugin from: hooks, tools, skill and commands, without a change of its settings by us.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::change::Plan;
use super::{BINARY, InstallError, settings, skill, unwanted, wanted};
use crate::Engine;

/// Of the plugin, and of the marketplace that has nothing else.
const NAME: &str = "rethread";
const DESCRIPTION: &str = "What the other sessions of a project do, and did: told when it matters, found when asked.";
const MARKETPLACE: &str = ".claude-plugin/marketplace.json";
/// The plugin's folder in the marketplace.
const FOLDER: &str = "plugins/rethread";
const HOOKS: &str = "hooks/hooks.json";
/// Tells Claude Code how to start our MCP server.
const TOOLS: &str = ".mcp.json";
const TEXTS: [(&str, &str); 4] = [
    ("README.md", include_str!("README.md")),
    ("commands/activity.md", include_str!("activity.md")),
    ("commands/recall.md", include_str!("recall.md")),
    ("commands/resume.md", include_str!("resume.md")),
];

/// The folder as it should be.
pub(super) fn plan(folder: &Path, binary: &str) -> Result<Plan, InstallError> {
    let is_ours = is_marketplace(folder);
    wanted(files(folder, binary)?, |_| is_ours)
}

/// The folder without anything of ours.
pub(super) fn plan_removal(folder: &Path) -> Result<Plan, InstallError> {
    let is_ours = is_marketplace(folder);
    let paths = files(folder, "")?.into_iter().map(|(path, _)| path).collect();
    unwanted(paths, folder.parent().unwrap_or(folder), |_| is_ours)
}

/// The hooks of the plugin in such a folder.
pub(super) fn hooks_in(folder: &Path) -> PathBuf {
    folder.join(FOLDER).join(HOOKS)
}

/// Our plugin, where settings of Claude Code say that it is used.
pub(super) struct Used {
    /// As Claude Code names it.
    pub(super) name: String,
    /// The folder it comes from, if it is one.
    pub(super) folder: Option<PathBuf>,
}

/// Whether those settings use our plugin.
pub(super) fn used(settings: &Value) -> Option<Used> {
    let is_on = |value: &Value| !matches!(value, Value::Bool(false) | Value::Null);
    let enabled = settings.get("enabledPlugins")?.as_object()?;
    let name = enabled.iter().find(|(name, value)| name.split('@').next() == Some(NAME) && is_on(value))?.0;
    let market = name.split('@').nth(1).unwrap_or_default();
    let source = settings.get("extraKnownMarketplaces").and_then(|known| known.get(market)?.get("source"));
    let folder = source.and_then(|source| source.get("path")?.as_str()).map(PathBuf::from);
    Some(Used { name: name.clone(), folder })
}

impl Engine {
    /// Whether Claude Code calls us by our plugin, as far as the user's settings tell.
    pub fn uses_plugin(&self) -> bool {
        let path = self.settings_path(super::SettingsOf::User);
        super::claude_code::Settings::read(path).is_ok_and(|settings| used(&settings.value).is_some())
    }
}

/// Whether a folder is our marketplace already. Its other files have no place for a mark.
fn is_marketplace(folder: &Path) -> bool {
    let text = std::fs::read(folder.join(MARKETPLACE)).unwrap_or_default();
    serde_json::from_slice::<Value>(&text).is_ok_and(|value| value.get("name").is_some_and(|name| name == NAME))
}

fn files(folder: &Path, binary: &str) -> Result<Vec<(PathBuf, String)>, InstallError> {
    let version = env!("CARGO_PKG_VERSION");
    let plugin = json!({
        "name": NAME,
        "version": version,
        "description": DESCRIPTION,
        "author": {"name": NAME},
        "license": env!("CARGO_PKG_LICENSE"),
    });
    let entry = json!({"name": NAME, "source": format!("./{FOLDER}"), "description": DESCRIPTION, "version": version});
    let market = json!({
        "name": NAME,
        "owner": {"name": NAME},
        "metadata": {"description": DESCRIPTION},
        "plugins": [entry],
    });
    let empty = json!({"description": "Calls rethread, which reads along and tells what matters."});
    let shape = |problem: settings::Problem| InstallError::Shape {
        path: folder.join(FOLDER).join(HOOKS),
        place: problem.place,
        expected: problem.expected,
    };
    let hooks = settings::with_hooks(&empty, binary).map_err(shape)?;
    let tools = json!({"mcpServers": {NAME: {"command": binary, "args": ["mcp"]}}});
    let inside = folder.join(FOLDER);
    let mut files = vec![
        (folder.join(MARKETPLACE), settings::write(&market, "")),
        (inside.join(".claude-plugin/plugin.json"), settings::write(&plugin, "")),
        (inside.join(HOOKS), settings::write(&hooks, "")),
        (inside.join(TOOLS), settings::write(&tools, "")),
        (inside.join("skills/rethread/SKILL.md"), skill(binary)),
    ];
    files.extend(TEXTS.map(|(name, text)| (inside.join(name), text.replace(BINARY, binary))));
    Ok(files)
}
