//! Installs the pi extension and skill, which are files of our own in pi's folders.

use std::path::PathBuf;

use rethread_model::Agent;
use serde_json::json;

use super::file_change::InstallPlan;
use super::{
    BINARY_PLACEHOLDER, HostInstaller, InstallError, InstallScope, has_marker, plan_file_removal, plan_files,
    skill_text,
};
use crate::install::InstallService;

const EXTENSION: &str = include_str!("rethread.ts");
/// Text before the program path in the extension.
const PROGRAM_PREFIX: &str = "const PROGRAM = ";

/// The extension, and a skill.
pub(super) static INSTALLER: HostInstaller = HostInstaller {
    agent: Agent::Pi,
    component: "extension",
    plan: |install, scope, binary| install.plan_extension(scope, binary),
    plan_removal: |install, scope| install.plan_remove_extension(scope),
    check: |install, diagnosis| install.check_pi(diagnosis),
};

impl InstallService<'_> {
    pub(super) fn plan_extension(self, scope: InstallScope, binary: &str) -> Result<InstallPlan, InstallError> {
        let [extension, skill_file] = self.pi_files(scope);
        let names = ExtensionNames {
            command: &self.engine.settings().cards.command_name,
            status: &self.engine.settings().cards.status_key,
            clear_ms: self.engine.settings().cards.notification_auto_clear_ms,
        };
        plan_files(
            vec![(extension, extension_text(binary, &names)), (skill_file, skill_text(scope, binary))],
            has_marker,
        )
    }

    pub(super) fn plan_remove_extension(self, scope: InstallScope) -> Result<InstallPlan, InstallError> {
        let above = match scope {
            InstallScope::User => self.pi_folder(scope),
            InstallScope::Project => self.project_folder(),
        };
        plan_file_removal(self.pi_files(scope).into(), &above, has_marker)
    }

    /// The folder that pi loads extensions from.
    pub(super) fn pi_folder(self, scope: InstallScope) -> PathBuf {
        self.agent_folder(Agent::Pi, scope, ".pi")
    }

    /// Paths of the extension and the skill.
    pub(super) fn pi_files(self, scope: InstallScope) -> [PathBuf; 2] {
        let folder = self.pi_folder(scope);
        [folder.join("extensions/rethread.ts"), folder.join("skills/rethread/SKILL.md")]
    }
}

/// The program path in the text of an extension.
pub(super) fn program_in(extension: &str) -> Option<String> {
    let line = extension.lines().find_map(|line| line.strip_prefix(PROGRAM_PREFIX))?;
    serde_json::from_str(line.trim_end_matches(';')).ok()
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
