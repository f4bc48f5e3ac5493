//! The server: HTTP API, web UI and MCP over one engine.
//!
//! Every request passes [`guard`]. Every API route is a [`route::Route`] and makes one engine call on a blocking
//! thread.

mod admission;
mod api;
mod api_error;
mod credentials;
mod guard;
mod listen;
pub(crate) mod live;
mod login;
mod openapi;
pub(crate) mod params;
mod query;
pub(crate) mod route;
mod state;
mod tls;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Router;
use rethread_engine::{ConfigReload, ThreadCatchUp};

pub(crate) use api_error::{ApiError, FailureCause};
pub(crate) use listen::run;
pub(crate) use route::{ApiResponse, Route};

use crate::commands::watch::invalid_settings;
pub(crate) use state::ServerState;

/// The state shared by all requests.
pub(crate) type SharedState = Arc<ServerState>;

/// All routes, behind the guard.
fn router(app: &SharedState) -> Router {
    let routes = api::routes().into_iter().fold(Router::new(), Route::add_to);
    let routes = routes.merge(login::routes()).merge(live::routes()).merge(crate::web::routes());
    let routes = routes.merge(crate::mcp::routes(app));
    let routes = routes.fallback(api_error::unknown_path).method_not_allowed_fallback(api_error::wrong_method);
    let guarded = axum::middleware::from_fn_with_state(Arc::clone(app), guard::guard);
    routes.layer(guarded).with_state(Arc::clone(app))
}

/// Publishes an event whenever something was stored or renamed, until the server shuts down.
fn publish_changes(app: &ServerState, stop: &AtomicBool) {
    let mut watcher = app.engine.server().change_watcher();
    let mut catch_up = ThreadCatchUp::default();
    while !stop.load(Ordering::Relaxed) {
        if let ConfigReload::Rejected(reason) = app.engine.reload_config() {
            app.printer.warn(&invalid_settings(&reason));
        }
        if let Some(changes) = watcher.poll() {
            app.events.publish_changed(changes.sessions.as_deref());
            for (session, name) in changes.renamed {
                app.events.publish_to_session(session, crate::json::FrameEventJson::SessionRenamed { name });
            }
        }
        // If it fails, the next attempt is in a few seconds.
        if let Err(error) = catch_up.run_if_due(&app.engine) {
            app.engine.journal().error("thread sync", &error);
        }
        std::thread::sleep(state::CHANGE_POLL);
    }
}
