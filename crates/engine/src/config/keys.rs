//! Every setting there is, with its default and what it does. The reference and the checks come from this table.

use super::Value;

/// The shape of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Flag(bool),
    Number(u64),
    List(&'static [&'static str]),
    /// A list of these names only; all of them by default.
    Names(&'static [&'static str]),
    Choice(&'static str, &'static [&'static str]),
    /// Any text; none by default.
    Text,
}

/// A setting that exists.
#[derive(Debug, PartialEq, Eq)]
pub struct Key {
    /// `section.field`.
    pub name: &'static str,
    /// What it does.
    pub help: &'static str,
    pub(super) shape: Shape,
    /// Whether lists of several layers are joined instead of replaced.
    pub(super) adds_up: bool,
}

const fn key(name: &'static str, shape: Shape, help: &'static str) -> Key {
    Key { name, help, shape, adds_up: false }
}

/// All settings.
pub static KEYS: [Key; 17] = [
    key("intake.enabled", Shape::Flag(true), "read transcripts at all; in a project's .rethread.toml: of this project"),
    Key {
        adds_up: true,
        ..key(
            "intake.exclude",
            Shape::List(&[]),
            "working directories and transcripts that are never read: paths and globs",
        )
    },
    key("intake.agents", Shape::Names(&["claude-code", "pi"]), "agents whose transcripts are read"),
    key(
        "intake.mode",
        Shape::Choice("realtime", &["realtime", "batch"]),
        "watch: read at every change, or at intervals",
    ),
    key("intake.interval_minutes", Shape::Number(5), "watch: minutes between two readings in batch mode"),
    key("sources.claude-code", Shape::List(&[]), "further directories with Claude Code transcripts"),
    key("sources.pi", Shape::List(&[]), "further directories with pi transcripts"),
    key("filter.keep_user_messages", Shape::Flag(true), "keep what humans typed"),
    key("filter.keep_agent_responses", Shape::Flag(true), "keep what models said"),
    key("filter.keep_tool_structure", Shape::Flag(true), "keep targets and arguments of tool calls"),
    key("filter.omit_tool_outputs", Shape::Flag(true), "leave out what tools returned, except its size"),
    key(
        "filter.omit_file_contents",
        Shape::Flag(true),
        "leave out file contents among tool arguments, except their size",
    ),
    key("filter.keep_reasoning", Shape::Flag(false), "keep the reasoning of models"),
    key("filter.max_output_summary_chars", Shape::Number(200), "the longest summary of a tool's result"),
    key(
        "embeddings.endpoint",
        Shape::Text,
        "where an OpenAI-compatible embedding model answers, such as http://127.0.0.1:11434/v1; with a model, what was \
         said is sent there to be found by its meaning too",
    ),
    key("embeddings.model", Shape::Text, "the embedding model's name"),
    key("embeddings.key_env", Shape::Text, "the environment variable that holds the key to it"),
];

impl Key {
    /// The value that holds when nobody says otherwise.
    pub fn default_value(&self) -> Value {
        match self.shape {
            Shape::Flag(flag) => Value::Flag(flag),
            Shape::Number(number) => Value::Number(number),
            Shape::List(list) | Shape::Names(list) => Value::List(list.iter().map(ToString::to_string).collect()),
            Shape::Choice(choice, _) => Value::Text(choice.to_owned()),
            Shape::Text => Value::Text(String::new()),
        }
    }

    /// The environment variable that sets it.
    pub fn variable(&self) -> String {
        format!("RETHREAD_{}", self.name.replace(['.', '-'], "_").to_uppercase())
    }

    /// What its value must be, in words.
    pub fn expected(&self) -> &'static str {
        match self.shape {
            Shape::Flag(_) => "true or false",
            Shape::Number(_) => "a whole number",
            Shape::List(_) => "a list of texts",
            Shape::Names(_) => "a list of claude-code, pi",
            Shape::Choice(..) => "realtime or batch",
            Shape::Text => "a text",
        }
    }

    pub(super) fn parts(&self) -> (&'static str, &'static str) {
        self.name.split_once('.').unwrap_or((self.name, ""))
    }
}
