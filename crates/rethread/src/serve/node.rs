//! One server process: finds out who makes a request, and passes it to the router of the caller's space.
//!
//! On a single machine there is one space, that of the user. A node in front of a shared database serves all spaces, and
//! keeps nothing that cannot be thrown away.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use rethread_engine::Engine;
use tower::ServiceExt;

use super::caller::RequestCaller;
use super::spaces::{OpenSpaces, SpaceUse};
use super::{ApiError, FailureCause, ServerContext, api_error, guard, login, member_login, metrics, sign_in};
use crate::failure::FailureKind;

/// One server process.
#[derive(Debug)]
pub(super) struct ServerNode {
    pub(super) context: Arc<ServerContext>,
    pub(super) spaces: OpenSpaces,
}

/// The space of the caller; it stays open as long as this exists. Travels as an extension of the request.
#[derive(Clone, Debug)]
pub(super) struct RequestSpace(pub(super) Arc<SpaceUse>);

impl ServerNode {
    pub(super) fn new(context: Arc<ServerContext>, engine: Engine) -> Self {
        Self { spaces: OpenSpaces::new(Arc::clone(&context), engine), context }
    }
}

/// All routes, behind the guard.
pub(super) fn router(node: &Arc<ServerNode>) -> Router {
    let routes =
        Router::new().route("/metrics", get(show_metrics)).route("/api/health", get(health).fallback(dispatch));
    let routes = routes.merge(login::routes()).merge(member_login::routes()).merge(crate::web::static_routes());
    let guarded = axum::middleware::from_fn_with_state(Arc::clone(node), guard::guard);
    let routes = routes.fallback(dispatch).method_not_allowed_fallback(api_error::wrong_method);
    routes.layer(guarded).with_state(Arc::clone(node))
}

/// Leaves the address of the database out of an answer: it is for the operator, who finds it in the log.
pub(super) fn without_address(node: &ServerNode, answer: Response) -> Response {
    let cause =
        answer.extensions().get::<FailureCause>().filter(|FailureCause(failure)| is_about_the_store(failure.kind));
    let Some(FailureCause(failure)) = cause.filter(|_| node.context.is_shared) else { return answer };
    let fields = [("error", failure.source.to_string().into()), ("cause", failure.causes().join(": ").into())];
    node.spaces.own().engine.journal().event("store_unavailable", None, &fields);
    let error = ApiError::new(answer.status(), failure.kind, "the store is not available");
    error.hint("try again later; the log of the server has the cause").into_response()
}

fn is_about_the_store(kind: FailureKind) -> bool {
    matches!(
        kind,
        FailureKind::StoreUnavailable
            | FailureKind::StoreLocked
            | FailureKind::StoreDisk
            | FailureKind::StoreDamaged
            | FailureKind::StoreNewer
            | FailureKind::StoreOutdated
    )
}

/// Passes a request to the space of its caller.
async fn dispatch(State(node): State<Arc<ServerNode>>, mut request: Request<Body>) -> Response {
    // The inner router would add its path to that of the outer one.
    request.extensions_mut().remove::<MatchedPath>();
    let Some(RequestSpace(space)) = request.extensions().get::<RequestSpace>().cloned() else {
        // The operator of a node has no space over the network.
        return sign_in::unauthorized(&node).into_response();
    };
    space.0.router.clone().oneshot(request).await.unwrap_or_else(|never| match never {})
}

/// The health of the caller's space. Without credentials a node only says whether it can serve, for load balancers.
async fn health(State(node): State<Arc<ServerNode>>, request: Request<Body>) -> Response {
    if request.extensions().get::<RequestSpace>().is_some() {
        return dispatch(State(node), request).await;
    }
    let checked = tokio::task::spawn_blocking(move || node.spaces.own().engine.server().check_store()).await;
    match checked {
        Ok(Ok(())) => axum::Json(serde_json::json!({"schema": crate::json::SCHEMA, "status": "ok"})).into_response(),
        Ok(Err(error)) => ApiError::from(error).into_response(),
        Err(_) => ApiError::internal_error().into_response(),
    }
}

/// The numbers of this process, for the user of its machine only: they are about all spaces.
async fn show_metrics(State(node): State<Arc<ServerNode>>, request: Request<Body>) -> Response {
    let caller = request.extensions().get::<RequestCaller>();
    if !matches!(caller, Some(RequestCaller::Owner)) {
        let error = ApiError::new(StatusCode::FORBIDDEN, FailureKind::Forbidden, "metrics are for the operator");
        return error.hint("send the token that `rethread token --store URL` prints on this machine").into_response();
    }
    let text = node.context.metrics.text(node.spaces.own().engine.location().pool_status());
    match text {
        Ok(text) => ([(header::CONTENT_TYPE, metrics::CONTENT_TYPE)], text).into_response(),
        Err(_) => ApiError::internal_error().into_response(),
    }
}
