//! What we add to a settings file, whatever its syntax, and how our own entries are recognized later.

use std::path::Path;

use rethread_model::{Agent, quote_for_shell};
use serde_json::{Value, json};

/// The name of our MCP server and of our plugins.
pub(super) const NAME: &str = "rethread";

/// Keys from the top level of a settings file to a value.
pub(super) type KeyPath = &'static [&'static str];

/// Something of ours in a settings file.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum SettingsEntry {
    /// A list for each event in the object at this path. Events that have no hook of ours any more lose it.
    Hooks(KeyPath, Vec<(&'static str, Value)>),
    /// Values in the list at this path.
    Items(KeyPath, Vec<Value>),
    /// The key `rethread` in the object at this path. What the user adds to its value stays.
    Member(KeyPath, Value),
    /// A key at the top level that the host expects. It is added if it is missing and never removed.
    Default(&'static str, Value),
}

/// A value that is not in the documented format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SettingsProblem {
    /// Path of the key.
    pub(super) key: String,
    /// The expected type.
    pub(super) expected: &'static str,
}

impl SettingsProblem {
    pub(super) fn new(keys: &[&str], expected: &'static str) -> Self {
        let key = if keys.is_empty() { "the top level".to_owned() } else { keys.join(".") };
        Self { key, expected }
    }
}

/// Recognizes what we wrote for one agent, with any version and from any install location.
#[derive(Clone, Copy, Debug)]
pub(super) struct Owner<'a> {
    pub(super) agent: Agent,
    /// The path of our program; it may have another name.
    pub(super) binary: Option<&'a str>,
}

impl Owner<'_> {
    /// The program that a hook calls, if it calls our hook for this agent, in any form we ever wrote.
    pub(super) fn hook_program(&self, handler: &Value) -> Option<String> {
        let suffix = format!("hook {}", self.agent);
        let command = ["command", "bash"].iter().find_map(|key| handler.get(key)?.as_str())?;
        let arguments: Vec<&str> = match handler.get("args") {
            Some(list) => list.as_array()?.iter().map(|argument| argument.as_str().unwrap_or_default()).collect(),
            None => Vec::new(),
        };
        let program = match arguments.as_slice() {
            ["-c", script, program] if script.ends_with(&suffix) => (*program).to_owned(),
            [] => {
                let call = command.strip_suffix(&suffix)?.trim();
                let call =
                    ["|| exec ", "; exec "].iter().find_map(|before| call.rsplit_once(before)).map_or(call, |it| it.1);
                shell_unquote(call)
            }
            words if words.contains(&"hook") && words.contains(&self.agent.as_str()) => command.to_owned(),
            _ => return None,
        };
        self.is_our_program(&program).then_some(program)
    }

    /// The program of an MCP server, if it is our server over stdio.
    pub(super) fn server_program(&self, server: &Value) -> Option<String> {
        let words =
            |key| server.get(key).and_then(Value::as_array).map(|list| list.iter().filter_map(Value::as_str).collect());
        let program = match server.get("command").or_else(|| server.get("cmd"))? {
            Value::String(program) => (words("args") == Some(vec!["mcp"])).then(|| program.clone()),
            Value::Array(_) => match words("command").as_deref() {
                Some([program, "mcp"]) => Some((*program).to_owned()),
                _ => None,
            },
            _ => None,
        };
        program.filter(|program| self.is_our_program(program))
    }

    /// Whether an element of a list is ours: one of those we write, a hook, or our server in a list of servers.
    pub(super) fn is_our_item(&self, item: &Value, wanted: &[Value]) -> bool {
        let is_server = || item.get("name").is_some_and(|name| name == NAME) && self.server_program(item).is_some();
        wanted.contains(item) || self.hook_program(item).is_some() || is_server()
    }

    /// Whether the value of the key `rethread` is ours. A server that the user set up in another way, such as by its
    /// address, is not.
    pub(super) fn is_our_member(&self, value: &Value, wanted: &Value) -> bool {
        let is_server = self.server_program(wanted).is_some();
        !is_server || self.server_program(value).is_some()
    }

    /// Whether our key needs no change. How a server is called matters; the rest of it is the user's choice.
    pub(super) fn is_current_member(&self, value: &Value, wanted: &Value) -> bool {
        match self.server_program(wanted) {
            Some(program) => self.server_program(value) == Some(program),
            None => includes(value, wanted),
        }
    }

    /// Whether a server is just as we write it, from any install location. One that the user set up has more keys, such
    /// as `env`, or calls the program in another way.
    fn is_written_server(&self, server: &Value, wanted: &Value) -> bool {
        let (Some(program), Some(expected)) = (self.server_program(server), self.server_program(wanted)) else {
            return false;
        };
        let is_call = |key: &str| matches!(key, "command" | "cmd");
        let is_wanted =
            |(key, value): (&String, &Value)| wanted.get(key).is_some_and(|wanted| is_call(key) || wanted == value);
        (program == expected || Some(program.as_str()) == self.binary || Path::new(&program).is_absolute())
            && server.as_object().is_some_and(|server| server.iter().all(is_wanted))
    }

    fn is_our_program(&self, program: &str) -> bool {
        Some(program) == self.binary || Path::new(program).file_name().is_some_and(|name| name == NAME)
    }
}

/// A line for the shell that calls our hook. If the program is gone it does nothing: most agents show an error with
/// every prompt otherwise.
pub(super) fn hook_command(binary: &str, agent: Agent) -> String {
    // In a committed file the program is called by its name, because its path is personal.
    if binary == NAME {
        return format!("command -v {NAME} >/dev/null 2>&1 || exit 0; exec {NAME} hook {agent}");
    }
    let program = quote_for_shell(binary);
    format!("test ! -x {program} || exec {program} hook {agent}")
}

/// Our MCP server as most agents configure it.
pub(super) fn server(binary: &str) -> Value {
    json!({"command": binary, "args": ["mcp"]})
}

/// The value at a path of keys.
pub(super) fn value_at<'a>(root: &'a Value, keys: &[&str]) -> Option<&'a Value> {
    keys.iter().try_fold(root, |value, key| value.get(key))
}

/// The handlers of a group of hooks; `None` if it is a hook itself.
pub(super) fn handlers(group: &Value) -> Option<&Vec<Value>> {
    group.get("hooks")?.as_array()
}

/// Whether `value` has everything that `wanted` has.
pub(super) fn includes(value: &Value, wanted: &Value) -> bool {
    match (value, wanted) {
        (Value::Object(value), Value::Object(wanted)) => {
            wanted.iter().all(|(key, wanted)| value.get(key).is_some_and(|value| includes(value, wanted)))
        }
        _ => value == wanted,
    }
}

impl SettingsEntry {
    /// The programs that this entry calls in parsed settings.
    pub(super) fn called_programs(&self, settings: &Value, owner: &Owner<'_>) -> Vec<String> {
        match self {
            SettingsEntry::Hooks(at, _) => {
                let events =
                    value_at(settings, at).and_then(Value::as_object).into_iter().flat_map(|events| events.values());
                let groups = events.filter_map(Value::as_array).flatten();
                let hooks = groups.flat_map(|group| handlers(group).map_or(std::slice::from_ref(group), Vec::as_slice));
                hooks.filter_map(|hook| owner.hook_program(hook)).collect()
            }
            SettingsEntry::Items(list, _) => {
                let items = value_at(settings, list).and_then(Value::as_array).into_iter().flatten();
                items.filter_map(|item| owner.hook_program(item).or_else(|| owner.server_program(item))).collect()
            }
            SettingsEntry::Member(object, _) => {
                let member = value_at(settings, object).and_then(|object| object.get(NAME));
                member.and_then(|member| owner.server_program(member)).into_iter().collect()
            }
            SettingsEntry::Default(..) => Vec::new(),
        }
    }

    /// Whether parsed settings have something of this entry.
    pub(super) fn is_in(&self, settings: &Value, owner: &Owner<'_>) -> bool {
        match self {
            SettingsEntry::Hooks(..) => !self.called_programs(settings, owner).is_empty(),
            SettingsEntry::Items(list, wanted) => value_at(settings, list)
                .and_then(Value::as_array)
                .is_some_and(|items| items.iter().any(|item| owner.is_our_item(item, wanted))),
            SettingsEntry::Member(object, wanted) => value_at(settings, object)
                .and_then(|object| object.get(NAME))
                .is_some_and(|member| owner.is_our_member(member, wanted)),
            SettingsEntry::Default(..) => false,
        }
    }

    /// Whether this entry is our MCP server.
    pub(super) fn is_server(&self, owner: &Owner<'_>) -> bool {
        match self {
            SettingsEntry::Member(_, wanted) => owner.server_program(wanted).is_some(),
            SettingsEntry::Items(_, wanted) => wanted.iter().any(|wanted| owner.server_program(wanted).is_some()),
            SettingsEntry::Hooks(..) | SettingsEntry::Default(..) => false,
        }
    }

    /// Whether parsed settings have our MCP server in a form that only the user can have written.
    pub(super) fn is_users_server_in(&self, settings: &Value, owner: &Owner<'_>) -> bool {
        if !self.is_server(owner) {
            return false;
        }
        match self {
            SettingsEntry::Member(object, wanted) => value_at(settings, object)
                .and_then(|object| object.get(NAME))
                .is_some_and(|member| !owner.is_written_server(member, wanted)),
            SettingsEntry::Items(list, wanted) => {
                let items = value_at(settings, list).and_then(Value::as_array).into_iter().flatten();
                let mut ours = items.filter(|item| owner.is_our_item(item, wanted));
                ours.any(|item| !wanted.iter().any(|wanted| owner.is_written_server(item, wanted)))
            }
            SettingsEntry::Hooks(..) | SettingsEntry::Default(..) => false,
        }
    }

    /// Fails if a value we have to change is not in the documented format.
    pub(super) fn check(&self, settings: &Value) -> Result<(), SettingsProblem> {
        if !settings.is_object() {
            return Err(SettingsProblem::new(&[], "an object"));
        }
        match self {
            SettingsEntry::Hooks(at, events) => {
                check_objects(settings, at)?;
                events.iter().try_for_each(|(event, wanted)| check_event(settings, at, event, wanted))
            }
            SettingsEntry::Items(list, _) => {
                check_objects(settings, &list[..list.len() - 1])?;
                let is_list = |value: &Value| value.is_array() || value.is_null();
                value_at(settings, list)
                    .is_none_or(is_list)
                    .then_some(())
                    .ok_or_else(|| SettingsProblem::new(list, "a list"))
            }
            SettingsEntry::Member(object, _) => check_objects(settings, object),
            SettingsEntry::Default(..) => Ok(()),
        }
    }
}

/// Each value on the way must be an object, or missing.
fn check_objects(settings: &Value, keys: &[&str]) -> Result<(), SettingsProblem> {
    (1..=keys.len()).try_for_each(|depth| match value_at(settings, &keys[..depth]) {
        Some(value) if !value.is_object() && !value.is_null() => Err(SettingsProblem::new(&keys[..depth], "an object")),
        _ => Ok(()),
    })
}

fn check_event(settings: &Value, at: &[&str], event: &str, wanted: &Value) -> Result<(), SettingsProblem> {
    let keys: Vec<&str> = at.iter().copied().chain([event]).collect();
    let Some(groups) = value_at(settings, &keys) else { return Ok(()) };
    let groups = groups.as_array().ok_or_else(|| SettingsProblem::new(&keys, "a list"))?;
    // Copilot takes both forms in one list; the others only groups.
    if handlers(wanted).is_some()
        && let Some(position) = groups.iter().position(|group| handlers(group).is_none())
    {
        let key = format!("{}[{position}]", keys.join("."));
        return Err(SettingsProblem { key, expected: "an object with a list of hooks" });
    }
    Ok(())
}

/// Undoes [`quote_for_shell`].
fn shell_unquote(word: &str) -> String {
    word.trim_matches(['\'', '"']).replace(r"'\\'", r"\").replace(r"'\''", "'")
}
