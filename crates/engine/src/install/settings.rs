//! Adds and removes our hooks in Claude Code settings. Only our own entries change; all other text stays as it is,
//! including its formatting.

use std::path::Path;

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode};
use rethread_model::quote_for_shell;
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
/// What every form of our hook has in common.
const ARGUMENTS: &str = "hook claude-code";
/// Some editors write it at the start of a file. It is kept.
const BYTE_ORDER_MARK: char = '\u{feff}';
/// The settings that a missing or empty file stands for.
const EMPTY: &str = "{}\n";

/// A value that is not in the documented format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SettingsProblem {
    /// Path of the key.
    pub(super) key: String,
    /// The expected type.
    pub(super) expected: &'static str,
}

/// Parses settings; an empty file counts as an empty object.
pub(super) fn parse(text: &str) -> Result<Value, serde_json::Error> {
    serde_json::from_str(split_mark(text).1)
}

/// The settings with each of our hooks exactly once and up to date.
pub(super) fn with_hooks(text: &str, binary: &str) -> Result<String, SettingsProblem> {
    let invalid = || problem("the top level", "an object");
    check_hooks(&parse(text).map_err(|_| invalid())?)?;
    edit(text, |root| {
        let hooks = root.object_value_or_set("hooks");
        remove_our_hooks(&hooks, Some(binary), |event| EVENTS.iter().all(|(name, _)| *name != event));
        for (event, matcher) in EVENTS {
            place_our_group(&hooks.array_value_or_set(event), &our_group(matcher, binary), binary);
        }
    })
    .ok_or_else(invalid)
}

/// The settings without our hooks and without the containers this leaves empty.
pub(super) fn without_hooks(text: &str, binary: Option<&str>) -> String {
    let edited = edit(text, |root| {
        let Some(property) = root.get("hooks") else { return };
        let Some(hooks) = property.object_value() else { return };
        if remove_our_hooks(&hooks, binary, |_| true) && hooks.properties().is_empty() {
            property.remove();
        }
    });
    edited.unwrap_or_else(|| text.to_owned())
}

pub(super) fn has_hooks(settings: &Value, binary: Option<&str>) -> bool {
    called_programs(settings, binary).next().is_some()
}

/// The programs that our hooks call.
pub(super) fn called_programs<'a>(settings: &'a Value, binary: Option<&'a str>) -> impl Iterator<Item = String> + 'a {
    let hooks = settings.get("hooks").and_then(Value::as_object);
    let groups = hooks.into_iter().flat_map(Map::values).filter_map(Value::as_array).flatten();
    groups.filter_map(handlers).flatten().filter_map(move |handler| our_program(handler, binary))
}

/// The mark at the start of a text, and the settings after it.
fn split_mark(text: &str) -> (&str, &str) {
    let body = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let mark = &text[..text.len() - body.len()];
    (mark, if body.trim().is_empty() { EMPTY } else { body })
}

/// Changes the object at the top level of a text; `None` if there is none.
fn edit(text: &str, change: impl FnOnce(&CstObject)) -> Option<String> {
    let (mark, body) = split_mark(text);
    let document = CstRootNode::parse(body, &ParseOptions::default()).ok()?;
    change(&document.object_value()?);
    Some(format!("{mark}{document}"))
}

/// Fails if a value we have to change is not in the documented format.
fn check_hooks(settings: &Value) -> Result<(), SettingsProblem> {
    let root = settings.as_object().ok_or_else(|| problem("the top level", "an object"))?;
    let Some(hooks) = root.get("hooks") else { return Ok(()) };
    let hooks = hooks.as_object().ok_or_else(|| problem("hooks", "an object"))?;
    for (event, _) in EVENTS {
        let Some(groups) = hooks.get(event) else { continue };
        let groups = groups.as_array().ok_or_else(|| problem(&format!("hooks.{event}"), "a list"))?;
        if let Some(at) = groups.iter().position(|group| handlers(group).is_none()) {
            return Err(problem(&format!("hooks.{event}[{at}]"), "an object with a list of hooks"));
        }
    }
    Ok(())
}

fn our_group(matcher: Option<&str>, binary: &str) -> Value {
    // Calls the program only if it exists: Claude Code shows an error with every prompt if it does not. A line for the
    // shell works in every version; older ones ignore `args` and would give the input to the shell itself.
    let program = quote_for_shell(binary);
    let command = format!("test ! -x {program} || exec {program} {ARGUMENTS}");
    let handler = json!({"type": "command", "command": command, "timeout": TIMEOUT_SECONDS});
    match matcher {
        Some(matcher) => json!({"matcher": matcher, "hooks": [handler]}),
        None => json!({"hooks": [handler]}),
    }
}

/// Ensures that an event has our group exactly once: in the place of an older one, else at the end.
fn place_our_group(groups: &CstArray, wanted: &Value, binary: &str) {
    let mut is_placed = false;
    for element in groups.elements() {
        let Some(value) = element.to_serde_value() else { continue };
        let Some(handlers) = handlers(&value) else { continue };
        let count = handlers.iter().filter(|handler| our_program(handler, Some(binary)).is_some()).count();
        if count == 0 {
            continue;
        }
        if count < handlers.len() {
            // The user put another hook into our group. It stays where it is, and ours gets a new group.
            remove_our_handlers(&element, Some(binary));
        } else if std::mem::replace(&mut is_placed, true) {
            remove_element(groups, element);
        } else if value != *wanted
            && let Some(object) = element.as_object()
        {
            object.replace_with(to_input(wanted));
        }
    }
    if !is_placed {
        groups.append(to_input(wanted));
    }
}

/// Removes our hooks from the selected events, and the containers this leaves empty. Returns whether there were any.
fn remove_our_hooks(hooks: &CstObject, binary: Option<&str>, is_selected: impl Fn(&str) -> bool) -> bool {
    let mut has_changed = false;
    for property in hooks.properties() {
        let event = property.decoded_name().unwrap_or_default();
        let Some(groups) = property.array_value().filter(|_| is_selected(&event)) else { continue };
        let mut is_touched = false;
        for group in groups.elements() {
            if remove_our_handlers(&group, binary) {
                is_touched = true;
                if group.to_serde_value().is_some_and(|group| handlers(&group).is_some_and(Vec::is_empty)) {
                    remove_element(&groups, group);
                }
            }
        }
        if is_touched && groups.elements().is_empty() {
            property.remove();
        }
        has_changed |= is_touched;
    }
    has_changed
}

/// Removes our handlers from a group. Returns whether there were any.
fn remove_our_handlers(group: &CstNode, binary: Option<&str>) -> bool {
    let Some(handlers) = group.as_object().and_then(|group| group.array_value("hooks")) else { return false };
    let is_ours = |handler: &CstNode| handler.to_serde_value().is_some_and(|it| our_program(&it, binary).is_some());
    let ours: Vec<CstNode> = handlers.elements().into_iter().filter(is_ours).collect();
    let has_any = !ours.is_empty();
    for handler in ours {
        remove_element(&handlers, handler);
    }
    has_any
}

/// Removes an element, and the line break it may leave behind in a list that was on one line.
fn remove_element(list: &CstArray, element: CstNode) {
    element.remove();
    let children = list.children();
    let first = list.elements().first().map_or(0, CstNode::child_index);
    let last = list.elements().last().map_or(usize::MAX, CstNode::child_index);
    let is_on_one_line = !children.iter().take(first).any(CstNode::is_newline);
    for node in children.into_iter().skip(last.saturating_add(1)).filter(|node| is_on_one_line && node.is_newline()) {
        node.remove();
    }
}

fn to_input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(list) => CstInputValue::Array(list.iter().map(to_input).collect()),
        Value::Object(map) => {
            CstInputValue::Object(map.iter().map(|(key, value)| (key.clone(), to_input(value))).collect())
        }
    }
}

fn handlers(group: &Value) -> Option<&Vec<Value>> {
    group.get("hooks")?.as_array()
}

/// Undoes [`quote_for_shell`].
fn shell_unquote(word: &str) -> String {
    word.trim_matches(['\'', '"']).replace(r"'\''", "'")
}

/// The program that a hook calls, if it calls rethread, from any install location and in any form we ever wrote.
fn our_program(handler: &Value, binary: Option<&str>) -> Option<String> {
    let command = handler.get("command")?.as_str()?;
    let arguments: Vec<&str> = match handler.get("args") {
        Some(list) => list.as_array()?.iter().map(|argument| argument.as_str().unwrap_or_default()).collect(),
        None => Vec::new(),
    };
    let program = match arguments.as_slice() {
        ["-c", script, program] if script.ends_with(ARGUMENTS) => (*program).to_owned(),
        [] => {
            let call = command.strip_suffix(ARGUMENTS)?.trim();
            shell_unquote(call.rsplit_once("|| exec ").map_or(call, |(_, program)| program))
        }
        words if words.contains(&"hook") && words.contains(&"claude-code") => command.to_owned(),
        _ => return None,
    };
    let is_ours =
        Some(program.as_str()) == binary || Path::new(&program).file_name().is_some_and(|name| name == "rethread");
    is_ours.then_some(program)
}

fn problem(place: &str, expected: &'static str) -> SettingsProblem {
    SettingsProblem { key: place.to_owned(), expected }
}

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;
