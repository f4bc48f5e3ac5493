//! The settings of Claude Code as JSON: our hooks put in and taken out. Everything else stays, in its order.

use std::path::Path;

use serde::Serialize;
use serde_json::ser::{PrettyFormatter, Serializer};
use serde_json::{Map, Value, json};

/// The tools that change files or may do so.
const TOOLS: &str = "Write|Edit|MultiEdit|NotebookEdit|Bash";
/// The events we listen to, and the tools where an event is about one.
const EVENTS: [(&str, Option<&str>); 8] = [
    ("SessionStart", None),
    ("UserPromptSubmit", None),
    ("PreToolUse", Some(TOOLS)),
    ("PostToolUse", Some(TOOLS)),
    ("PostToolUseFailure", Some(TOOLS)),
    ("Stop", None),
    ("PreCompact", None),
    ("SessionEnd", None),
];
/// Without one, the end of a session would be cut off after a second and a half.
const TIMEOUT_SECONDS: u64 = 5;
const DEFAULT_INDENT: &str = "  ";

/// Something that is not as Claude Code documents it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Problem {
    /// The key.
    pub(super) place: String,
    /// What should be there.
    pub(super) expected: &'static str,
}

/// The settings in a file; an empty file has none.
pub(super) fn parse(bytes: &[u8]) -> Result<Value, serde_json::Error> {
    if bytes.trim_ascii().is_empty() { Ok(Value::Object(Map::new())) } else { serde_json::from_slice(bytes) }
}

/// The settings with our hooks, each of them once and as it should be.
pub(super) fn with_hooks(settings: &Value, binary: &str) -> Result<Value, Problem> {
    let mut settings = settings.clone();
    let root = settings.as_object_mut().ok_or_else(|| problem("the whole", "an object"))?;
    let hooks = root.entry("hooks").or_insert_with(|| json!({}));
    let hooks = hooks.as_object_mut().ok_or_else(|| problem("hooks", "an object"))?;
    drop_where(hooks, Some(binary), |event| EVENTS.iter().all(|(name, _)| *name != event));
    for (event, matcher) in EVENTS {
        let groups = hooks.entry(event).or_insert_with(|| json!([]));
        let groups = groups.as_array_mut().ok_or_else(|| problem(&format!("hooks.{event}"), "a list"))?;
        if let Some(at) = groups.iter().position(|group| handlers(group).is_none()) {
            return Err(problem(&format!("hooks.{event}[{at}]"), "an object with a list of hooks"));
        }
        settle(groups, matcher, binary);
    }
    Ok(settings)
}

/// The settings without our hooks, and without what only held them.
pub(super) fn without_hooks(settings: &Value, binary: Option<&str>) -> Value {
    let mut settings = settings.clone();
    if let Some(root) = settings.as_object_mut()
        && let Some(hooks) = root.get_mut("hooks").and_then(Value::as_object_mut)
        && drop_where(hooks, binary, |_| true)
        && hooks.is_empty()
    {
        root.shift_remove("hooks");
    }
    settings
}

/// Whether any of our hooks is there.
pub(super) fn has_hooks(settings: &Value, binary: Option<&str>) -> bool {
    commands(settings, binary).next().is_some()
}

/// The programs that our hooks call.
pub(super) fn commands<'a>(settings: &'a Value, binary: Option<&'a str>) -> impl Iterator<Item = &'a str> {
    let hooks = settings.get("hooks").and_then(Value::as_object);
    let groups = hooks.into_iter().flat_map(Map::values).filter_map(Value::as_array).flatten();
    let ours = groups.filter_map(handlers).flatten().filter(move |handler| is_ours(handler, binary));
    ours.filter_map(|handler| handler.get("command")?.as_str())
}

/// Settings as text, in the style of the text they come from.
pub(super) fn write(settings: &Value, like: &str) -> String {
    let mut bytes = Vec::new();
    let formatter = PrettyFormatter::with_indent(indent(like).as_bytes());
    // Writing JSON into memory cannot fail: there is no disk, and every key is a string.
    let _ = settings.serialize(&mut Serializer::with_formatter(&mut bytes, formatter));
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    if like.trim().is_empty() || like.ends_with('\n') {
        text.push('\n');
    }
    if like.contains("\r\n") { text.replace('\n', "\r\n") } else { text }
}

/// What stands before the first line that is indented. The first line is never: a file may begin with blanks.
fn indent(text: &str) -> &str {
    let mut indented = text.lines().skip(1).map(|line| (line, line.trim_start_matches([' ', '\t'])));
    let first = indented.find(|(line, rest)| !rest.trim().is_empty() && rest.len() < line.len());
    first.map_or(DEFAULT_INDENT, |(line, rest)| &line[..line.len() - rest.len()])
}

/// Makes our group of an event be there once: where an older one is, else at the end.
fn settle(groups: &mut Vec<Value>, matcher: Option<&str>, binary: &str) {
    let handler = json!({
        "type": "command", "command": binary, "args": ["hook", "claude-code"], "timeout": TIMEOUT_SECONDS,
    });
    let wanted = match matcher {
        Some(matcher) => json!({"matcher": matcher, "hooks": [handler]}),
        None => json!({"hooks": [handler]}),
    };
    let mut is_placed = false;
    let ours = |handler: &Value| is_ours(handler, Some(binary));
    groups.retain_mut(|group| {
        let Some(handlers) = handlers(group) else { return true };
        let count = handlers.iter().filter(|handler| ours(handler)).count();
        if count == 0 {
            return true;
        }
        if count < handlers.len() {
            // Somebody put a hook of theirs beside ours. Theirs stays where it is, ours gets a group of its own.
            if let Some(handlers) = handlers_mut(group) {
                handlers.retain(|handler| !ours(handler));
            }
            return true;
        }
        if !is_placed {
            group.clone_from(&wanted);
        }
        !std::mem::replace(&mut is_placed, true)
    });
    if !is_placed {
        groups.push(wanted);
    }
}

/// Removes our hooks from some events, and what is empty without them. Says whether there were any.
fn drop_where(hooks: &mut Map<String, Value>, binary: Option<&str>, wanted: impl Fn(&str) -> bool) -> bool {
    let mut has_changed = false;
    hooks.retain(|event, groups| {
        let Some(groups) = groups.as_array_mut().filter(|_| wanted(event)) else { return true };
        let before = groups.len();
        let mut is_touched = false;
        groups.retain_mut(|group| {
            let Some(handlers) = handlers_mut(group) else { return true };
            let before = handlers.len();
            handlers.retain(|handler| !is_ours(handler, binary));
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

/// Whether a hook calls us, wherever we are or were installed.
fn is_ours(handler: &Value, binary: Option<&str>) -> bool {
    let Some(command) = handler.get("command").and_then(Value::as_str) else { return false };
    let arguments = handler.get("args").and_then(Value::as_array);
    let has = |word: &str| arguments.is_some_and(|list| list.iter().any(|argument| argument == word));
    let named = Some(command) == binary || Path::new(command).file_name().is_some_and(|name| name == "rethread");
    named && has("hook") && has("claude-code")
}

fn problem(place: &str, expected: &'static str) -> Problem {
    Problem { place: place.to_owned(), expected }
}

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;
