//! Any agent's tool call in common words: kind, primary argument, paths, shortened arguments.

use std::borrow::Cow;

use rethread_model::{ToolKind, ToolUse, clip, first_line, one_line};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::Scribe;
use crate::facts::shortened;

const TARGET_CHARS: usize = 400;
const ARGUMENT_CHARS: usize = 80;
const ARGUMENTS_CHARS: usize = 200;
/// With file contents kept, arguments may be this long.
const KEPT_CONTENT_CHARS: usize = 4000;

/// Tool names of all agents, lower case. What is not here is `mcp` by prefix, or `other`.
const KINDS: &[(ToolKind, &[&str])] = &[
    (ToolKind::Read, &["read", "read_file", "view", "cat", "notebookread", "read_many_files", "open_file"]),
    (
        ToolKind::Search,
        &[
            "grep",
            "glob",
            "ls",
            "find",
            "search",
            "list_directory",
            "list_dir",
            "search_file_content",
            "search_files",
            "multi_grep",
            "codebase_search",
            "ripgrep",
            "toolsearch",
        ],
    ),
    (ToolKind::Write, &["write", "write_file", "create", "create_file"]),
    (
        ToolKind::Edit,
        &[
            "edit",
            "multiedit",
            "notebookedit",
            "str_replace",
            "str_replace_editor",
            "str_replace_based_edit_tool",
            "replace",
            "apply_patch",
            "edit_file",
            "patch",
        ],
    ),
    (
        ToolKind::Command,
        &[
            "bash",
            "shell",
            "exec",
            "exec_command",
            "run_shell_command",
            "run_command",
            "execute_command",
            "powershell",
            "terminal",
        ],
    ),
    (ToolKind::Agent, &["task", "agent", "spawn_agent", "spawn_pi", "subagent", "delegate", "dispatch_agent"]),
    (
        ToolKind::Web,
        &[
            "webfetch",
            "websearch",
            "web_search",
            "web_fetch",
            "fetch",
            "fetch_content",
            "get_search_content",
            "google_web_search",
        ],
    ),
];

/// Names of path arguments, best first.
const PATH_KEYS: [&str; 8] =
    ["file_path", "path", "notebook_path", "filePath", "absolute_path", "target_file", "file", "filename"];
/// Names of arguments that hold several paths.
const PATH_LIST_KEYS: [&str; 3] = ["paths", "files", "file_paths"];
/// Names of primary arguments that are not paths, best first.
const OTHER_KEYS: [&str; 12] = [
    "command",
    "cmd",
    "pattern",
    "query",
    "url",
    "description",
    "skill",
    "subject",
    "title",
    "prompt",
    "name",
    "question",
];
/// Names of arguments that hold contents of files.
const CONTENT_KEYS: [&str; 12] = [
    "content",
    "contents",
    "old_string",
    "new_string",
    "oldText",
    "newText",
    "old_str",
    "new_str",
    "file_text",
    "new_source",
    "edits",
    "patch",
];

/// The call of `name` with the given arguments, which may be anything.
pub(super) fn tool_use(name: &str, input: Option<&RawValue>, scribe: &mut Scribe<'_>) -> ToolUse {
    // What our own tools were asked would be found by the next one who asks the same.
    let input = input.filter(|_| !is_own(name));
    let arguments = input.and_then(|raw| serde_json::from_str::<Arguments<'_>>(raw.get()).ok()).unwrap_or_default();
    let kind = match kind_of(name) {
        // One tool for everything says by an argument what it does.
        ToolKind::Edit if arguments.text("command").as_deref() == Some("view") => ToolKind::Read,
        kind => kind,
    };
    let primary = arguments.primary(kind);
    let target = primary.and_then(|key| arguments.text(key)).unwrap_or_default();
    // Secrets go before anything is cut: half a key would slip through the rules.
    let (target, script) = if kind == ToolKind::Command {
        let command = scribe.clean(target);
        let script = shortened(&command);
        let line = clip(&one_line(&command), TARGET_CHARS).into_owned();
        let script = (script != line && scribe.filter.keep_tool_structure).then_some(script);
        (line, script)
    } else {
        (clip(&scribe.clean(first_line(&target).to_owned()), TARGET_CHARS).into_owned(), None)
    };
    let mut tool = ToolUse {
        name: name.to_owned(),
        kind: Some(kind),
        target,
        script,
        arguments: String::new(),
        paths: arguments.paths().into_iter().map(|path| scribe.clean(path)).collect(),
        outcome: None,
    };
    if scribe.filter.keep_tool_structure {
        tool.arguments = arguments.shortened(primary, scribe);
    } else {
        tool.target.clear();
    }
    tool
}

/// One line on what a call did, in the words of a log.
pub(crate) fn describe(tool: &ToolUse) -> String {
    let target = &tool.target;
    match tool.kind.unwrap_or(ToolKind::Other) {
        ToolKind::Read => format!("Read {target}"),
        ToolKind::Write => format!("Wrote {target}"),
        ToolKind::Edit => format!("Edited {target}"),
        ToolKind::Command => format!("Executed {target}"),
        ToolKind::Mcp => match tool.name.trim_start_matches("mcp__").split_once("__") {
            Some((server, operation)) => format!("MCP {server}: {operation} {target}"),
            None => format!("MCP {} {target}", tool.name),
        },
        ToolKind::Search | ToolKind::Agent | ToolKind::Web | ToolKind::Other => format!("{} {target}", tool.name),
    }
    .trim_end()
    .to_owned()
}

/// What a tool does, by its name.
pub fn kind_of(name: &str) -> ToolKind {
    if name.starts_with("mcp__") || name == "mcp" {
        return ToolKind::Mcp;
    }
    let name = name.to_ascii_lowercase();
    KINDS.iter().find(|(_, names)| names.contains(&name.as_str())).map_or(ToolKind::Other, |(kind, _)| *kind)
}

/// Whether a tool is one of ours, however the agent names our MCP server: `mcp__rethread__…`, or with its plugin's name.
pub fn is_own(name: &str) -> bool {
    let server = name.strip_prefix("mcp__").and_then(|rest| rest.split("__").next());
    server.is_some_and(|server| server.split(['_', '-']).any(|word| word == "rethread"))
}

/// The arguments of a call in their order; values stay undecoded until they are needed.
#[derive(Default)]
struct Arguments<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Arguments<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read<'a>(std::marker::PhantomData<&'a ()>);
        impl<'de: 'a, 'a> serde::de::Visitor<'de> for Read<'a> {
            type Value = Arguments<'a>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut object: A) -> Result<Arguments<'a>, A::Error> {
                let mut all = Vec::new();
                while let Some(entry) = object.next_entry::<Cow<'a, str>, &'a RawValue>()? {
                    all.push(entry);
                }
                Ok(Arguments(all))
            }
        }
        deserializer.deserialize_map(Read(std::marker::PhantomData))
    }
}

impl Arguments<'_> {
    fn get(&self, key: &str) -> Option<&RawValue> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| *value)
    }

    /// An argument's text; a list of texts is joined, as some agents give commands that way.
    fn text(&self, key: &str) -> Option<String> {
        let raw = self.get(key)?.get();
        serde_json::from_str::<String>(raw)
            .ok()
            .or_else(|| serde_json::from_str::<Vec<String>>(raw).ok().map(|words| words.join(" ")))
    }

    /// The name of the primary argument. A search is about its pattern, anything else about its path first.
    fn primary(&self, kind: ToolKind) -> Option<&'static str> {
        let has = |key: &&&'static str| self.text(key).is_some_and(|text| !text.trim().is_empty());
        let (paths, others) = (PATH_KEYS.iter(), OTHER_KEYS.iter());
        let found = match kind {
            ToolKind::Search | ToolKind::Command | ToolKind::Agent | ToolKind::Web => others.chain(paths).find(has),
            _ => paths.chain(others).find(has),
        };
        found.copied()
    }

    fn paths(&self) -> Vec<String> {
        let single = PATH_KEYS.iter().filter_map(|key| serde_json::from_str::<String>(self.get(key)?.get()).ok());
        let lists =
            PATH_LIST_KEYS.iter().filter_map(|key| serde_json::from_str::<Vec<String>>(self.get(key)?.get()).ok());
        let mut paths: Vec<String> = single.chain(lists.flatten()).filter(|path| !path.is_empty()).collect();
        paths.dedup();
        paths
    }

    /// Arguments besides the primary one, each cut, contents of files only by their size.
    fn shortened(&self, primary: Option<&str>, scribe: &mut Scribe<'_>) -> String {
        let omit = scribe.filter.omit_file_contents;
        let mut out = String::new();
        for (key, value) in self.0.iter().filter(|(key, _)| Some(key.as_ref()) != primary) {
            let is_content = CONTENT_KEYS.contains(&key.as_ref());
            let shown = match value.get() {
                raw if is_content && omit => format!("{key}=<{} bytes>", raw.len().saturating_sub(2)),
                raw => {
                    let limit = if is_content { KEPT_CONTENT_CHARS } else { ARGUMENT_CHARS };
                    let text = serde_json::from_str::<Cow<'_, str>>(raw).unwrap_or(Cow::Borrowed(raw));
                    // The name goes along: `password=…` is a secret because of it. A bound far beyond
                    // what is shown keeps a huge argument from costing more than it is worth.
                    let pair = format!("{key}={}", one_line(&text[..text.floor_char_boundary(limit * 20)]));
                    clip(&scribe.clean(pair), key.len() + 1 + limit).into_owned()
                }
            };
            if !out.is_empty() {
                out.push_str(", ");
            }
            out.push_str(&shown);
        }
        let limit = if omit { ARGUMENTS_CHARS } else { KEPT_CONTENT_CHARS * 2 };
        clip(&out, limit).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, input: &str, expect: (ToolKind, &str, &str, &[&str])) {
        let raw: Box<RawValue> = serde_json::from_str(input).unwrap();
        let tool = Scribe::with_defaults(|scribe| tool_use(name, Some(&raw), scribe));
        let paths: Vec<&str> = tool.paths.iter().map(String::as_str).collect();
        assert_eq!((tool.kind.unwrap(), describe(&tool).as_str(), tool.arguments.as_str(), paths.as_slice()), expect);
    }

    #[test]
    fn e003_12_every_agents_tools_read_the_same() {
        check(
            "Read",
            r#"{"file_path":"/p/a.rs","limit":20}"#,
            (ToolKind::Read, "Read /p/a.rs", "limit=20", &["/p/a.rs"]),
        );
        check("read", r#"{"path":"a.rs"}"#, (ToolKind::Read, "Read a.rs", "", &["a.rs"]));
        check(
            "Grep",
            r#"{"pattern":"fn main","path":"src"}"#,
            (ToolKind::Search, "Grep fn main", "path=src", &["src"]),
        );
        check("bash", r#"{"command":"cargo\n test"}"#, (ToolKind::Command, "Executed cargo test", "", &[]));
        check("mcp__journal__write_note", r#"{"title":"x"}"#, (ToolKind::Mcp, "MCP journal: write_note x", "", &[]));
        check("TodoWrite", r#"{"todos":[]}"#, (ToolKind::Other, "TodoWrite", "todos=[]", &[]));
        check(
            "Task",
            r#"{"prompt":"long","description":"look around"}"#,
            (ToolKind::Agent, "Task look around", "prompt=long", &[]),
        );
    }

    #[test]
    fn what_our_own_tools_are_asked_is_not_kept() {
        let own = ["mcp__rethread__search_memory", "mcp__plugin_rethread_rethread__search_memory"];
        for name in own {
            let tool = Scribe::with_defaults(|scribe| {
                let raw: Box<RawValue> = serde_json::from_str(r#"{"query":"zeppelin","path":"/p/zeppelin"}"#).unwrap();
                tool_use(name, Some(&raw), scribe)
            });
            assert_eq!((tool.kind, tool.target.as_str(), tool.arguments.as_str()), (Some(ToolKind::Mcp), "", ""));
            assert!(tool.paths.is_empty());
        }
        for other in ["mcp__journal__rethread", "rethread", "mcp__rethreads__x", "Bash"] {
            assert!(!is_own(other), "{other}");
        }
    }

    #[test]
    fn l003_04_arguments_are_shortened_and_file_contents_left_out() {
        check(
            "Write",
            r#"{"file_path":"a","content":"line\nline"}"#,
            (ToolKind::Write, "Wrote a", "content=<10 bytes>", &["a"]),
        );
        check(
            "edit",
            r#"{"path":"a","edits":[{"oldText":"x","newText":"y"}]}"#,
            (ToolKind::Edit, "Edited a", "edits=<29 bytes>", &["a"]),
        );
        let long = format!(r#"{{"a":"{}","b":"{}","c":"{}"}}"#, "x".repeat(900), "y".repeat(900), "z".repeat(900));
        let raw: Box<RawValue> = serde_json::from_str(&long).unwrap();
        let tool = Scribe::with_defaults(|scribe| tool_use("Whatever", Some(&raw), scribe));
        assert!(tool.arguments.chars().count() <= 200);
    }

    #[test]
    fn arguments_of_any_shape_are_accepted() {
        for input in ["null", "[]", "3", "\"text\"", r#"{"path":7}"#] {
            let raw: Box<RawValue> = serde_json::from_str(input).unwrap();
            let tool = Scribe::with_defaults(|scribe| tool_use("Read", Some(&raw), scribe));
            assert_eq!(tool.target, "");
        }
    }
}
