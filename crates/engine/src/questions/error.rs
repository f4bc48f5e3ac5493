//! Why a question was not answered, each with a stable code for callers (E001-15).

use rethread_llm::ChatError;

use crate::{EngineError, ModelError};

/// Why a question was not answered.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// The request is invalid.
    #[error("{0}")]
    InvalidArgs(String),
    /// The agent has reached the limit of model calls per turn.
    #[error("limit of {limit} model calls per turn reached")]
    CallLimit {
        /// The limit.
        limit: u64,
    },
    /// The transcript is gone, and nothing of it was stored.
    #[error("transcript \"{path}\" does not exist, and none of its entries are stored")]
    FileMissing {
        /// The path of the transcript.
        path: String,
    },
    /// No entry of the transcript could be parsed.
    #[error("no messages found in {path}; line {line}: {message}")]
    ParseFailed {
        /// The path of the transcript.
        path: String,
        /// The first line that could not be read.
        line: u64,
        /// What is wrong with that line.
        message: String,
    },
    /// The session has no messages.
    #[error("this session has no messages")]
    SessionEmpty,
    /// No model can be used.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The budget does not allow the request, or the model failed to answer.
    #[error(transparent)]
    Chat(#[from] ChatError),
    /// The model's answer is valid JSON but has no usable content.
    #[error("invalid answer from the model: {0}")]
    InvalidOutput(String),
    /// Any other error.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl AskError {
    /// The stable code for callers.
    pub fn code(&self) -> &'static str {
        match self {
            AskError::InvalidArgs(_) => "INVALID_ARGS",
            AskError::CallLimit { .. } => "CALL_LIMIT_EXCEEDED",
            AskError::FileMissing { .. } => "SESSION_FILE_MISSING",
            AskError::ParseFailed { .. } => "SESSION_PARSE_FAILED",
            AskError::SessionEmpty => "SESSION_EMPTY",
            AskError::Model(ModelError::Chat(error)) | AskError::Chat(error) => chat_error_code(error),
            AskError::Model(_) => "QUERY_MODEL_UNAVAILABLE",
            AskError::InvalidOutput(_) => "QUERY_INVALID_OUTPUT",
            AskError::Engine(EngineError::UnknownReference(_) | EngineError::SimilarReference { .. }) => {
                "SESSION_NOT_FOUND"
            }
            AskError::Engine(EngineError::AmbiguousReference { .. }) => "SESSION_AMBIGUOUS",
            AskError::Engine(_) => "UNKNOWN",
        }
    }

    /// Whether the request certainly did not reach a model, so that it does not count against the limit.
    pub(super) fn was_not_sent(&self) -> bool {
        !matches!(
            self,
            AskError::InvalidOutput(_)
                | AskError::Chat(
                    ChatError::Timeout { .. }
                        | ChatError::HttpStatus { .. }
                        | ChatError::InvalidResponse { .. }
                        | ChatError::Interrupted { .. }
                )
        )
    }
}

fn chat_error_code(error: &ChatError) -> &'static str {
    match error {
        // Budget exhausted, key rejected, unknown model: a retry will not help.
        ChatError::Budget(_)
        | ChatError::InvalidEndpoint { .. }
        | ChatError::InvalidKey
        | ChatError::HttpStatus { status: 401 | 403 | 404, .. } => "QUERY_MODEL_UNAVAILABLE",
        ChatError::Unreachable { .. }
        | ChatError::Timeout { .. }
        | ChatError::HttpStatus { .. }
        | ChatError::Interrupted { .. } => "QUERY_TRANSPORT_FAILED",
        ChatError::InvalidResponse { .. } => "QUERY_INVALID_OUTPUT",
    }
}
