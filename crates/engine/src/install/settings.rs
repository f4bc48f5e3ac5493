//! Adds and removes our hooks in Claude Code settings (JSON). Everything else is preserved, including the order.

use std::path::Path;

use serde::Serialize;
use serde_json::ser::{PrettyFormatter, Serializer};
use serde_json::{Map, Value, json};

/// Tools that change files or may do so.
const TOOLS: &str = "Write|Edit|MultiEdit|NotebookEdit|Bash";
/// The hook events we use, with a tool matcher where one applies. Not `PreCompact`: Claude Code shows the model the command
/// lines of those hooks, and `SessionStart` follows every compaction.
const EVENTS: [(&str, Option<&str>); 7] = [
    ("SessionStart", None),
    ("UserPromptSubmit", None),
    ("PreToolUse", Some(TOOLS)),
    ("PostToolUse", Some(TOOLS)),
    ("PostToolUseFailure", Some(TOOLS)),
    ("Stop", None),
    ("SessionEnd", None),
];
/// Without a timeout, Claude Code stops the `SessionEnd` hook after 1.5 seconds.
const TIMEOUT_SECONDS: u64 = 5;
const DEFAULT_INDENT: &str = "  ";

/// A value that is not in the documented format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SettingsProblem {
    /// Path of the key.
    pub(super) key: String,
    /// The expected type.
    pub(super) expected: &'static str,
}

/// Parses settings; an empty file counts as an empty object.
pub(super) fn parse(bytes: &[u8]) -> Result<Value, serde_json::Error> {
    if bytes.trim_ascii().is_empty() { Ok(Value::Object(Map::new())) } else { serde_json::from_slice(bytes) }
}

/// The settings with each of our hooks exactly once and up to date.
pub(super) fn with_hooks(settings: &Value, binary: &str) -> Result<Value, SettingsProblem> {
    let mut settings = settings.clone();
    let root = settings.as_object_mut().ok_or_else(|| problem("the top level", "an object"))?;
    let hooks = root.entry("hooks").or_insert_with(|| json!({}));
    let hooks = hooks.as_object_mut().ok_or_else(|| problem("hooks", "an object"))?;
    remove_our_hooks(hooks, Some(binary), |event| EVENTS.iter().all(|(name, _)| *name != event));
    for (event, matcher) in EVENTS {
        let groups = hooks.entry(event).or_insert_with(|| json!([]));
        let groups = groups.as_array_mut().ok_or_else(|| problem(&format!("hooks.{event}"), "a list"))?;
        if let Some(at) = groups.iter().position(|group| handlers(group).is_none()) {
            return Err(problem(&format!("hooks.{event}[{at}]"), "an object with a list of hooks"));
        }
        place_our_group(groups, matcher, binary);
    }
    Ok(settings)
}

/// The settings without our hooks and without the containers this leaves empty.
pub(super) fn without_hooks(settings: &Value, binary: Option<&str>) -> Value {
    let mut settings = settings.clone();
    if let Some(root) = settings.as_object_mut()
        && let Some(hooks) = root.get_mut("hooks").and_then(Value::as_object_mut)
        && remove_our_hooks(hooks, binary, |_| true)
        && hooks.is_empty()
    {
        root.shift_remove("hooks");
    }
    settings
}

pub(super) fn has_hooks(settings: &Value, binary: Option<&str>) -> bool {
    hook_commands(settings, binary).next().is_some()
}

pub(super) fn hook_commands<'a>(settings: &'a Value, binary: Option<&'a str>) -> impl Iterator<Item = &'a str> {
    let hooks = settings.get("hooks").and_then(Value::as_object);
    let groups = hooks.into_iter().flat_map(Map::values).filter_map(Value::as_array).flatten();
    let ours = groups.filter_map(handlers).flatten().filter(move |handler| is_our_hook(handler, binary));
    ours.filter_map(|handler| handler.get("command")?.as_str())
}

/// Formats settings with the indent and line endings of `like`.
pub(super) fn to_text(settings: &Value, like: &str) -> String {
    let mut bytes = Vec::new();
    let formatter = PrettyFormatter::with_indent(indent(like).as_bytes());
    // Writing JSON into memory cannot fail: there is no I/O, and every key is a string.
    let _ = settings.serialize(&mut Serializer::with_formatter(&mut bytes, formatter));
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    if like.trim().is_empty() || like.ends_with('\n') {
        text.push('\n');
    }
    if like.contains("\r\n") { text.replace('\n', "\r\n") } else { text }
}

/// The indent of the first indented line. The first line of the file is skipped, because it may start with blanks.
fn indent(text: &str) -> &str {
    let mut indented = text.lines().skip(1).map(|line| (line, line.trim_start_matches([' ', '\t'])));
    let first = indented.find(|(line, rest)| !rest.trim().is_empty() && rest.len() < line.len());
    first.map_or(DEFAULT_INDENT, |(line, rest)| &line[..line.len() - rest.len()])
}

/// Ensures that an event has our group exactly once: in the place of an older one, else at the end.
fn place_our_group(groups: &mut Vec<Value>, matcher: Option<&str>, binary: &str) {
    let handler = json!({
        "type": "command", "command": binary, "args": ["hook", "claude-code"], "timeout": TIMEOUT_SECONDS,
    });
    let new_group = match matcher {
        Some(matcher) => json!({"matcher": matcher, "hooks": [handler]}),
        None => json!({"hooks": [handler]}),
    };
    let mut is_placed = false;
    let ours = |handler: &Value| is_our_hook(handler, Some(binary));
    groups.retain_mut(|group| {
        let Some(handlers) = handlers(group) else { return true };
        let count = handlers.iter().filter(|handler| ours(handler)).count();
        if count == 0 {
            return true;
        }
        if count < handlers.len() {
            // The user put another hook into our group. It stays where it is, and ours gets a new group.
            if let Some(handlers) = handlers_mut(group) {
                handlers.retain(|handler| !ours(handler));
            }
            return true;
        }
        if !is_placed {
            group.clone_from(&new_group);
        }
        !std::mem::replace(&mut is_placed, true)
    });
    if !is_placed {
        groups.push(new_group);
    }
}

/// Removes our hooks from the selected events, and the containers this leaves empty. Returns whether there were any.
fn remove_our_hooks(hooks: &mut Map<String, Value>, binary: Option<&str>, is_selected: impl Fn(&str) -> bool) -> bool {
    let mut has_changed = false;
    hooks.retain(|event, groups| {
        let Some(groups) = groups.as_array_mut().filter(|_| is_selected(event)) else { return true };
        let before = groups.len();
        let mut is_touched = false;
        groups.retain_mut(|group| {
            let Some(handlers) = handlers_mut(group) else { return true };
            let before = handlers.len();
            handlers.retain(|handler| !is_our_hook(handler, binary));
            is_touched |= handlers.len() < before;
            handlers.len() == before || !handlers.is_empty()
        });
        has_changed |= is_touched;
        groups.len() == before || !groups.is_empty()
    });
    has_changed
}

fn handlers(group: &Value) -> Option<&Vec<Value>> {
    group.get("hooks")?.as_array()
}

fn handlers_mut(group: &mut Value) -> Option<&mut Vec<Value>> {
    group.get_mut("hooks")?.as_array_mut()
}

/// Whether a hook calls rethread, from any install location.
fn is_our_hook(handler: &Value, binary: Option<&str>) -> bool {
    let Some(command) = handler.get("command").and_then(Value::as_str) else { return false };
    let arguments = handler.get("args").and_then(Value::as_array);
    let has = |word: &str| arguments.is_some_and(|list| list.iter().any(|argument| argument == word));
    let named = Some(command) == binary || Path::new(command).file_name().is_some_and(|name| name == "rethread");
    named && has("hook") && has("claude-code")
}

fn problem(place: &str, expected: &'static str) -> SettingsProblem {
    SettingsProblem { key: place.to_owned(), expected }
}

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;
