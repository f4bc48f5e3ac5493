//! What could not be done, as a status and a body that says what to do next.

use std::sync::Arc;

use axum::Json;
use axum::http::{HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use rethread_engine::Clock;
use rethread_model::clip;

use crate::failure::{Failure, Kind};
use crate::json::Failed;

/// Characters of a path that are repeated to whoever asked for it.
const LONGEST_PATH: usize = 200;
/// Seconds after which it is worth trying again what is full or busy now.
const TRY_AGAIN: &str = "2";

/// Why a request got no answer.
#[derive(Debug)]
pub(crate) struct Refusal {
    status: StatusCode,
    failure: Failure,
}

impl Refusal {
    /// A refusal with a status of its own.
    pub(crate) fn new(status: StatusCode, kind: Kind, message: impl Into<String>) -> Self {
        Self { status, failure: Failure::new(kind, message) }
    }

    /// The same with something to do next.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.failure = self.failure.hint(hint);
        self
    }

    /// A request that is not what the route takes.
    pub(crate) fn bad(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, Kind::BadRequest, message).hint("see /api/openapi.json")
    }

    /// A mistake of ours.
    pub(crate) fn bug() -> Self {
        let refusal = Self::new(StatusCode::INTERNAL_SERVER_ERROR, Kind::Bug, "a mistake in rethread itself");
        refusal.hint("please report it")
    }

    /// The server ends, and this was not begun.
    pub(crate) fn ending() -> Self {
        let refusal = Self::new(StatusCode::SERVICE_UNAVAILABLE, Kind::Serve, "the server ends and takes nothing more");
        refusal.hint("try again when it is back")
    }

    /// The status it is answered with.
    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    /// What went wrong.
    pub(crate) fn failure(&self) -> &Failure {
        &self.failure
    }
}

impl<E: Into<Failure>> From<E> for Refusal {
    fn from(error: E) -> Self {
        let mut failure = error.into();
        if let Some(hint) = hint_for_programs(failure.kind) {
            failure.hints = vec![hint.to_owned()];
        }
        Self { status: status_of(failure.kind), failure }
    }
}

/// What a program should do next, where people are told of a command instead.
fn hint_for_programs(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::UnknownReference => Some("/api/sessions lists all sessions; POST /api/sync reads new ones"),
        Kind::NotAThread => Some("POST /api/sessions makes a thread"),
        _ => None,
    }
}

/// Why an answer is a refusal, kept beside its body for whoever tells it to people.
#[derive(Clone, Debug)]
pub(crate) struct Why(pub(crate) Arc<Failure>);

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut answer = (self.status, Json(Failed::new(&self.failure, Clock::System.now()))).into_response();
        if matches!(self.status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) {
            answer.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static(TRY_AGAIN));
        }
        answer.extensions_mut().insert(Why(Arc::new(self.failure)));
        answer
    }
}

/// No route has that path.
pub(super) async fn unknown_path(uri: Uri) -> Refusal {
    let message = format!("there is nothing at {}", clip(uri.path(), LONGEST_PATH));
    Refusal::new(StatusCode::NOT_FOUND, Kind::UnknownPath, message).hint("see /api/openapi.json")
}

/// A route has that path, but not by that method.
pub(super) async fn wrong_method(method: Method, uri: Uri) -> Refusal {
    let (path, method) = (clip(uri.path(), LONGEST_PATH), clip(method.as_str(), LONGEST_PATH));
    let message = format!("{path} does not take {method}");
    Refusal::new(StatusCode::METHOD_NOT_ALLOWED, Kind::BadRequest, message).hint("see /api/openapi.json")
}

/// The caller's mistakes and what the settings do not allow are 4xx, a model's and the disk's are not ours, and only ours
/// is 500.
fn status_of(kind: Kind) -> StatusCode {
    match kind {
        Kind::UnknownReference | Kind::NothingThere | Kind::UnknownPath => StatusCode::NOT_FOUND,
        Kind::AmbiguousReference
        | Kind::NoSuchCall
        | Kind::NotAThread
        | Kind::HasEnded
        | Kind::BadConfig
        | Kind::BadSettings
        | Kind::CardBusy
        | Kind::NoModel
        | Kind::Budget
        | Kind::Stopped => StatusCode::CONFLICT,
        Kind::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        Kind::QueueFull => StatusCode::TOO_MANY_REQUESTS,
        Kind::Unauthorised => StatusCode::UNAUTHORIZED,
        Kind::Foreign => StatusCode::FORBIDDEN,
        Kind::Usage | Kind::BadRequest | Kind::UnknownAgent | Kind::BadContent | Kind::BadTime => {
            StatusCode::BAD_REQUEST
        }
        Kind::Model => StatusCode::BAD_GATEWAY,
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
        | Kind::ThreadDisk
        | Kind::Output
        | Kind::ClosedPipe => StatusCode::SERVICE_UNAVAILABLE,
        Kind::Bug => StatusCode::INTERNAL_SERVER_ERROR,
    }
}
