//! The server: HTTP for programs, a page for people, one engine behind both. Safe before it is useful.
//!
//! Every request passes [`guard`]; every route is a row of [`route::Route`], and each row is one call to the engine on a
//! thread where it may block.

mod api;
mod app;
mod guard;
mod keys;
mod listen;
pub(crate) mod live;
mod login;
mod openapi;
mod query;
mod refusal;
mod room;
pub(crate) mod route;
mod tls;
pub(crate) mod values;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Router;

pub(crate) use app::App;
pub(crate) use listen::run;
pub(crate) use refusal::{Refusal, Why};
pub(crate) use route::{Answer, Route};

/// What all requests share.
pub(crate) type Shared = Arc<App>;

/// Everything that is answered, behind the guard.
fn router(app: &Shared) -> Router {
    let routes = api::routes().into_iter().fold(Router::new(), Route::join);
    let routes = routes.merge(login::routes()).merge(live::routes()).merge(crate::web::routes());
    let routes = routes.merge(crate::mcp::routes(app));
    let routes = routes.fallback(refusal::unknown_path).method_not_allowed_fallback(refusal::wrong_method);
    let guarded = axum::middleware::from_fn_with_state(Arc::clone(app), guard::guard);
    routes.layer(guarded).with_state(Arc::clone(app))
}

/// Tells all who listen when something was stored or renamed, until the server ends.
fn listen_for_changes(app: &App, stop: &AtomicBool) {
    let mut pulse = app.engine.pulse();
    while !stop.load(Ordering::Relaxed) {
        if let Some(news) = pulse.news() {
            app.events.tell_changed(news.sessions.as_deref());
            for (session, name) in news.renamed {
                app.events.tell_session(session, crate::json::Told::SessionRenamed { name });
            }
        }
        std::thread::sleep(app::PULSE);
    }
}
