//! An error with its fixes, and a decision.

use maud::{Markup, html};
use rethread_engine::{Decision, FactSource, FileRule, Fix, FixChange, KnownError};
use rethread_model::{FactState, Predicate, Trust};

use super::super::components::{OneLine, PageContext, citations, count, project, reason};
use super::super::links::{to_entity, to_line};
use crate::render::{command_label, local_time, number};
use crate::serve::{ApiError, ServerState};

/// Fixes, and failed attempts, of an error that are listed.
const MAX_FIXES: usize = 5;
/// Edits of a fix that are shown.
const MAX_CHANGES: usize = 4;

/// Errors with their fixes and failed attempts. `is_inside`: on the page of the session, which is then not named.
pub(in super::super) fn error_cards(
    app: &ServerState,
    errors: &[KnownError],
    is_inside: bool,
) -> Result<Vec<Markup>, ApiError> {
    let context = PageContext::new(app);
    let fixes: Vec<&Fix> = errors.iter().flat_map(|error| shown(&error.fixes.fixes)).collect();
    let mut changes = app.engine.facts().changes(&fixes)?.into_iter();
    let cards = errors.iter().map(|error| {
        let of_error: Vec<_> = changes.by_ref().take(shown(&error.fixes.fixes).len()).collect();
        error_card(context, error, &of_error, is_inside)
    });
    Ok(cards.collect())
}

/// The fixes of an error that are listed.
fn shown(fixes: &[Fix]) -> &[Fix] {
    &fixes[..fixes.len().min(MAX_FIXES)]
}

/// A link to the fixes that are not listed.
fn more_fixes(error: &KnownError, fixes: &[Fix]) -> Markup {
    let more = fixes.len() - shown(fixes).len();
    html! { @if more > 0 { p.dim { a href=(to_entity("error", &error.signature)) { "and " (number(more as u64)) " more" } } } }
}

fn error_card(context: PageContext<'_>, error: &KnownError, changes: &[Vec<FixChange>], is_inside: bool) -> Markup {
    html! {
        article.error-known data-item {
            h3 { a href=(to_entity("error", &error.signature)) { (OneLine(&error.line)) } }
            p.dim {
                @if error.occurrences > 0 { "seen " (count(error.occurrences, "time")) }
                @if let Some(last) = &error.last_source {
                    @if is_inside { " · " a href=(to_line(last.session, last.line)) { "line " (number(last.line)) } }
                    @else { " · last " (context.since(last.at)) " · " (project(last.project.as_deref())) }
                }
            }
            @if !error.fixes.fixes.is_empty() { ul.fixes { @for (fix, changes) in error.fixes.fixes.iter().zip(changes) { (fix_item(context, fix, changes, is_inside)) } } (more_fixes(error, &error.fixes.fixes)) }
            @if !error.fixes.failed_attempts.is_empty() {
                details.more open[error.fixes.fixes.is_empty()] {
                    summary { (count(error.fixes.failed_attempts.len() as u64, "failed attempt")) }
                    ul.fixes { @for fix in shown(&error.fixes.failed_attempts) { (fix_item(context, fix, &[], is_inside)) } }
                    (more_fixes(error, &error.fixes.failed_attempts))
                }
            }
        }
    }
}

fn fix_item(context: PageContext<'_>, fix: &Fix, changes: &[FixChange], is_inside: bool) -> Markup {
    let (word, class) = match fix.state {
        FactState::Confirmed => ("fixed it", "good"),
        FactState::Refuted => ("did not help", "bad"),
        FactState::Hypothesis | FactState::Superseded => ("may have helped", "careful"),
    };
    html! {
        li {
            p.what { (OneLine(&fix.description)) }
            p.dim {
                span class=(class) { (word) }
                @if fix.succeeded > 0 { " · helped " (number(fix.succeeded)) "×" }
                @if fix.failed > 0 { " · failed " (number(fix.failed)) "×" }
                @if let Some(command) = &fix.command { " · " (command_label(fix.state)) " " code { (OneLine(command)) } }
                @if is_inside { (source_lines(&fix.sources)) }
            }
            (reason(fix.reason.as_ref(), &fix.description))
            (changes_of_fix(fix.sources.first(), changes))
            @if !is_inside { (citations(context, &fix.sources)) }
        }
    }
}

/// The edits of a fix, as stored, each with a link to its line, where the whole diff is.
fn changes_of_fix(source: Option<&FactSource>, changes: &[FixChange]) -> Markup {
    let shown = &changes[..changes.len().min(MAX_CHANGES)];
    html! {
        @if !shown.is_empty() {
            div.changes {
                @for change in shown {
                    p.change-path {
                        @if let Some(source) = source { a href=(to_line(source.session, change.line)) title="the edit in its session" { (OneLine(&change.path)) } }
                        @else { (OneLine(&change.path)) }
                    }
                    @match &change.text {
                        Some(text) => { (diff(text)) }
                        None => { p.dim { "file written in full; content not stored" } }
                    }
                }
                @if changes.len() > shown.len() { p.dim { "… and " (number((changes.len() - shown.len()) as u64)) " more changes" } }
            }
        }
    }
}

/// Lines that begin with `+` or `-`, and `old → new` as a line of each.
fn diff(text: &str) -> Markup {
    html! {
        pre.stored-change {
            @for line in text.lines() {
                @match (line.strip_prefix("+ "), line.strip_prefix("- "), line.split_once(" → ")) {
                    (Some(new), ..) => { ins { "+ " (OneLine(new)) } }
                    (_, Some(old), _) => { del { "- " (OneLine(old)) } }
                    (_, _, Some((old, new))) => { del { "- " (OneLine(old)) } ins { "+ " (OneLine(new)) } }
                    _ => { span { "  " (OneLine(line)) } }
                }
            }
        }
    }
}

/// Links to the first source lines.
fn source_lines(sources: &[FactSource]) -> Markup {
    html! {
        @for source in sources.iter().take(3) {
            " · " a href=(to_line(source.session, source.line)) { "line " (number(source.line)) }
        }
    }
}

/// A rule in a file for agents, with the file and line.
pub(super) fn rule_card(one: &FileRule) -> Markup {
    let (word, class) = match one.rule.predicate {
        Predicate::Forbids => ("never", "bad"),
        _ => ("always", "good"),
    };
    html! {
        article.decision data-item {
            h3 {
                span class={ "badge " (class) } { (word) } " " (OneLine(&one.rule.subject))
                @if let Some(other) = &one.rule.instead { " " span.against { "use " (OneLine(other)) } }
            }
            p.what { (OneLine(&one.statement)) }
            p.dim { (one.origin()) " · " (project(one.project.as_deref())) }
        }
    }
}

/// A decision, preference or prohibition, with its state and reason.
pub(in super::super) fn decision_card(context: PageContext<'_>, one: &Decision, is_inside: bool) -> Markup {
    let (word, class) = match one.predicate {
        Predicate::Prefers if one.is_open() => ("always", "good"),
        Predicate::Forbids if one.is_open() => ("never", "bad"),
        _ if one.is_open() && one.state == FactState::Hypothesis => (one.state.decision_name(), "careful"),
        _ => (one.state.decision_name(), if one.is_open() { "good" } else { "gone" }),
    };
    let author = match one.trust {
        Trust::Human => "from you",
        Trust::Assistant => "from the agent",
        Trust::Tool => "from tool output",
        Trust::Web => "from the web",
    };
    let kind = if one.predicate == Predicate::Decided { "decision" } else { "preference" };
    html! {
        article.decision.gone[!one.is_open()] data-item {
            h3 {
                span class={ "badge " (class) } { (word) } " "
                a href=(to_entity(kind, &one.subject)) { (OneLine(&one.subject)) }
                @if let Some(other) = &one.rejected_option { " " span.against { "not " (OneLine(other)) } }
                @if let Some(other) = &one.replacement { " " span.against { "use " (OneLine(other)) } }
            }
            @if !one.statement.is_empty() { p.what { (OneLine(&one.statement)) } }
            (reason(one.reason.as_ref(), &one.statement))
            p.dim {
                (author)
                @if !is_inside { " · " (project(one.project.as_deref())) }
                @if let Some(until) = one.valid_to { " · until " (local_time(Some(until), context.zone)) }
                @if let Some(by) = &one.closed_by { " · " a href=(to_line(by.session, by.line)) { "ended here" } }
                @if is_inside { (source_lines(&one.sources)) }
            }
            @if !is_inside { (citations(context, &one.sources)) }
        }
    }
}
