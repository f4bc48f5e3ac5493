//! Why a question was not answered, each with the code that callers rely on (E001-15).

use rethread_llm::ChatError;

use crate::{EngineError, ModelError};

/// Why a question was not answered.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// What was asked makes no sense.
    #[error("{0}")]
    InvalidArgs(String),
    /// The agent has asked often enough in this turn.
    #[error("a model may be asked {most}× in a turn, and was")]
    CallLimit {
        /// What is allowed.
        most: u64,
    },
    /// The transcript is gone, and nothing of it was stored before.
    #[error("the transcript {path} is gone, and nothing that was said in it was read before")]
    FileMissing {
        /// Where it was.
        path: String,
    },
    /// Nothing of the transcript could be understood.
    #[error("nothing that was said could be found in {path}; line {line}: {message}")]
    ParseFailed {
        /// The transcript.
        path: String,
        /// The first line that could not be read.
        line: u64,
        /// What is wrong with it.
        message: String,
    },
    /// Nobody said anything in it.
    #[error("nothing was said in this session")]
    Empty,
    /// There is no model to ask.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The model may not be asked, did not answer, or answered what cannot be used.
    #[error(transparent)]
    Chat(#[from] ChatError),
    /// The answer of the model has the right shape and says nothing.
    #[error("the model's answer cannot be used: {0}")]
    InvalidOutput(String),
    /// Something else.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl AskError {
    /// The code that callers rely on.
    pub fn code(&self) -> &'static str {
        match self {
            AskError::InvalidArgs(_) => "INVALID_ARGS",
            AskError::CallLimit { .. } => "CALL_LIMIT_EXCEEDED",
            AskError::FileMissing { .. } => "SESSION_FILE_MISSING",
            AskError::ParseFailed { .. } => "SESSION_PARSE_FAILED",
            AskError::Empty => "SESSION_EMPTY",
            AskError::Model(ModelError::Chat(error)) | AskError::Chat(error) => code_of(error),
            AskError::Model(_) => "QUERY_MODEL_UNAVAILABLE",
            AskError::InvalidOutput(_) => "QUERY_INVALID_OUTPUT",
            AskError::Engine(EngineError::UnknownReference(_)) => "SESSION_NOT_FOUND",
            AskError::Engine(EngineError::AmbiguousReference { .. }) => "SESSION_AMBIGUOUS",
            AskError::Engine(_) => "UNKNOWN",
        }
    }

    /// Whether nothing reached a model.
    pub(super) fn was_not_sent(&self) -> bool {
        !matches!(
            self,
            AskError::InvalidOutput(_)
                | AskError::Chat(
                    ChatError::Slow { .. }
                        | ChatError::Refused { .. }
                        | ChatError::Answer { .. }
                        | ChatError::Stream { .. }
                )
        )
    }
}

fn code_of(error: &ChatError) -> &'static str {
    match error {
        // A budget that is used up, a key nobody takes, a name nobody knows: asking again will not help.
        ChatError::Budget(_)
        | ChatError::Endpoint { .. }
        | ChatError::Key
        | ChatError::Refused { status: 401 | 403 | 404, .. } => "QUERY_MODEL_UNAVAILABLE",
        ChatError::Unreachable { .. }
        | ChatError::Slow { .. }
        | ChatError::Refused { .. }
        | ChatError::Stream { .. } => "QUERY_TRANSPORT_FAILED",
        ChatError::Answer { .. } => "QUERY_INVALID_OUTPUT",
    }
}
