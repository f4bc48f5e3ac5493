//! What a search within a session found: every entry with all words, as links to their lines.

use std::ops::Range;

use maud::{Markup, html};
use rethread_engine::FoundEntry;
use rethread_model::{Session, clip};

use super::super::components::{OneLine, non_blank};
use super::super::search::highlight;
use super::super::viewer::Viewer;
use super::{SessionPageParams, conversation};
use crate::render::number;
use crate::serve::ApiError;

/// Bytes before the first match, and characters of a snippet.
const LEAD_BYTES: usize = 60;
const SNIPPET_CHARS: usize = 200;

pub(super) fn found(app: &Viewer<'_>, session: &Session, params: &SessionPageParams) -> Result<Markup, ApiError> {
    let Some(text) = non_blank(params.find.as_ref()) else { return Ok(html! {}) };
    let found = app.engine.sessions().find(session.id, text, params.shows_everything())?;
    let total = found.entries.len() as u64 + found.more;
    Ok(html! {
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
    })
}

fn entry(session: &Session, one: &FoundEntry, words: &[String], params: &SessionPageParams) -> Markup {
    let line = one.line.to_string();
    let snippet = snippet(&one.text, words);
    let who = one.tool_name.as_deref().unwrap_or_else(|| conversation::author(one.kind).0);
    html! {
        li data-item {
            a href={ (params.link(session, &[("line", Some(&line))])) "#L" (line) } {
                span.who { (OneLine(who)) }
                span.snippet { (highlight(&snippet, &matches_in(&snippet, words))) }
                span.line { (line) }
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
