//! Gemini CLI: hooks and the MCP server in its settings.

use rethread_model::Agent;

use super::entry::{SettingsEntry, server};
use super::hook_groups::{Event, TIMEOUT_MILLISECONDS, groups};
use super::host::{DEFAULTS, HostFiles, HostInstaller, HostPlace, SettingsFile, Switch};
use super::settings::Syntax;

/// Tools that change files or may do so.
const TOOLS: &str = "run_shell_command|replace|write_file";
/// Not `PreCompress`: it comes before every model call, compressed or not.
const EVENTS: [Event; 6] = [
    ("SessionStart", None),
    ("BeforeAgent", None),
    ("BeforeTool", Some(TOOLS)),
    ("AfterTool", Some(TOOLS)),
    ("AfterAgent", None),
    ("SessionEnd", None),
];

pub(super) static INSTALLER: HostInstaller = HostInstaller { agent: Agent::Gemini, files, switches, ..DEFAULTS };

fn files(place: &HostPlace<'_>) -> HostFiles {
    let file = |entry| SettingsFile {
        path: place.file(".gemini", "settings.json"),
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
    let switch =
        |keys| Switch { path: place.file(".gemini", "settings.json"), syntax: Syntax::Jsonc, keys, off: false };
    vec![switch(&["hooksConfig", "enabled"]), switch(&["tools", "enableHooks"])]
}
