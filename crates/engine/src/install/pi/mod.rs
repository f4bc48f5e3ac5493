//! The extension and the skill of pi: files of our own in folders that pi looks into.

use std::path::PathBuf;

use serde_json::json;

use super::change::Plan;
use super::{BINARY, InstallError, SettingsOf, is_ours, skill, unwanted, wanted};
use crate::Engine;

const EXTENSION: &str = include_str!("rethread.ts");
/// What stands before the program in the extension.
const PROGRAM: &str = "const PROGRAM = ";

impl Engine {
    /// The extension and the skill as they should be.
    pub(super) fn plan_extension(&self, whose: SettingsOf, binary: &str) -> Result<Plan, InstallError> {
        let [extension, skill_file] = self.pi_files(whose);
        let names = Names {
            command: self.config.text("cards.command_name"),
            status: self.config.text("cards.status_key"),
            clear_ms: self.config.number("cards.notification_auto_clear_ms"),
        };
        wanted(vec![(extension, text(binary, &names)), (skill_file, skill(binary))], is_ours)
    }

    /// Neither of them.
    pub(super) fn plan_no_extension(&self, whose: SettingsOf) -> Result<Plan, InstallError> {
        let above = match whose {
            SettingsOf::User => self.pi_folder(whose),
            SettingsOf::Project => self.project_folder(),
        };
        unwanted(self.pi_files(whose).into(), &above, is_ours)
    }

    /// The folder that pi looks into.
    pub(super) fn pi_folder(&self, whose: SettingsOf) -> PathBuf {
        let surroundings = self.surroundings();
        match (whose, surroundings.variable("PI_CODING_AGENT_DIR")) {
            (SettingsOf::Project, _) => self.project_folder().join(".pi"),
            (SettingsOf::User, Some(folder)) => surroundings.expand(folder),
            (SettingsOf::User, None) => self.environment.home.join(".pi/agent"),
        }
    }

    /// The extension and the skill.
    pub(super) fn pi_files(&self, whose: SettingsOf) -> [PathBuf; 2] {
        let folder = self.pi_folder(whose);
        [folder.join("extensions/rethread.ts"), folder.join("skills/rethread/SKILL.md")]
    }
}

/// The program that an extension calls.
pub(super) fn program(extension: &str) -> Option<String> {
    let line = extension.lines().find_map(|line| line.strip_prefix(PROGRAM))?;
    serde_json::from_str(line.trim_end_matches(';')).ok()
}

/// What the configuration says about the extension.
struct Names<'a> {
    /// The command that makes a card.
    command: &'a str,
    /// The key of the status line.
    status: &'a str,
    /// After how many milliseconds the status line is cleared.
    clear_ms: u64,
}

/// The extension, with the program it calls and the names it uses.
fn text(binary: &str, names: &Names<'_>) -> String {
    let quoted = |text: &str| json!(text).to_string();
    EXTENSION
        .replace(&format!("\"{BINARY}\""), &quoted(binary))
        .replace("\"@COMMAND@\"", &quoted(names.command))
        .replace("\"@STATUS@\"", &quoted(names.status))
        .replace("\"@CLEAR@\"", &names.clear_ms.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_calls_a_program_whatever_its_name() {
        for name in ["/usr/bin/rethread", "/a b/\"c\"/d\\e", "/é\n"] {
            let text = text(name, &Names { command: "index-session", status: "s", clear_ms: 5000 });
            assert_eq!(program(&text).as_deref(), Some(name));
            assert!(is_ours(&text));
            for place in [BINARY, "@COMMAND@", "@STATUS@", "@CLEAR@"] {
                assert!(!text.contains(place), "{place}");
            }
        }
    }
}
