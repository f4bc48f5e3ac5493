//! The arguments of a tool call: which of them are files, which one is the command, and what is stored of the others.

use std::borrow::Cow;

use rethread_model::{ToolKind, clip, one_line};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::TextSink;
use super::patch::{has_patch, patch_paths};

const MAX_ARGUMENT_CHARS: usize = 80;
const MAX_ARGUMENTS_CHARS: usize = 200;
/// Length limit of an argument if file contents are kept.
const MAX_CONTENT_CHARS: usize = 4000;

/// Names of path arguments, in order of preference.
const PATH_KEYS: &[&str] = &[
    "file_path",
    "path",
    "notebook_path",
    "filePath",
    "absolute_path",
    "target_file",
    "file",
    "filename",
    "absolutePath",
    "filepath",
    "relativeWorkspacePath",
    "targetFile",
    "target_notebook",
    "pathInProject",
];
/// Names of arguments that contain several paths.
const PATH_LIST_KEYS: [&str; 3] = ["paths", "files", "file_paths"];
/// Names of arguments that contain a command.
const COMMAND_KEYS: [&str; 3] = ["command", "commands", "cmd"];
/// Names of primary arguments that are not paths, in order of preference.
const TARGET_KEYS: &[&str] = &[
    "command",
    "commands",
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
    "task",
    "goal",
    "glob_pattern",
    "search_term",
];
/// Names of arguments that contain file contents. The beginning of any other argument is stored.
pub(crate) const CONTENT_KEYS: &[&str] = &[
    "content",
    "contents",
    "old_string",
    "new_string",
    "oldText",
    "newText",
    "old_str",
    "new_str",
    "oldString",
    "newString",
    "file_text",
    "new_source",
    "edits",
    "patch",
    "code",
    "replacements",
    "old_text",
    "new_text",
    "diff",
    "changes",
    "code_edit",
    "contentsAfterEdit",
    "streamingContent",
];

/// The files and the command that a call names. Neither redacted nor shortened: not to be stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallTarget {
    /// The files, including those of a patch.
    pub paths: Vec<String>,
    /// The command line; several commands have a line each. Empty if there is none.
    pub command: String,
}

impl CallTarget {
    /// Reads the arguments of a call, which may be any JSON value.
    pub fn of(input: &Value) -> Self {
        let text = input.as_str().map_or_else(|| input.to_string(), str::to_owned);
        let arguments: ToolArguments<'_> = serde_json::from_str(&text).unwrap_or_default();
        let command = COMMAND_KEYS.iter().find_map(|key| arguments.text(key));
        Self { paths: arguments.paths(Some(&text)), command: command.unwrap_or_default() }
    }
}

/// A path in a list: as text, or with the lines to read.
#[derive(Deserialize)]
#[serde(untagged)]
enum ListedPath {
    Text(String),
    Range { path: String },
}

impl ListedPath {
    fn into_path(self) -> String {
        match self {
            ListedPath::Text(path) | ListedPath::Range { path } => path,
        }
    }
}

/// The arguments of a call in their original order; values are decoded only when needed.
#[derive(Default)]
pub(super) struct ToolArguments<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for ToolArguments<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ToolArgumentsVisitor<'a>(std::marker::PhantomData<&'a ()>);
        impl<'de: 'a, 'a> serde::de::Visitor<'de> for ToolArgumentsVisitor<'a> {
            type Value = ToolArguments<'a>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut object: A) -> Result<ToolArguments<'a>, A::Error> {
                let mut all = Vec::new();
                while let Some(entry) = object.next_entry::<Cow<'a, str>, &'a RawValue>()? {
                    all.push(entry);
                }
                Ok(ToolArguments(all))
            }
        }
        deserializer.deserialize_map(ToolArgumentsVisitor(std::marker::PhantomData))
    }
}

impl ToolArguments<'_> {
    fn get(&self, key: &str) -> Option<&RawValue> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| *value)
    }

    /// An argument's text; a list of strings is joined, because some agents pass commands that way.
    pub(super) fn text(&self, key: &str) -> Option<String> {
        let raw = self.get(key)?.get();
        serde_json::from_str::<String>(raw).ok().or_else(|| {
            // A list of words is one command; several commands are a script.
            let separator = if key == "commands" { "\n" } else { " " };
            serde_json::from_str::<Vec<String>>(raw).ok().map(|words| words.join(separator))
        })
    }

    /// The name of the primary argument: the pattern for a search, otherwise preferably the path.
    pub(super) fn primary(&self, kind: ToolKind) -> Option<&'static str> {
        let has = |key: &&&'static str| self.text(key).is_some_and(|text| !text.trim().is_empty());
        let (paths, others) = (PATH_KEYS.iter(), TARGET_KEYS.iter());
        let found = match kind {
            ToolKind::Search | ToolKind::Command | ToolKind::Agent | ToolKind::Web => others.chain(paths).find(has),
            _ => paths.chain(others).find(has),
        };
        found.copied()
    }

    /// The code that a call hands to a tool.
    pub(super) fn code(&self) -> Option<String> {
        ["code", "script", "sql", "function", "expression"].iter().find_map(|key| self.text(key))
    }

    /// What a sub-agent is asked to do, if no primary argument says it: a message, or the first of several tasks.
    pub(super) fn delegated_task(&self) -> Option<String> {
        const KEYS: [&str; 5] = ["description", "task", "prompt", "message", "instructions"];
        let listed = |raw: &RawValue| -> Option<String> {
            let Value::Array(tasks) = serde_json::from_str(raw.get()).ok()? else { return None };
            let task = tasks.into_iter().next()?;
            let named = KEYS.iter().find_map(|key| task.get(key)?.as_str());
            named.or(task.as_str()).map(str::to_owned)
        };
        let own = KEYS.iter().find_map(|key| self.text(key));
        own.or_else(|| ["tasks", "agents"].iter().find_map(|key| listed(self.get(key)?)))
    }

    /// The paths in the arguments, and those in a patch: as an argument or, without a name, in place of all arguments.
    pub(super) fn paths(&self, unnamed: Option<&str>) -> Vec<String> {
        let single = PATH_KEYS.iter().filter_map(|key| serde_json::from_str::<String>(self.get(key)?.get()).ok());
        let lists =
            PATH_LIST_KEYS.iter().filter_map(|key| serde_json::from_str::<Vec<ListedPath>>(self.get(key)?.get()).ok());
        let listed = lists.flatten().map(ListedPath::into_path);
        let mut paths: Vec<String> = single.chain(listed).filter(|path| !path.is_empty()).collect();
        paths.dedup();
        let patches = self.0.iter().filter(|(_, value)| has_patch(value.get()));
        let patches = patches.filter_map(|(_, value)| serde_json::from_str::<String>(value.get()).ok());
        let unnamed = unnamed.filter(|text| self.0.is_empty() && has_patch(text)).map(str::to_owned);
        paths.extend(patches.chain(unnamed).flat_map(|patch| patch_paths(&patch)));
        paths
    }

    /// All arguments except the primary one, each shortened; file contents are replaced by their size.
    pub(super) fn format_shortened(&self, primary: Option<&str>, sink: &mut TextSink<'_>) -> String {
        let omit = sink.filter.omit_file_contents;
        let mut out = String::new();
        for (key, value) in self.0.iter().filter(|(key, _)| Some(key.as_ref()) != primary) {
            let is_content = CONTENT_KEYS.contains(&key.as_ref()) || has_patch(value.get());
            let shown = match value.get() {
                raw if is_content && omit => format!("{key}=<{} bytes>", raw.len().saturating_sub(2)),
                raw => {
                    let limit = if is_content { MAX_CONTENT_CHARS } else { MAX_ARGUMENT_CHARS };
                    let text = serde_json::from_str::<Cow<'_, str>>(raw).unwrap_or(Cow::Borrowed(raw));
                    // The key is included: `password=…` is a secret because of its name. A limit far beyond
                    // what is shown avoids the cost of redacting a huge argument.
                    let pair = format!("{key}={}", one_line(&text[..text.floor_char_boundary(limit * 20)]));
                    clip(&sink.redact(pair), key.len() + 1 + limit).into_owned()
                }
            };
            if !out.is_empty() {
                out.push_str(", ");
            }
            out.push_str(&shown);
        }
        let limit = if omit { MAX_ARGUMENTS_CHARS } else { MAX_CONTENT_CHARS * 2 };
        clip(&out, limit).into_owned()
    }
}
