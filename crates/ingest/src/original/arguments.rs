//! The arguments of a call: its command, what it changes, and the rest.

use rethread_model::{ToolKind, ToolUse};
use serde_json::{Map, Value};

use super::OriginalArgument;
use super::diff::{DiffHunk, DiffKind, DiffSign, FileDiff, compare_lines};
use super::key_lines::without_key_lines;
use super::patch::read_patch;
use crate::CallTarget;
use crate::parse::{CONTENT_KEYS, FoundChange, TextSink, visit_changes};

/// Names of the arguments with the whole content of a file.
const WHOLE_FILE_KEYS: [&str; 7] =
    ["content", "contents", "file_text", "code_edit", "contentsAfterEdit", "streamingContent", "file_content"];
/// Bytes of an argument that are given.
const MAX_ARGUMENT_BYTES: usize = 256 << 10;
/// What is given of an argument whose name and value are one secret.
const HIDDEN_VALUE: &str = "[REDACTED:secret]";
/// Names of further arguments that a diff shows.
const CHANGE_KEYS: [&str; 12] = [
    "input",
    "diff",
    "patch",
    "edits",
    "changes",
    "replacements",
    "insert_text",
    "TargetContent",
    "ReplacementContent",
    "ReplacementChunks",
    "old",
    "new",
];

/// The whole command of a call that runs one.
pub(super) fn command_of(arguments: &str, tool: &ToolUse) -> Option<String> {
    let input: Value = serde_json::from_str(arguments).ok().filter(|_| tool.kind == Some(ToolKind::Command))?;
    Some(CallTarget::of(&input).command).filter(|command| !command.is_empty())
}

/// What the arguments of an edit change, by file.
pub(super) fn argument_changes(arguments: &str, tool: &ToolUse, sink: &mut TextSink<'_>) -> Vec<FileDiff> {
    let mut files: Vec<FileDiff> = Vec::new();
    let own_path = tool.paths.first().map_or("", String::as_str);
    visit_changes(arguments, &mut |found| match found {
        FoundChange::Replaced { path, old, new } => {
            let mut clean = |text: &str| without_key_lines(&sink.redact(text.to_owned()));
            let hunks = compare_lines(&clean(old), &clean(new));
            add_hunks(&mut files, path.unwrap_or(own_path), hunks);
        }
        FoundChange::Patch(text) => files.extend(read_patch(text).into_iter().map(|file| redacted(file, sink))),
    });
    if files.is_empty() {
        files.extend(whole_file(arguments, own_path, tool, sink));
    }
    for file in &mut files {
        if file.path.is_empty() {
            own_path.clone_into(&mut file.path);
        }
        file.path = sink.redact(std::mem::take(&mut file.path));
        file.moved_to = file.moved_to.take().map(|path| sink.redact(path));
    }
    files.retain(|file| !file.is_secret());
    files.into_iter().map(FileDiff::shortened).collect()
}

/// Adds hunks to the last file if it is the same one.
fn add_hunks(files: &mut Vec<FileDiff>, path: &str, hunks: Vec<DiffHunk>) {
    match files.last_mut().filter(|file| file.path == path) {
        Some(file) => file.hunks.extend(hunks),
        None => files.push(FileDiff { hunks, ..FileDiff::new(path, DiffKind::Changed) }),
    }
}

fn redacted(file: FileDiff, sink: &mut TextSink<'_>) -> FileDiff {
    let hunks = file.hunks.into_iter().flat_map(|hunk| hunk.redacted(sink)).collect();
    FileDiff { hunks, ..file }
}

/// A file whose whole content is an argument, or that is deleted.
fn whole_file(arguments: &str, path: &str, tool: &ToolUse, sink: &mut TextSink<'_>) -> Option<FileDiff> {
    let arguments: Map<String, Value> = serde_json::from_str(arguments).unwrap_or_default();
    let content = WHOLE_FILE_KEYS.iter().find_map(|key| arguments.get(*key)?.as_str());
    if let Some(content) = content {
        let content = without_key_lines(&sink.redact(content.to_owned()));
        let hunks = vec![DiffHunk::of_text(&content, DiffSign::Added)];
        return Some(FileDiff { hunks, ..FileDiff::new(path, DiffKind::Written) });
    }
    let name = tool.name.to_ascii_lowercase();
    let is_deletion = ["delete", "delete_file", "remove-files"].contains(&name.as_str()) && !path.is_empty();
    is_deletion.then(|| FileDiff::new(path, DiffKind::Deleted))
}

/// The arguments that neither the command nor the changes show.
pub(super) fn other_arguments(
    arguments: &str,
    tool: &ToolUse,
    has_changes: bool,
    sink: &mut TextSink<'_>,
) -> Vec<OriginalArgument> {
    let Ok(object) = serde_json::from_str::<Map<String, Value>>(arguments) else {
        let text = Some(arguments).filter(|text| !has_changes && !text.is_empty());
        return text.map(|text| argument(String::new(), text, sink)).into_iter().collect();
    };
    let is_shown = |key: &str| {
        has_changes && (CONTENT_KEYS.contains(&key) || CHANGE_KEYS.contains(&key) || is_path(key, &object, tool))
            || tool.kind == Some(ToolKind::Command) && ["command", "commands", "cmd"].contains(&key)
    };
    let others = object.iter().filter(|(key, _)| !is_shown(key));
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    };
    others.map(|(key, value)| argument(key.clone(), &text(value), sink)).collect()
}

/// Whether an argument is the path that the change shows.
fn is_path(key: &str, object: &Map<String, Value>, tool: &ToolUse) -> bool {
    object.get(key).and_then(Value::as_str).is_some_and(|text| tool.paths.iter().any(|path| path == text))
}

fn argument(name: String, text: &str, sink: &mut TextSink<'_>) -> OriginalArgument {
    let end = text.floor_char_boundary(MAX_ARGUMENT_BYTES);
    // A cut line may end with half a secret.
    let text = if end == text.len() { text } else { text[..end].rsplit_once('\n').map_or("", |(whole, _)| whole) };
    // With its name: `password=…` is a secret because of it.
    let name = sink.redact(name);
    let pair = sink.redact(format!("{name}={text}"));
    let value = pair.strip_prefix(&name).and_then(|rest| rest.strip_prefix('='));
    // If the name became part of a secret, nothing of the pair is known to be harmless.
    let value = value.unwrap_or(HIDDEN_VALUE).to_owned();
    OriginalArgument { value: without_key_lines(&value), name }
}
