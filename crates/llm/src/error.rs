//! Why a model gave nothing. No error holds a key, and what a server wrote is shortened.

/// Why a text could not be turned into numbers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EmbeddingError {
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
    /// The server answered something else than the numbers.
    #[error("{endpoint} answered what cannot be used: {reason}")]
    Answer {
        /// The address.
        endpoint: String,
        /// What is wrong with it.
        reason: String,
    },
}
