//! Why a command failed: whose fault it is, what happened, what to do next.

use std::error::Error;
use std::fmt;

use rethread_engine::{
    AskError, BadNote, ChatError, ConfigError, EngineError, IndexError, InstallError, ModelError, Refusal, StoreError,
    ThreadError,
};
use rethread_model::Session;
use rethread_model::thread::UNNAMED;

/// What to do about a mistake of ours.
const REPORT: &str = "this is a mistake in rethread itself: please report it, with the lines above and your command";

/// Threads that are named when a reference could mean several.
const MOST_CANDIDATES: usize = 5;
/// How to find the thread that is meant.
const LIST_THREADS: &str = "`rethread thread list` lists all threads";

/// Whose fault a failure is and what it is called. Each kind has a stable code and an exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Usage,
    UnknownReference,
    AmbiguousReference,
    UnknownAgent,
    NothingThere,
    BadConfig,
    BadTime,
    NoHome,
    Folder,
    ConfigFile,
    BadSettings,
    SettingsFile,
    StoreLocked,
    StoreDisk,
    StoreDamaged,
    StoreNewer,
    Index,
    Watch,
    Serve,
    /// A request that is not what the route takes.
    BadRequest,
    UnknownPath,
    Unauthorised,
    /// A request under another name, or from another page.
    Foreign,
    BadContent,
    NoSuchCall,
    NotAThread,
    HasEnded,
    TooLarge,
    QueueFull,
    CardBusy,
    ThreadDisk,
    Stopped,
    NoModel,
    Budget,
    Model,
    Output,
    /// Whoever read our output has seen enough.
    ClosedPipe,
    Bug,
}

impl Kind {
    /// The name in JSON.
    pub(crate) const fn code(self) -> &'static str {
        match self {
            Kind::Usage => "usage",
            Kind::UnknownReference => "unknown-reference",
            Kind::AmbiguousReference => "ambiguous-reference",
            Kind::UnknownAgent => "unknown-agent",
            Kind::NothingThere => "nothing-there",
            Kind::BadConfig => "bad-config",
            Kind::BadTime => "bad-time",
            Kind::NoHome => "no-home",
            Kind::Folder => "folder-unusable",
            Kind::ConfigFile => "config-file",
            Kind::BadSettings => "bad-settings",
            Kind::SettingsFile => "settings-file",
            Kind::StoreLocked => "store-locked",
            Kind::StoreDisk => "store-disk",
            Kind::StoreDamaged => "store-damaged",
            Kind::StoreNewer => "store-newer",
            Kind::Index => "index",
            Kind::Watch => "watch",
            Kind::Serve => "serve",
            Kind::BadRequest => "bad-request",
            Kind::UnknownPath => "unknown-path",
            Kind::Unauthorised => "unauthorised",
            Kind::Foreign => "foreign",
            Kind::BadContent => "bad-content",
            Kind::NoSuchCall => "no-such-call",
            Kind::NotAThread => "not-a-thread",
            Kind::HasEnded => "has-ended",
            Kind::TooLarge => "too-large",
            Kind::QueueFull => "queue-full",
            Kind::CardBusy => "card-busy",
            Kind::ThreadDisk => "thread-disk",
            Kind::Stopped => "stopped",
            Kind::NoModel => "no-model",
            Kind::Budget => "budget",
            Kind::Model => "model",
            Kind::Output => "output",
            Kind::ClosedPipe => "closed-pipe",
            Kind::Bug => "bug",
        }
    }

    /// What the process ends with: 2 the caller's mistake, 3 the world's, 70 ours.
    pub(crate) const fn exit_code(self) -> u8 {
        match self {
            Kind::ClosedPipe => 0,
            Kind::Stopped => 130,
            Kind::Usage
            | Kind::UnknownReference
            | Kind::AmbiguousReference
            | Kind::UnknownAgent
            | Kind::NothingThere
            | Kind::BadConfig
            | Kind::BadSettings
            | Kind::BadRequest
            | Kind::UnknownPath
            | Kind::Unauthorised
            | Kind::Foreign
            | Kind::BadContent
            | Kind::NoSuchCall
            | Kind::NotAThread
            | Kind::HasEnded
            | Kind::TooLarge
            | Kind::NoModel
            | Kind::Budget
            | Kind::BadTime => 2,
            Kind::NoHome
            | Kind::Folder
            | Kind::ConfigFile
            | Kind::SettingsFile
            | Kind::StoreLocked
            | Kind::StoreDisk
            | Kind::StoreDamaged
            | Kind::StoreNewer
            | Kind::Index
            | Kind::Watch
            | Kind::Serve
            | Kind::QueueFull
            | Kind::CardBusy
            | Kind::ThreadDisk
            | Kind::Model
            | Kind::Output => 3,
            Kind::Bug => 70,
        }
    }
}

/// A command that failed.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) kind: Kind,
    pub(crate) source: Box<dyn Error + Send + Sync>,
    pub(crate) hints: Vec<String>,
    /// The sessions that an ambiguous reference could mean.
    pub(crate) candidates: Vec<Session>,
    /// The name in JSON, where callers rely on another one than the kind's.
    pub(crate) code: Option<&'static str>,
}

impl Failure {
    /// A failure with nothing behind it but what is said.
    pub(crate) fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self::of(kind, Said(message.into()))
    }

    /// The same with something to do next.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Why a turn could not be run to its end.
    pub(crate) fn of_turn(error: EngineError) -> Self {
        let failure = Self::from(error);
        match failure.kind {
            // A text that was not answered need not be said again.
            Kind::Model => failure.hint("what was said is in the thread; send again without a text to try once more"),
            _ => failure,
        }
    }

    /// Why a model's answer broke off in the middle of a turn.
    pub(crate) fn of_broken_answer(error: &ChatError) -> Self {
        let failure = Self::from(EngineError::from(error.clone()));
        failure.hint("what it had said is in the thread; say something to go on from there")
    }

    /// The same under the name that callers of one interface rely on.
    pub(crate) fn coded(self, code: &'static str) -> Self {
        Self { code: Some(code), ..self }
    }

    fn of(kind: Kind, source: impl Error + Send + Sync + 'static) -> Self {
        Self { kind, source: Box::new(source), hints: Vec::new(), candidates: Vec::new(), code: None }
    }

    /// What lies behind it, nearest first.
    pub(crate) fn causes(&self) -> Vec<String> {
        let mut causes = Vec::new();
        let mut next = self.source.source();
        while let Some(cause) = next {
            let said = cause.to_string();
            // Some libraries say the same again with a number before it.
            if !causes.last().is_some_and(|before: &String| said.ends_with(before.as_str())) {
                causes.push(said);
            }
            next = cause.source();
        }
        causes
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        let (kind, hint) = judge(&error);
        let mut failure = match error {
            EngineError::AmbiguousReference { reference, candidates } => {
                let message = format!("{reference:?} fits {} sessions", candidates.len());
                Self { candidates, ..Self::new(kind, message) }
            }
            other @ EngineError::AmbiguousThread { .. } => {
                let named = threads_named(&other);
                Self::of(kind, other).hint(named)
            }
            EngineError::AmbiguousFile { path, candidates } => {
                let message = format!("{path:?} fits {} files", candidates.len());
                let named: Vec<&str> = candidates.iter().take(MOST_CANDIDATES).map(String::as_str).collect();
                Self::new(kind, message).hint(format!("it could be: {}", named.join("; ")))
            }
            other => Self::of(kind, other),
        };
        failure.hints.extend(hint.map(str::to_owned));
        failure
    }
}

impl From<AskError> for Failure {
    fn from(error: AskError) -> Self {
        let code = error.code();
        let (kind, hint) = match &error {
            AskError::InvalidArgs(_) => (Kind::Usage, None),
            AskError::CallLimit { .. } => (Kind::Budget, Some("ask again in the next turn, or with --no-model")),
            AskError::FileMissing { .. } | AskError::Empty => (Kind::NothingThere, None),
            AskError::ParseFailed { .. } => (Kind::NothingThere, Some("`rethread doctor` tells more")),
            AskError::Model(error) => judge_model(error),
            AskError::Chat(error) => judge_chat(error),
            AskError::InvalidOutput(_) => (Kind::Model, None),
            AskError::Engine(_) => (Kind::Bug, None),
        };
        let is_of_a_model = code.starts_with("QUERY_");
        let mut failure = match error {
            AskError::Engine(error) => Self::from(error),
            other => Self { hints: hint.map(str::to_owned).into_iter().collect(), ..Self::of(kind, other) },
        };
        if is_of_a_model {
            failure = failure.hint("--no-model quotes the passages that fit best, and costs nothing");
        }
        Self { code: Some(code), ..failure }
    }
}

/// The threads that a reference could mean.
fn threads_named(error: &EngineError) -> String {
    let EngineError::AmbiguousThread { candidates, .. } = error else { return String::new() };
    let named = candidates.iter().take(MOST_CANDIDATES);
    let named = named.map(|thread| format!("{} {}", thread.id, thread.name.as_deref().unwrap_or(UNNAMED)));
    format!("it could be: {}", named.collect::<Vec<_>>().join("; "))
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        EngineError::from(error).into()
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        let closed = error.kind() == std::io::ErrorKind::BrokenPipe;
        Self::of(if closed { Kind::ClosedPipe } else { Kind::Output }, error)
    }
}

fn judge(error: &EngineError) -> (Kind, Option<&'static str>) {
    match error {
        EngineError::Store(error) | EngineError::Index(IndexError::Store(error)) => judge_store(error),
        EngineError::Index(_) => (Kind::Index, Some("`rethread rebuild --index-only` makes it again")),
        EngineError::Config(ConfigError::File { .. }) => {
            (Kind::ConfigFile, Some("look at its owner and permissions, or name another directory with --home"))
        }
        EngineError::Config(ConfigError::UnknownKey(_)) => {
            (Kind::BadConfig, Some("`rethread config show` lists all settings"))
        }
        EngineError::Config(ConfigError::NotToml { .. } | ConfigError::Unusable { .. }) => {
            (Kind::BadConfig, Some("mend the file, or move it away"))
        }
        EngineError::Config(_) => (Kind::BadConfig, None),
        EngineError::Install(error) => judge_install(error),
        EngineError::Exclude(_) => (Kind::BadConfig, Some("see `rethread config get intake.exclude`")),
        EngineError::Agent(_) => (Kind::UnknownAgent, Some("see `rethread config get intake.agents`")),
        EngineError::Folder { .. } => (Kind::Folder, Some("name another directory with --home or RETHREAD_HOME")),
        EngineError::NothingThere(_) => (Kind::NothingThere, None),
        EngineError::UnknownReference(_) => (
            Kind::UnknownReference,
            Some("`rethread sessions --all-projects` lists all sessions; `rethread sync` reads new ones"),
        ),
        EngineError::BadTime(_) => (Kind::BadTime, Some("try 7d, yesterday, last week, 2026-03 or 2026-03-14T12:00")),
        EngineError::AmbiguousReference { .. } => {
            (Kind::AmbiguousReference, Some("give more of the id or of the name"))
        }
        EngineError::AmbiguousFile { .. } => (Kind::AmbiguousReference, Some("give more of the path")),
        EngineError::Thread(error) => judge_thread(error),
        EngineError::UnknownThread(_) => (Kind::UnknownReference, Some(LIST_THREADS)),
        EngineError::AmbiguousThread { .. } => (Kind::AmbiguousReference, Some("give more of the id")),
        EngineError::ResultWithoutCall => (Kind::Usage, Some("add --tool-call-id ID")),
        EngineError::Content(_) | EngineError::NothingToNote => (Kind::BadContent, None),
        EngineError::Note(error) => judge_note(error),
        EngineError::TooLong { .. } => {
            (Kind::TooLarge, Some("if the model holds more, say so: `rethread config set model.window …`"))
        }
        EngineError::NotAThread(_) => (Kind::NotAThread, Some("`rethread thread new` makes one")),
        EngineError::HasEnded(_) => (Kind::HasEnded, Some("a prompt in it begins a new period of work")),
        EngineError::BadAlias(_) => {
            (Kind::BadContent, Some("an alias is one word of letters, digits, dashes, dots and underscores"))
        }
        EngineError::NothingToAnswer => (Kind::Usage, Some("give a text, or append a tool's result first")),
        EngineError::Stopped => (Kind::Stopped, None),
        EngineError::Model(error) => judge_model(error),
        EngineError::Chat(error) => judge_chat(error),
        EngineError::Memory(_) => (Kind::Bug, Some(REPORT)),
        EngineError::AlreadyWatched(_) => (Kind::Watch, Some("one is enough; stop it first if you want this one")),
        EngineError::AlreadyServed { .. } => (Kind::Serve, Some("one is enough; `rethread open` opens its page")),
        EngineError::Token { .. } => (Kind::Serve, Some("`rethread token --rotate` makes a new one")),
        EngineError::NoText => (Kind::Usage, Some("say what to look for: --matching TEXT")),
    }
}

fn judge_note(error: &BadNote) -> (Kind, Option<&'static str>) {
    match error {
        BadNote::Empty => (Kind::BadContent, None),
        BadNote::Quoted => (Kind::BadContent, Some("say it in your own words")),
        BadNote::TooLong(_) => (Kind::TooLarge, Some("keep what matters")),
        BadNote::TooMany => (Kind::QueueFull, Some("keep what matters, later")),
    }
}

fn judge_install(error: &InstallError) -> (Kind, Option<&'static str>) {
    match error {
        InstallError::NotJson { .. } | InstallError::Shape { .. } => {
            (Kind::BadSettings, Some("nothing was changed; mend the file by hand, then try again"))
        }
        InstallError::File { .. } => (Kind::SettingsFile, Some("look at its owner and permissions")),
        InstallError::Foreign(_) => (Kind::SettingsFile, Some("nothing was changed; move it away, then try again")),
        InstallError::Changed(_) => (Kind::SettingsFile, Some("nothing was changed; try again")),
        InstallError::NoBinary => (Kind::SettingsFile, Some("start rethread by its full path")),
    }
}

fn judge_thread(error: &ThreadError) -> (Kind, Option<&'static str>) {
    match error {
        ThreadError::Missing { .. } | ThreadError::Deleted { .. } => (Kind::UnknownReference, Some(LIST_THREADS)),
        ThreadError::Disk { .. } | ThreadError::Unsure { .. } => {
            (Kind::ThreadDisk, Some("nothing was acknowledged; look at free space and permissions, then try again"))
        }
        ThreadError::Foreign { .. } => (Kind::ThreadDisk, Some("move it away")),
        ThreadError::TooLong { .. } => (Kind::TooLarge, Some("split it")),
        ThreadError::NoSuchCall { .. } => {
            (Kind::NoSuchCall, Some("`rethread thread context REF` shows the calls and their results"))
        }
        ThreadError::QueueFull { .. } => (Kind::QueueFull, Some("wait for them, or raise threads.queue_limit")),
    }
}

fn judge_model(error: &ModelError) -> (Kind, Option<&'static str>) {
    match error {
        ModelError::NotConfigured => {
            (Kind::NoModel, Some("name one: `rethread config set model.provider …` and `… model.name …`"))
        }
        ModelError::NoKey(_) => (Kind::NoModel, Some("set it, or name another with model.key_env or model.key_file")),
        ModelError::KeyFile { .. } => (Kind::NoModel, None),
        ModelError::Chat(error) => judge_chat(error),
    }
}

fn judge_chat(error: &ChatError) -> (Kind, Option<&'static str>) {
    match error {
        ChatError::Budget(Refusal::NoBudget) => {
            (Kind::Budget, Some("set one: `rethread config set budget.daily_usd 1`, or budget.daily_tokens"))
        }
        ChatError::Budget(_) => (Kind::Budget, Some("`rethread status` shows what was spent today")),
        ChatError::Refused { status: 401 | 403, .. } => {
            (Kind::Model, Some("look at the key: model.key_env or model.key_file names it"))
        }
        ChatError::Endpoint { .. } | ChatError::Key => (Kind::BadConfig, Some("see `rethread config show`")),
        _ => (Kind::Model, None),
    }
}

fn judge_store(error: &StoreError) -> (Kind, Option<&'static str>) {
    match error {
        StoreError::Locked { .. } => (Kind::StoreLocked, Some("wait for the other rethread, or stop it")),
        StoreError::Disk { .. } | StoreError::File { .. } => {
            (Kind::StoreDisk, Some("look at free space and permissions"))
        }
        StoreError::Damaged { .. } => {
            (Kind::StoreDamaged, Some("move the file away and run `rethread sync`: all of it can be read again"))
        }
        StoreError::Newer { .. } => (Kind::StoreNewer, Some("update rethread")),
        StoreError::Refused { .. } => (Kind::Bug, Some(REPORT)),
    }
}

/// A message that is an error of its own.
#[derive(Debug)]
struct Said(String);

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Said {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_pipe_is_no_failure_of_anybody() {
        let failure = Failure::from(std::io::Error::from(std::io::ErrorKind::BrokenPipe));
        assert_eq!(failure.kind.exit_code(), 0);
        assert_eq!(Failure::from(std::io::Error::from(std::io::ErrorKind::StorageFull)).kind.exit_code(), 3);
    }

    #[test]
    fn errors_of_the_store_are_told_apart() {
        let newer = StoreError::Newer { path: "x".into(), found: 2, known: 1 };
        assert_eq!((judge_store(&newer).0.code(), judge_store(&newer).0.exit_code()), ("store-newer", 3));
        let file = StoreError::File { path: "x".into(), cause: std::io::ErrorKind::StorageFull.into() };
        assert_eq!(judge_store(&file).0.exit_code(), 3);
    }
}
