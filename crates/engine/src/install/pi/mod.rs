//! pi: an extension, which is a file of our own, and the MCP server for versions that have MCP.

use rethread_model::Agent;
use serde_json::json;

use super::entry::{SettingsEntry, server};
use super::host::{DEFAULTS, HostFiles, HostInstaller, HostPlace, SettingsFile};
use super::settings::Syntax;
use super::{BINARY_PLACEHOLDER, InstallScope};

const EXTENSION: &str = include_str!("rethread.ts");

pub(super) static INSTALLER: HostInstaller =
    HostInstaller { agent: Agent::Pi, component: "extension", files, note, ..DEFAULTS };

fn files(place: &HostPlace<'_>) -> HostFiles {
    let cards = &place.install.engine.settings().cards;
    let names = ExtensionNames {
        command: &cards.command_name,
        status: &cards.status_key,
        clear_ms: cards.notification_auto_clear_ms,
    };
    HostFiles {
        own: vec![(place.file(".pi", "extensions/rethread.ts"), extension_text(place.program(), &names))],
        // Read by pi 1.x; older versions have no MCP.
        server: Some(SettingsFile {
            path: place.file(".pi", "mcp.json"),
            syntax: Syntax::Json,
            entries: vec![SettingsEntry::Member(&["mcpServers"], server(place.program()))],
        }),
        // pi reads the shared skill, too, and complains about a second one of the same name.
        former_own: vec![place.file(".pi", "skills/rethread/SKILL.md")],
        ..HostFiles::default()
    }
}

fn note(scope: InstallScope) -> Option<&'static str> {
    let hint = "pi reads them only in projects you trust: confirm when it asks, or use /trust";
    (scope == InstallScope::Project).then_some(hint)
}

/// Configured values that are written into the extension.
struct ExtensionNames<'a> {
    /// Name of the pi command that writes a card.
    command: &'a str,
    /// Key for pi's status line.
    status: &'a str,
    /// Milliseconds until the status line is cleared; 0 keeps it.
    clear_ms: u64,
}

/// The extension with all placeholders replaced.
fn extension_text(binary: &str, names: &ExtensionNames<'_>) -> String {
    let quoted = |text: &str| json!(text).to_string();
    EXTENSION
        .replace(&format!("\"{BINARY_PLACEHOLDER}\""), &quoted(binary))
        .replace("\"@COMMAND@\"", &quoted(names.command))
        .replace("\"@STATUS@\"", &quoted(names.status))
        .replace("\"@CLEAR@\"", &names.clear_ms.to_string())
}

#[cfg(test)]
mod tests {
    use super::super::{has_marker, program_in};
    use super::*;

    #[test]
    fn the_program_path_may_contain_any_character() {
        for name in ["/usr/bin/rethread", "/a b/\"c\"/d\\e", "/é\n"] {
            let text = extension_text(name, &ExtensionNames { command: "index-session", status: "s", clear_ms: 5000 });
            assert_eq!(program_in(&text).as_deref(), Some(name));
            assert!(has_marker(&text));
            for place in [BINARY_PLACEHOLDER, "@COMMAND@", "@STATUS@", "@CLEAR@"] {
                assert!(!text.contains(place), "{place}");
            }
        }
    }
}
