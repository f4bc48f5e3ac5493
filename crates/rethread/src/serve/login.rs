//! The way in for browsers: a link that works once becomes a cookie that only our own page sends.

use axum::Router;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::keys::COOKIE_LIVES;
use super::route::{Nothing, Outcome, in_query};
use super::{Answer, App, Route, Shared};
use crate::json::SCHEMA;
use crate::web;

/// The page that a link leads to.
pub(super) fn routes() -> Router<Shared> {
    Router::new().route("/login", get(login))
}

/// The route that makes links.
pub(super) fn row() -> Route {
    let about = "Makes a code that logs a browser in, once: open /login?code=CODE within ten minutes.";
    Route::tell::<Nothing, Link>(axum::http::Method::POST, "/api/links", about, new_link)
        .with_status(StatusCode::CREATED)
}

/// A code that logs a browser in.
#[derive(Serialize, JsonSchema)]
struct Link {
    schema: u8,
    code: String,
}

#[derive(Default, Deserialize)]
struct Shown {
    #[serde(default)]
    code: String,
}

fn new_link(app: &App, _: Nothing) -> Outcome {
    Answer::made(&Link { schema: SCHEMA, code: app.keys.new_link(&app.engine)? })
}

/// Logs a browser in. The next page is asked for by this one, not by a redirect: a browser keeps a strict cookie back
/// from a chain that began on another page.
async fn login(State(app): State<Shared>, RawQuery(query): RawQuery) -> Response {
    let Shown { code } = in_query(query.as_deref()).unwrap_or_default();
    let cookie = if app.keys.use_link(&app.engine, &code) { app.keys.cookie(&app.engine) } else { None };
    let cookie =
        cookie.and_then(|cookie| HeaderValue::try_from(as_header(app.keys.cookie_name(), &cookie, app.is_secure)).ok());
    match cookie {
        Some(cookie) => ([(header::SET_COOKIE, cookie)], Html(web::let_in())).into_response(),
        None => (StatusCode::FORBIDDEN, Html(web::used_up())).into_response(),
    }
}

fn as_header(name: &str, cookie: &str, is_secure: bool) -> String {
    let secure = if is_secure { "; Secure" } else { "" };
    let lives = COOKIE_LIVES.as_secs();
    format!("{name}={cookie}; Path=/; HttpOnly; SameSite=Strict; Max-Age={lives}{secure}")
}
