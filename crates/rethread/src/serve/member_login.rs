//! Signs the browser of a member in and out. The browser keeps the token in a cookie, which ends with the token.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::post;
use rethread_model::Access;
use serde::Deserialize;

use super::credentials::COOKIE_LIFETIME;
use super::node::ServerNode;
use super::sign_in::MEMBER_COOKIE;
use super::{ApiError, guard, route};
use crate::web;

/// `/login` for members, and `/logout`.
pub(super) fn routes() -> Router<Arc<ServerNode>> {
    Router::new().route("/login", post(sign_in)).route("/logout", post(sign_out))
}

#[derive(Deserialize)]
struct SignInForm {
    #[serde(default)]
    token: String,
}

/// Stores the token in a cookie that only our own pages send.
async fn sign_in(State(node): State<Arc<ServerNode>>, headers: HeaderMap, body: Bytes) -> Response {
    if !node.context.is_shared {
        return (StatusCode::NOT_FOUND, Html(web::link_expired_page())).into_response();
    }
    let form: SignInForm = match std::str::from_utf8(&body).map(|body| route::decode_query(Some(body))) {
        Ok(Ok(form)) => form,
        _ => return ApiError::bad_request("invalid form").into_response(),
    };
    let is_secure = node.context.is_tls || guard::is_from_https(&headers);
    let answered = tokio::task::spawn_blocking(move || node.check_token_of_reader(form.token.trim())).await;
    let cookie = match answered {
        Ok(Ok(cookie)) => cookie,
        Ok(Err(error)) => return error.into_response(),
        Err(_) => return ApiError::internal_error().into_response(),
    };
    match cookie.and_then(|cookie| set_cookie(&cookie, COOKIE_LIFETIME.as_secs(), is_secure)) {
        Some(cookie) => ([(header::SET_COOKIE, cookie)], Html(web::signed_in_page())).into_response(),
        None => (StatusCode::FORBIDDEN, Html(web::member_sign_in_page(true))).into_response(),
    }
}

/// Removes the cookie.
async fn sign_out(State(node): State<Arc<ServerNode>>, headers: HeaderMap) -> Response {
    let is_secure = node.context.is_tls || guard::is_from_https(&headers);
    let page = Html(web::member_sign_in_page(false));
    match set_cookie("", 0, is_secure) {
        Some(cookie) => ([(header::SET_COOKIE, cookie)], page).into_response(),
        None => page.into_response(),
    }
}

impl ServerNode {
    /// The token, if it is valid and may read: otherwise all pages would be refused.
    fn check_token_of_reader(&self, token: &str) -> Result<Option<String>, ApiError> {
        let signed_in = self.admitted(self.spaces.own().engine.members().sign_in(token))?;
        Ok(signed_in.filter(|signed_in| signed_in.allows(Access::Read)).map(|_| token.to_owned()))
    }
}

fn set_cookie(value: &str, seconds: u64, is_secure: bool) -> Option<HeaderValue> {
    let secure = if is_secure { "; Secure" } else { "" };
    let text = format!("{MEMBER_COOKIE}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={seconds}{secure}");
    HeaderValue::try_from(text).ok()
}
