//! `search_memory`: hits with citations, short enough to choose from.

use rethread_engine::{SearchRequest, SessionScope};

use super::{ToolContext, scope_name};
use crate::failure::{Failure, FailureKind};
use crate::mcp::arguments::McpArguments;
use crate::render::{self, SearchView, Tone};

/// Hits by default.
const DEFAULT_HITS: u64 = 8;
const MAX_HITS: u64 = 30;
/// Most characters of a query.
const MAX_QUERY_CHARS: usize = 2_000;

pub(super) fn search(context: &ToolContext<'_>, arguments: &McpArguments) -> Result<String, Failure> {
    let text = arguments.text("query");
    if text.is_empty() {
        let hint = "pass words, or a filter such as file:parser.rs or kind:error";
        return Err(Failure::new(FailureKind::Usage, "query is empty").hint(hint));
    }
    let length = text.chars().count();
    if length > MAX_QUERY_CHARS {
        let message = format!("query has {length} characters, at most {MAX_QUERY_CHARS} are allowed");
        return Err(Failure::new(FailureKind::TooLarge, message).hint("pass only the important words"));
    }
    let scope = context.scope(arguments);
    let limit = arguments.number("limit", DEFAULT_HITS, MAX_HITS) as usize;
    let request = SearchRequest { text: text.to_owned(), scope, limit, ..SearchRequest::default() };
    let report = context.engine.search().run(&request)?;
    let mut page = ToolContext::page();
    for what in report.notice.iter().chain(&report.degraded) {
        page.line(Tone::Plain, &format!("note: {what}"));
    }
    if report.hits.is_empty() {
        page.line(Tone::Plain, &no_hits_message(context, &request)?);
        return Ok(page.as_str().to_owned());
    }
    let with_project = request.scope == SessionScope::AllProjects;
    render::search(&mut page, &report, SearchView { now: context.engine.now(), with_project });
    let summary = format!("{} of {} matching entries", report.hits.len(), report.matched);
    page.end_line().line(Tone::Plain, &format!("{summary} in {}", scope_name(&request.scope)));
    Ok(page.as_str().to_owned())
}

/// The message for no hits; suggests other projects if they have any.
fn no_hits_message(context: &ToolContext<'_>, request: &SearchRequest) -> Result<String, Failure> {
    if let Some(why) = context.not_synced_message() {
        return Ok(why.to_owned());
    }
    let summary = format!("No matches in {}.", scope_name(&request.scope));
    let everywhere = SearchRequest { scope: SessionScope::AllProjects, limit: 1, ..request.clone() };
    let is_elsewhere =
        request.scope != SessionScope::AllProjects && !context.engine.search().run(&everywhere)?.hits.is_empty();
    let next = if is_elsewhere { "Other projects have matches: pass everywhere=true." } else { "Try other words." };
    Ok(format!("{summary} {next}"))
}
