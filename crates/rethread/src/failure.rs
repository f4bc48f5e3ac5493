//! Failures of commands: error code, exit code, message, and hints on what to do next.

use std::error::Error;
use std::fmt;

use rethread_engine::{
    AskError, BudgetRefusal, ChatError, ConfigError, CopyError, EngineError, ImportError, IndexError, InstallError,
    InvalidNote, MemberError, ModelError, StoreError, ThreadError,
};
use rethread_model::Session;
use rethread_model::thread::UNNAMED_THREAD;

pub(crate) use crate::failure_kind::FailureKind;

const REPORT_BUG_HINT: &str =
    "this is a bug in rethread: please report it with the lines above and the command you ran";

/// Candidates listed for an ambiguous reference to a thread or file.
const MAX_CANDIDATES: usize = 5;
const SHARED_HOME_HINT: &str =
    "check that all files in it are yours, then run `chmod 700` on it, or use another directory with --home";
const LIST_THREADS_HINT: &str = "run `rethread thread list` to see all threads";

/// A command that failed.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) kind: FailureKind,
    pub(crate) source: Box<dyn Error + Send + Sync>,
    pub(crate) hints: Vec<String>,
    /// The sessions that an ambiguous reference matches.
    pub(crate) candidates: Vec<Session>,
    /// The code in JSON, where an interface defines other codes than `kind`.
    pub(crate) code: Option<&'static str>,
}

impl Failure {
    /// A failure without an underlying error.
    pub(crate) fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self::from_error(kind, PlainError(message.into()))
    }

    /// Adds a hint on what to do next.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// A turn that could not be completed.
    pub(crate) fn from_turn_error(error: EngineError) -> Self {
        let failure = Self::from(error);
        match failure.kind {
            // The text is stored already, so it must not be sent a second time.
            FailureKind::Model => {
                failure.hint("the message is stored in the thread: send again without a text to retry")
            }
            _ => failure,
        }
    }

    /// A model's answer that was interrupted in the middle of a turn.
    pub(crate) fn from_interrupted_answer(error: &ChatError) -> Self {
        let failure = Self::from(EngineError::from(error.clone()));
        failure.hint("the partial answer is stored in the thread: send a message to continue from there")
    }

    /// Replaces the code by the one that an interface defines.
    pub(crate) fn with_code(self, code: &'static str) -> Self {
        Self { code: Some(code), ..self }
    }

    fn from_error(kind: FailureKind, source: impl Error + Send + Sync + 'static) -> Self {
        Self { kind, source: Box::new(source), hints: Vec::new(), candidates: Vec::new(), code: None }
    }

    /// Messages of the underlying errors, closest first.
    pub(crate) fn causes(&self) -> Vec<String> {
        let mut causes = Vec::new();
        let mut next = self.source.source();
        while let Some(cause) = next {
            let message = cause.to_string();
            // Some libraries repeat the message of their source with an error number before it.
            if !causes.last().is_some_and(|before: &String| message.ends_with(before.as_str())) {
                causes.push(message);
            }
            next = cause.source();
        }
        causes
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        let (kind, hint) = classify(&error);
        let mut failure = match error {
            EngineError::AmbiguousReference { reference, candidates } => {
                let message = format!("{reference:?} matches {} sessions", candidates.len());
                Self { candidates, ..Self::new(kind, message) }
            }
            EngineError::SimilarReference { reference, candidates } => {
                Self { candidates, ..Self::new(kind, format!("no session matches {reference:?}; did you mean")) }
            }
            other @ EngineError::AmbiguousThread { .. } => {
                let named = thread_candidates(&other);
                Self::from_error(kind, other).hint(named)
            }
            EngineError::AmbiguousFile { path, candidates } => {
                let message = format!("{path:?} matches {} files", candidates.len());
                let named: Vec<&str> = candidates.iter().take(MAX_CANDIDATES).map(String::as_str).collect();
                Self::new(kind, message).hint(format!("candidates: {}", named.join("; ")))
            }
            other => Self::from_error(kind, other),
        };
        failure.hints.extend(hint.map(str::to_owned));
        failure
    }
}

impl From<AskError> for Failure {
    fn from(error: AskError) -> Self {
        let code = error.code();
        let (kind, hint) = match &error {
            AskError::InvalidArgs(_) => (FailureKind::Usage, None),
            AskError::CallLimit { .. } => (FailureKind::Budget, Some("ask again in the next turn, or use --no-model")),
            AskError::FileMissing { .. } | AskError::SessionEmpty => (FailureKind::NotFound, None),
            AskError::ParseFailed { .. } => (FailureKind::NotFound, Some("run `rethread doctor` for details")),
            AskError::Model(error) => classify_model(error),
            AskError::Chat(error) => classify_chat(error),
            AskError::InvalidOutput(_) => (FailureKind::Model, None),
            AskError::Engine(_) => (FailureKind::Internal, None),
        };
        let is_of_a_model = code.starts_with("QUERY_");
        let mut failure = match error {
            AskError::Engine(error) => Self::from(error),
            other => Self { hints: hint.map(str::to_owned).into_iter().collect(), ..Self::from_error(kind, other) },
        };
        if is_of_a_model {
            failure = failure.hint("use --no-model to quote the best matching passages at no cost");
        }
        Self { code: Some(code), ..failure }
    }
}

/// Lists the threads that an ambiguous reference matches.
fn thread_candidates(error: &EngineError) -> String {
    let EngineError::AmbiguousThread { candidates, .. } = error else { return String::new() };
    let named = candidates.iter().take(MAX_CANDIDATES);
    let named = named.map(|thread| format!("{} {}", thread.id, thread.name.as_deref().unwrap_or(UNNAMED_THREAD)));
    format!("candidates: {}", named.collect::<Vec<_>>().join("; "))
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        EngineError::from(error).into()
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        let closed = error.kind() == std::io::ErrorKind::BrokenPipe;
        Self::from_error(if closed { FailureKind::ClosedPipe } else { FailureKind::Output }, error)
    }
}

fn classify(error: &EngineError) -> (FailureKind, Option<&'static str>) {
    match error {
        EngineError::Store(error) | EngineError::Index(IndexError::Store(error)) => classify_store(error),
        EngineError::Index(_) => (FailureKind::Index, Some("run `rethread rebuild --index-only` to rebuild it")),
        EngineError::Config(error) => classify_config(error),
        EngineError::Install(error) => classify_install(error),
        EngineError::Exclude(_) => {
            (FailureKind::InvalidConfig, Some("run `rethread config get intake.exclude` to see the patterns"))
        }
        EngineError::Agent(_) => {
            (FailureKind::UnknownAgent, Some("run `rethread config get intake.agents` to see the configured agents"))
        }
        EngineError::Folder { .. } => {
            (FailureKind::HomeUnusable, Some("use another directory with --home or RETHREAD_HOME"))
        }
        EngineError::SpoolBusy(_) => (FailureKind::StoreLocked, Some("try again in a moment")),
        EngineError::SharedHome { .. } => (FailureKind::HomeUnusable, Some(SHARED_HOME_HINT)),
        EngineError::PathNotFound(_) | EngineError::UnknownEntry { .. } => (FailureKind::NotFound, None),
        EngineError::UnknownReference(_) | EngineError::SimilarReference { .. } => (
            FailureKind::UnknownReference,
            Some("run `rethread sessions --all-projects` to see all sessions, or `rethread sync` to read new ones"),
        ),
        EngineError::ShortReference(_) => {
            (FailureKind::UnknownReference, Some("run `rethread sessions --all-projects` to see all sessions"))
        }
        EngineError::UnknownLine { .. } => {
            (FailureKind::NotFound, Some("run `rethread show REF` to see the session without a line"))
        }
        EngineError::InvalidTime(_) => (
            FailureKind::InvalidTime,
            Some("use a date (2026-03-14), RFC 3339 (2026-03-14T12:00:00Z), \"yesterday\", \"last week\" or \"7d\""),
        ),
        EngineError::AmbiguousReference { .. } => {
            (FailureKind::AmbiguousReference, Some("use more characters of the id, or the full name"))
        }
        EngineError::AmbiguousFile { .. } => (FailureKind::AmbiguousReference, Some("use more of the path")),
        EngineError::Member(error) => classify_member(error),
        EngineError::Copy(error) => classify_copy(error),
        EngineError::Thread(error) => classify_thread(error),
        EngineError::UnknownThread(_) => (FailureKind::UnknownReference, Some(LIST_THREADS_HINT)),
        EngineError::AmbiguousThread { .. } => (FailureKind::AmbiguousReference, Some("use more characters of the id")),
        EngineError::MissingToolCallId => (FailureKind::Usage, Some("add --tool-call-id ID")),
        EngineError::Content(_) | EngineError::EmptyNote | EngineError::Tag(_) => (FailureKind::InvalidContent, None),
        EngineError::Note(error) => classify_note(error),
        EngineError::ContextTooLong { .. } => (
            FailureKind::TooLarge,
            Some("if the model has a larger window, run `rethread config set model.window TOKENS`"),
        ),
        EngineError::NotAThread(_) => (FailureKind::NotAThread, Some("run `rethread thread new` to create a thread")),
        EngineError::SessionEnded(_) => (
            FailureKind::SessionEnded,
            Some("continue it with `rethread resume REF`; its next prompt makes it active again"),
        ),
        EngineError::InvalidAlias(_) => (
            FailureKind::InvalidContent,
            Some("use one word of letters, digits, dashes, dots and underscores: `rethread session alias REF ALIAS`"),
        ),
        EngineError::PurgeOfSharedStore => (FailureKind::Usage, Some("run without --store")),
        EngineError::Import(error) => classify_import(error),
        EngineError::ThreadLog(_) => (
            FailureKind::InvalidContent,
            Some("add --allow-damaged to import the log as it is; readers skip these lines"),
        ),
        EngineError::NothingToAnswer => {
            (FailureKind::Usage, Some("pass a text, or append a tool result first with `rethread thread append`"))
        }
        EngineError::Stopped => (FailureKind::Stopped, None),
        EngineError::Model(error) => classify_model(error),
        EngineError::Chat(error) => classify_chat(error),
        EngineError::SerializeState(_) => (FailureKind::Internal, Some(REPORT_BUG_HINT)),
        EngineError::MemoryDeleted(_) => (FailureKind::StoreUnavailable, Some("run it again to start a new one")),
        EngineError::WatchAlreadyRunning(_)
        | EngineError::PurgeWhileWatched(_)
        | EngineError::ServerNotStopped { .. }
        | EngineError::ServerAlreadyRunning { .. } => classify_other_process(error),
        EngineError::Token { .. } => (FailureKind::Serve, Some("run `rethread token --rotate` to create a new one")),
        EngineError::EmptySearchText => (FailureKind::Usage, Some("pass the text to search for: --matching TEXT")),
    }
}

/// Another process of Rethread is in the way.
fn classify_other_process(error: &EngineError) -> (FailureKind, Option<&'static str>) {
    let (kind, hint) = match error {
        EngineError::WatchAlreadyRunning(_) => {
            (FailureKind::Watch, "one watcher is enough; stop the running one first to replace it")
        }
        EngineError::PurgeWhileWatched(_) => (FailureKind::Watch, "stop it first, with Ctrl-C in its terminal"),
        EngineError::ServerNotStopped { .. } => (FailureKind::Serve, "stop it first: kill the process named above"),
        _ => (FailureKind::Serve, "run `rethread open` to open its web UI"),
    };
    (kind, Some(hint))
}

fn classify_config(error: &ConfigError) -> (FailureKind, Option<&'static str>) {
    match error {
        ConfigError::File { .. } => {
            (FailureKind::ConfigFile, Some("check its owner and permissions, or use another directory with --home"))
        }
        ConfigError::UnknownKey(_) => {
            (FailureKind::InvalidConfig, Some("run `rethread config show` to see all settings"))
        }
        ConfigError::NotToml { .. } | ConfigError::InvalidFile { .. } => (
            FailureKind::InvalidConfig,
            Some("fix the file, or move it away; `rethread config path` prints where it is"),
        ),
        _ => (FailureKind::InvalidConfig, None),
    }
}

fn classify_note(error: &InvalidNote) -> (FailureKind, Option<&'static str>) {
    match error {
        InvalidNote::Empty => (FailureKind::InvalidContent, None),
        InvalidNote::QuotesInjection => (FailureKind::InvalidContent, Some("write it in your own words")),
        InvalidNote::TooLong(_) => (FailureKind::TooLarge, Some("shorten it")),
        InvalidNote::TooMany => (FailureKind::QueueFull, Some("try again later, with fewer notes")),
    }
}

fn classify_install(error: &InstallError) -> (FailureKind, Option<&'static str>) {
    match error {
        InstallError::Invalid { .. } | InstallError::UnexpectedValue { .. } => {
            (FailureKind::InvalidSettings, Some("nothing was changed; fix the file by hand, then try again"))
        }
        InstallError::Unclear { .. } => (FailureKind::InvalidSettings, Some("nothing was changed")),
        InstallError::NotRemovable(_) => {
            (FailureKind::InvalidSettings, Some("nothing was changed; remove them by hand, then try again"))
        }
        InstallError::NoProjectScope(_) | InstallError::ProjectIsHome(_) => {
            (FailureKind::Usage, Some("run without --project"))
        }
        InstallError::OnlyServer(_) => (FailureKind::Usage, Some("add --mcp")),
        InstallError::NoServer(_) => (FailureKind::Usage, Some("run without --mcp or without --project")),
        InstallError::File { .. } => (FailureKind::SettingsFile, Some("check its owner and permissions")),
        InstallError::ReadOnly(_) => (
            FailureKind::SettingsFile,
            Some("nothing was changed; allow writing with `chmod u+w FILE`, then try again"),
        ),
        InstallError::NotOurs(_) => {
            (FailureKind::SettingsFile, Some("nothing was changed; move the file away, then try again"))
        }
        InstallError::Changed(_) => (FailureKind::SettingsFile, Some("nothing was changed; try again")),
        InstallError::NoBinary => (FailureKind::SettingsFile, Some("run rethread with its full path")),
    }
}

fn classify_thread(error: &ThreadError) -> (FailureKind, Option<&'static str>) {
    match error {
        ThreadError::Missing { .. } | ThreadError::Deleted { .. } => {
            (FailureKind::UnknownReference, Some(LIST_THREADS_HINT))
        }
        ThreadError::Disk { .. } | ThreadError::FailedEarlier { .. } => (
            FailureKind::ThreadDisk,
            Some("nothing was confirmed as stored; check free space and permissions, then try again"),
        ),
        ThreadError::NotRegularFile { .. } => (FailureKind::ThreadDisk, Some("move the file away")),
        ThreadError::TooLong { .. } => (FailureKind::TooLarge, Some("split it into several messages")),
        ThreadError::NoSuchCall { .. } => (
            FailureKind::UnknownToolCall,
            Some("run `rethread thread context REF` to see the tool calls and their results"),
        ),
        ThreadError::Exists { .. } => {
            (FailureKind::ThreadExists, Some("choose another one, or run `rethread thread import FILE --new-id`"))
        }
        ThreadError::TurnLost { .. } => (FailureKind::TurnLost, Some("send the message again")),
        ThreadError::ClientIdTaken { .. } => (FailureKind::ClientIdTaken, Some("use a new client id for each message")),
        ThreadError::Database { cause } => classify_store(cause),
        ThreadError::QueueFull { .. } => {
            (FailureKind::QueueFull, Some("wait for the queued turns, or raise threads.queue_limit"))
        }
    }
}

fn classify_copy(error: &CopyError) -> (FailureKind, Option<&'static str>) {
    match error {
        CopyError::NoStore(_) => {
            (FailureKind::NotFound, Some("check the path, or run `rethread sync` first if it is your own store"))
        }
        CopyError::OutdatedSource { .. } => (
            FailureKind::StoreOutdated,
            Some("run `rethread --home FOLDER sync` with this version first: it migrates the store"),
        ),
        CopyError::UnknownSpace { .. } => {
            (FailureKind::NotFound, Some("leave ?space=NAME out of FROM to copy all its spaces"))
        }
        CopyError::SeveralSpaces { .. } => (
            FailureKind::Usage,
            Some("name one of them in FROM with ?space=NAME, or leave it out of TO to keep all names"),
        ),
        CopyError::SameSpace(_) => (FailureKind::Usage, Some("name another space in TO with ?space=NAME")),
        CopyError::NotEmpty { .. } => {
            (FailureKind::Conflict, Some("nothing was copied; name another space in TO with ?space=NAME"))
        }
        CopyError::Different { .. } => (
            FailureKind::StoreDiffers,
            Some("nothing was stored; run it again, and check the source with `rethread debug verify`"),
        ),
        CopyError::Store(error) => classify_store(error),
        CopyError::Thread(error) => classify_thread(error),
    }
}

fn classify_member(error: &MemberError) -> (FailureKind, Option<&'static str>) {
    match error {
        MemberError::UnknownSpace(_) => (
            FailureKind::NotFound,
            Some(
                "run `rethread admin space list` to see all spaces, or create it with `rethread admin space new NAME`",
            ),
        ),
        MemberError::SpaceExists(_) => {
            (FailureKind::Conflict, Some("run `rethread admin space list` to see all spaces"))
        }
        MemberError::UnknownMember(_) => {
            (FailureKind::NotFound, Some("run `rethread admin member list` to see all members"))
        }
        MemberError::MemberExists(_) => (
            FailureKind::Conflict,
            Some("run `rethread admin member rotate NAME` for a new token; to change the role, revoke it first"),
        ),
        MemberError::LastAdmin(_) => {
            (FailureKind::Conflict, Some("add another one first: `rethread admin member add NAME --role admin`"))
        }
        MemberError::UnknownToken(_) => {
            (FailureKind::NotFound, Some("run `rethread admin token list` to see all tokens"))
        }
        MemberError::ScopeExceedsRole { .. } => {
            (FailureKind::Usage, Some("reader: read; member: read,write; admin: read,write,admin; service: write"))
        }
        MemberError::Random(_) => (FailureKind::Internal, Some(REPORT_BUG_HINT)),
        MemberError::Store(error) => classify_store(error),
    }
}

fn classify_model(error: &ModelError) -> (FailureKind, Option<&'static str>) {
    match error {
        ModelError::NotConfigured => (
            FailureKind::NoModel,
            Some("run `rethread config set model.provider PROVIDER` and `rethread config set model.name MODEL`"),
        ),
        ModelError::MissingKey(_) => {
            (FailureKind::NoModel, Some("set the variable, or configure model.key_env or model.key_file"))
        }
        ModelError::KeyFile { .. } => (FailureKind::NoModel, None),
        ModelError::Chat(error) => classify_chat(error),
    }
}

fn classify_chat(error: &ChatError) -> (FailureKind, Option<&'static str>) {
    match error {
        ChatError::Budget(BudgetRefusal::NoBudget) => {
            (FailureKind::Budget, Some("run `rethread config set budget.daily_usd 1`, or set budget.daily_tokens"))
        }
        ChatError::Budget(_) => (FailureKind::Budget, Some("run `rethread status` to see what was spent today")),
        ChatError::HttpStatus { status: 401 | 403, .. } => {
            (FailureKind::Model, Some("check the API key configured by model.key_env or model.key_file"))
        }
        ChatError::InvalidEndpoint { .. } | ChatError::InvalidKey => {
            (FailureKind::InvalidConfig, Some("run `rethread config show` to check the model settings"))
        }
        _ => (FailureKind::Model, None),
    }
}

fn classify_import(error: &ImportError) -> (FailureKind, Option<&'static str>) {
    match error {
        ImportError::NotAnExport => {
            (FailureKind::InvalidContent, Some("write one with `rethread export --output FILE`"))
        }
        ImportError::Compressed => (FailureKind::InvalidContent, Some("run `gunzip -c FILE | rethread import -`")),
        ImportError::Version { .. } => {
            (FailureKind::InvalidContent, Some("use the version of rethread that wrote it, or a newer one"))
        }
        ImportError::Read(_) => (FailureKind::Output, Some("run the import again: it continues")),
    }
}

fn classify_store(error: &StoreError) -> (FailureKind, Option<&'static str>) {
    match error {
        StoreError::Locked { .. } => {
            (FailureKind::StoreLocked, Some("wait for the other rethread process, or stop it"))
        }
        StoreError::Disk { .. } | StoreError::Create { .. } => {
            (FailureKind::StoreDisk, Some("check free space and permissions"))
        }
        StoreError::Damaged { .. } => (
            FailureKind::StoreDamaged,
            Some("run `rethread rebuild`: it keeps the file, begins a new store and carries over what can be read"),
        ),
        StoreError::Newer { .. } => {
            (FailureKind::StoreNewer, Some("update rethread to the version that wrote it, or newer"))
        }
        StoreError::Outdated { .. } => (
            FailureKind::StoreOutdated,
            Some("run `rethread sync`: it keeps the file, begins a new store and carries everything over"),
        ),
        StoreError::NotMigrated { .. } => {
            (FailureKind::StoreOutdated, Some("run `rethread serve --migrate` with this version on one node"))
        }
        StoreError::Unavailable { .. } => (
            FailureKind::StoreUnavailable,
            Some("check the address, the password and whether the server runs; nothing was stored"),
        ),
        StoreError::UnknownOutcome { .. } => {
            (FailureKind::StoreUnavailable, Some("read again to see whether the change was stored"))
        }
        StoreError::Rejected { .. } => (FailureKind::Internal, Some(REPORT_BUG_HINT)),
    }
}

/// A plain message as an error.
#[derive(Debug)]
struct PlainError(String);

impl fmt::Display for PlainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for PlainError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closed_pipe_exits_with_0() {
        let failure = Failure::from(std::io::Error::from(std::io::ErrorKind::BrokenPipe));
        assert_eq!(failure.kind.exit_code(), 0);
        assert_eq!(Failure::from(std::io::Error::from(std::io::ErrorKind::StorageFull)).kind.exit_code(), 3);
    }

    #[test]
    fn store_errors_have_distinct_codes() {
        let newer = StoreError::Newer { path: "x".into(), found: 2, known: 1 };
        assert_eq!((classify_store(&newer).0.code(), classify_store(&newer).0.exit_code()), ("store-newer", 3));
        let file = StoreError::Create { path: "x".into(), cause: std::io::ErrorKind::StorageFull.into() };
        assert_eq!(classify_store(&file).0.exit_code(), 3);
    }
}
