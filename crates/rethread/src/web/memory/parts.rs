//! One error with what was tried against it, and one decision.

use maud::{Markup, html};
use rethread_engine::{Decision, Fix, KnownError, Source};
use rethread_model::{FactState, Predicate, Trust};

use super::super::links::{to_line, to_thing};
use super::super::parts::{Here, Line, all_cited, because, count, project};
use crate::render::{moment, number};

/// An error, what helped, and what did not. Inside a session nobody need be told which.
pub(in super::super) fn error(here: Here<'_>, error: &KnownError, is_inside: bool) -> Markup {
    html! {
        article.error-known data-item {
            h3 { a href=(to_thing("error", &error.signature)) { (Line(&error.line)) } }
            p.dim {
                @if error.seen > 0 { "met " (count(error.seen, "time")) }
                @if let Some(last) = &error.last {
                    @if is_inside { " · " a href=(to_line(last.session, last.line)) { "line " (number(last.line)) } }
                    @else { " · last " (here.since(last.at)) " · " (project(last.project.as_deref())) }
                }
            }
            @if !error.fixes.fixes.is_empty() { ul.fixes { @for fix in &error.fixes.fixes { (remedy(here, fix, is_inside)) } } }
            @if !error.fixes.dead_ends.is_empty() {
                details.more open[error.fixes.fixes.is_empty()] {
                    summary { (count(error.fixes.dead_ends.len() as u64, "dead end")) }
                    ul.fixes { @for fix in &error.fixes.dead_ends { (remedy(here, fix, is_inside)) } }
                }
            }
        }
    }
}

fn remedy(here: Here<'_>, fix: &Fix, is_inside: bool) -> Markup {
    let (word, class) = match fix.state {
        FactState::Confirmed => ("fixed it", "good"),
        FactState::Refuted => ("did not help", "bad"),
        FactState::Hypothesis | FactState::Superseded => ("may have helped", "careful"),
    };
    html! {
        li {
            p.what { (Line(&fix.what)) }
            p.dim {
                span class=(class) { (word) }
                @if fix.succeeded > 0 { " · helped " (number(fix.succeeded)) "×" }
                @if fix.failed > 0 { " · failed " (number(fix.failed)) "×" }
                @if let Some(command) = &fix.command { " · shown by " code { (Line(command)) } }
                @if is_inside { (lines(&fix.sources)) }
            }
            (because(fix.reason.as_ref(), &fix.what))
            @if !is_inside { (all_cited(here, &fix.sources)) }
        }
    }
}

/// The first of the lines it rests on.
fn lines(sources: &[Source]) -> Markup {
    html! {
        @for source in sources.iter().take(3) {
            " · " a href=(to_line(source.session, source.line)) { "line " (number(source.line)) }
        }
    }
}

/// A decision or a standing rule, with its state and its reason.
pub(in super::super) fn decision(here: Here<'_>, one: &Decision, is_inside: bool) -> Markup {
    let (word, class) = match one.predicate {
        Predicate::Prefers if one.is_open() => ("always", "good"),
        Predicate::Forbids if one.is_open() => ("never", "bad"),
        _ if one.is_open() && one.state == FactState::Hypothesis => (one.state.of_decision(), "careful"),
        _ => (one.state.of_decision(), if one.is_open() { "good" } else { "gone" }),
    };
    let whose = match one.trust {
        Trust::Human => "said by you",
        Trust::Assistant => "said by the agent",
        Trust::Tool => "from a tool's output",
        Trust::Web => "from the web",
    };
    let kind = if one.predicate == Predicate::Decided { "choice" } else { "rule" };
    html! {
        article.decision.gone[!one.is_open()] data-item {
            h3 {
                span class={ "badge " (class) } { (word) } " "
                a href=(to_thing(kind, &one.choice)) { (Line(&one.choice)) }
                @if let Some(other) = &one.against { " " span.against { "not " (Line(other)) } }
            }
            @if !one.what.is_empty() { p.what { (Line(&one.what)) } }
            (because(one.reason.as_ref(), &one.what))
            p.dim {
                (whose)
                @if !is_inside { " · " (project(one.project.as_deref())) }
                @if let Some(until) = one.valid_to { " · until " (moment(Some(until), here.zone)) }
                @if let Some(by) = &one.closed_by { " · " a href=(to_line(by.session, by.line)) { "what closed it" } }
                @if is_inside { (lines(&one.sources)) }
            }
            @if !is_inside { (all_cited(here, &one.sources)) }
        }
    }
}
