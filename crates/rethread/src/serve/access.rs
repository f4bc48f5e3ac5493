//! Which callers may use which routes.

use std::collections::HashMap;
use std::sync::OnceLock;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use rethread_model::Access;

use super::caller::RequestCaller;
use super::{ApiError, ServerState, SharedState};
use crate::failure::FailureKind;

/// Who may use a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RouteAccess {
    /// Everybody who is signed in; the handler checks the rest.
    SignedIn,
    /// All who have this access.
    Needs(Access),
    /// Those who may both read and write: it changes something, and its answer has content of the space.
    ReadAndWrite,
    /// Readers; where a model is configured that it may ask, only those who may also write, because that costs money.
    Spends,
    /// Only the user of a single machine: it is about the files of this machine.
    LocalOnly,
}

/// The route that answered. Travels as an extension of the response, to the log and the metrics.
#[derive(Clone, Debug)]
pub(super) struct AnsweredRoute {
    pub(super) path: MatchedPath,
    pub(super) access: Access,
}

/// Refuses a request to a route that its caller may not use.
pub(super) async fn check_access(State(app): State<SharedState>, request: Request, next: Next) -> Response {
    let Some(path) = request.extensions().get::<MatchedPath>().cloned() else { return next.run(request).await };
    let route = access_of(request.method(), path.as_str());
    let access = app.needed_access(route);
    let checked = check(&app, request.extensions().get::<RequestCaller>(), route, access);
    let mut answer = match checked {
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    };
    answer.extensions_mut().insert(AnsweredRoute { path, access });
    answer
}

impl ServerState {
    fn needed_access(&self, route: RouteAccess) -> Access {
        match route {
            RouteAccess::Needs(access) => access,
            RouteAccess::ReadAndWrite => Access::Write,
            RouteAccess::Spends if self.may_ask_a_model() => Access::Write,
            RouteAccess::SignedIn | RouteAccess::Spends => Access::Read,
            RouteAccess::LocalOnly => Access::Admin,
        }
    }

    /// Whether a model is configured that can answer in threads.
    pub(crate) fn has_chat_model(&self) -> bool {
        !self.engine.settings().model.usable_name().is_empty()
    }

    /// Whether requests may be sent to a model.
    pub(crate) fn may_ask_a_model(&self) -> bool {
        let settings = self.engine.settings();
        !settings.model.usable_name().is_empty() || !settings.embeddings.model.is_empty()
    }
}

fn check(
    app: &ServerState,
    caller: Option<&RequestCaller>,
    route: RouteAccess,
    access: Access,
) -> Result<(), ApiError> {
    let refused = |message: String| ApiError::new(StatusCode::FORBIDDEN, FailureKind::Forbidden, message);
    let Some(caller) = caller else { return Err(refused("missing or invalid token".to_owned())) };
    if route == RouteAccess::LocalOnly && app.server.is_shared {
        return Err(refused("not available on a server of a team".to_owned())
            .hint("it is about the files of one machine: run `rethread` there"));
    }
    match route {
        RouteAccess::SignedIn => Ok(()),
        RouteAccess::ReadAndWrite | RouteAccess::Spends => require_access(caller, &[Access::Read, access]),
        RouteAccess::Needs(_) | RouteAccess::LocalOnly => require_access(caller, &[access]),
    }
}

/// 403 unless the caller has all these accesses.
pub(crate) fn require_access(caller: &RequestCaller, needed: &[Access]) -> Result<(), ApiError> {
    let Some(missing) = needed.iter().find(|access| !caller.allows(**access)) else { return Ok(()) };
    let message = format!("this token has no {} access", missing.as_str());
    let error = ApiError::new(StatusCode::FORBIDDEN, FailureKind::Forbidden, message);
    Err(error.hint("ask an admin of the space for a token with this access"))
}

/// Unknown routes need the highest access, so that a new one is not open by mistake.
fn access_of(method: &Method, path: &str) -> RouteAccess {
    // HEAD is answered by the handler of GET.
    let method = if method == Method::HEAD { &Method::GET } else { method };
    if let Some(access) = api_access().get(&(method.clone(), path)) {
        return *access;
    }
    match (method.as_str(), path) {
        ("GET", path) if !path.starts_with("/api/") || path == "/api/events" => page_access(path),
        // It checks each tool.
        ("POST", "/mcp") => RouteAccess::SignedIn,
        _ => RouteAccess::Needs(Access::Admin),
    }
}

fn page_access(path: &str) -> RouteAccess {
    match path {
        "/health" | "/sessions/{id}/entries/{seq}" => RouteAccess::LocalOnly,
        _ => RouteAccess::Needs(Access::Read),
    }
}

fn api_access() -> &'static HashMap<(Method, &'static str), RouteAccess> {
    static ACCESS: OnceLock<HashMap<(Method, &'static str), RouteAccess>> = OnceLock::new();
    ACCESS.get_or_init(|| {
        super::api::routes().iter().map(|route| ((route.method.clone(), route.path), route.access)).collect()
    })
}

/// Whether the API answers GET requests for this path.
pub(crate) fn has_read_route(path: &'static str) -> bool {
    api_access().contains_key(&(Method::GET, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_routes_that_read_are_open_to_readers() {
        // T14
        let writes = ["/api/sessions", "/api/sessions/{id}/messages", "/api/sessions/{id}/compact", "/api/members"];
        for (key, access) in api_access() {
            let is_read = *access == RouteAccess::Needs(Access::Read);
            assert!(!(is_read && matches!(key.0, Method::PATCH | Method::PUT | Method::DELETE)), "{key:?}");
            assert!(!(is_read && key.0 == Method::POST && writes.contains(&key.1)), "{key:?}");
        }
        // A caller that only writes gets no content of the space in an answer: it may use these and no other.
        let mut writes: Vec<_> =
            api_access().iter().filter(|(_, access)| **access == RouteAccess::Needs(Access::Write)).collect();
        writes.sort_by_key(|(key, _)| key.1);
        let writes: Vec<&str> = writes.into_iter().map(|(key, _)| key.1).collect();
        assert_eq!(writes, ["/api/sessions", "/api/sessions/{id}/messages"]);
        assert_eq!(access_of(&Method::POST, "/new/route"), RouteAccess::Needs(Access::Admin));
        assert_eq!(access_of(&Method::GET, "/api/new"), RouteAccess::Needs(Access::Admin));
        assert_eq!(access_of(&Method::HEAD, "/api/sessions"), RouteAccess::Needs(Access::Read));
    }
}
