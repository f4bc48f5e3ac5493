//! Cuts the part of a text that shows why it was found.

use std::ops::Range;

use rethread_index::words;

/// Approximate width of a snippet, in characters.
const SNIPPET_CHARS: usize = 220;
/// Bytes of a long text that are searched for the best part.
const MAX_SCANNED_BYTES: usize = 20_000;
/// Characters searched for a word boundary before cutting inside a word.
const BOUNDARY_SEARCH_CHARS: usize = 24;

/// A one-line excerpt with the positions of the matches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snippet {
    /// The excerpt; `…` marks a cut.
    pub text: String,
    /// Byte ranges of the matches in `text`.
    pub matches: Vec<Range<usize>>,
}

/// The part of the text with the most different query words; the beginning if there is none.
pub fn snippet(text: &str, terms: &[&str]) -> Snippet {
    let line = collapse_whitespace(&text[..text.floor_char_boundary(MAX_SCANNED_BYTES)]);
    let places = find_matches(&line, terms);
    let start = best_start(&line, &places);
    let (from, to) = snippet_bounds(&line, start);
    let mut cut = String::new();
    if from > 0 {
        cut.push('…');
    }
    let shift = cut.len();
    cut.push_str(line[from..to].trim_end());
    if to < line.len() {
        cut.push('…');
    }
    let inside = places.iter().filter(|(place, _)| place.start >= from && place.end <= to);
    let matches = inside.map(|(place, _)| place.start - from + shift..place.end - from + shift).collect();
    Snippet { text: cut, matches: merge_ranges(matches) }
}

/// The whole text unchanged, with the positions of the matches.
pub fn highlight(text: &str, terms: &[&str]) -> Snippet {
    let matches = find_matches(text, terms).into_iter().map(|(place, _)| place).collect();
    Snippet { text: text.to_owned(), matches: merge_ranges(matches) }
}

fn collapse_whitespace(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// Byte range of each match, and the index of the matched word.
fn find_matches(text: &str, terms: &[&str]) -> Vec<(Range<usize>, usize)> {
    let words = words::split(text);
    let hits = words.iter().filter_map(|word| {
        let which = terms.iter().position(|terms| *terms == word.text)?;
        Some((word.start..word.end, which))
    });
    hits.collect()
}

/// The offset from which the most different query words fit into one snippet.
fn best_start(line: &str, places: &[(Range<usize>, usize)]) -> usize {
    let mut best = (0, 0);
    for (at, (place, _)) in places.iter().enumerate() {
        let in_sight = places[at..].iter().take_while(|(other, _)| other.end <= place.start + SNIPPET_CHARS);
        let mut seen: Vec<usize> = in_sight.map(|(_, which)| *which).collect();
        seen.sort_unstable();
        seen.dedup();
        if seen.len() > best.0 {
            best = (seen.len(), place.start);
        }
    }
    // Some leading context helps the reader; a short text is shown whole.
    if line.len() <= SNIPPET_CHARS { 0 } else { best.1.saturating_sub(SNIPPET_CHARS / 5) }
}

/// A range of about the right width that begins and ends between words where possible.
fn snippet_bounds(line: &str, start: usize) -> (usize, usize) {
    let mut from = start.min(line.len());
    while !line.is_char_boundary(from) {
        from -= 1;
    }
    if from > 0 {
        let near = line[from..].char_indices().take(BOUNDARY_SEARCH_CHARS).find(|(_, c)| *c == ' ');
        from += near.map_or(0, |(at, _)| at + 1);
    }
    let mut to = line[from..].char_indices().nth(SNIPPET_CHARS).map_or(line.len(), |(at, _)| from + at);
    if to < line.len() {
        let near = line[from..to].char_indices().rev().take(BOUNDARY_SEARCH_CHARS).find(|(_, c)| *c == ' ');
        to = near.map_or(to, |(at, _)| from + at);
    }
    (from, to)
}

/// Merges overlapping and adjacent ranges.
fn merge_ranges(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|range| (range.start, range.end));
    let mut merged: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// `expect` shows matches in square brackets.
    fn check(text: &str, terms: &[&str], expect: &str) {
        let snippet = snippet(text, terms);
        let mut rendered = snippet.text.clone();
        for range in snippet.matches.iter().rev() {
            rendered.insert(range.end, ']');
            rendered.insert(range.start, '[');
        }
        assert_eq!(rendered, expect);
    }

    #[test]
    fn matches_are_marked_and_lines_joined() {
        check("Fix the\n\n  parser, then\tparse", &["pars", "parser"], "Fix the [parser], then [parse]");
        check("open src/store/wal.rs now", &["wal"], "open src/store/[wal].rs now");
        check("open src/store/wal.rs now", &["wal", "src/store/wal.rs"], "open [src/store/wal.rs] now");
        check("nothing of it", &["other"], "nothing of it");
        check("", &["other"], "");
    }

    #[test]
    fn long_texts_are_cut_around_the_matches() {
        let text = format!("{}the deadlock appears in the pool {}", "before ".repeat(80), "after ".repeat(80));
        let found = snippet(&text, &["deadlock", "pool"]);
        assert!(found.text.starts_with('…') && found.text.ends_with('…'), "{}", found.text);
        assert_eq!(
            found.matches.iter().map(|range| &found.text[range.clone()]).collect::<Vec<_>>(),
            ["deadlock", "pool"]
        );
        assert!(found.text.chars().count() <= SNIPPET_CHARS + 2);
    }

    proptest! {
        #[test]
        fn any_text_gives_ranges_inside_the_snippet(text in any::<String>(), word in "[a-z]{1,4}") {
            for made in [snippet(&text, &[&word]), highlight(&text, &[&word])] {
                for range in &made.matches {
                    prop_assert!(made.text.get(range.clone()).is_some());
                }
            }
        }
    }
}
