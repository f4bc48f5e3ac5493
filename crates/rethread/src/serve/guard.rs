//! What every request must pass before anything is done for it.
//!
//! In this order: the name the server is called by (a page elsewhere may point its own name at us), where the request
//! comes from, who asks, and what kind of body is sent. What passes is done; what does not is told why and noted.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Poll;
use std::time::{Duration, Instant};

use axum::body::{Body, to_bytes};
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use rethread_model::clip;

use super::app::becomes_so;
use super::{App, Refusal, Shared};
use crate::failure::Kind;
use crate::web;

/// The longest body.
pub(super) const LARGEST_BODY: usize = 2 << 20;
/// How long a body may take to arrive.
const BODY_ARRIVES: Duration = Duration::from_secs(30);
/// Characters of a method that are noted.
const LONGEST_METHOD: usize = 20;
/// Scripts, styles, pictures and requests of our own, nothing else; nobody may put us in a frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
     connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Who asks, as the listener knows it: put into each request that comes through the socket of the same user.
#[derive(Clone, Copy, Debug)]
pub(super) struct SameUser;

/// How a request proved that it may come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Proof {
    Token,
    Cookie,
    SameUser,
}

/// Lets a request through, or says why not.
pub(super) async fn guard(State(app): State<Shared>, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned());
    let is_open = is_open(&method, request.uri().path());
    let is_person = wants_page(&request);
    let checked = check(&app, &request, is_open);
    let is_let_in = checked.is_ok();
    let mut answer = match checked {
        // Who was not asked for a proof sends us nothing.
        Ok(()) if is_open => survived(next.run(request.map(|_| Body::empty()))).await,
        Ok(()) => match with_whole_body(&app, request).await {
            Ok(request) => survived(next.run(request)).await,
            Err(refusal) => refusal.into_response(),
        },
        Err(refusal) => refusal.into_response(),
    };
    if is_person {
        answer = web::as_page(answer, is_let_in);
    }
    harden(answer.headers_mut());
    if is_let_in || app.room.notes_refusal(began) {
        note(&app, &method, route.as_deref(), answer.status(), began.elapsed());
    }
    answer
}

/// The answer, or that we made a mistake: a panic is told to whoever asked, and ends nothing else.
async fn survived(answering: impl Future<Output = Response>) -> Response {
    let mut answering = std::pin::pin!(answering);
    std::future::poll_fn(|context| {
        let polled = catch_unwind(AssertUnwindSafe(|| answering.as_mut().poll(context)));
        polled.unwrap_or_else(|_| Poll::Ready(Refusal::bug().into_response()))
    })
    .await
}

/// What anybody may have: the way in, and what the page looks like. Nothing of it tells anything.
fn is_open(method: &Method, path: &str) -> bool {
    method == Method::GET && (path == "/login" || path.starts_with("/static/"))
}

/// Whether somebody looks at the answer: a browser says that it wants a page.
fn wants_page(request: &Request) -> bool {
    let is_for_programs = |path: &str| ["/api/", "/mcp", "/ws", "/static/"].iter().any(|start| path.starts_with(start));
    let wanted = request.headers().get(header::ACCEPT).and_then(|wanted| wanted.to_str().ok());
    *request.method() == Method::GET
        && !is_for_programs(request.uri().path())
        && wanted.is_some_and(|wanted| wanted.contains("text/html"))
}

fn check(app: &App, request: &Request, is_open: bool) -> Result<(), Refusal> {
    let headers = request.headers();
    let is_same_user = request.extensions().get::<SameUser>().is_some();
    let host = named_host(request);
    if !is_same_user && !host.is_some_and(|host| is_known_host(&app.hosts, host)) {
        let refusal = Refusal::new(StatusCode::FORBIDDEN, Kind::Foreign, "this server is not known by that name");
        return Err(refusal.hint("serve.hosts names further ones"));
    }
    let is_own_origin = only(headers, &header::ORIGIN).is_some_and(|origin| is_own(origin, host, app.is_secure));
    if headers.contains_key(header::ORIGIN) && !is_own_origin {
        let message = "requests from other pages are not answered";
        return Err(Refusal::new(StatusCode::FORBIDDEN, Kind::Foreign, message));
    }
    let proof = proof(app, headers, is_same_user);
    if proof.is_none() && !is_open {
        return Err(not_let_in());
    }
    // A cookie goes to all ports of a host: pages of other servers on it may not use it. Browsers say who asks.
    let asked_by = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
    if proof == Some(Proof::Cookie) && asked_by.is_some_and(|by| by != b"same-origin" && by != b"none") {
        let message = "requests from other pages are not answered";
        return Err(Refusal::new(StatusCode::FORBIDDEN, Kind::Foreign, message));
    }
    // A browser says where a change or a socket comes from; what does not say it is no page of ours.
    let needs_origin = !request.method().is_safe() || headers.contains_key(header::UPGRADE);
    if proof == Some(Proof::Cookie) && needs_origin && !is_own_origin {
        let message = "a change by cookie must come from this server's own page";
        return Err(Refusal::new(StatusCode::FORBIDDEN, Kind::Foreign, message));
    }
    if matches!(*request.method(), Method::POST | Method::PUT | Method::PATCH) && !is_json(headers) {
        let message = "the body must be JSON";
        let refusal = Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, Kind::BadRequest, message);
        return Err(refusal.hint("send it with Content-Type: application/json"));
    }
    Ok(())
}

fn not_let_in() -> Refusal {
    let refusal = Refusal::new(StatusCode::UNAUTHORIZED, Kind::Unauthorised, "nobody is let in without the token");
    refusal.hint("send Authorization: Bearer with what `rethread token` prints; for the page: `rethread open`")
}

/// The name by which the server was called, without the port.
fn named_host(request: &Request) -> Option<&str> {
    let authority = only(request.headers(), &header::HOST)?.to_str().ok()?;
    let named = request.uri().authority().map(axum::http::uri::Authority::as_str);
    named.is_none_or(|named| named == authority).then_some(authority)
}

/// A header that is there once. Given twice it is a trick: others on the way may have looked at the other one.
fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h HeaderValue> {
    let mut given = headers.get_all(name).iter();
    let first = given.next();
    first.filter(|_| given.next().is_none())
}

fn without_port(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    }
}

fn is_known_host(known: &[String], authority: &str) -> bool {
    let host = without_port(authority);
    known.iter().any(|name| name.eq_ignore_ascii_case(host))
}

/// Whether an origin is this server under the name it was called by. A page that came in the clear is none of a server
/// that speaks TLS; behind somebody else's TLS the page is by https and we are not.
fn is_own(origin: &HeaderValue, host: Option<&str>, is_secure: bool) -> bool {
    let (Ok(origin), Some(host)) = (origin.to_str(), host) else { return false };
    let clear = origin.strip_prefix("http://").filter(|_| !is_secure);
    let rest = clear.or_else(|| origin.strip_prefix("https://"));
    rest.is_some_and(|rest| rest.eq_ignore_ascii_case(host))
}

fn proof(app: &App, headers: &HeaderMap, is_same_user: bool) -> Option<Proof> {
    // What was shown is judged: a wrong token is not saved by a cookie beside it.
    if headers.contains_key(header::AUTHORIZATION) {
        let shown = only(headers, &header::AUTHORIZATION)?;
        let (scheme, token) = shown.to_str().ok()?.split_once(' ')?;
        let is_right = scheme.eq_ignore_ascii_case("bearer") && app.keys.is_token(&app.engine, token.trim());
        return is_right.then_some(Proof::Token);
    }
    if is_same_user {
        return Some(Proof::SameUser);
    }
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut cookies = cookies.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let is_cookie =
        cookies.any(|(name, value)| name == app.keys.cookie_name() && app.keys.is_cookie(&app.engine, value));
    is_cookie.then_some(Proof::Cookie)
}

fn is_json(headers: &HeaderMap) -> bool {
    let named = only(headers, &header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let kind = named.and_then(|named| named.split(';').next()).map(str::trim);
    kind.is_some_and(|kind| kind.eq_ignore_ascii_case("application/json"))
}

/// The request with all of its body, if it is neither too long nor too slow.
async fn with_whole_body(app: &App, request: Request) -> Result<Request, Refusal> {
    let too_large = || {
        let message = format!("the body is longer than {} MiB", LARGEST_BODY >> 20);
        Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, Kind::TooLarge, message)
    };
    let (parts, body) = request.into_parts();
    let announced = parts.headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    if announced.is_some_and(|length: usize| length > LARGEST_BODY) {
        return Err(too_large());
    }
    let mut ending = app.ending.subscribe();
    let read = tokio::select! {
        biased;
        read = tokio::time::timeout(BODY_ARRIVES, to_bytes(body, LARGEST_BODY)) => read,
        // What has not come is not waited for.
        () = becomes_so(&mut ending) => return Err(Refusal::ending()),
    };
    match read {
        Ok(Ok(bytes)) => Ok(Request::from_parts(parts, Body::from(bytes))),
        Ok(Err(_)) => Err(too_large()),
        Err(_) => Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, Kind::BadRequest, "the body did not arrive in time")),
    }
}

/// What browsers are told with every answer.
fn harden(headers: &mut HeaderMap) {
    let told = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ];
    for (name, value) in told {
        headers.insert(name, HeaderValue::from_static(value));
    }
    // What is told of sessions is kept by nobody on the way.
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}

/// Notes what changed something or was refused: the route, never what was asked or said.
fn note(app: &App, method: &Method, route: Option<&str>, status: StatusCode, took: Duration) {
    let route = route.unwrap_or("none");
    let is_safe = method.is_safe();
    // Anybody can make up a method, of any length.
    let method = clip(method.as_str(), LONGEST_METHOD);
    if app.is_talkative {
        app.told.note_line(&format!("{method} {route} {} {} ms", status.as_u16(), took.as_millis()));
    }
    if is_safe && status.as_u16() < 400 {
        return;
    }
    app.engine.note_request(&[
        ("method", method.into_owned().into()),
        ("route", route.into()),
        ("status", status.as_u16().into()),
        ("milliseconds", (took.as_millis() as u64).into()),
    ]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn t3_a_host_is_known_by_its_name_and_any_port() {
        let known = ["localhost".to_owned(), "[::1]".to_owned()];
        for name in ["localhost", "localhost:7717", "LOCALHOST:1", "[::1]", "[::1]:7717"] {
            assert!(is_known_host(&known, name), "{name}");
        }
        for name in
            ["", "evil.example", "localhost.evil.example", "evil.example:localhost", "localhost:x", "::1", "[::1"]
        {
            assert!(!is_known_host(&known, name), "{name}");
        }
    }

    #[test]
    fn t3_only_our_own_pages_are_ours() {
        let is = |origin: &'static str, is_secure| {
            is_own(&HeaderValue::from_static(origin), Some("localhost:7717"), is_secure)
        };
        assert!(is("http://localhost:7717", false) && is("https://localhost:7717", true));
        assert!(is("https://localhost:7717", false), "behind somebody else's TLS");
        assert!(!is("http://localhost:7717", true), "a page that anybody on the way could have written");
        for other in ["null", "", "http://localhost", "http://localhost:7718", "http://localhost:7717.evil.example"] {
            assert!(!is(other, false), "{other}");
        }
        assert!(!is_own(&HeaderValue::from_static("http://localhost:7717"), None, false));
    }

    #[test]
    fn t4_json_is_named_once_in_any_spelling() {
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
    fn a_panic_is_told_and_ends_nothing_else() {
        std::panic::set_hook(Box::new(|_| {}));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let told = runtime.block_on(survived(async { panic!("ours") }));
        assert_eq!(told.status(), StatusCode::INTERNAL_SERVER_ERROR);
        let told = runtime.block_on(survived(async { StatusCode::OK.into_response() }));
        assert_eq!(told.status(), StatusCode::OK);
    }
}
