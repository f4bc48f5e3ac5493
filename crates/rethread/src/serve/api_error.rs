//! Errors of requests: a status, and a JSON body with a message and a hint.

use std::sync::Arc;

use axum::Json;
use axum::http::{HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use rethread_engine::Clock;
use rethread_model::clip;

use crate::failure::{Failure, FailureKind};
use crate::json::ErrorResponseJson;

/// Characters of an unknown path that are repeated in the message.
const MAX_PATH_CHARS: usize = 200;
/// `Retry-After` in seconds.
const RETRY_AFTER_SECONDS: &str = "2";

/// A failed request.
#[derive(Debug)]
pub(crate) struct ApiError {
    status: StatusCode,
    failure: Failure,
}

impl ApiError {
    /// An error with an explicit status.
    pub(crate) fn new(status: StatusCode, kind: FailureKind, message: impl Into<String>) -> Self {
        Self { status, failure: Failure::new(kind, message) }
    }

    /// Adds a hint.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.failure = self.failure.hint(hint);
        self
    }

    /// 400: the request does not match the route's parameters.
    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, FailureKind::BadRequest, message).hint("see /api/openapi.json")
    }

    /// 500: a bug in Rethread.
    pub(crate) fn internal_error() -> Self {
        let error = Self::new(StatusCode::INTERNAL_SERVER_ERROR, FailureKind::Internal, "internal error in rethread");
        error.hint("this is a bug, please report it")
    }

    /// 503: the server is shutting down and did not start this request.
    pub(crate) fn shutting_down() -> Self {
        let error = Self::new(StatusCode::SERVICE_UNAVAILABLE, FailureKind::Serve, "the server is shutting down");
        error.hint("try again after the server has restarted")
    }

    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    pub(crate) fn failure(&self) -> &Failure {
        &self.failure
    }
}

impl<E: Into<Failure>> From<E> for ApiError {
    fn from(error: E) -> Self {
        let mut failure = error.into();
        if let Some(hint) = api_hint(failure.kind) {
            failure.hints = vec![hint.to_owned()];
        }
        for hint in &mut failure.hints {
            *hint = in_http_terms(hint);
        }
        Self { status: status_of(&failure), failure }
    }
}

/// The hint for API clients, where the CLI would suggest a command.
fn api_hint(kind: FailureKind) -> Option<&'static str> {
    match kind {
        FailureKind::UnknownReference => Some("GET /api/sessions lists all sessions; POST /api/sync reads new ones"),
        FailureKind::NotAThread => Some("POST /api/sessions creates a thread"),
        _ => None,
    }
}

/// A hint for the command line with the names that requests have for the same.
fn in_http_terms(hint: &str) -> String {
    const TERMS: [(&str, &str); 9] = [
        ("use --no-model", "set noModel"),
        ("--tool-call-id ID", "toolCallId"),
        (
            "pass a text, or append a tool result first with `rethread thread append`",
            "send content, or a tool result first",
        ),
        ("run `rethread thread context REF`", "GET /api/sessions/{id}/context"),
        ("run `rethread show REF` to see the session without a line", "leave out the line"),
        (": `rethread session alias REF ALIAS`", ""),
        ("continue it with `rethread resume REF`; its", "its"),
        ("pass the text to search for: --matching TEXT", "pass the text to search for"),
        ("add --all-projects", "leave out project"),
    ];
    TERMS.iter().fold(hint.to_owned(), |hint, (flag, term)| hint.replace(flag, term))
}

/// The failure behind an error response. It travels as a response extension, so that the web UI can render it as a
/// page.
#[derive(Clone, Debug)]
pub(crate) struct FailureCause(pub(crate) Arc<Failure>);

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut answer =
            (self.status, Json(ErrorResponseJson::new(&self.failure, Clock::System.now()))).into_response();
        if matches!(self.status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) {
            answer.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static(RETRY_AFTER_SECONDS));
        }
        answer.extensions_mut().insert(FailureCause(Arc::new(self.failure)));
        answer
    }
}

pub(super) async fn unknown_path(uri: Uri) -> ApiError {
    let message = format!("no route for {}", clip(uri.path(), MAX_PATH_CHARS));
    ApiError::new(StatusCode::NOT_FOUND, FailureKind::UnknownPath, message).hint("see /api/openapi.json")
}

pub(super) async fn wrong_method(method: Method, uri: Uri) -> ApiError {
    let (path, method) = (clip(uri.path(), MAX_PATH_CHARS), clip(method.as_str(), MAX_PATH_CHARS));
    let message = format!("{path} does not allow {method}");
    ApiError::new(StatusCode::METHOD_NOT_ALLOWED, FailureKind::BadRequest, message).hint("see /api/openapi.json")
}

fn status_of(failure: &Failure) -> StatusCode {
    StatusCode::from_u16(failure.kind.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

#[cfg(test)]
mod tests {
    use rethread_engine::{AskError, ChatError, EngineError};
    use rethread_model::{Agent, SessionId, Timestamp};

    use super::*;

    // D56
    #[test]
    fn hints_name_the_parameters_of_requests_and_not_flags() {
        let line = EngineError::UnknownLine {
            session: SessionId::derive(Agent::Pi, "1", Timestamp::default()),
            line: 9,
            last: 2,
        };
        for error in [
            ApiError::from(EngineError::MissingToolCallId),
            ApiError::from(EngineError::NothingToAnswer),
            ApiError::from(EngineError::InvalidAlias("a b".to_owned())),
            ApiError::from(EngineError::EmptySearchText),
            ApiError::from(line),
            ApiError::from(AskError::CallLimit { limit: 3 }),
            ApiError::from(AskError::Chat(ChatError::InvalidKey)),
        ] {
            let hints = error.failure().hints.join(" ");
            assert!(!hints.is_empty() && !hints.contains("--"), "{hints}");
            assert!(!hints.contains("REF"), "{hints}");
        }
    }
}
