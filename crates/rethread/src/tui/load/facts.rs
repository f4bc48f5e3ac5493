//! Known errors and decisions as rows.

use rethread_engine::{Decision, DecisionRequest, EngineError, ErrorsRequest, FactSource, FixRequest, KnownError};
use rethread_model::Predicate;

use super::{LoadContext, empty_note, joined, query_words};
use crate::render::{Tone, age, count, sanitize_line};
use crate::tui::filters::{Filters, last_part};
use crate::tui::request::{ListRequest, LoadedList};
use crate::tui::row::{ListRow, RowFact, RowSubject};

/// Errors with fixes or failed attempts. If none has all words of the query, it is looked up as a printed error.
pub(super) fn fixes(context: LoadContext<'_>, request: &ListRequest) -> Result<LoadedList, EngineError> {
    let (facts, scope) = (context.engine.facts(), request.filters.scope());
    let wanted = ErrorsRequest { query: request.query.clone(), scope: scope.clone(), limit: usize::MAX };
    let mut errors = facts.errors(&wanted)?.errors;
    if errors.iter().all(|error| error.fixes.is_empty()) && !request.query.is_empty() {
        errors = facts.fix(&FixRequest { text: request.query.clone(), scope })?.errors;
    }
    let is_wanted = |error: &KnownError| !error.fixes.is_empty() && is_included(context, request, source_of(error));
    errors.retain(is_wanted);
    let all = errors.len();
    errors.truncate(request.limit);
    Ok(LoadedList {
        summary: count(all as u64, "error"),
        empty_note: empty_note("No errors with a known fix. Type words of an error", &request.filters),
        has_more: all > request.limit,
        rows: errors.into_iter().filter_map(|error| error_row(context, error)).collect(),
        words: query_words(&request.query),
        ..LoadedList::default()
    })
}

/// Decisions, preferences and prohibitions with all words of the query.
pub(super) fn decisions(context: LoadContext<'_>, request: &ListRequest) -> Result<LoadedList, EngineError> {
    let wanted =
        DecisionRequest { query: request.query.clone(), scope: request.filters.scope(), ..DecisionRequest::default() };
    let mut found = context.engine.facts().decisions(&wanted)?;
    found.retain(|one| is_included(context, request, one.sources.first()));
    let all = found.len();
    found.truncate(request.limit);
    Ok(LoadedList {
        summary: count(all as u64, "decision"),
        empty_note: empty_note("No decisions found. Try other words", &request.filters),
        has_more: all > request.limit,
        rows: found.into_iter().filter_map(|one| decision_row(context, one)).collect(),
        words: query_words(&request.query),
        ..LoadedList::default()
    })
}

/// Whether the filters include what this source states. Without a source there is nothing to show.
fn is_included(context: LoadContext<'_>, request: &ListRequest, source: Option<&FactSource>) -> bool {
    let filters: &Filters = &request.filters;
    source.is_some_and(|source| {
        filters.includes_agent(source.agent) && filters.includes_time(source.at, context.engine.now())
    })
}

/// Where the best fix was found, or the last failed attempt.
fn source_of(error: &KnownError) -> Option<&FactSource> {
    let tried = error.fixes.fixes.iter().chain(&error.fixes.failed_attempts);
    tried.flat_map(|fix| &fix.sources).next().or(error.last_source.as_ref())
}

fn error_row(context: LoadContext<'_>, error: KnownError) -> Option<ListRow> {
    let source = source_of(&error)?.clone();
    let best = error.fixes.fixes.first();
    let helped: u64 = error.fixes.fixes.iter().map(|fix| fix.succeeded).sum();
    let outcome = match best {
        Some(_) if helped > 0 => format!("helped {helped}×"),
        Some(_) => "not confirmed".to_owned(),
        None => "nothing helped".to_owned(),
    };
    let shown = best.or(error.fixes.failed_attempts.first());
    let detail = joined(&[&outcome, &shown.map(|fix| sanitize_line(&fix.description)).unwrap_or_default()]);
    let tone = if best.is_none() { Tone::Warning } else { Tone::Plain };
    let text = shown.map(|fix| fix.description.clone()).unwrap_or_default();
    let title = sanitize_line(&error.line);
    Some(fact_row(context, title, tone, detail, &source, text, RowFact::Error(Box::new(error))))
}

fn decision_row(context: LoadContext<'_>, one: Decision) -> Option<ListRow> {
    let source = one.sources.first()?.clone();
    let state = match one.predicate {
        Predicate::Prefers if one.is_open() => "always",
        Predicate::Forbids if one.is_open() => "never",
        _ => one.state.decision_name(),
    };
    let title = sanitize_line(&one.subject);
    let project = one.project.as_deref().map(last_part).unwrap_or_default();
    let detail = joined(&[state, &project, &sanitize_line(&one.in_words())]);
    let tone = if one.is_ruled_out() { Tone::Warning } else { Tone::Plain };
    let text = one.in_words();
    Some(fact_row(context, title, tone, detail, &source, text, RowFact::Decision(Box::new(one))))
}

fn fact_row(
    context: LoadContext<'_>,
    title: String,
    title_tone: Tone,
    detail: String,
    source: &FactSource,
    text: String,
    fact: RowFact,
) -> ListRow {
    ListRow {
        title,
        title_tone,
        aside: format!("{} {}", source.agent, age(source.at, context.engine.now())),
        detail,
        matches: Vec::new(),
        subject: RowSubject {
            session: source.session,
            stored: None,
            line: Some(source.line),
            is_running: false,
            text,
            fact: Some(fact),
        },
    }
}
