//! One line about a tool call, for the hot memory of a session.

use rethread_model::{ToolKind, relative_path};

/// Maximum length of a command, and of each side of an edit, in a hot entry.
const COMMAND_CHARS: usize = 50;
const EDIT_CHARS: usize = 30;
/// Maximum length of an error in a hot entry.
const ERROR_CHARS: usize = 100;
/// Maximum length of a path, and of a tool's name.
const PATH_CHARS: usize = 200;
const NAME_CHARS: usize = 80;
/// Bytes of a command that are looked at.
const COMMAND_BYTES: usize = 4 << 10;
/// Commands that change nothing and say little about what a session does.
const TRIVIAL_COMMANDS: [&str; 13] =
    ["ls", "pwd", "echo", "cd", "cat", "head", "tail", "wc", "true", "clear", "which", "whoami", "date"];
/// Tools whose failures are not worth recording.
const NOISY_TOOLS: [&str; 4] = ["TodoWrite", "KillShell", "TaskOutput", "AskUserQuestion"];

/// A tool call from a hook or a transcript.
#[derive(Clone, Copy, Debug)]
pub struct ToolCallSummary<'a> {
    /// The agent's name for the tool.
    pub name: &'a str,
    /// What the tool does.
    pub kind: ToolKind,
    /// The file or the command.
    pub target: &'a str,
    /// Number of lines written.
    pub line_count: Option<usize>,
    /// Old and new text of an edit.
    pub replacement: Option<(&'a str, &'a str)>,
    /// The error message if the call failed.
    pub error: Option<&'a str>,
}

impl ToolCallSummary<'_> {
    /// "Created …", "Edited …", "Ran: …" or "Failed: …"; `None` for a call that changes nothing. `preview` shortens a
    /// text to this many characters and removes secrets.
    pub fn hot_text(&self, project: Option<&str>, preview: impl Fn(&str, usize) -> String) -> Option<String> {
        let is_command = self.kind == ToolKind::Command;
        if is_command && is_trivial(self.target) || NOISY_TOOLS.contains(&self.name) {
            return None;
        }
        let chars = if is_command { COMMAND_CHARS } else { PATH_CHARS };
        let target = preview(relative_path(self.target, project), chars);
        if let Some(error) = self.error {
            let what = format!("{} {target}", preview(self.name, NAME_CHARS));
            return Some(format!("Failed: {}: {}", what.trim_end(), preview(error, ERROR_CHARS)));
        }
        match self.kind {
            ToolKind::Write => {
                let lines =
                    self.line_count.map(|lines| format!(" ({lines} line{})", if lines == 1 { "" } else { "s" }));
                Some(format!("Created {target}{}", lines.unwrap_or_default()))
            }
            ToolKind::Edit => {
                let piece = |text: &str| preview(text, EDIT_CHARS);
                let pieces = self.replacement.map(|(old, new)| format!(": '{}' -> '{}'", piece(old), piece(new)));
                Some(format!("Edited {target}{}", pieces.unwrap_or_default()))
            }
            ToolKind::Command => Some(format!("Ran: {target}")),
            _ => None,
        }
    }
}

/// Whether a command only reads. Redirections and substitutions may write, so they do not count as trivial.
fn is_trivial(command: &str) -> bool {
    let mut parts = command[..command.floor_char_boundary(COMMAND_BYTES)]
        .split(['&', ';', '|', '\n'])
        .map(str::trim)
        .filter(|part| !part.is_empty());
    !command.contains(['>', '$', '`'])
        && parts.all(|part| TRIVIAL_COMMANDS.contains(&part.split(' ').next().unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_reads_differently_from_a_change() {
        // S002-21
        let cut = |text: &str, chars: usize| text.chars().take(chars).collect::<String>();
        let call = ToolCallSummary {
            name: "Edit",
            kind: ToolKind::Edit,
            target: "/app/a.rs",
            line_count: None,
            replacement: Some(("old", "new")),
            error: None,
        };
        assert_eq!(call.hot_text(Some("/app"), cut).unwrap(), "Edited a.rs: 'old' -> 'new'");
        let failed = ToolCallSummary { error: Some("no such text"), ..call };
        assert_eq!(failed.hot_text(Some("/app"), cut).unwrap(), "Failed: Edit a.rs: no such text");
        assert_eq!(ToolCallSummary { kind: ToolKind::Read, ..call }.hot_text(None, cut), None);
    }
}
