//! All settings with type, default and help text. The reference documentation and the validation use this table.

use super::SettingValue;

/// The type of a setting, with its default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SettingKind {
    Flag(bool),
    Number(u64),
    List(&'static [&'static str]),
    /// A list of these names; all of them by default.
    Names(&'static [&'static str]),
    Choice(&'static str, &'static [&'static str]),
    /// Any string; empty by default.
    Text,
    /// Any string; this one by default.
    TextWithDefault(&'static str),
    /// An amount in US dollars; empty by default.
    Money,
}

/// The definition of a setting.
#[derive(Debug, PartialEq, Eq)]
pub struct SettingKey {
    /// `section.field`.
    pub name: &'static str,
    /// Help text for the reference.
    pub help: &'static str,
    pub(super) kind: SettingKind,
    /// Whether list values from several layers are joined instead of replaced.
    pub(super) is_merged: bool,
}

const fn setting(name: &'static str, shape: SettingKind, help: &'static str) -> SettingKey {
    SettingKey { name, help, kind: shape, is_merged: false }
}

/// All settings, in the order of the reference.
pub static SETTING_KEYS: [SettingKey; 65] = [
    setting(
        "intake.enabled",
        SettingKind::Flag(true),
        "read transcripts; in a project's .rethread.toml, only affects that project",
    ),
    SettingKey {
        is_merged: true,
        ..setting(
            "intake.exclude",
            SettingKind::List(&[]),
            "working directories and transcripts that are never read: paths or globs, relative ones below the home directory",
        )
    },
    setting(
        "intake.max_age_days",
        SettingKind::Number(0),
        "do not read transcripts that last changed more days ago; 0 reads all",
    ),
    setting("intake.agents", SettingKind::Names(&["claude-code", "pi"]), "agents whose transcripts are read"),
    setting(
        "intake.mode",
        SettingKind::Choice("realtime", &["realtime", "batch"]),
        "watch: sync on every change (realtime) or at intervals (batch)",
    ),
    setting("intake.interval_minutes", SettingKind::Number(5), "watch: minutes between syncs in batch mode"),
    setting("sources.claude-code", SettingKind::List(&[]), "additional directories with Claude Code transcripts"),
    setting("sources.pi", SettingKind::List(&[]), "additional directories with pi transcripts"),
    setting("filter.keep_user_messages", SettingKind::Flag(true), "store user messages"),
    setting("filter.keep_agent_responses", SettingKind::Flag(true), "store agent responses"),
    setting("filter.keep_tool_structure", SettingKind::Flag(true), "store targets and arguments of tool calls"),
    setting("filter.omit_tool_outputs", SettingKind::Flag(true), "store only the size of tool outputs"),
    setting(
        "filter.omit_file_contents",
        SettingKind::Flag(true),
        "store only the size of file contents in tool arguments",
    ),
    setting("filter.keep_reasoning", SettingKind::Flag(false), "store the reasoning of models"),
    setting(
        "filter.max_output_summary_chars",
        SettingKind::Number(200),
        "maximum length of a tool result summary, in characters",
    ),
    setting(
        "facts.enabled",
        SettingKind::Flag(true),
        "extract facts: errors and their fixes, decisions, commands, files",
    ),
    setting(
        "facts.model",
        SettingKind::Flag(false),
        "let the configured model extract more facts from ended sessions, within the budget",
    ),
    setting(
        "embeddings.endpoint",
        SettingKind::Text,
        "URL of an OpenAI-compatible embeddings API, such as http://127.0.0.1:11434/v1; together with a model, it \
         enables semantic search and receives the text of sessions",
    ),
    setting("embeddings.model", SettingKind::Text, "name of the embedding model"),
    setting("embeddings.key_env", SettingKind::Text, "environment variable with the API key for embeddings"),
    setting(
        "model.provider",
        SettingKind::Choice("none", &["none", "anthropic", "openai", "gemini"]),
        "provider of the language model; openai includes compatible servers such as Ollama, llama.cpp and vLLM",
    ),
    setting("model.name", SettingKind::Text, "name of the language model"),
    setting(
        "model.endpoint",
        SettingKind::Text,
        "base URL, such as http://127.0.0.1:11434/v1; empty: the provider's default",
    ),
    setting(
        "model.key_env",
        SettingKind::Text,
        "environment variable with the API key; empty: the provider's usual one",
    ),
    setting(
        "model.key_file",
        SettingKind::Text,
        "file with the API key, used instead of a variable; must be readable only by you",
    ),
    setting("model.window", SettingKind::Number(128_000), "context window of the model, in tokens"),
    setting("model.max_output_tokens", SettingKind::Number(4_096), "maximum length of an answer, in tokens"),
    setting("model.price_input", SettingKind::Money, "dollars per million input tokens; empty: the built-in price"),
    setting("model.price_output", SettingKind::Money, "dollars per million output tokens; empty: the built-in price"),
    setting("budget.daily_tokens", SettingKind::Number(0), "maximum tokens per day; 0: no token limit"),
    setting(
        "budget.daily_usd",
        SettingKind::Money,
        "maximum cost per day in dollars; without a daily limit nothing is sent to a model",
    ),
    setting("budget.call_tokens", SettingKind::Number(0), "maximum tokens per request; 0: no limit"),
    setting("budget.call_usd", SettingKind::Money, "maximum cost per request in dollars; empty: no limit"),
    setting(
        "compaction.enabled",
        SettingKind::Flag(true),
        "summarize the older part of threads that outgrow the context window",
    ),
    setting(
        "compaction.reserve_tokens",
        SettingKind::Number(16_384),
        "tokens of the context window reserved for the answer",
    ),
    setting(
        "compaction.keep_recent_tokens",
        SettingKind::Number(20_000),
        "tokens at the end of a thread that are never summarized",
    ),
    setting("serve.listen", SettingKind::TextWithDefault("127.0.0.1:7717"), "address and port the server listens on"),
    setting(
        "serve.tls_cert",
        SettingKind::Text,
        "TLS certificate (PEM file); required to listen on other than loopback addresses",
    ),
    setting("serve.tls_key", SettingKind::Text, "private key of the TLS certificate (PEM file)"),
    setting("serve.hosts", SettingKind::List(&[]), "additional host names the server accepts"),
    setting("serve.turns", SettingKind::Number(8), "maximum turns running at the same time, across all threads"),
    setting("serve.queue", SettingKind::Number(64), "maximum turns waiting, across all threads"),
    setting(
        "serve.grace_seconds",
        SettingKind::Number(30),
        "seconds to let running turns and requests finish on shutdown",
    ),
    setting("threads.queue_limit", SettingKind::Number(16), "maximum turns waiting in one thread"),
    setting(
        "lifecycle.idle_minutes",
        SettingKind::Number(30),
        "minutes without activity until a session is idle; after twice as many it has ended",
    ),
    setting(
        "lifecycle.period_hours",
        SettingKind::Number(8),
        "maximum length of a work period; after it a session starts a new one",
    ),
    setting("lifecycle.hot_entries", SettingKind::Number(5), "number of recent actions kept in hot memory"),
    setting(
        "lifecycle.archive",
        SettingKind::Choice("all", &["all", "significant", "none"]),
        "which work periods to archive when they end; significant: at least three tool calls",
    ),
    setting("inject.activity", SettingKind::Flag(true), "inject what other sessions in the project did recently"),
    setting(
        "inject.session",
        SettingKind::Choice("changes", &["always", "changes", "off"]),
        "inject the session's own context: with every prompt, or only when the agent lacks it (after a break, a new \
         context, a new note or task)",
    ),
    setting(
        "inject.detail",
        SettingKind::Choice("normal", &["minimal", "normal", "verbose"]),
        "how much the session context, the resume summary and memories say",
    ),
    setting("inject.memory", SettingKind::Flag(true), "inject memories of the last week that match the prompt"),
    setting("inject.budget_tokens", SettingKind::Number(1_000), "maximum tokens injected with one prompt"),
    setting("inject.note", SettingKind::Flag(true), "end each injection with a line about its source"),
    setting(
        "cards.enabled",
        SettingKind::Flag(true),
        "let the model write session cards; if false, they are generated without a model",
    ),
    setting(
        "cards.command_name",
        SettingKind::TextWithDefault("index-session"),
        "name of the pi command that writes a card immediately",
    ),
    setting(
        "cards.status_key",
        SettingKind::TextWithDefault("session-index"),
        "key used for card messages in pi's status line",
    ),
    setting(
        "cards.min_new_user_messages",
        SettingKind::Number(5),
        "new prompts needed before a model updates a card automatically",
    ),
    setting(
        "cards.notification_auto_clear_ms",
        SettingKind::Number(5_000),
        "milliseconds until pi's status line is cleared",
    ),
    setting(
        "cards.model_keys",
        SettingKind::List(&[]),
        "models for cards as provider/model; the first usable one is used; empty: the configured model",
    ),
    setting(
        "cards.max_bytes",
        SettingKind::Number(51_200),
        "maximum bytes from the end of a session sent to the model for its card",
    ),
    setting(
        "ask.max_bytes",
        SettingKind::Number(160_000),
        "maximum bytes of a session sent to the model with a question",
    ),
    setting(
        "ask.max_calls_per_turn",
        SettingKind::Number(1),
        "questions about sessions an agent may ask a model per turn: 0, 1 or 2",
    ),
    setting("ask.timeout_seconds", SettingKind::Number(30), "seconds to wait for an answer"),
    setting("threads.titles", SettingKind::Flag(true), "let the model name threads after the first answer"),
];

impl SettingKey {
    /// The built-in value.
    pub fn default_value(&self) -> SettingValue {
        match self.kind {
            SettingKind::Flag(flag) => SettingValue::Flag(flag),
            SettingKind::Number(number) => SettingValue::Number(number),
            SettingKind::List(list) | SettingKind::Names(list) => {
                SettingValue::List(list.iter().map(ToString::to_string).collect())
            }
            SettingKind::Choice(choice, _) | SettingKind::TextWithDefault(choice) => {
                SettingValue::Text(choice.to_owned())
            }
            SettingKind::Text | SettingKind::Money => SettingValue::Text(String::new()),
        }
    }

    /// The environment variable that sets it: `RETHREAD_SECTION_FIELD`.
    pub fn env_variable(&self) -> String {
        format!("RETHREAD_{}", self.name.replace(['.', '-'], "_").to_uppercase())
    }

    /// A description of valid values, for error messages.
    pub fn expected_value(&self) -> String {
        match self.kind {
            SettingKind::Flag(_) => "true or false".to_owned(),
            SettingKind::Number(_) => "a whole number".to_owned(),
            SettingKind::List(_) => "a list of strings".to_owned(),
            SettingKind::Names(names) => format!("a list of {}", names.join(", ")),
            SettingKind::Choice(_, choices) => choices.join(" or "),
            SettingKind::Text | SettingKind::TextWithDefault(_) => "a string".to_owned(),
            SettingKind::Money => "dollars, such as 0.25".to_owned(),
        }
    }

    pub(super) fn section_and_field(&self) -> (&'static str, &'static str) {
        self.name.split_once('.').unwrap_or((self.name, ""))
    }
}
