//! Checks every request before any work is done.
//!
//! In this order: the `Host` (a page elsewhere may point its own name at us), the origin, the credentials, and the
//! content type of the body. Rejected requests get the reason and are logged.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Poll;
use std::time::{Duration, Instant};

use axum::body::{Body, to_bytes};
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use rethread_model::clip;

use super::state::wait_until_true;
use super::{ApiError, ServerState, SharedState};
use crate::failure::FailureKind;
use crate::web;

/// Largest request body in bytes.
pub(super) const MAX_BODY_BYTES: usize = 2 << 20;
/// Time limit for receiving the body.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);
/// Characters of a method that are logged.
const MAX_METHOD_CHARS: usize = 20;
/// Only our own scripts, styles, images and requests; no framing.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
     connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Marks requests that arrived on the Unix socket of the same user. Set by the listener.
#[derive(Clone, Copy, Debug)]
pub(super) struct SameUser;

/// How a request was authenticated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AuthMethod {
    Token,
    Cookie,
    SameUser,
}

/// Runs a request if it passes all checks, otherwise returns the error.
pub(super) async fn guard(State(app): State<SharedState>, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned());
    let is_open = is_public(&method, request.uri().path());
    let is_person = accepts_html(&request);
    let checked = check(&app, &request, is_open);
    let is_let_in = checked.is_ok();
    let mut answer = match checked {
        // Unauthenticated requests must not send a body.
        Ok(()) if is_open => catch_panic(next.run(request.map(|_| Body::empty()))).await,
        Ok(()) => match read_body(&app, request).await {
            Ok(request) => catch_panic(next.run(request)).await,
            Err(error) => error.into_response(),
        },
        Err(error) => error.into_response(),
    };
    if is_person {
        answer = web::error_as_page(answer, is_let_in);
    }
    add_security_headers(answer.headers_mut());
    if is_let_in || app.limits.should_log_refusal(began) {
        log_request(&app, &method, route.as_deref(), answer.status(), began.elapsed());
    }
    answer
}

/// The response, or 500 after a panic. A panic must not affect other requests.
async fn catch_panic(answering: impl Future<Output = Response>) -> Response {
    let mut answering = std::pin::pin!(answering);
    std::future::poll_fn(|context| {
        let polled = catch_unwind(AssertUnwindSafe(|| answering.as_mut().poll(context)));
        polled.unwrap_or_else(|_| Poll::Ready(ApiError::internal_error().into_response()))
    })
    .await
}

/// The sign-in page and the static files, which contain no data of the user.
fn is_public(method: &Method, path: &str) -> bool {
    method == Method::GET && (path == "/login" || path.starts_with("/static/"))
}

/// Whether a browser navigates to a page, as opposed to an API client.
fn accepts_html(request: &Request) -> bool {
    let is_for_programs = |path: &str| ["/api/", "/mcp", "/ws", "/static/"].iter().any(|start| path.starts_with(start));
    let accept = request.headers().get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
    *request.method() == Method::GET
        && !is_for_programs(request.uri().path())
        && accept.is_some_and(|accept| accept.contains("text/html"))
}

fn check(app: &ServerState, request: &Request, is_open: bool) -> Result<(), ApiError> {
    let headers = request.headers();
    let is_same_user = request.extensions().get::<SameUser>().is_some();
    let host = requested_host(request);
    if !is_same_user
        && !host.is_some_and(|host| {
            is_allowed_host(&app.allowed_hosts, host) || is_allowed_host(&app.engine.settings().serve.hosts, host)
        })
    {
        let error = ApiError::new(StatusCode::FORBIDDEN, FailureKind::Forbidden, "host not allowed");
        return Err(error.hint("add the name to serve.hosts in the config"));
    }
    let is_own_origin =
        single_header(headers, &header::ORIGIN).is_some_and(|origin| is_own_origin(origin, host, app.is_tls));
    if headers.contains_key(header::ORIGIN) && !is_own_origin {
        let message = "cross-origin request rejected";
        return Err(ApiError::new(StatusCode::FORBIDDEN, FailureKind::Forbidden, message));
    }
    let proof = authenticate(app, headers, is_same_user);
    if proof.is_none() && !is_open {
        return Err(unauthorized());
    }
    // Browsers send a cookie to all ports of a host, so pages of other servers there could use it. Sec-Fetch-Site
    // reveals those.
    let asked_by = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
    if proof == Some(AuthMethod::Cookie) && asked_by.is_some_and(|by| by != b"same-origin" && by != b"none") {
        let message = "cross-origin request rejected";
        return Err(ApiError::new(StatusCode::FORBIDDEN, FailureKind::Forbidden, message));
    }
    // Browsers send Origin with every write and every socket. Without it the request is not from our page.
    let needs_origin = !request.method().is_safe() || headers.contains_key(header::UPGRADE);
    if proof == Some(AuthMethod::Cookie) && needs_origin && !is_own_origin {
        let message = "writes with a cookie must come from this server's own pages";
        return Err(ApiError::new(StatusCode::FORBIDDEN, FailureKind::Forbidden, message));
    }
    if matches!(*request.method(), Method::POST | Method::PUT | Method::PATCH) && !is_json(headers) {
        let message = "request body must be JSON";
        let error = ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, FailureKind::BadRequest, message);
        return Err(error.hint("send it with Content-Type: application/json"));
    }
    Ok(())
}

fn unauthorized() -> ApiError {
    let error = ApiError::new(StatusCode::UNAUTHORIZED, FailureKind::Unauthorized, "missing or invalid token");
    error.hint("send `Authorization: Bearer TOKEN` (`rethread token` prints it), or run `rethread open`")
}

/// The `Host` of the request, with its port. `None` if it differs from the request target.
fn requested_host(request: &Request) -> Option<&str> {
    let authority = single_header(request.headers(), &header::HOST)?.to_str().ok()?;
    let named = request.uri().authority().map(axum::http::uri::Authority::as_str);
    named.is_none_or(|named| named == authority).then_some(authority)
}

/// A header that occurs exactly once. Given twice it may be an attack: a proxy may have checked the other one.
fn single_header<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h HeaderValue> {
    let mut values = headers.get_all(name).iter();
    let first = values.next();
    first.filter(|_| values.next().is_none())
}

fn without_port(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    }
}

fn is_allowed_host(known: &[String], authority: &str) -> bool {
    let host = without_port(authority);
    known.iter().any(|name| name.eq_ignore_ascii_case(host))
}

/// Whether an origin is this server under the requested host. With our own TLS, http origins are foreign; behind a TLS
/// proxy, pages are https although we serve http.
fn is_own_origin(origin: &HeaderValue, host: Option<&str>, is_secure: bool) -> bool {
    let (Ok(origin), Some(host)) = (origin.to_str(), host) else { return false };
    let clear = origin.strip_prefix("http://").filter(|_| !is_secure);
    let rest = clear.or_else(|| origin.strip_prefix("https://"));
    rest.is_some_and(|rest| rest.eq_ignore_ascii_case(host))
}

fn authenticate(app: &ServerState, headers: &HeaderMap, is_same_user: bool) -> Option<AuthMethod> {
    // An Authorization header decides alone: a wrong token is not rescued by a valid cookie.
    if headers.contains_key(header::AUTHORIZATION) {
        let shown = single_header(headers, &header::AUTHORIZATION)?;
        let (scheme, token) = shown.to_str().ok()?.split_once(' ')?;
        let is_right =
            scheme.eq_ignore_ascii_case("bearer") && app.credentials.is_valid_token(&app.engine, token.trim());
        return is_right.then_some(AuthMethod::Token);
    }
    if is_same_user {
        return Some(AuthMethod::SameUser);
    }
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut cookies = cookies.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let is_cookie = cookies.any(|(name, value)| {
        name == app.credentials.cookie_name() && app.credentials.is_valid_cookie(&app.engine, value)
    });
    is_cookie.then_some(AuthMethod::Cookie)
}

fn is_json(headers: &HeaderMap) -> bool {
    let named = single_header(headers, &header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let kind = named.and_then(|named| named.split(';').next()).map(str::trim);
    kind.is_some_and(|kind| kind.eq_ignore_ascii_case("application/json"))
}

/// Reads the whole body, within the size and time limits.
async fn read_body(app: &ServerState, request: Request) -> Result<Request, ApiError> {
    let too_large = || {
        let message = format!("request body is larger than {} MiB", MAX_BODY_BYTES >> 20);
        ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, FailureKind::TooLarge, message)
    };
    let (parts, body) = request.into_parts();
    let announced = parts.headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    if announced.is_some_and(|length: usize| length > MAX_BODY_BYTES) {
        return Err(too_large());
    }
    let mut ending = app.shutdown.subscribe();
    let read = tokio::select! {
        biased;
        read = tokio::time::timeout(BODY_TIMEOUT, to_bytes(body, MAX_BODY_BYTES)) => read,
        // Shutdown does not wait for bodies.
        () = wait_until_true(&mut ending) => return Err(ApiError::shutting_down()),
    };
    match read {
        Ok(Ok(bytes)) => Ok(Request::from_parts(parts, Body::from(bytes))),
        Ok(Err(_)) => Err(too_large()),
        Err(_) => Err(ApiError::new(
            StatusCode::REQUEST_TIMEOUT,
            FailureKind::BadRequest,
            "request body did not arrive in time",
        )),
    }
}

/// Adds security headers to every response.
fn add_security_headers(headers: &mut HeaderMap) {
    let security_headers = [
        (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ];
    for (name, value) in security_headers {
        headers.insert(name, HeaderValue::from_static(value));
    }
    // Session content must not be cached by proxies.
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}

/// Logs writes and errors: the route and the status, never parameters or content.
fn log_request(app: &ServerState, method: &Method, route: Option<&str>, status: StatusCode, took: Duration) {
    let route = route.unwrap_or("none");
    let is_safe = method.is_safe();
    // A client may send any method, of any length.
    let method = clip(method.as_str(), MAX_METHOD_CHARS);
    if app.is_verbose {
        app.printer.note_line(&format!("{method} {route} {} {} ms", status.as_u16(), took.as_millis()));
    }
    if is_safe && status.as_u16() < 400 {
        return;
    }
    app.engine.journal().event(
        "request",
        None,
        &[
            ("method", method.into_owned().into()),
            ("route", route.into()),
            ("status", status.as_u16().into()),
            ("milliseconds", (took.as_millis() as u64).into()),
        ],
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn hosts_match_by_name_with_any_port() {
        // T3
        let known = ["localhost".to_owned(), "[::1]".to_owned()];
        for name in ["localhost", "localhost:7717", "LOCALHOST:1", "[::1]", "[::1]:7717"] {
            assert!(is_allowed_host(&known, name), "{name}");
        }
        for name in
            ["", "evil.example", "localhost.evil.example", "evil.example:localhost", "localhost:x", "::1", "[::1"]
        {
            assert!(!is_allowed_host(&known, name), "{name}");
        }
    }

    #[test]
    fn only_own_origins_are_accepted() {
        // T3
        let is = |origin: &'static str, is_secure| {
            is_own_origin(&HeaderValue::from_static(origin), Some("localhost:7717"), is_secure)
        };
        assert!(is("http://localhost:7717", false) && is("https://localhost:7717", true));
        assert!(is("https://localhost:7717", false), "behind a TLS proxy");
        assert!(!is("http://localhost:7717", true), "an http page could have been injected on the way");
        for other in ["null", "", "http://localhost", "http://localhost:7718", "http://localhost:7717.evil.example"] {
            assert!(!is(other, false), "{other}");
        }
        assert!(!is_own_origin(&HeaderValue::from_static("http://localhost:7717"), None, false));
    }

    #[test]
    fn json_content_type_is_required_exactly_once() {
        // T4
        for kind in ["application/json", "Application/JSON", "application/json; charset=utf-8", " application/json ;x"]
        {
            assert!(is_json(&headers(&[("content-type", kind)])), "{kind}");
        }
        for kind in
            ["", "text/plain", "application/jsonp", "text/plain; application/json", "application/x-www-form-urlencoded"]
        {
            assert!(!is_json(&headers(&[("content-type", kind)])), "{kind}");
        }
        let both = headers(&[("content-type", "application/json"), ("content-type", "text/plain")]);
        assert!(!is_json(&both) && !is_json(&HeaderMap::new()));
    }

    #[test]
    fn a_panic_becomes_500_and_the_server_continues() {
        std::panic::set_hook(Box::new(|_| {}));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let response = runtime.block_on(catch_panic(async { panic!("ours") }));
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        let response = runtime.block_on(catch_panic(async { StatusCode::OK.into_response() }));
        assert_eq!(response.status(), StatusCode::OK);
    }
}
