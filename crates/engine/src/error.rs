//! Why a verb could not be done. Each error knows whose fault it is and what to do next.

use std::path::PathBuf;

use rethread_index::IndexError;
use rethread_ingest::source::exclude::BadPattern;
use rethread_llm::ChatError;
use rethread_model::thread::Metadata;
use rethread_model::{Session, SessionId, UnknownAgent};
use rethread_recall::SearchError;
use rethread_store::{StoreError, ThreadError};

use crate::{BadContent, BadNote, ConfigError, InstallError, ModelError};

/// Why a verb could not be done.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The search index.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The configuration.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The settings of an agent.
    #[error(transparent)]
    Install(#[from] InstallError),
    /// A pattern in the configuration.
    #[error(transparent)]
    Exclude(#[from] BadPattern),
    /// An agent nobody knows.
    #[error(transparent)]
    Agent(#[from] UnknownAgent),
    /// Our own directory.
    #[error("the directory {} cannot be used", path.display())]
    Folder {
        /// The directory.
        path: PathBuf,
        /// What the system says.
        #[source]
        cause: std::io::Error,
    },
    /// A path given by the user does not exist.
    #[error("there is nothing at {}", .0.display())]
    NothingThere(PathBuf),
    /// No session fits a reference.
    #[error("no session fits {0:?}")]
    UnknownReference(String),
    /// A time given by the user cannot be understood.
    #[error("{0:?} is no time")]
    BadTime(String),
    /// A text to look for without any character that is seen.
    #[error("there is no text to look for")]
    NoText,
    /// Several files that something is known of end like the path that was given.
    #[error("{path:?} fits {} files", candidates.len())]
    AmbiguousFile {
        /// The path as given.
        path: String,
        /// Those that fit.
        candidates: Vec<String>,
    },
    /// Several sessions fit a reference.
    #[error("{reference:?} fits {} sessions", candidates.len())]
    AmbiguousReference {
        /// The reference.
        reference: String,
        /// Those that fit.
        candidates: Vec<Session>,
    },
    /// A thread.
    #[error(transparent)]
    Thread(#[from] ThreadError),
    /// No thread fits a reference.
    #[error("no thread fits {0:?}")]
    UnknownThread(String),
    /// Several threads fit a reference.
    #[error("{reference:?} fits {} threads", candidates.len())]
    AmbiguousThread {
        /// The reference.
        reference: String,
        /// Those that fit.
        candidates: Vec<Metadata>,
    },
    /// A tool's result that does not say which call it answers.
    #[error("a tool's result must name the call it answers")]
    ResultWithoutCall,
    /// A message that no provider takes.
    #[error(transparent)]
    Content(#[from] BadContent),
    /// A note that is not taken.
    #[error(transparent)]
    Note(#[from] BadNote),
    /// What a model would get is more than it holds, also after a compaction.
    #[error("about {tokens} tokens do not fit into the model's window of {window}")]
    TooLong {
        /// By estimate.
        tokens: u64,
        /// What the model holds.
        window: u64,
    },
    /// A session of an agent, where only a thread of ours will do.
    #[error("the session {0} is kept by its agent; only a thread of ours can do that")]
    NotAThread(SessionId),
    /// A session that has ended cannot be paused.
    #[error("the session {0} has ended")]
    HasEnded(SessionId),
    /// A text that cannot be a short name.
    #[error("{0:?} is no alias")]
    BadAlias(String),
    /// A note without any text.
    #[error("there is nothing to note")]
    NothingToNote,
    /// Nobody has said anything that a model could answer.
    #[error("there is nothing to answer in this thread")]
    NothingToAnswer,
    /// Whoever waited was told to stop. Nothing was done.
    #[error("stopped while waiting for the turn")]
    Stopped,
    /// There is no model to ask.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The model gave nothing.
    #[error(transparent)]
    Chat(#[from] ChatError),
    /// A part of a session's memory could not be written down: a mistake of ours.
    #[error("the memory of a session cannot be written")]
    Memory(#[source] serde_json::Error),
    /// The token of the server.
    #[error("the token {} cannot be used", path.display())]
    Token {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        cause: std::io::Error,
    },
    /// Another process serves already.
    #[error("another rethread serves already{}", told(says.as_ref()))]
    AlreadyServed {
        /// What it says of itself.
        says: Option<serde_json::Value>,
    },
    /// Another process watches already.
    #[error("another rethread watches for {} already", .0.display())]
    AlreadyWatched(PathBuf),
}

impl From<SearchError> for EngineError {
    fn from(error: SearchError) -> Self {
        match error {
            SearchError::Index(error) => Self::Index(error),
            SearchError::Store(error) => Self::Store(error),
        }
    }
}

/// Who serves, and where, as it says itself.
fn told(says: Option<&serde_json::Value>) -> String {
    let Some(says) = says else { return String::new() };
    let at = says.get("url").and_then(serde_json::Value::as_str).map(|url| format!(" at {url}"));
    let by = says.get("pid").map(|pid| format!(" (process {pid})"));
    at.unwrap_or_default() + &by.unwrap_or_default()
}
