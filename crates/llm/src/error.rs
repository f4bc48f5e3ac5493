//! Errors of model requests. They never contain a key, and text from a server is shortened.

use crate::BudgetRefusal;

/// Why a request was not sent, failed, or got an unusable response.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChatError {
    /// The configured URL is not allowed.
    #[error("invalid endpoint \"{endpoint}\": {reason}")]
    InvalidEndpoint {
        /// The URL without user info and query, which may contain secrets.
        endpoint: String,
        /// What is wrong.
        reason: &'static str,
    },
    /// The API key cannot be put into an HTTP header.
    #[error("the API key is empty or contains characters that an HTTP header cannot carry")]
    InvalidKey,
    /// The budget does not allow the request.
    #[error(transparent)]
    Budget(#[from] BudgetRefusal),
    /// The connection failed.
    #[error("cannot reach {endpoint}: {cause}")]
    Unreachable {
        /// The URL without its query.
        endpoint: String,
        /// The network error.
        cause: String,
    },
    /// The server did not respond in time.
    #[error("{endpoint} did not answer within {seconds} s")]
    Timeout {
        /// The URL without its query.
        endpoint: String,
        /// The timeout that expired.
        seconds: u64,
    },
    /// The server responded with an error status.
    #[error("{endpoint} returned HTTP {status}{message}")]
    HttpStatus {
        /// The URL without its query.
        endpoint: String,
        /// The HTTP status.
        status: u16,
        /// Empty, or a colon and the server's shortened message.
        message: String,
    },
    /// The response does not have the requested form.
    #[error("{endpoint} returned an unusable response: {reason}")]
    InvalidResponse {
        /// The URL without its query.
        endpoint: String,
        /// What is wrong.
        reason: String,
    },
    /// The connection was lost during the response, or the server reported an error in the middle of it.
    #[error("the response from {endpoint} was interrupted: {reason}")]
    Interrupted {
        /// The URL without its query.
        endpoint: String,
        /// Why it was interrupted.
        reason: String,
    },
}

impl ChatError {
    /// Two or three words for the ledger.
    pub(crate) fn short_reason(&self) -> String {
        match self {
            Self::InvalidEndpoint { .. } => "invalid endpoint".to_owned(),
            Self::InvalidKey => "invalid key".to_owned(),
            Self::Budget(_) => "over budget".to_owned(),
            Self::Unreachable { .. } => "unreachable".to_owned(),
            Self::Timeout { .. } => "timed out".to_owned(),
            Self::HttpStatus { status, .. } => format!("status {status}"),
            Self::InvalidResponse { .. } => "unusable response".to_owned(),
            Self::Interrupted { .. } => "interrupted".to_owned(),
        }
    }
}
