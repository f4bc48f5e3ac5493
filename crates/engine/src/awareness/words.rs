//! The words of hot memory: what a call was, short, on one line and without secrets.

use rethread_ingest::{Findings, Redactor, is_own_tool, tool_kind};
use rethread_model::{ToolKind, ToolUse, clip, one_line, relative};
use serde_json::Value;

use crate::Engine;

/// Characters of a command, and of the pieces of an edit, in a hot entry.
const COMMAND_CHARS: usize = 50;
const PIECE_CHARS: usize = 30;
/// Characters of an error in a hot entry.
const ERROR_CHARS: usize = 100;
/// Characters of a path, and of a tool's name.
const PATH_CHARS: usize = 200;
const NAME_CHARS: usize = 80;
/// Bytes of a text that are looked at for a preview of it. What is not longer is cleaned without large tables.
const LOOKED_AT: usize = 4 << 10;
/// Commands that change nothing and say little about what a session does.
const TRIVIAL: [&str; 13] =
    ["ls", "pwd", "echo", "cd", "cat", "head", "tail", "wc", "true", "clear", "which", "whoami", "date"];
/// Tools whose failures concern nobody.
const NOISY: [&str; 4] = ["TodoWrite", "KillShell", "TaskOutput", "AskUserQuestion"];

/// On one line, without secrets, at most so many characters. Cleaned before it is cut: a piece of a secret is one too.
pub(crate) fn preview(text: &str, chars: usize) -> String {
    clip(&one_line(&without_secrets(beginning(text))), chars).into_owned()
}

/// A text without secrets.
pub(crate) fn without_secrets(text: &str) -> String {
    Redactor::shared().clean(text, &mut Findings::default()).into_owned()
}

impl Engine {
    /// A text as it may be kept, or sent to a model.
    pub(crate) fn without_secrets(text: &str) -> String {
        without_secrets(text)
    }
}

/// The beginning of a text, long enough for every preview and not longer.
pub(super) fn beginning(text: &str) -> &str {
    &text[..text.floor_char_boundary(LOOKED_AT)]
}

/// A tool call as a hook tells it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Used {
    /// The tool, as the agent names it.
    pub(crate) name: String,
    /// What it was called with.
    pub(crate) input: Value,
    /// Characters it gave back.
    pub(crate) output_chars: usize,
    /// Why it failed, if it did.
    pub(crate) error: Option<String>,
    /// Whether somebody stopped it.
    pub(crate) is_interrupted: bool,
}

impl Used {
    /// What matters of it for a while; nothing for calls that change nothing.
    pub(super) fn hot(&self, project: &str) -> Option<String> {
        // Several edits in one call are known by the first.
        let value = |name: &str| self.input.get(name).or_else(|| self.input.get("edits")?.get(0)?.get(name));
        let text = |name: &str| value(name).and_then(Value::as_str).unwrap_or_default();
        let (old, new) =
            ([text("old_string"), text("oldText")].concat(), [text("new_string"), text("newText")].concat());
        let call = Call {
            name: &self.name,
            kind: tool_kind(&self.name),
            target: self.path().unwrap_or_else(|| text("command")),
            lines: self.input.get("content").and_then(Value::as_str).map(|content| content.lines().count()),
            pieces: (!old.is_empty() || !new.is_empty()).then_some((old.as_str(), new.as_str())),
            error: self.error.as_deref(),
        };
        call.hot(Some(project))
    }

    /// What happened, for the list of events: the tool, its file, and how much it gave back.
    pub(super) fn detail(&self, project: &str) -> String {
        let path = self.path().map(|path| format!(" {}", preview(relative(path, Some(project)), PATH_CHARS)));
        let name = preview(&self.name, NAME_CHARS);
        format!("{name}{} ({} characters)", path.unwrap_or_default(), self.output_chars)
    }

    fn path(&self) -> Option<&str> {
        ["file_path", "path", "notebook_path"].iter().find_map(|name| self.input.get(*name)?.as_str())
    }
}

/// What matters of a call that stands in a transcript, for sessions whose hooks tell nothing.
pub(super) fn hot_words(tool: &ToolUse, project: Option<&str>) -> Option<String> {
    let failed = tool.outcome.as_ref().filter(|outcome| outcome.status.is_error());
    let call = Call {
        name: &tool.name,
        kind: tool.kind?,
        target: &tool.target,
        lines: None,
        pieces: None,
        error: failed.and_then(|outcome| outcome.error.as_deref()),
    };
    call.hot(project)
}

/// A tool call, wherever it was heard of.
struct Call<'a> {
    name: &'a str,
    kind: ToolKind,
    target: &'a str,
    /// Lines that were written.
    lines: Option<usize>,
    /// What was replaced, and by what.
    pieces: Option<(&'a str, &'a str)>,
    error: Option<&'a str>,
}

impl Call<'_> {
    /// Created, edited, ran, failed.
    fn hot(&self, project: Option<&str>) -> Option<String> {
        let is_command = self.kind == ToolKind::Command;
        if is_command && is_trivial(self.target) || NOISY.contains(&self.name) || is_own_tool(self.name) {
            return None;
        }
        let chars = if is_command { COMMAND_CHARS } else { PATH_CHARS };
        let target = preview(relative(self.target, project), chars);
        if let Some(error) = self.error {
            let what = format!("{} {target}", preview(self.name, NAME_CHARS));
            return Some(format!("Failed: {}: {}", what.trim_end(), preview(error, ERROR_CHARS)));
        }
        match self.kind {
            ToolKind::Write => {
                let lines = self.lines.map(|lines| format!(" ({lines} line{})", if lines == 1 { "" } else { "s" }));
                Some(format!("Created {target}{}", lines.unwrap_or_default()))
            }
            ToolKind::Edit => {
                let piece = |text: &str| preview(text, PIECE_CHARS);
                let pieces = self.pieces.map(|(old, new)| format!(": '{}' -> '{}'", piece(old), piece(new)));
                Some(format!("Edited {target}{}", pieces.unwrap_or_default()))
            }
            ToolKind::Command => Some(format!("Ran: {target}")),
            _ => None,
        }
    }
}

/// Whether a command only looks around. What writes into a file does not.
fn is_trivial(command: &str) -> bool {
    let mut parts = beginning(command).split(['&', ';', '|', '\n']).map(str::trim).filter(|part| !part.is_empty());
    !command.contains(['>', '$', '`'])
        && parts.all(|part| TRIVIAL.contains(&part.split(' ').next().unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn hot(name: &str, input: Value) -> Option<String> {
        Used { name: name.to_owned(), input, ..Used::default() }.hot("/app")
    }

    #[test]
    fn s002_21_l002_13_calls_that_change_something_are_told_in_few_words() {
        let wrote = hot("Write", json!({"file_path": "/app/b.md", "content": "one\ntwo\n"}));
        assert_eq!(wrote.unwrap(), "Created b.md (2 lines)");
        let edited = hot("Edit", json!({"file_path": "/app/a.rs", "old_string": "x".repeat(60), "new_string": "new"}));
        assert_eq!(edited.unwrap(), format!("Edited a.rs: '{}…' -> 'new'", "x".repeat(29)));
        assert_eq!(hot("MultiEdit", json!({"file_path": "/else/a.rs"})).unwrap(), "Edited /else/a.rs");
        assert_eq!(hot("Bash", json!({"command": "cargo test"})).unwrap(), "Ran: cargo test");
        assert_eq!(hot("Read", json!({"file_path": "/app/a.rs"})), None);
        assert_eq!(hot("Bash", json!({})), None);
    }

    #[test]
    fn e002_04_commands_that_only_look_are_not_kept_at_hand() {
        for command in ["ls", "ls -la src", "cd src && pwd", "echo hi", "cat a | head -3"] {
            assert_eq!(hot("Bash", json!({"command": command})), None, "{command}");
        }
        for command in ["echo hi > a.txt", "cd src && make", "echo $(make)", "lsof"] {
            assert!(hot("Bash", json!({"command": command})).is_some(), "{command}");
        }
        let failed = |name: &str| Used { name: name.to_owned(), error: Some("no".to_owned()), ..Used::default() };
        assert_eq!(failed("TodoWrite").hot("/app"), None);
        assert_eq!(failed("mcp__rethread__query_session").hot("/app"), None);
        assert_eq!(failed("WebFetch").hot("/app").unwrap(), "Failed: WebFetch: no");
    }

    #[test]
    fn l002_14_no_piece_of_a_secret_is_left_by_a_cut() {
        let secret = format!("ghp_{}", "q7Zx".repeat(9));
        for before in 0..60 {
            let command = format!("{} {secret} && make", "x".repeat(before));
            let told = hot("Bash", json!({"command": command})).unwrap();
            assert!(!told.contains("q7Z"), "{told}");
            let edit = json!({"file_path": "/app/a", "old_string": command, "new_string": command});
            assert!(!hot("Edit", edit).unwrap().contains("q7Z"));
        }
    }

    #[test]
    fn nothing_grows_with_its_input() {
        let long = "/app/".to_owned() + &"p".repeat(3 << 20);
        for name in ["Write", "Edit", "Bash", "Read", &long] {
            let input = json!({"file_path": long, "old_string": long, "new_string": long, "command": long});
            let used = Used { name: name.to_owned(), input, output_chars: usize::MAX, ..Used::default() };
            assert!(used.hot("/app").unwrap_or_default().chars().count() < 300, "{name:.9}");
            assert!(used.detail("/app").chars().count() < 330, "{name:.9}");
        }
    }
}
