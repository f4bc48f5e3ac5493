//! Search hits as rows.

use std::collections::BTreeSet;
use std::ops::Range;

use rethread_engine::{EngineError, HitWithExchange, SearchReport, SearchRequest};
use rethread_model::one_line;

use super::{LoadContext, empty_note, joined};
use crate::render::{Tone, age, kind_label, number, project_name, sanitize, session_label};
use crate::tui::request::{ListRequest, LoadedList};
use crate::tui::row::{ListRow, RowSubject};

/// Searches by words only, and without updating the index: typing must cause neither model calls nor writes.
pub(super) fn search(context: LoadContext<'_>, request: &ListRequest) -> Result<LoadedList, EngineError> {
    let filters = &request.filters;
    let report = context.engine.search().run(&SearchRequest {
        text: request.query.clone(),
        scope: filters.scope(),
        agent: filters.agent,
        kinds: filters.kind.into_iter().collect(),
        state: filters.state,
        since: filters.since().map(str::to_owned),
        limit: request.limit,
        read_only: true,
        ..SearchRequest::default()
    })?;
    let words: BTreeSet<String> = report.hits.iter().flat_map(matched_words).collect();
    Ok(LoadedList {
        summary: summary(&report),
        empty_note: empty_note("No matches. Try fewer or other words, remove filters", filters),
        has_more: report.hits.len() >= request.limit,
        rows: report.hits.iter().map(|found| row(context, found)).collect(),
        notice: report.degraded.or(report.notice),
        words: words.into_iter().collect(),
        ..LoadedList::default()
    })
}

fn summary(report: &SearchReport) -> String {
    let millis = (report.seconds * 1e3).round() as u64;
    format!("{} of {} matching · {} ms", report.hits.len(), number(report.matched), number(millis))
}

/// The words of the query as they are written in the hit.
fn matched_words(found: &HitWithExchange) -> impl Iterator<Item = String> {
    let snippet = &found.hit.snippet;
    snippet.matches.iter().filter_map(|range| Some(snippet.text.get(range.clone())?.to_lowercase()))
}

fn row(context: LoadContext<'_>, found: &HitWithExchange) -> ListRow {
    let hit = &found.hit;
    let entry = &hit.entry;
    let about = format!("{} ", joined(&[&kind_label(hit), &project_name(&hit.session)]));
    let (snippet, matches) = sanitized_snippet(&hit.snippet.text, &hit.snippet.matches);
    let shift = about.len();
    ListRow {
        title: session_label(&hit.session),
        title_tone: Tone::Plain,
        aside: format!("{} {}", hit.session.agent, age(entry.at, context.engine.now())),
        detail: format!("{about}{snippet}"),
        matches: matches.into_iter().map(|range| range.start + shift..range.end + shift).collect(),
        subject: RowSubject {
            session: hit.session.id,
            stored: Some(Box::new(hit.session.clone())),
            line: Some(entry.location.line),
            is_running: false,
            text: entry.text.clone(),
            fact: None,
        },
    }
}

/// The snippet as one harmless line, with the matches at their new places.
fn sanitized_snippet(text: &str, matches: &[Range<usize>]) -> (String, Vec<Range<usize>>) {
    let (mut out, mut ranges) = (String::new(), Vec::new());
    let mut at = 0;
    for range in matches {
        let (Some(before), Some(word)) = (text.get(at..range.start), text.get(range.clone())) else { continue };
        out.push_str(&blank_breaks(&sanitize(before)));
        let start = out.len();
        out.push_str(&blank_breaks(&sanitize(word)));
        ranges.push(start..out.len());
        at = range.end;
    }
    out.push_str(&blank_breaks(&sanitize(&text[at..])));
    (out, ranges)
}

fn blank_breaks(text: &str) -> String {
    debug_assert!(!text.contains('\u{1b}'), "it was sanitized");
    if text.contains(['\n', '\t']) { one_line(text) } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_stay_at_their_words_in_sanitized_text() {
        let (text, matches) =
            sanitized_snippet("a\u{7}b \u{1b}[31mred\u{1b}[0m hit x", std::slice::from_ref(&(17..20)));
        assert_eq!(&text[matches[0].clone()], "hit", "{text}");
        assert!(!text.contains('\u{1b}'));
        assert_eq!(sanitized_snippet("short", std::slice::from_ref(&(3..99))), ("short".to_owned(), vec![]));
    }
}
