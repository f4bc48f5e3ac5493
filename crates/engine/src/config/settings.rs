//! All settings. One declaration gives the typed field, its key, default, valid values and help text.

use std::slice::Iter;

use rethread_ingest::TranscriptFilter;
use rethread_llm::{NanoUsd, Provider};
use rethread_model::Agent;
use rethread_recall::InjectionDetail;

use super::Setting;
use super::declaration::{
    Declaration, SettingChoice, agents, bounded, choice, flag, joined_list, list, money, number, store_url, text,
    text_or,
};
use super::keys::SettingKey;

/// Declares the sections in the order of the reference. The doc comment of a field is its help text. A section without
/// fields has its own `keys` and `read`.
macro_rules! settings {
    ($($section:ident: $Section:ident $({
        $($(#[doc = $help:literal])+ $field:ident: $Type:ty = $declared:expr;)+
    })?)+) => {
        /// The value of every setting, resolved from all layers.
        #[derive(Clone, Debug)]
        pub struct Settings {
            $(#[doc = concat!("The `", stringify!($section), ".*` settings.")] pub $section: $Section,)+
        }

        impl Settings {
            pub(super) fn keys() -> Vec<SettingKey> {
                [$($Section::keys()),+].into_iter().flatten().collect()
            }

            /// The typed values of all keys, in their order.
            pub(super) fn read(entries: &[Setting]) -> Self {
                let mut entries = entries.iter();
                Self { $($section: $Section::read(&mut entries)),+ }
            }
        }

        $($(
            #[doc = concat!("The `", stringify!($section), ".*` settings.")]
            #[derive(Clone, Debug)]
            pub struct $Section {
                $(#[doc = concat!("`", stringify!($section), ".", stringify!($field), "`")] pub $field: $Type,)+
            }

            impl $Section {
                fn keys() -> Vec<SettingKey> {
                    vec![$({
                        let declared: Declaration<$Type> = $declared;
                        let name = concat!(stringify!($section), ".", stringify!($field));
                        SettingKey::new(name, declared.kind, concat!($($help),+).trim_ascii_start())
                    }),+]
                }

                fn read(entries: &mut Iter<'_, Setting>) -> Self {
                    Self { $($field: Declaration::<$Type>::read_next(&$declared, entries)),+ }
                }
            }
        )?)+
    };
}

settings! {
    intake: IntakeSettings {
        /// read transcripts; in a project's .rethread.toml, only affects that project
        enabled: bool = flag(true);
        /// working directories and transcripts that are never read: paths or globs, relative ones below the home
        /// directory
        exclude: Vec<String> = joined_list();
        /// do not read transcripts that last changed more days ago; 0 reads all
        max_age_days: u64 = number(0);
        /// agents whose transcripts are read; + before a name adds it to the default, as in "+hermes"
        agents: Vec<Agent> = agents();
        /// watch: sync on every change (realtime) or at intervals (batch)
        mode: IntakeMode = choice(IntakeMode::Realtime);
        /// watch: minutes between syncs in batch mode
        interval_minutes: u64 = bounded(5, 1..=525_600);
    }
    sources: SourceSettings
    filter: FilterSettings {
        /// store user messages
        keep_user_messages: bool = flag(true);
        /// store agent responses
        keep_agent_responses: bool = flag(true);
        /// store targets and arguments of tool calls
        keep_tool_structure: bool = flag(true);
        /// store only the size of tool outputs
        omit_tool_outputs: bool = flag(true);
        /// store only the size of file contents in tool arguments
        omit_file_contents: bool = flag(true);
        /// store the reasoning of models
        keep_reasoning: bool = flag(false);
        /// maximum length of a tool result summary, in characters
        max_output_summary_chars: u64 = number(200);
    }
    facts: FactSettings {
        /// extract facts: errors and their fixes, decisions, commands, files
        enabled: bool = flag(true);
        /// let the configured model extract more facts from ended sessions, within the budget
        model: bool = flag(false);
    }
    embeddings: EmbeddingSettings {
        /// URL of an OpenAI-compatible embeddings API, such as http://127.0.0.1:11434/v1; together with a model, it
        /// enables semantic search and receives the text of sessions
        endpoint: String = text();
        /// name of the embedding model
        model: String = text();
        /// environment variable with the API key for embeddings
        key_env: String = text();
    }
    model: ModelSettings {
        /// provider of the language model; openai includes compatible servers such as Ollama, llama.cpp and vLLM
        provider: Option<Provider> = choice(None);
        /// name of the language model
        name: String = text();
        /// base URL, such as http://127.0.0.1:11434/v1; empty: the provider's default
        endpoint: String = text();
        /// environment variable with the API key; empty: the provider's usual one
        key_env: String = text();
        /// file with the API key, used instead of a variable; must be readable only by you
        key_file: String = text();
        /// context window of the model, in tokens
        window: u64 = bounded(128_000, 1..=i64::MAX as u64);
        /// maximum length of an answer, in tokens
        max_output_tokens: u64 = bounded(4_096, 1..=i64::MAX as u64);
        /// dollars per million input tokens; empty: the built-in price
        price_input: Option<NanoUsd> = money();
        /// dollars per million output tokens; empty: the built-in price
        price_output: Option<NanoUsd> = money();
    }
    budget: BudgetSettings {
        /// maximum tokens per day; 0: no token limit
        daily_tokens: u64 = number(0);
        /// maximum cost per day in dollars; without a daily limit nothing is sent to a model
        daily_usd: Option<NanoUsd> = money();
        /// maximum tokens per request; 0: no limit
        call_tokens: u64 = number(0);
        /// maximum cost per request in dollars; empty: no limit
        call_usd: Option<NanoUsd> = money();
    }
    compaction: ThreadCompactionSettings {
        /// summarize the older part of threads that outgrow the context window
        enabled: bool = flag(true);
        /// tokens of the context window reserved for the answer
        reserve_tokens: u64 = number(16_384);
        /// tokens at the end of a thread that are never summarized
        keep_recent_tokens: u64 = number(20_000);
    }
    store: StoreSettings {
        /// address of the store on a server that `serve`, `admin` and `token` use without --store, with its password
        /// left out: postgres://USER@HOST/DATABASE; other commands keep to the local store
        url: String = store_url();
    }
    display: DisplaySettings {
        /// program that shows results longer than the terminal; cat turns that off; empty: $PAGER, else less
        pager: String = text();
    }
    serve: ServeSettings {
        /// address and port the server listens on
        listen: String = text_or("127.0.0.1:7717");
        /// TLS certificate (PEM file); required to listen on other than loopback addresses
        tls_cert: String = text();
        /// private key of the TLS certificate (PEM file)
        tls_key: String = text();
        /// additional host names the server accepts
        hosts: Vec<String> = list();
        /// maximum turns running at the same time, across all threads
        turns: u64 = bounded(8, 1..=256);
        /// maximum turns waiting, across all threads
        queue: u64 = bounded(64, 0..=65_536);
        /// seconds to let running turns and requests finish on shutdown
        grace_seconds: u64 = number(30);
    }
    threads: ThreadSettings {
        /// maximum turns waiting in one thread
        queue_limit: u64 = number(16);
        /// let the model name threads after the first answer
        titles: bool = flag(true);
    }
    lifecycle: LifecycleSettings {
        /// minutes without activity until a session is idle; after twice as many it has ended
        idle_minutes: u64 = bounded(30, 0..=525_600);
        /// maximum length of a work period; after it a session starts a new one
        period_hours: u64 = bounded(8, 0..=87_600);
        /// number of recent actions kept in hot memory
        hot_entries: u64 = number(5);
        /// which work periods to archive when they end; significant: at least three tool calls
        archive: ArchivedPeriods = choice(ArchivedPeriods::All);
    }
    inject: InjectionSettings {
        /// inject what other sessions in the project did recently
        activity: bool = flag(true);
        /// inject the session's own context: with every prompt, or only when the agent lacks it (after a break, a new
        /// context, a new note or task)
        session: SessionInjection = choice(SessionInjection::Changes);
        /// how much the session context, the resume summary and memories say
        detail: InjectionDetail = choice(InjectionDetail::Normal);
        /// inject where the last session of the project stopped, with the first prompt of a new one
        last_session: bool = flag(true);
        /// inject memories of the last week, known fixes and decisions that match the prompt
        memory: bool = flag(true);
        /// maximum tokens injected with one prompt
        budget_tokens: u64 = number(1_000);
        /// end each injection with a line about its source
        note: bool = flag(true);
    }
    cards: CardSettings {
        /// let the model write session cards; if false, they are generated without a model
        enabled: bool = flag(true);
        /// name of the pi command that writes a card immediately
        command_name: String = text_or("index-session");
        /// key used for card messages in pi's status line
        status_key: String = text_or("session-index");
        /// new prompts needed before a model updates a card automatically
        min_new_user_messages: u64 = number(5);
        /// milliseconds until pi's status line is cleared
        notification_auto_clear_ms: u64 = number(5_000);
        /// models for cards as provider/model; the first usable one is used; empty: the configured model
        model_keys: Vec<String> = list();
        /// maximum bytes from the end of a session sent to the model for its card
        max_bytes: u64 = number(51_200);
    }
    ask: QuestionSettings {
        /// maximum bytes of a session sent to the model with a question
        max_bytes: u64 = number(160_000);
        /// questions about sessions an agent may ask a model per turn: 0, 1 or 2
        max_calls_per_turn: u64 = bounded(1, 0..=2);
        /// seconds to wait for an answer
        timeout_seconds: u64 = bounded(30, 1..=600);
    }
}

/// Additional directories with transcripts, by agent.
#[derive(Clone, Debug)]
pub struct SourceSettings(Vec<(Agent, Vec<String>)>);

impl SourceSettings {
    fn keys() -> Vec<SettingKey> {
        let help = |agent: Agent| format!("additional directories with {} transcripts", agent.label());
        let key = |agent: Agent| SettingKey::new(format!("sources.{agent}"), list().kind, help(agent));
        Agent::EXTERNAL.into_iter().map(key).collect()
    }

    fn read(entries: &mut Iter<'_, Setting>) -> Self {
        Self(Agent::EXTERNAL.into_iter().map(|agent| (agent, list().read_next(entries))).collect())
    }

    /// Every directory with the agent it belongs to.
    pub fn iter(&self) -> impl Iterator<Item = (Agent, &str)> {
        self.0.iter().flat_map(|(agent, folders)| folders.iter().map(move |folder| (*agent, folder.as_str())))
    }
}

impl ModelSettings {
    /// The name of the model; empty if none is configured.
    pub fn usable_name(&self) -> &str {
        if self.provider.is_none() { "" } else { &self.name }
    }
}

impl FilterSettings {
    pub(crate) fn transcript_filter(&self) -> TranscriptFilter {
        TranscriptFilter {
            keep_user_messages: self.keep_user_messages,
            keep_agent_responses: self.keep_agent_responses,
            keep_tool_structure: self.keep_tool_structure,
            omit_tool_outputs: self.omit_tool_outputs,
            omit_file_contents: self.omit_file_contents,
            keep_reasoning: self.keep_reasoning,
            max_output_summary_chars: self.max_output_summary_chars as usize,
        }
    }
}

/// When `watch` syncs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntakeMode {
    /// On every change.
    Realtime,
    /// At intervals.
    Batch,
}

impl SettingChoice for IntakeMode {
    const CHOICES: &'static [(&'static str, Self)] = &[("realtime", Self::Realtime), ("batch", Self::Batch)];
}

/// Which work periods are archived when they end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArchivedPeriods {
    /// Every one.
    All,
    /// Those with several tool calls.
    Significant,
    /// None.
    None,
}

impl SettingChoice for ArchivedPeriods {
    const CHOICES: &'static [(&'static str, Self)] =
        &[("all", Self::All), ("significant", Self::Significant), ("none", Self::None)];
}

/// When the session's own context is injected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionInjection {
    /// With every prompt.
    Always,
    /// When the agent lacks it.
    Changes,
    /// Never.
    Off,
}

impl SettingChoice for SessionInjection {
    const CHOICES: &'static [(&'static str, Self)] =
        &[("always", Self::Always), ("changes", Self::Changes), ("off", Self::Off)];
}

impl SettingChoice for InjectionDetail {
    const CHOICES: &'static [(&'static str, Self)] =
        &[("minimal", Self::Minimal), ("normal", Self::Normal), ("verbose", Self::Verbose)];
}

impl SettingChoice for Option<Provider> {
    const CHOICES: &'static [(&'static str, Self)] = &[
        ("none", None),
        (Provider::Anthropic.as_str(), Some(Provider::Anthropic)),
        (Provider::OpenAi.as_str(), Some(Provider::OpenAi)),
        (Provider::Gemini.as_str(), Some(Provider::Gemini)),
    ];
}
