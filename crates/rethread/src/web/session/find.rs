//! What a search within a session found: every entry with all words as links to their lines, and a bar to go from one to
//! the next.

use std::ops::Range;

use maud::{Markup, html};
use rethread_engine::{FoundEntry, FoundInSession};
use rethread_model::{Session, SessionId, clip};

use super::super::components::{OneLine, non_blank};
use super::super::links::to_session;
use super::super::search::highlight;
use super::super::viewer::Viewer;
use super::{SessionPageParams, conversation};
use crate::render::number;
use crate::serve::ApiError;

/// Bytes before the first match, and characters of a snippet.
const LEAD_BYTES: usize = 60;
const SNIPPET_CHARS: usize = 200;

/// The entries that contain the words of the search, if there is one.
pub(super) fn find(
    app: &Viewer<'_>,
    id: SessionId,
    params: &SessionPageParams,
) -> Result<Option<FoundInSession>, ApiError> {
    let Some(text) = non_blank(params.find.as_ref()) else { return Ok(None) };
    Ok(Some(app.engine.sessions().find(id, text, params.shows_everything())?))
}

/// The list of found entries. `line` is the one that is shown.
pub(super) fn found(
    session: &Session,
    params: &SessionPageParams,
    found: Option<&FoundInSession>,
    line: Option<u64>,
) -> Markup {
    let Some((text, found)) = non_blank(params.find.as_ref()).zip(found) else { return html! {} };
    let total = found.entries.len() as u64 + found.more;
    html! {
        section.found aria-labelledby="found-title" data-words=(OneLine(found.words.join(" "))) {
            h2 id="found-title" {
                span role="status" {
                    @match total { 0 => "No entry contains ", 1 => "1 entry contains ", _ => { (number(total)) " entries contain " } }
                    span.words { (OneLine(text)) }
                }
            }
            ol {
                @for one in &found.entries { (entry(session, one, &found.words, params)) }
            }
            @if found.more > 0 { p.dim { "… and " (number(found.more)) " more. Add a word to narrow the list." } }
        }
        @if !found.entries.is_empty() { (steps(session, params, &found.entries, line)) }
    }
}

/// The bar that stays in view: which of the found entries is shown, and links to those around it.
fn steps(session: &Session, params: &SessionPageParams, entries: &[FoundEntry], line: Option<u64>) -> Markup {
    let at = entries.iter().position(|one| Some(one.line) == line);
    // A line may have several entries, and all links to it lead to the first.
    let (before, after) = match at {
        None => (None, entries.first()),
        Some(at) => (entries[..at].last(), entries[at..].iter().find(|one| Some(one.line) != line)),
    };
    let to = |one: &FoundEntry| to_hit(session, params, one.line);
    html! {
        nav.hit-steps id="hit-steps" aria-label="Found entries" data-hit-steps data-keep {
            span.dim { span data-hit-at { (at.map_or(0, |at| at + 1)) } " of " (number(entries.len() as u64)) }
            @if let Some(one) = before { a.plain href=(to(one)) data-hit-step="-1" { "Previous" } }
            @else { a.plain aria-disabled="true" role="link" data-hit-step="-1" { "Previous" } }
            @if let Some(one) = after { a.plain href=(to(one)) data-hit-step="1" { "Next" } }
            @else { a.plain aria-disabled="true" role="link" data-hit-step="1" { "Next" } }
            a.plain.quiet href=(to_session(session.id)) { "Close" }
        }
    }
}

fn to_hit(session: &Session, params: &SessionPageParams, line: u64) -> String {
    let number = line.to_string();
    format!("{}#L{line}", params.link(session, &[("line", Some(&number))]))
}

fn entry(session: &Session, one: &FoundEntry, words: &[String], params: &SessionPageParams) -> Markup {
    let snippet = snippet(&one.text, words);
    let who = one.tool_name.as_deref().unwrap_or_else(|| conversation::author(one.kind).0);
    html! {
        li data-item {
            a href=(to_hit(session, params, one.line)) {
                span.who { (OneLine(who)) }
                span.snippet { (highlight(&snippet, &matches_in(&snippet, words))) }
                span.line { (one.line) }
            }
        }
    }
}

/// The part of a text around the first match, on one line.
fn snippet(text: &str, words: &[String]) -> String {
    let first = matches_in(text, words).first().map_or(0, |range| range.start);
    let from = text.floor_char_boundary(first.saturating_sub(LEAD_BYTES));
    let lead = if from > 0 { "…" } else { "" };
    format!(
        "{lead}{}",
        clip(&rethread_model::one_line(&text[from..text.floor_char_boundary(from + 4 * SNIPPET_CHARS)]), SNIPPET_CHARS)
    )
}

/// Where the words are, sorted. A text that changes its length in lower case has no marks.
fn matches_in(text: &str, words: &[String]) -> Vec<Range<usize>> {
    let lower = text.to_lowercase();
    if lower.len() != text.len() {
        return Vec::new();
    }
    let of_word = |word: &String| -> Vec<Range<usize>> {
        lower.match_indices(word.as_str()).map(|(at, found)| at..at + found.len()).collect()
    };
    let mut ranges: Vec<Range<usize>> = words.iter().flat_map(of_word).collect();
    ranges.sort_by_key(|range| range.start);
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snippet_starts_near_the_first_match() {
        let text = format!("{}\nThe needle is HERE", "x ".repeat(200));
        let words = ["needle".to_owned(), "here".to_owned()];
        let short = snippet(&text, &words);
        assert!(short.starts_with('…') && short.ends_with("The needle is HERE"), "{short}");
        let marked: Vec<&str> = matches_in(&short, &words).into_iter().map(|range| &short[range]).collect();
        assert_eq!(marked, ["needle", "HERE"]);
        assert!(matches_in("İ", &["i".to_owned()]).is_empty(), "its lower case is longer");
    }
}
