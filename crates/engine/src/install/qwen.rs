//! Qwen Code: hooks and the MCP server in its settings.

use rethread_model::Agent;

use super::entry::{SettingsEntry, server};
use super::hook_groups::{Event, TIMEOUT_MILLISECONDS, groups};
use super::host::{DEFAULTS, HostFiles, HostInstaller, HostPlace, SettingsFile, Switch};
use super::settings::Syntax;

/// Tools that change files or may do so.
const TOOLS: &str = "run_shell_command|edit|write_file|notebook_edit";
const EVENTS: [Event; 8] = [
    ("SessionStart", None),
    ("UserPromptSubmit", None),
    ("PreToolUse", Some(TOOLS)),
    ("PostToolUse", Some(TOOLS)),
    ("PostToolUseFailure", Some(TOOLS)),
    ("PreCompact", None),
    ("Stop", None),
    ("SessionEnd", None),
];

pub(super) static INSTALLER: HostInstaller = HostInstaller { agent: Agent::Qwen, files, switches, ..DEFAULTS };

fn files(place: &HostPlace<'_>) -> HostFiles {
    let file = |entry| SettingsFile {
        path: place.file(".qwen", "settings.json"),
        syntax: Syntax::Jsonc,
        entries: vec![entry],
    };
    HostFiles {
        settings: vec![file(groups(&["hooks"], &EVENTS, &place.command(), TIMEOUT_MILLISECONDS))],
        server: Some(file(SettingsEntry::Member(&["mcpServers"], server(place.program())))),
        ..HostFiles::default()
    }
}

fn switches(place: &HostPlace<'_>) -> Vec<Switch> {
    let path = place.file(".qwen", "settings.json");
    vec![
        Switch { path: path.clone(), syntax: Syntax::Jsonc, keys: &["disableAllHooks"], off: true },
        Switch { path, syntax: Syntax::Jsonc, keys: &["hooksConfig", "enabled"], off: false },
    ]
}
