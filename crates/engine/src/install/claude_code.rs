//! Claude Code: hooks in its settings, a skill, and the MCP server in its state file.

use std::path::PathBuf;

use rethread_model::Agent;
use serde_json::json;

use super::entry::{NAME, SettingsEntry, hook_command};
use super::hook_groups::{Event, TIMEOUT_SECONDS, groups};
use super::host::{DEFAULTS, HostFiles, HostInstaller, HostPlace, SettingsFile, Skill, Switch};
use super::settings::Syntax;
use super::{InstallScope, skill_text};
use crate::install::InstallService;

/// Tools that change files or may do so.
const TOOLS: &str = "Write|Edit|MultiEdit|NotebookEdit|Bash";
/// Not `PreCompact`: Claude Code shows the model the command lines of those hooks, and `SessionStart` follows every
/// compaction.
const EVENTS: [Event; 7] = [
    ("SessionStart", None),
    ("UserPromptSubmit", None),
    ("PreToolUse", Some(TOOLS)),
    ("PostToolUse", Some(TOOLS)),
    ("PostToolUseFailure", Some(TOOLS)),
    ("Stop", None),
    ("SessionEnd", None),
];

pub(super) static INSTALLER: HostInstaller =
    HostInstaller { agent: Agent::ClaudeCode, skill: Skill::Own, files, switches, ..DEFAULTS };

fn files(place: &HostPlace<'_>) -> HostFiles {
    let settings = |path| SettingsFile { path, syntax: Syntax::Json, entries: vec![hooks(place.binary)] };
    let install = place.install;
    HostFiles {
        own: vec![(place.file(".claude", "skills/rethread/SKILL.md"), skill_text(place.scope, place.binary))],
        settings: vec![settings(install.claude_settings(place.scope))],
        server: Some(SettingsFile {
            path: server_path(place),
            syntax: Syntax::Json,
            entries: vec![SettingsEntry::Member(
                &["mcpServers"],
                json!({"type": "stdio", "command": place.program(), "args": ["mcp"]}),
            )],
        }),
        // Hooks in the file that is shared with others belong to one user, too.
        former: install.shared_claude_settings(place.scope).map(settings).into_iter().collect(),
        ..HostFiles::default()
    }
}

/// Our hooks. A line for the shell works in every version; older ones ignore `args` and would give the input to the
/// shell itself. Without a timeout, Claude Code stops the `SessionEnd` hook after 1.5 seconds.
pub(super) fn hooks(binary: &str) -> SettingsEntry {
    groups(&["hooks"], &EVENTS, &hook_command(binary, Agent::ClaudeCode), TIMEOUT_SECONDS)
}

/// Claude Code keeps the servers of a user in its state file, which is beside its folder unless that was moved.
fn server_path(place: &HostPlace<'_>) -> PathBuf {
    let config = place.install.engine.source_config();
    match place.scope {
        InstallScope::Project => place.install.project_folder().join(".mcp.json"),
        InstallScope::User if config.env_var("CLAUDE_CONFIG_DIR").is_some() => place.home().join(".claude.json"),
        InstallScope::User => config.home.join(".claude.json"),
    }
}

fn switches(place: &HostPlace<'_>) -> Vec<Switch> {
    let path = place.install.claude_settings(place.scope);
    vec![Switch { path, syntax: Syntax::Json, keys: &["disableAllHooks"], off: true }]
}

impl InstallService<'_> {
    /// Path of the Claude Code settings file that gets our hooks. In a project it is the one that is not committed,
    /// because the hooks contain the path of the user's program.
    pub(super) fn claude_settings(self, scope: InstallScope) -> PathBuf {
        let name = match scope {
            InstallScope::User => "settings.json",
            InstallScope::Project => "settings.local.json",
        };
        self.claude_file(scope, name)
    }

    /// The settings file of a project that is committed. It may contain hooks of ours.
    pub(super) fn shared_claude_settings(self, scope: InstallScope) -> Option<PathBuf> {
        let shared = self.claude_file(scope, "settings.json");
        // In the home directory it is the user's file.
        (scope == InstallScope::Project && shared != self.claude_settings(InstallScope::User)).then_some(shared)
    }

    fn claude_file(self, scope: InstallScope, name: &str) -> PathBuf {
        HostPlace { install: self, agent: Agent::ClaudeCode, scope, binary: NAME }.file(".claude", name)
    }
}
