//! Writes a marketplace folder with our Claude Code plugin: hooks, tools, skill and commands. Claude Code settings are
//! not changed.

use std::path::{Path, PathBuf};

use rethread_model::Agent;
use serde_json::{Value, json};

use super::entry::Owner;
use super::file_change::InstallPlan;
use super::settings::{EditError, Syntax};
use super::settings_plan::ParsedSettings;
use super::{BINARY_PLACEHOLDER, InstallError, InstallScope, claude_code, plan_file_removal, plan_files, skill_text};
use crate::install::InstallService;

/// Name of the plugin and of the marketplace that contains only it.
const NAME: &str = "rethread";
const DESCRIPTION: &str =
    "Session memory: shows what other sessions of the project do, and finds what earlier ones did.";
const MARKETPLACE: &str = ".claude-plugin/marketplace.json";
/// Folder of the plugin inside the marketplace.
const FOLDER: &str = "plugins/rethread";
const HOOKS: &str = "hooks/hooks.json";
/// Configures our MCP server in Claude Code.
const TOOLS: &str = ".mcp.json";
const TEXTS: [(&str, &str); 4] = [
    ("README.md", include_str!("README.md")),
    ("commands/activity.md", include_str!("activity.md")),
    ("commands/recall.md", include_str!("recall.md")),
    ("commands/resume.md", include_str!("resume.md")),
];

/// Plans writing the folder.
pub(super) fn plan_plugin(folder: &Path, binary: &str) -> Result<InstallPlan, InstallError> {
    let is_ours = is_marketplace(folder);
    plan_files(files(folder, binary)?, |_| is_ours)
}

/// Plans removing our files from the folder.
pub(super) fn plan_remove_plugin(folder: &Path) -> Result<InstallPlan, InstallError> {
    let is_ours = is_marketplace(folder);
    let paths = files(folder, "")?.into_iter().map(|(path, _)| path).collect();
    plan_file_removal(paths, folder.parent().unwrap_or(folder), |_| is_ours)
}

/// Path of the plugin's hooks file in a marketplace folder.
pub(super) fn hooks_in(folder: &Path) -> PathBuf {
    folder.join(FOLDER).join(HOOKS)
}

/// Our plugin as enabled in Claude Code settings.
pub(super) struct EnabledPlugin {
    /// `plugin@marketplace`.
    pub(super) name: String,
    /// The marketplace folder, if it is a local one.
    pub(super) folder: Option<PathBuf>,
}

/// Our plugin, if those settings enable it.
pub(super) fn enabled_plugin(settings: &Value) -> Option<EnabledPlugin> {
    let is_on = |value: &Value| !matches!(value, Value::Bool(false) | Value::Null);
    let enabled = settings.get("enabledPlugins")?.as_object()?;
    let name = enabled.iter().find(|(name, value)| name.split('@').next() == Some(NAME) && is_on(value))?.0;
    let market = name.split('@').nth(1).unwrap_or_default();
    let source = settings.get("extraKnownMarketplaces").and_then(|known| known.get(market)?.get("source"));
    let folder = source.and_then(|source| source.get("path")?.as_str()).map(PathBuf::from);
    Some(EnabledPlugin { name: name.clone(), folder })
}

impl InstallService<'_> {
    /// Whether the user's settings enable our plugin.
    pub fn uses_plugin(self) -> bool {
        let settings = ParsedSettings::read(self.claude_settings(InstallScope::User), Syntax::Json);
        settings.is_ok_and(|settings| enabled_plugin(&settings.value).is_some())
    }
}

/// Whether a folder already is our marketplace. Its JSON files cannot contain a marker comment.
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
    let empty =
        json!({"description": "Calls rethread, which records the session and injects context from other sessions."});
    let pretty = |value: &Value| format!("{value:#}\n");
    let shape = |error: EditError| {
        let (key, expected) = match error {
            EditError::Unexpected(problem) => (problem.key, problem.expected),
            EditError::Unclear { .. } => ("the top level".to_owned(), "an object"),
        };
        InstallError::UnexpectedValue { path: folder.join(FOLDER).join(HOOKS), key, expected }
    };
    let owner = Owner { agent: Agent::ClaudeCode, binary: Some(binary) };
    let hooks = Syntax::Json.with(&pretty(&empty), &[claude_code::hooks(binary)], &owner).map_err(shape)?;
    let tools = json!({"mcpServers": {NAME: {"command": binary, "args": ["mcp"]}}});
    let inside = folder.join(FOLDER);
    let mut files = vec![
        (folder.join(MARKETPLACE), pretty(&market)),
        (inside.join(".claude-plugin/plugin.json"), pretty(&plugin)),
        (inside.join(HOOKS), hooks),
        (inside.join(TOOLS), pretty(&tools)),
        (inside.join("skills/rethread/SKILL.md"), skill_text(InstallScope::User, binary)),
    ];
    files.extend(TEXTS.map(|(name, text)| (inside.join(name), text.replace(BINARY_PLACEHOLDER, binary))));
    Ok(files)
}
