//! Browser sign-in on a single machine: exchanges a one-time link for a cookie that only our own pages send.

use std::sync::Arc;

use axum::Router;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::access::RouteAccess;
use super::credentials::COOKIE_LIFETIME;
use super::node::ServerNode;
use super::route::{ApiResult, NoParams, decode_query};
use super::{ApiResponse, Route, ServerState};
use crate::json::SCHEMA;
use crate::web;

/// The page that a login link opens.
pub(super) fn routes() -> Router<Arc<ServerNode>> {
    Router::new().route("/login", get(login))
}

/// The route that creates login links.
pub(super) fn api_route() -> Route {
    let about = "Create a one-time sign-in code. Open /login?code=CODE within ten minutes to sign a browser in.";
    Route::with_body::<NoParams, LoginCodeJson>(axum::http::Method::POST, "/api/links", about, new_link)
        .for_callers(RouteAccess::LocalOnly)
        .with_status(StatusCode::CREATED)
}

/// A one-time code that signs a browser in.
#[derive(Serialize, JsonSchema)]
struct LoginCodeJson {
    schema: u8,
    code: String,
}

#[derive(Default, Deserialize)]
struct LoginParams {
    #[serde(default)]
    code: String,
}

fn new_link(app: &ServerState, _: NoParams) -> ApiResult {
    ApiResponse::created(&LoginCodeJson { schema: SCHEMA, code: app.server.credentials.new_link(&app.engine)? })
}

/// Signs a browser in. The next page is opened by a meta refresh instead of a redirect: browsers withhold a strict
/// cookie from a redirect chain that started on another site.
async fn login(State(node): State<Arc<ServerNode>>, RawQuery(query): RawQuery) -> Response {
    if node.context.is_shared {
        return Html(web::member_sign_in_page(false)).into_response();
    }
    let LoginParams { code } = decode_query(query.as_deref()).unwrap_or_default();
    let (credentials, engine) = (&node.context.credentials, &node.spaces.own().engine);
    let cookie = if credentials.redeem_link(engine, &code) { credentials.new_cookie(engine) } else { None };
    let cookie = cookie.and_then(|cookie| {
        HeaderValue::try_from(cookie_header(credentials.cookie_name(), &cookie, node.context.is_tls)).ok()
    });
    match cookie {
        Some(cookie) => ([(header::SET_COOKIE, cookie)], Html(web::signed_in_page())).into_response(),
        None => (StatusCode::FORBIDDEN, Html(web::link_expired_page())).into_response(),
    }
}

fn cookie_header(name: &str, cookie: &str, is_secure: bool) -> String {
    let secure = if is_secure { "; Secure" } else { "" };
    let lives = COOKIE_LIFETIME.as_secs();
    format!("{name}={cookie}; Path=/; HttpOnly; SameSite=Strict; Max-Age={lives}{secure}")
}
