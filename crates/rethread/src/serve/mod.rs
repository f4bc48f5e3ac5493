//! The server: HTTP API, web UI and MCP over one engine.
//!
//! Every request passes [`guard`], which finds out who makes it, and goes on to the router of the caller's space. Every
//! API route is a [`route::Route`] and makes one engine call on a blocking thread.

mod access;
mod admission;
mod api;
mod api_error;
mod audit;
mod caller;
mod credentials;
mod guard;
mod listen;
pub(crate) mod live;
mod login;
mod maintenance;
mod member_limits;
mod member_login;
mod metrics;
mod node;
mod open_connection;
mod openapi;
pub(crate) mod params;
mod query;
pub(crate) mod route;
mod sign_in;
mod spaces;
mod state;
mod tls;

use std::sync::Arc;

use axum::Router;

pub(crate) use access::{has_read_route, require_access};
pub(crate) use api_error::{ApiError, FailureCause};
pub(crate) use listen::run;
pub(crate) use route::{ApiResponse, Route};

pub(crate) use caller::RequestCaller;
pub(crate) use state::{ServerContext, ServerState};

/// The state shared by all requests.
pub(crate) type SharedState = Arc<ServerState>;

/// The routes of one space, for callers that were let in.
fn space_router(app: &SharedState) -> Router {
    let routes = api::routes().into_iter().fold(Router::new(), Route::add_to);
    let routes = routes.merge(live::routes()).merge(crate::web::routes()).merge(crate::mcp::routes(app));
    let routes = routes.fallback(api_error::unknown_path).method_not_allowed_fallback(api_error::wrong_method);
    let checked = axum::middleware::from_fn_with_state(Arc::clone(app), access::check_access);
    routes.layer(checked).with_state(Arc::clone(app))
}
