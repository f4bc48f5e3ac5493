//! Pages for whoever is not let in, for whoever just was, and for what went wrong.

use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Response};
use maud::{Markup, html};
use rethread_engine::Clock;

use super::parts::{Line, command};
use super::shell::{Page, Place, document, sign};
use crate::failure::{Failure, Kind};
use crate::serve::Why;

/// A page that only says one thing.
fn alone(title: &str, said: &Markup) -> String {
    let body = html! {
        main.gate id="main" {
            p.home { (sign()) span { "Rethread" } }
            h1 { (title) }
            (said)
        }
    };
    document(title, Some("alone"), &html! {}, &body).into_string()
}

/// A refusal as a page with the same status; every other answer as it is.
pub(crate) fn as_page(answer: Response, is_let_in: bool) -> Response {
    let Some(Why(failure)) = answer.extensions().get::<Why>().cloned() else { return answer };
    let status = answer.status();
    let page = if is_let_in { failed(status, &failure) } else { turned_away(&failure) };
    (status, Html(page)).into_response()
}

/// Somebody asks for a page without a login, under another name, or from elsewhere.
fn turned_away(failure: &Failure) -> String {
    if failure.kind == Kind::Unauthorised {
        return alone(
            "This memory is private",
            &html! {
                p { "It opens with a link that works once. On the machine where it runs, type:" }
                p { (command("rethread open")) }
                p.dim { "A browser that came in once stays in for thirty days, until the token is changed." }
            },
        );
    }
    alone("Not here", &html! { p { (Line(failure.source.to_string())) "." } (hints(failure)) })
}

/// A link was used already, or never was one.
pub(crate) fn used_up() -> String {
    alone(
        "This link is used up",
        &html! {
            p { "It was used already, or it is older than ten minutes. Another one:" }
            p { (command("rethread open")) }
            p.dim { "Whoever is logged in already can simply " a href="/" { "go on" } "." }
        },
    )
}

/// Somebody came in; the next page is asked for by this one.
pub(crate) fn let_in() -> String {
    let body = html! {
        main.gate id="main" {
            p.home { (sign()) span { "Rethread" } }
            h1 { "Come in" }
            p { a.plain href="/" { "Go on to the board" } }
        }
    };
    let goes_on = html! { meta http-equiv="refresh" content="0;url=/"; };
    document("Come in", Some("alone"), &goes_on, &body).into_string()
}

/// Something that was asked for could not be shown.
fn failed(status: StatusCode, failure: &Failure) -> String {
    let title = match status {
        StatusCode::NOT_FOUND => "Nothing is here",
        StatusCode::BAD_REQUEST => "That is not understood",
        StatusCode::SERVICE_UNAVAILABLE => "The memory cannot be read just now",
        status if status.is_server_error() => "A mistake of ours",
        _ => "That did not work",
    };
    let body = html! {
        section.nothing {
            p.code { (status.as_u16()) }
            h1 { (title) }
            p { (Line(failure.source.to_string())) "." }
            @for cause in failure.causes() { p.dim { (Line(cause)) } }
            (hints(failure))
            p { a.plain href="/" { "To the board" } " " a.plain href="/search" { "Search" } }
        }
    };
    Page::new(title, Place::Elsewhere, body).into_string(Clock::System.now())
}

fn hints(failure: &Failure) -> Markup {
    // What helps programs helps nobody here.
    let for_people = failure.hints.iter().filter(|hint| !hint.contains("/api/"));
    html! { @for hint in for_people { p.dim { (Line(hint)) } } }
}
