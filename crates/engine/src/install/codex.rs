//! Codex: hooks in `hooks.json`, and the MCP server in `config.toml`.

use rethread_model::Agent;

use super::entry::{SettingsEntry, server};
use super::hook_groups::{TIMEOUT_SECONDS, group};
use super::host::{DEFAULTS, HostFiles, HostInstaller, HostPlace, SettingsFile, Switch};
use super::settings::Syntax;

/// Not `PostCompact`: Codex shows an error if it is answered. There are few tools, so none is left out.
const EVENTS: [&str; 7] =
    ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PreCompact", "Stop", "SessionEnd"];
/// Codex allows no more for `SessionEnd`.
const END_TIMEOUT_SECONDS: u64 = 3;
const TRUST_NOTE: &str = "Codex runs new hooks only after you trust them: start codex and run /hooks";

pub(super) static INSTALLER: HostInstaller =
    HostInstaller { agent: Agent::Codex, files, note: |_| Some(TRUST_NOTE), switches, ..DEFAULTS };

fn files(place: &HostPlace<'_>) -> HostFiles {
    let timeout = |event: &str| if event == "SessionEnd" { END_TIMEOUT_SECONDS } else { TIMEOUT_SECONDS };
    let hooks = EVENTS.map(|event| (event, group(None, &place.command(), timeout(event))));
    HostFiles {
        settings: vec![SettingsFile {
            path: place.file(".codex", "hooks.json"),
            syntax: Syntax::Json,
            entries: vec![SettingsEntry::Hooks(&["hooks"], hooks.into())],
        }],
        server: Some(SettingsFile {
            path: place.file(".codex", "config.toml"),
            syntax: Syntax::Toml,
            entries: vec![SettingsEntry::Member(&["mcp_servers"], server(place.program()))],
        }),
        ..HostFiles::default()
    }
}

fn switches(place: &HostPlace<'_>) -> Vec<Switch> {
    let path = place.home().join("config.toml");
    vec![Switch { path, syntax: Syntax::Toml, keys: &["features", "hooks"], off: false }]
}
