//! Sign-in and error pages.

use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Response};
use maud::{Markup, html};
use rethread_engine::Clock;

use super::components::{OneLine, command};
use super::layout::{NavPage, WebPage, document, logo};
use crate::failure::{Failure, FailureKind};
use crate::serve::FailureCause;

/// A page without navigation, for visitors that are not signed in.
fn bare_page(title: &str, content: &Markup) -> String {
    let body = html! {
        main.gate id="main" {
            p.home { (logo()) span { "Rethread" } }
            h1 { (title) }
            (content)
        }
    };
    document(title, Some("alone"), &html! {}, &body).into_string()
}

/// Turns an error response into a page with the same status; other responses pass unchanged.
pub(crate) fn error_as_page(answer: Response, is_let_in: bool, has_members: bool) -> Response {
    let Some(FailureCause(failure)) = answer.extensions().get::<FailureCause>().cloned() else { return answer };
    let status = answer.status();
    let page = if is_let_in { error_page(status, &failure) } else { rejected_page(&failure, has_members) };
    (status, Html(page)).into_response()
}

/// The page for a request without a login, or with a foreign host or origin.
fn rejected_page(failure: &Failure, has_members: bool) -> String {
    if failure.kind == FailureKind::Unauthorized && has_members {
        return member_sign_in_page(false);
    }
    if failure.kind == FailureKind::Unauthorized {
        return bare_page(
            "Sign in",
            &html! {
                p { "Rethread opens with a one-time link. On the machine where it runs, type:" }
                p { (command("rethread open")) }
                p.dim { "A browser stays signed in for 30 days, or until the token is rotated." }
            },
        );
    }
    bare_page("Not allowed", &html! { p { (OneLine(failure.source.to_string())) "." } (hints(failure)) })
}

/// The page where a member signs in with a token.
pub(crate) fn member_sign_in_page(is_rejected: bool) -> String {
    bare_page(
        "Sign in",
        &html! {
            form.sign-in method="post" action="/login" {
                label for="token" { "Your token of the space" }
                input id="token" name="token" type="password" required autocomplete="current-password" autofocus;
                button.plain type="submit" { "Sign in" }
            }
            @if is_rejected { p role="alert" { "This token is not valid, or may not read." } }
            p.dim { "An admin of the space gives you the token. A browser stays signed in for 30 days, or until the token is revoked." }
        },
    )
}

/// The page for a login link that is used, expired or invalid.
pub(crate) fn link_expired_page() -> String {
    bare_page(
        "Link expired",
        &html! {
            p { "The link was already used, or is older than ten minutes. Get a new one:" }
            p { (command("rethread open")) }
            p.dim { "Already signed in? " a href="/" { "Go to the board" } "." }
        },
    )
}

/// The page after sign-in; it opens the board by a meta refresh.
pub(crate) fn signed_in_page() -> String {
    let body = html! {
        main.gate id="main" {
            p.home { (logo()) span { "Rethread" } }
            h1 { "Signed in" }
            p { a.plain href="/" { "Go to the board" } }
        }
    };
    let goes_on = html! { meta http-equiv="refresh" content="0;url=/"; };
    document("Signed in", Some("alone"), &goes_on, &body).into_string()
}

/// The error page for a signed-in user.
fn error_page(status: StatusCode, failure: &Failure) -> String {
    let title = match status {
        StatusCode::NOT_FOUND => "Not found",
        StatusCode::BAD_REQUEST => "Bad request",
        StatusCode::SERVICE_UNAVAILABLE => "Memory is unavailable",
        status if status.is_server_error() => "Internal error",
        _ => "Request failed",
    };
    let body = html! {
        section.nothing {
            p.code { (status.as_u16()) }
            h1 { (title) }
            p { (OneLine(failure.source.to_string())) "." }
            @for cause in failure.causes() { p.dim { (OneLine(cause)) } }
            (hints(failure))
            p { a.plain href="/" { "Go to the board" } " " a.plain href="/search" { "Search" } }
        }
    };
    WebPage::new(title, NavPage::Other, body).into_string(Clock::System.now(), None)
}

fn hints(failure: &Failure) -> Markup {
    // Hints about API routes are for programs.
    let for_people = failure.hints.iter().filter(|hint| !hint.contains("/api/"));
    html! { @for hint in for_people { p.dim { (OneLine(hint)) } } }
}
