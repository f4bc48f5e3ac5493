//! Short one-line texts about tool calls for hot memory and the event log, without secrets.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use rethread_ingest::facts::{imported_packages, installed_packages};
use rethread_ingest::{CallTarget, RedactionFindings, Redactor, is_own_tool, tool_kind};
use rethread_model::{ToolKind, ToolUse, clip, one_line, relative_path};
use rethread_recall::ToolCallSummary;
use serde_json::Value;

use super::collision::CollisionIntent;

/// Maximum length of a path, and of a tool's name.
const PATH_CHARS: usize = 200;
const NAME_CHARS: usize = 80;
/// Bytes of a text that are used for a preview. Redacting texts up to this size needs no large tables.
const PREVIEW_BYTES: usize = 4 << 10;

/// One line of at most `chars` characters, without secrets. Redacted before it is cut, because part of a secret is
/// still secret.
pub(crate) fn preview(text: &str, chars: usize) -> String {
    clip(&one_line(&without_secrets(preview_source(text))), chars).into_owned()
}

/// Replaces secrets, so that the text may be stored or sent to a model.
pub(crate) fn without_secrets(text: &str) -> String {
    Redactor::shared().redact(text, &mut RedactionFindings::default()).into_owned()
}

/// The first bytes of a text, enough for every preview.
pub(super) fn preview_source(text: &str) -> &str {
    &text[..text.floor_char_boundary(PREVIEW_BYTES)]
}

/// Bytes of an edit in which imports are looked for; they are at its start.
const IMPORT_BYTES: usize = 16 << 10;
/// Edits of one call that are looked at.
const MAX_EDITS: usize = 20;

/// A tool call as reported by a hook.
#[derive(Clone, Debug, Default)]
pub(crate) struct HookToolCall {
    /// The agent's name for the tool.
    pub(crate) name: String,
    pub(crate) input: Value,
    /// Length of the tool's output in characters.
    pub(crate) output_chars: usize,
    /// The error message if the call failed.
    pub(crate) error: Option<String>,
    /// The output of a command, if the host does not say whether it failed.
    pub(crate) unjudged_output: Option<String>,
    /// Whether the user interrupted it.
    pub(crate) is_interrupted: bool,
}

/// Names of the arguments with the text that an edit replaces, and with the new text.
const OLD_TEXT_KEYS: [&str; 5] = ["old_string", "oldText", "old_str", "oldString", "old_text"];
const NEW_TEXT_KEYS: [&str; 5] = ["new_string", "newText", "new_str", "newString", "new_text"];
/// Names of the arguments with the text of a new file.
const CONTENT_KEYS: [&str; 3] = ["content", "file_text", "contents"];

impl HookToolCall {
    /// The hot memory text; `None` for calls that change nothing.
    pub(crate) fn hot_text(&self, project: &str) -> Option<String> {
        // A call with several edits is described by the first.
        let value = |name: &str| self.input.get(name).or_else(|| self.input.get("edits")?.get(0)?.get(name));
        let text = |names: &[&str]| names.iter().find_map(|name| value(name)?.as_str()).unwrap_or_default();
        let (old, new) = (text(&OLD_TEXT_KEYS), text(&NEW_TEXT_KEYS));
        let content = CONTENT_KEYS.iter().find_map(|name| self.input.get(name)?.as_str());
        let target = self.target();
        let call = ToolCallSummary {
            name: &self.name,
            kind: tool_kind(&self.name),
            target: target.paths.first().unwrap_or(&target.command),
            line_count: content.map(|content| content.lines().count()),
            replacement: (!old.is_empty() || !new.is_empty()).then_some((old, new)),
            error: self.error.as_deref(),
        };
        hot_text_of(&call, Some(project))
    }

    /// The event log text: tool, file and output size.
    pub(crate) fn event_detail(&self, project: &str) -> String {
        let target = self.target();
        let path = target.paths.first().map(|path| relative_path(path, Some(project)));
        let path = path.map(|path| format!(" {}", preview(path, PATH_CHARS)));
        let name = preview(&self.name, NAME_CHARS);
        format!("{name}{} ({} characters)", path.unwrap_or_default(), self.output_chars)
    }

    /// The tool and the file it was called on.
    pub(crate) fn tool_and_file(&self) -> (String, Option<String>) {
        (preview(&self.name, NAME_CHARS), self.target().paths.first().map(|path| preview(path, PATH_CHARS)))
    }

    /// What the call is about to do that can collide with another session.
    pub(crate) fn collision_intents(&self) -> Vec<CollisionIntent> {
        CollisionIntent::of_call(tool_kind(&self.name), self.target())
    }

    /// The packages that the call is about to install, or to import in a file that does not import them yet. A relative
    /// path is one in `directory`.
    pub(super) fn added_packages(&self, directory: &Path) -> Vec<String> {
        let target = self.target();
        match (tool_kind(&self.name), target.paths.first()) {
            (ToolKind::Command, _) => installed_packages(&target.command),
            (ToolKind::Edit | ToolKind::Write, Some(path)) => {
                let mut known = self.imports(path, &OLD_TEXT_KEYS);
                let mut added = self.imports(path, &NEW_TEXT_KEYS);
                added.extend(self.imports(path, &CONTENT_KEYS));
                if !added.is_empty() {
                    known.extend(imported_packages(path, &file_start(path, directory)));
                }
                added.retain(|package| !known.contains(package));
                added
            }
            _ => Vec::new(),
        }
    }

    /// The packages imported in the first of these arguments, of each edit of the call.
    fn imports(&self, path: &str, names: &[&str]) -> Vec<String> {
        let edits = self.input.get("edits").and_then(Value::as_array).into_iter().flatten().take(MAX_EDITS);
        let texts = std::iter::once(&self.input)
            .chain(edits)
            .filter_map(|edit| names.iter().find_map(|name| edit.get(*name)?.as_str()));
        texts.flat_map(|text| imported_packages(path, &text[..text.floor_char_boundary(IMPORT_BYTES)])).collect()
    }

    /// The files and the command that the call names.
    pub(super) fn target(&self) -> CallTarget {
        CallTarget::of(&self.input)
    }
}

/// The beginning of a file as it is now; empty if it cannot be read.
fn file_start(path: &str, directory: &Path) -> String {
    let mut bytes = Vec::new();
    let is_file = |path: &PathBuf| path.is_file();
    let Some(path) = Some(directory.join(path)).filter(is_file) else { return String::new() };
    let read = File::open(path).and_then(|file| file.take(IMPORT_BYTES as u64).read_to_end(&mut bytes));
    read.map(|_| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

/// The hot memory text for a transcript entry, for sessions without hooks.
pub(super) fn hot_text_of_tool_use(tool: &ToolUse, project: Option<&str>) -> Option<String> {
    let failed = tool.outcome.as_ref().filter(|outcome| outcome.status.is_error());
    let call = ToolCallSummary {
        name: &tool.name,
        kind: tool.kind?,
        target: &tool.target,
        line_count: None,
        replacement: None,
        error: failed.and_then(|outcome| outcome.error.as_deref()),
    };
    hot_text_of(&call, project)
}

/// Calls of our own tools are not worth recording.
fn hot_text_of(call: &ToolCallSummary<'_>, project: Option<&str>) -> Option<String> {
    if is_own_tool(call.name) { None } else { call.hot_text(project, preview) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn hot(name: &str, input: Value) -> Option<String> {
        HookToolCall { name: name.to_owned(), input, ..HookToolCall::default() }.hot_text("/app")
    }

    #[test]
    fn calls_that_change_something_get_a_short_text() {
        // S002-21, L002-13
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
    fn a_package_that_the_file_imports_already_is_not_added() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("api.ts");
        let write = |text: &str| {
            let input = json!({"file_path": path, "content": text});
            HookToolCall { name: "Write".to_owned(), input, ..HookToolCall::default() }.added_packages(folder.path())
        };
        let text = "import axios from 'axios'\nimport ky from 'ky'\n";
        assert_eq!(write(text), ["axios", "ky"]);
        std::fs::write(&path, "import axios from 'axios'\n").unwrap();
        assert_eq!(write(text), ["ky"]);
        let relative = json!({"file_path": "api.ts", "content": text});
        let call = HookToolCall { name: "Write".to_owned(), input: relative, ..HookToolCall::default() };
        assert_eq!(call.added_packages(folder.path()), ["ky"]);
    }

    #[test]
    fn read_only_commands_are_not_hot() {
        // E002-04
        for command in ["ls", "ls -la src", "cd src && pwd", "echo hi", "cat a | head -3"] {
            assert_eq!(hot("Bash", json!({"command": command})), None, "{command}");
        }
        for command in ["echo hi > a.txt", "cd src && make", "echo $(make)", "lsof"] {
            assert!(hot("Bash", json!({"command": command})).is_some(), "{command}");
        }
        let failed = |name: &str| HookToolCall {
            name: name.to_owned(),
            error: Some("no".to_owned()),
            ..HookToolCall::default()
        };
        assert_eq!(failed("TodoWrite").hot_text("/app"), None);
        assert_eq!(failed("mcp__rethread__query_session").hot_text("/app"), None);
        assert_eq!(failed("WebFetch").hot_text("/app").unwrap(), "Failed: WebFetch: no");
    }

    #[test]
    fn cutting_a_text_leaves_no_part_of_a_secret() {
        // L002-14
        let secret = format!("ghp_{}", "q7Zx".repeat(9));
        for before in 0..60 {
            let command = format!("{} {secret} && make", "x".repeat(before));
            let text = hot("Bash", json!({"command": command})).unwrap();
            assert!(!text.contains("q7Z"), "{text}");
            let edit = json!({"file_path": "/app/a", "old_string": command, "new_string": command});
            assert!(!hot("Edit", edit).unwrap().contains("q7Z"));
        }
    }

    #[test]
    fn texts_stay_short_for_long_input() {
        let long = "/app/".to_owned() + &"p".repeat(3 << 20);
        for name in ["Write", "Edit", "Bash", "Read", &long] {
            let input = json!({"file_path": long, "old_string": long, "new_string": long, "command": long});
            let used =
                HookToolCall { name: name.to_owned(), input, output_chars: usize::MAX, ..HookToolCall::default() };
            assert!(used.hot_text("/app").unwrap_or_default().chars().count() < 300, "{name:.9}");
            assert!(used.event_detail("/app").chars().count() < 330, "{name:.9}");
        }
    }
}
