//! Why a model gave nothing. No error holds a key, and what a server wrote is shortened.

use crate::Refusal;

/// Why a model was not asked, or why its answer is of no use.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChatError {
    /// The address cannot be used.
    #[error("the endpoint {endpoint} cannot be used: {reason}")]
    Endpoint {
        /// The address, without what may be secret in it.
        endpoint: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The key cannot be sent.
    #[error("the key is empty or has signs that cannot be sent")]
    Key,
    /// It may not be sent.
    #[error(transparent)]
    Budget(#[from] Refusal),
    /// Nobody answered.
    #[error("{endpoint} cannot be reached: {cause}")]
    Unreachable {
        /// The address.
        endpoint: String,
        /// What the network says.
        cause: String,
    },
    /// The answer took too long.
    #[error("{endpoint} did not answer within {seconds} s")]
    Slow {
        /// The address.
        endpoint: String,
        /// How long was waited.
        seconds: u64,
    },
    /// The server answered that it will not.
    #[error("{endpoint} answered {status}{message}")]
    Refused {
        /// The address.
        endpoint: String,
        /// The HTTP status.
        status: u16,
        /// What it says about it: nothing, or a colon and a short text.
        message: String,
    },
    /// The server answered something else than was asked for.
    #[error("{endpoint} answered what cannot be used: {reason}")]
    Answer {
        /// The address.
        endpoint: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The answer broke off, or the server said in the middle of it that it cannot go on.
    #[error("{endpoint} broke off its answer: {reason}")]
    Stream {
        /// The address.
        endpoint: String,
        /// What happened.
        reason: String,
    },
}

impl ChatError {
    /// What went wrong in a word or two, for the books.
    pub(crate) fn in_short(&self) -> String {
        match self {
            Self::Endpoint { .. } => "bad endpoint".to_owned(),
            Self::Key => "bad key".to_owned(),
            Self::Budget(_) => "over budget".to_owned(),
            Self::Unreachable { .. } => "unreachable".to_owned(),
            Self::Slow { .. } => "too slow".to_owned(),
            Self::Refused { status, .. } => format!("status {status}"),
            Self::Answer { .. } => "unusable answer".to_owned(),
            Self::Stream { .. } => "broken off".to_owned(),
        }
    }
}
