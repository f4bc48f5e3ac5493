//! The way in for browsers: a link that works once becomes a cookie that only our own page sends.

use axum::Router;
use axum::extract::{Query, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use maud::{DOCTYPE, html};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::guard::COOKIE;
use super::keys::COOKIE_LIVES;
use super::route::{Nothing, Outcome};
use super::{Answer, App, Route, Shared};
use crate::json::SCHEMA;

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

#[derive(Deserialize)]
struct Shown {
    #[serde(default)]
    code: String,
}

fn new_link(app: &App, _: Nothing) -> Outcome {
    Answer::made(&Link { schema: SCHEMA, code: app.keys.new_link()? })
}

/// Logs a browser in. The next page is asked for by this one, not by a redirect: a browser keeps a strict cookie back
/// from a chain that began on another page.
async fn login(State(app): State<Shared>, Query(shown): Query<Shown>) -> Response {
    let cookie = if app.keys.use_link(&shown.code) { app.keys.cookie(&app.engine) } else { None };
    let cookie = cookie.and_then(|cookie| HeaderValue::try_from(as_header(&cookie, app.is_secure)).ok());
    match cookie {
        Some(cookie) => {
            let page = html! {
                (DOCTYPE)
                html lang="en" {
                    head { meta charset="utf-8"; meta http-equiv="refresh" content="0;url=/"; title { "Rethread" } }
                    body { p { a href="/" { "Go on to the page" } } }
                }
            };
            ([(header::SET_COOKIE, cookie)], Html(page.into_string())).into_response()
        }
        None => (StatusCode::FORBIDDEN, Html(used_up().into_string())).into_response(),
    }
}

fn as_header(cookie: &str, is_secure: bool) -> String {
    let secure = if is_secure { "; Secure" } else { "" };
    let lives = COOKIE_LIVES.as_secs();
    format!("{COOKIE}={cookie}; Path=/; HttpOnly; SameSite=Strict; Max-Age={lives}{secure}")
}

fn used_up() -> maud::Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { "Rethread: not logged in" }
                link rel="stylesheet" href="/static/page.css";
            }
            body.gate {
                main {
                    h1 { "Rethread" }
                    p { "This link was used already, or it is older than ten minutes." }
                    p { "Run " code { "rethread open" } " for another one." }
                }
            }
        }
    }
}
