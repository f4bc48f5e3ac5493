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
    /// Any text; this one by default.
    Word(&'static str),
    /// US dollars; none by default.
    Money,
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
pub static KEYS: [Key; 63] = [
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
        "facts.enabled",
        Shape::Flag(true),
        "draw facts from what is read: errors and their fixes, decisions, commands, files",
    ),
    key(
        "facts.model",
        Shape::Flag(false),
        "let the configured model add facts to sessions that ended, within the budget",
    ),
    key(
        "embeddings.endpoint",
        Shape::Text,
        "where an OpenAI-compatible embedding model answers, such as http://127.0.0.1:11434/v1; with a model, what was \
         said is sent there to be found by its meaning too",
    ),
    key("embeddings.model", Shape::Text, "the embedding model's name"),
    key("embeddings.key_env", Shape::Text, "the environment variable that holds the key to it"),
    key(
        "model.provider",
        Shape::Choice("none", &["none", "anthropic", "openai", "gemini"]),
        "whose language model is used; openai also means every server that speaks like it: Ollama, llama.cpp, vLLM",
    ),
    key("model.name", Shape::Text, "the language model's name"),
    key(
        "model.endpoint",
        Shape::Text,
        "where it answers, such as http://127.0.0.1:11434/v1; empty is the provider's own",
    ),
    key("model.key_env", Shape::Text, "the environment variable with the key; empty is the provider's usual one"),
    key("model.key_file", Shape::Text, "a file with the key that only its owner can read, instead of a variable"),
    key("model.window", Shape::Number(128_000), "tokens the model can hold"),
    key("model.max_output_tokens", Shape::Number(4_096), "tokens of the longest answer asked for"),
    key(
        "model.price_input",
        Shape::Money,
        "dollars for a million tokens read; empty is the price in the built-in table",
    ),
    key("model.price_output", Shape::Money, "dollars for a million tokens written; empty is the price in the table"),
    key(
        "budget.daily_tokens",
        Shape::Number(0),
        "tokens that all requests of a day may take; 0 sets no limit in tokens",
    ),
    key(
        "budget.daily_usd",
        Shape::Money,
        "dollars that all requests of a day may cost; without a daily limit nothing is ever sent to a model",
    ),
    key("budget.call_tokens", Shape::Number(0), "tokens that one request may take; 0 sets no limit"),
    key("budget.call_usd", Shape::Money, "dollars that one request may cost; empty sets no limit"),
    key("compaction.enabled", Shape::Flag(true), "summarise the beginning of threads that outgrow the model's window"),
    key("compaction.reserve_tokens", Shape::Number(16_384), "tokens of the window that are kept free for the answer"),
    key(
        "compaction.keep_recent_tokens",
        Shape::Number(20_000),
        "tokens of the end of a thread that are never summarised",
    ),
    key("serve.listen", Shape::Word("127.0.0.1:7717"), "address and port the server listens on"),
    key("serve.tls_cert", Shape::Text, "certificate of the server, a PEM file; needed to listen elsewhere than here"),
    key("serve.tls_key", Shape::Text, "key of that certificate, a PEM file"),
    key("serve.hosts", Shape::List(&[]), "further names under which the server may be called"),
    key("serve.turns", Shape::Number(8), "turns that the server runs at a time, of all threads together"),
    key("serve.queue", Shape::Number(64), "turns that may wait in the server, of all threads together"),
    key("serve.grace_seconds", Shape::Number(30), "seconds that accepted turns and requests have when the server ends"),
    key("threads.queue_limit", Shape::Number(16), "turns that may wait in a thread while another one runs"),
    key(
        "lifecycle.idle_minutes",
        Shape::Number(30),
        "a session is idle after so many silent minutes, ended after twice as many",
    ),
    key("lifecycle.period_hours", Shape::Number(8), "the longest period of work; after it a session begins a new one"),
    key("lifecycle.hot_entries", Shape::Number(5), "things a session did that are kept at hand"),
    key(
        "lifecycle.archive",
        Shape::Choice("all", &["all", "significant", "none"]),
        "which periods of work are written to the archive when they end; significant ones used at least three tools",
    ),
    key("inject.activity", Shape::Flag(true), "tell agents what their other sessions in the project just did"),
    key("inject.session", Shape::Flag(true), "greet sessions that come back, and tell them what they were doing"),
    key("inject.memory", Shape::Flag(true), "tell agents what was said in the last week that fits a prompt"),
    key("inject.budget_tokens", Shape::Number(1_000), "tokens that are given to an agent with one prompt"),
    key("inject.note", Shape::Flag(true), "say in a last line where it comes from"),
    key("cards.enabled", Shape::Flag(true), "let the model write cards of sessions; off, they are made by rules"),
    key("cards.command_name", Shape::Word("index-session"), "the command in pi that has a card written at once"),
    key("cards.status_key", Shape::Word("session-index"), "the key of pi's status line under which cards are told"),
    key(
        "cards.min_new_user_messages",
        Shape::Number(5),
        "prompts that must be new before a model writes a card by itself",
    ),
    key(
        "cards.notification_auto_clear_ms",
        Shape::Number(5_000),
        "milliseconds after which pi's status line is cleared",
    ),
    key(
        "cards.model_keys",
        Shape::List(&[]),
        "models that may write cards, as provider/model, the first that can be used; empty is the configured one",
    ),
    key("cards.max_bytes", Shape::Number(51_200), "bytes of a session's end that a model is shown for its card"),
    key("ask.max_bytes", Shape::Number(160_000), "bytes of a session that a model gets with a question about it"),
    key(
        "ask.max_calls_per_turn",
        Shape::Number(1),
        "how often an agent may have a model asked about sessions in one turn: 0, 1 or 2",
    ),
    key("ask.timeout_seconds", Shape::Number(30), "seconds to wait for an answer about a session"),
    key("threads.titles", Shape::Flag(true), "let the model name threads after the first answer"),
];

impl Key {
    /// The value that holds when nobody says otherwise.
    pub fn default_value(&self) -> Value {
        match self.shape {
            Shape::Flag(flag) => Value::Flag(flag),
            Shape::Number(number) => Value::Number(number),
            Shape::List(list) | Shape::Names(list) => Value::List(list.iter().map(ToString::to_string).collect()),
            Shape::Choice(choice, _) | Shape::Word(choice) => Value::Text(choice.to_owned()),
            Shape::Text | Shape::Money => Value::Text(String::new()),
        }
    }

    /// The environment variable that sets it.
    pub fn variable(&self) -> String {
        format!("RETHREAD_{}", self.name.replace(['.', '-'], "_").to_uppercase())
    }

    /// What its value must be, in words.
    pub fn expected(&self) -> String {
        match self.shape {
            Shape::Flag(_) => "true or false".to_owned(),
            Shape::Number(_) => "a whole number".to_owned(),
            Shape::List(_) => "a list of texts".to_owned(),
            Shape::Names(names) => format!("a list of {}", names.join(", ")),
            Shape::Choice(_, choices) => choices.join(" or "),
            Shape::Text | Shape::Word(_) => "a text".to_owned(),
            Shape::Money => "dollars, such as 0.25".to_owned(),
        }
    }

    pub(super) fn parts(&self) -> (&'static str, &'static str) {
        self.name.split_once('.').unwrap_or((self.name, ""))
    }
}
