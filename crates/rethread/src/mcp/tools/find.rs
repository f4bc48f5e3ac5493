//! `search_memory`: hits with their citations, small enough to choose among.

use rethread_engine::{Scope, SearchRequest};

use super::{Desk, place};
use crate::failure::{Failure, Kind};
use crate::mcp::arguments::Arguments;
use crate::render::{self, Tone, Wanted};

/// Hits, unless a model asks for more or less.
const USUAL_HITS: u64 = 8;
const MOST_HITS: u64 = 30;
/// Characters of a query.
const LONGEST_QUERY: usize = 2_000;

/// Finds what fits best.
pub(super) fn search(desk: &Desk<'_>, arguments: &Arguments) -> Result<String, Failure> {
    let text = arguments.text("query");
    if text.is_empty() {
        let hint = "give words, or a filter such as file:parser.rs or kind:error";
        return Err(Failure::new(Kind::Usage, "there is nothing to search for").hint(hint));
    }
    let length = text.chars().count();
    if length > LONGEST_QUERY {
        let message = format!("a query may have {LONGEST_QUERY} characters, and this one has {length}");
        return Err(Failure::new(Kind::TooLarge, message).hint("give the words that matter"));
    }
    let scope = desk.scope(arguments);
    let limit = arguments.number("limit", USUAL_HITS, MOST_HITS) as usize;
    let wanted = SearchRequest { text: text.to_owned(), scope, limit, ..SearchRequest::default() };
    let report = desk.engine.search(&wanted)?;
    let mut page = Desk::page();
    if let Some(what) = &report.degraded {
        page.line(Tone::Plain, &format!("note: {what}"));
    }
    if report.hits.is_empty() {
        page.line(Tone::Plain, &nothing(desk, &wanted)?);
        return Ok(page.as_str().to_owned());
    }
    let with_project = wanted.scope == Scope::AllProjects;
    render::search(&mut page, &report, Wanted { now: desk.engine.now(), with_project });
    let said = format!("{} of {} matching entries", report.hits.len(), report.matched);
    page.end().line(Tone::Plain, &format!("{said} in {}", place(&wanted.scope)));
    Ok(page.as_str().to_owned())
}

/// Where something could be when there is nothing here.
fn nothing(desk: &Desk<'_>, wanted: &SearchRequest) -> Result<String, Failure> {
    if let Some(why) = desk.not_begun() {
        return Ok(why.to_owned());
    }
    let said = format!("Nothing was found in {}.", place(&wanted.scope));
    let everywhere = SearchRequest { scope: Scope::AllProjects, limit: 1, ..wanted.clone() };
    let is_elsewhere = wanted.scope != Scope::AllProjects && !desk.engine.search(&everywhere)?.hits.is_empty();
    let next = if is_elsewhere { "There are hits in other projects: everywhere=true." } else { "Try other words." };
    Ok(format!("{said} {next}"))
}
