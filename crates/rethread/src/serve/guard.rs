//! Checks every request before any work is done.
//!
//! In this order: the `Host` (a page elsewhere may point its own name at us), the origin, the credentials, the content
//! type of the body, and the limits of the member. Rejected requests get the reason and are logged.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use rethread_model::{Access, clip};

use super::access::AnsweredRoute;
use super::audit::count_items;
use super::caller::{AuthMethod, RequestCaller};
use super::node::{RequestSpace, ServerNode, without_address};
use super::sign_in::Visitor;
use super::state::wait_until_true;
use super::{ApiError, ServerState, sign_in};
use crate::failure::FailureKind;
use crate::mcp::CalledTool;
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

/// The JSON of an answer, whose items the audit counts. Travels as an extension of the response.
#[derive(Clone, Debug)]
pub(super) struct AnsweredJson(pub(super) Bytes);

/// Runs a request if it passes all checks, otherwise returns the error.
pub(super) async fn guard(State(node): State<Arc<ServerNode>>, mut request: Request, next: Next) -> Response {
    let began = Instant::now();
    let method = request.method().clone();
    let is_open = node.is_public(&method, request.uri().path());
    let is_person = accepts_html(&request);
    let checked = match check_origin(&node, &request) {
        Ok(is_own_origin) => sign_in::authenticate(&node, request.headers(), is_same_user(&request))
            .await
            .and_then(|visitor| check_visitor(&node, &request, visitor.as_ref(), is_own_origin).map(|()| visitor)),
        Err(error) => Err(error),
    };
    let is_let_in = checked.is_ok();
    let mut caller = None;
    let mut answer = match checked {
        Ok(visitor) => {
            caller = visitor.and_then(|visitor| admit(&mut request, visitor));
            let has_form = is_open && method == Method::POST;
            match read_body(&node, caller.as_ref().map(|(caller, _)| caller), request, is_open && !has_form).await {
                Ok(request) => catch_panic(next.run(request)).await,
                Err(error) => error.into_response(),
            }
        }
        Err(error) => error.into_response(),
    };
    answer = without_address(&node, answer);
    let took = began.elapsed();
    let route = answer.extensions().get::<AnsweredRoute>().cloned();
    if let Some((caller, space)) = &caller {
        record(&space.0.0.app, caller, &method, route.as_ref(), &answer);
    }
    if is_person {
        answer = web::error_as_page(answer, is_let_in, node.context.is_shared);
    }
    add_security_headers(answer.headers_mut());
    let path = route.as_ref().map(|route| route.path.as_str());
    node.context.metrics.count_request(&method, path, answer.status().as_u16(), took);
    if is_let_in || node.context.limits.should_log_refusal(began) {
        let app = caller.as_ref().map_or_else(|| node.spaces.own(), |(_, space)| &space.0.0.app);
        log_request(app, &method, path, answer.status(), took);
    }
    answer
}

/// Passes the caller to the handlers, and returns it with its space.
fn admit(request: &mut Request, visitor: Visitor) -> Option<(RequestCaller, RequestSpace)> {
    let Visitor { caller, space, .. } = visitor;
    request.extensions_mut().insert(caller.clone());
    let space = RequestSpace(Arc::new(space?));
    request.extensions_mut().insert(space.clone());
    Some((caller, space))
}

/// Adds what a member did to the audit.
fn record(
    app: &ServerState,
    caller: &RequestCaller,
    method: &Method,
    route: Option<&AnsweredRoute>,
    answer: &Response,
) {
    let Some(signed_in) = caller.signed_in() else { return };
    let path = route.map_or("none", |route| route.path.as_str());
    let tool = answer.extensions().get::<CalledTool>();
    let target = match tool {
        Some(tool) => format!("{method} {path} {}", tool.name),
        None => format!("{} {path}", clip(method.as_str(), MAX_METHOD_CHARS)),
    };
    let access = tool.map(|tool| tool.access).or(route.map(|route| route.access)).unwrap_or(Access::Read);
    let items = answer.extensions().get::<AnsweredJson>().map_or(1, |AnsweredJson(body)| count_items(body));
    let items = if answer.status().is_success() { items } else { 0 };
    app.record(signed_in, access, target, items, answer.status());
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

impl ServerNode {
    /// The sign-in page and the static files, which contain no data of the user.
    fn is_public(&self, method: &Method, path: &str) -> bool {
        match *method {
            // HEAD is answered by the handler of GET. On a single machine that uses the code of a sign-in link up.
            Method::HEAD if path == "/login" => self.context.is_shared,
            Method::GET | Method::HEAD if path == "/api/health" => self.context.is_shared,
            Method::GET | Method::HEAD => path == "/login" || path.starts_with("/static/"),
            Method::POST => path == "/login" && self.context.is_shared,
            _ => false,
        }
    }
}

/// Whether a browser navigates to a page, as opposed to an API client.
fn accepts_html(request: &Request) -> bool {
    let is_for_programs = |path: &str| ["/api/", "/mcp", "/ws", "/static/"].iter().any(|start| path.starts_with(start));
    let accept = request.headers().get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
    *request.method() == Method::GET
        && !is_for_programs(request.uri().path())
        && accept.is_some_and(|accept| accept.contains("text/html"))
}

/// Checks where a request comes from. Returns whether it comes from a page of this server.
fn check_origin(node: &ServerNode, request: &Request) -> Result<bool, ApiError> {
    let headers = request.headers();
    let host = requested_host(request);
    if !is_same_user(request) && !host.is_some_and(|host| node.is_allowed_host(host)) {
        let error = ApiError::new(StatusCode::FORBIDDEN, FailureKind::Forbidden, "host not allowed");
        return Err(error.hint("add the name to serve.hosts in the config"));
    }
    let is_own_origin =
        single_header(headers, &header::ORIGIN).is_some_and(|origin| is_own_origin(origin, host, node.context.is_tls));
    if headers.contains_key(header::ORIGIN) && !is_own_origin {
        return Err(cross_origin("cross-origin request rejected"));
    }
    Ok(is_own_origin)
}

/// Checks what else a request needs, once it is known who makes it.
fn check_visitor(
    node: &ServerNode,
    request: &Request,
    visitor: Option<&Visitor>,
    is_own_origin: bool,
) -> Result<(), ApiError> {
    let (method, headers) = (request.method(), request.headers());
    if visitor.is_none() && !node.is_public(method, request.uri().path()) {
        return Err(sign_in::unauthorized(node));
    }
    let is_by_cookie = visitor.is_some_and(|visitor| visitor.method == AuthMethod::Cookie);
    // Browsers send a cookie to all ports of a host, so pages of other servers there could use it. Sec-Fetch-Site
    // reveals those.
    let asked_by = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
    if is_by_cookie && asked_by.is_some_and(|by| by != b"same-origin" && by != b"none") {
        return Err(cross_origin("cross-origin request rejected"));
    }
    let is_form = is_form(method, request.uri().path());
    // Browsers send Origin with every write and every socket. Without it the request is not from our page.
    let needs_origin = !method.is_safe() || headers.contains_key(header::UPGRADE);
    if (is_by_cookie || is_form) && needs_origin && !is_own_origin {
        return Err(cross_origin("writes with a cookie must come from this server's own pages"));
    }
    if matches!(*method, Method::POST | Method::PUT | Method::PATCH) && !is_form && !is_json(headers) {
        let message = "request body must be JSON";
        let error = ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, FailureKind::BadRequest, message);
        return Err(error.hint("send it with Content-Type: application/json"));
    }
    if let Some(signed_in) = visitor.and_then(|visitor| visitor.caller.signed_in()) {
        node.context.member_usage.count_request(signed_in, node.spaces.own().engine.now())?;
    }
    Ok(())
}

fn is_same_user(request: &Request) -> bool {
    request.extensions().get::<SameUser>().is_some()
}

/// The forms of the sign-in page.
fn is_form(method: &Method, path: &str) -> bool {
    *method == Method::POST && (path == "/login" || path == "/logout")
}

fn cross_origin(message: &str) -> ApiError {
    ApiError::new(StatusCode::FORBIDDEN, FailureKind::Forbidden, message)
}

impl ServerNode {
    fn is_allowed_host(&self, host: &str) -> bool {
        is_allowed_host(&self.context.allowed_hosts, host)
            || is_allowed_host(&self.spaces.own().engine.settings().serve.hosts, host)
    }
}

/// Whether a page that was loaded with TLS sent the request: the server, or a proxy before it, has TLS.
pub(super) fn is_from_https(headers: &HeaderMap) -> bool {
    let origin = single_header(headers, &header::ORIGIN).and_then(|origin| origin.to_str().ok());
    origin.is_some_and(|origin| origin.starts_with("https://"))
}

/// The `Host` of the request, with its port. `None` if it differs from the request target.
fn requested_host(request: &Request) -> Option<&str> {
    let authority = single_header(request.headers(), &header::HOST)?.to_str().ok()?;
    let named = request.uri().authority().map(axum::http::uri::Authority::as_str);
    named.is_none_or(|named| named == authority).then_some(authority)
}

/// A header that occurs exactly once. Given twice it may be an attack: a proxy may have checked the other one.
pub(super) fn single_header<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h HeaderValue> {
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

fn is_json(headers: &HeaderMap) -> bool {
    let named = single_header(headers, &header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let kind = named.and_then(|named| named.split(';').next()).map(str::trim);
    kind.is_some_and(|kind| kind.eq_ignore_ascii_case("application/json"))
}

/// Reads the whole body, within the limits of size and time. A request without credentials may not have one.
async fn read_body(
    node: &ServerNode,
    caller: Option<&RequestCaller>,
    request: Request,
    is_ignored: bool,
) -> Result<Request, ApiError> {
    let (parts, body) = request.into_parts();
    if is_ignored {
        return Ok(Request::from_parts(parts, Body::empty()));
    }
    let signed_in = caller.and_then(RequestCaller::signed_in);
    let limit = signed_in.and_then(|signed_in| signed_in.limits.max_body_bytes);
    let limit = limit.map_or(MAX_BODY_BYTES, |limit| MAX_BODY_BYTES.min(limit as usize));
    let too_large = || {
        let size = if limit < 1 << 20 { format!("{limit} bytes") } else { format!("{} MiB", limit >> 20) };
        let message = format!("request body is larger than {size}");
        ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, FailureKind::TooLarge, message)
    };
    let announced = parts.headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    if announced.is_some_and(|length: usize| length > limit) {
        return Err(too_large());
    }
    let mut ending = node.context.shutdown.subscribe();
    let read = tokio::select! {
        biased;
        read = tokio::time::timeout(BODY_TIMEOUT, to_bytes(body, limit)) => read,
        // Shutdown does not wait for bodies.
        () = wait_until_true(&mut ending) => return Err(ApiError::shutting_down()),
    };
    let bytes = match read {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(_)) => return Err(too_large()),
        Err(_) => {
            let message = "request body did not arrive in time";
            return Err(ApiError::new(StatusCode::REQUEST_TIMEOUT, FailureKind::BadRequest, message));
        }
    };
    if let Some(signed_in) = signed_in {
        node.context.member_usage.count_bytes(signed_in, bytes.len() as u64, node.spaces.own().engine.now())?;
    }
    Ok(Request::from_parts(parts, Body::from(bytes)))
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
    if app.server.is_verbose {
        app.server.printer.note_line(&format!("{method} {route} {} {} ms", status.as_u16(), took.as_millis()));
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
