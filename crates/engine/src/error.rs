//! Errors of the engine. Exit codes and hints are added by the command line.

use std::path::PathBuf;

use rethread_index::IndexError;
use rethread_ingest::source::exclude::InvalidPattern;
use rethread_llm::ChatError;
use rethread_model::thread::ThreadMetadata;
use rethread_model::{Session, SessionId, UnknownAgent};
use rethread_recall::SearchError;
use rethread_store::{CopyError, MemberError, StoreError, ThreadError};

use crate::{
    ConfigError, ImportError, InstallError, InvalidMessageContent, InvalidNote, InvalidTag, InvalidThreadLog,
    ModelError,
};

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The search index failed.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The configuration is invalid or could not be changed.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// An agent's settings could not be read or changed.
    #[error(transparent)]
    Install(#[from] InstallError),
    /// An exclude pattern in the configuration is invalid.
    #[error(transparent)]
    Exclude(#[from] InvalidPattern),
    /// The configuration or the caller named an unknown agent.
    #[error(transparent)]
    Agent(#[from] UnknownAgent),
    /// Our own directory, or a file in it, cannot be used.
    #[error("cannot use {}", path.display())]
    Folder {
        /// The directory or file.
        path: PathBuf,
        /// The error of the operating system.
        #[source]
        cause: std::io::Error,
    },
    /// Another process delivers hook events for longer than the caller was willing to wait.
    #[error("another process delivers the hook events, see {}", .0.display())]
    SpoolBusy(PathBuf),
    /// All users can write to our directory.
    #[error("all users can write to {} (mode {mode:04o})", path.display())]
    SharedHome {
        /// Our directory.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// A path given by the user does not exist.
    #[error("path \"{}\" does not exist", .0.display())]
    PathNotFound(PathBuf),
    /// No session matches a reference.
    #[error("no session matches {0:?}")]
    UnknownReference(String),
    /// No session matches a reference, but some have a similar name.
    #[error("no session matches {reference:?}")]
    SimilarReference {
        /// The reference as given.
        reference: String,
        /// Sessions with a similar name.
        candidates: Vec<Session>,
    },
    /// A reference that begins the ids of sessions, but is too short.
    #[error("{0:?} is too short for an id: use at least 4 characters")]
    ShortReference(String),
    /// An entry that the session does not have.
    #[error("session {session} has no entry {seq}")]
    UnknownEntry {
        /// The session.
        session: SessionId,
        /// The position among its entries.
        seq: u64,
    },
    /// A citation of a line that the transcript does not have.
    #[error("session {session} has no line {line}: its last line is {last}")]
    UnknownLine {
        /// The session.
        session: SessionId,
        /// The cited line.
        line: u64,
        /// The last line with an entry.
        last: u64,
    },
    /// A time given by the user cannot be parsed.
    #[error("invalid time {0:?}")]
    InvalidTime(String),
    /// A search text without any visible character.
    #[error("the search text is empty")]
    EmptySearchText,
    /// Several known files end with the given path.
    #[error("{path:?} matches {} files", candidates.len())]
    AmbiguousFile {
        /// The path as given.
        path: String,
        /// The matching files.
        candidates: Vec<String>,
    },
    /// Several sessions match a reference.
    #[error("{reference:?} matches {} sessions", candidates.len())]
    AmbiguousReference {
        /// The reference as given.
        reference: String,
        /// The matching sessions.
        candidates: Vec<Session>,
    },
    /// A change of spaces, members or tokens was refused.
    #[error(transparent)]
    Member(MemberError),
    /// A store could not be copied.
    #[error(transparent)]
    Copy(CopyError),
    /// A thread's log cannot be read or written.
    #[error(transparent)]
    Thread(#[from] ThreadError),
    /// No thread matches a reference.
    #[error("no thread matches {0:?}")]
    UnknownThread(String),
    /// Several threads match a reference.
    #[error("{reference:?} matches {} threads", candidates.len())]
    AmbiguousThread {
        /// The reference as given.
        reference: String,
        /// The matching threads.
        candidates: Vec<ThreadMetadata>,
    },
    /// A tool result without the id of its call.
    #[error("a tool result needs the id of its tool call")]
    MissingToolCallId,
    /// A message that no provider accepts.
    #[error(transparent)]
    Content(#[from] InvalidMessageContent),
    /// A note that was rejected.
    #[error(transparent)]
    Note(#[from] InvalidNote),
    /// The context exceeds the model's window, even after a compaction.
    #[error("the context of about {tokens} tokens exceeds the model's window of {window} tokens")]
    ContextTooLong {
        /// Estimated tokens of the context.
        tokens: u64,
        /// Tokens the model accepts.
        window: u64,
    },
    /// A session of an agent was given where a thread is needed.
    #[error("session {0} belongs to an agent; this works only for threads")]
    NotAThread(SessionId),
    /// A session that has ended cannot be suspended.
    #[error("session {0} has already ended")]
    SessionEnded(SessionId),
    /// A text that cannot be used as an alias.
    #[error("invalid alias {0:?}")]
    InvalidAlias(String),
    /// A tag that was refused.
    #[error(transparent)]
    Tag(#[from] InvalidTag),
    /// A note without any text.
    #[error("the note is empty")]
    EmptyNote,
    /// A log to be imported has lines that are not records. Nothing was imported.
    #[error(transparent)]
    ThreadLog(#[from] InvalidThreadLog),
    /// A store on a server cannot be deleted from here: it may be used by others.
    #[error("the store is on a server: only its operator can delete it")]
    PurgeOfSharedStore,
    /// A file could not be imported.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// The last message of the thread is not one that a model answers.
    #[error("this thread has no message to answer")]
    NothingToAnswer,
    /// The caller was stopped while waiting. Nothing was done.
    #[error("stopped while waiting in the thread's queue")]
    Stopped,
    /// No model can be used.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The request to the model failed.
    #[error(transparent)]
    Chat(#[from] ChatError),
    /// The state of a session could not be serialized: a bug.
    #[error("cannot serialize the state of a session")]
    SerializeState(#[source] serde_json::Error),
    /// The file with the server's API token cannot be used.
    #[error("cannot use the token file {}", path.display())]
    Token {
        /// The token file.
        path: PathBuf,
        /// Why it cannot be used.
        #[source]
        cause: std::io::Error,
    },
    /// Another process runs the server for this home.
    #[error("a server is already running{}", server_description(server_info.as_ref()))]
    ServerAlreadyRunning {
        /// What that server published about itself: URL and process id.
        server_info: Option<serde_json::Value>,
    },
    /// The server was asked to stop and still runs.
    #[error("the server{} did not stop", server_description(Some(server_info)))]
    ServerNotStopped {
        /// What that server published about itself: URL and process id.
        server_info: serde_json::Value,
    },
    /// The memory was deleted while this process used it. It must not come back.
    #[error("the memory in {} was deleted", .0.display())]
    MemoryDeleted(PathBuf),
    /// `rethread watch` uses the directory that is to be deleted.
    #[error("`rethread watch` is running for {}", .0.display())]
    PurgeWhileWatched(PathBuf),
    /// Another process runs `rethread watch` for this home.
    #[error("`rethread watch` is already running for {}", .0.display())]
    WatchAlreadyRunning(PathBuf),
}

impl From<SearchError> for EngineError {
    fn from(error: SearchError) -> Self {
        match error {
            SearchError::Index(error) => Self::Index(error),
            SearchError::Store(error) => Self::Store(error),
        }
    }
}

impl From<CopyError> for EngineError {
    fn from(error: CopyError) -> Self {
        match error {
            CopyError::Store(error) => Self::Store(error),
            CopyError::Thread(error) => Self::Thread(error),
            other => Self::Copy(other),
        }
    }
}

impl From<MemberError> for EngineError {
    fn from(error: MemberError) -> Self {
        match error {
            MemberError::Store(error) => Self::Store(error),
            other => Self::Member(other),
        }
    }
}

/// URL and process id of the running server, as the end of a sentence.
fn server_description(server: Option<&serde_json::Value>) -> String {
    let Some(server) = server else { return String::new() };
    let at = server.get("url").and_then(serde_json::Value::as_str).map(|url| format!(" at {url}"));
    let pid = server.get("pid").map(|pid| format!(" (pid {pid})"));
    at.unwrap_or_default() + &pid.unwrap_or_default()
}

impl EngineError {
    /// Whether another process kept the store locked for longer than the caller was willing to wait.
    pub(crate) fn is_locked(&self) -> bool {
        matches!(
            self,
            EngineError::Store(StoreError::Locked { .. })
                | EngineError::SpoolBusy(_)
                | EngineError::Index(IndexError::Store(StoreError::Locked { .. }))
        )
    }

    /// Whether the server of the store could not be reached or the connection was lost.
    pub(crate) fn is_lost_connection(&self) -> bool {
        match self {
            EngineError::Store(error) | EngineError::Index(IndexError::Store(error)) => error.is_lost_connection(),
            EngineError::Thread(ThreadError::Database { cause }) => cause.is_lost_connection(),
            _ => false,
        }
    }
}

/// The error and its direct cause, in one line.
pub(crate) fn error_with_cause(error: impl std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"))
}
