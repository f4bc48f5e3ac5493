//! The piece of a text that shows why it was found.

use std::ops::Range;

use rethread_index::words;

/// About how many characters a snippet has.
const WIDTH: usize = 220;
/// Bytes of a long text in which the best piece is looked for.
const LOOKED_AT: usize = 20_000;
/// How far to look for a border between words before cutting inside one.
const BORDER: usize = 24;

/// A piece of text on one line, and where in it the words of the query stand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snippet {
    /// The piece; `…` stands where something was cut off.
    pub text: String,
    /// Byte ranges of the words that matched.
    pub matches: Vec<Range<usize>>,
}

/// The piece of the text with the most of the words, each counted once; the beginning if it has none.
pub fn snippet(text: &str, wanted: &[&str]) -> Snippet {
    let line = words_apart_by_one_space(&text[..text.floor_char_boundary(LOOKED_AT)]);
    let places = matching(&line, wanted);
    let start = best_start(&line, &places);
    let (from, to) = borders(&line, start);
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
    Snippet { text: cut, matches: merged(matches) }
}

/// A whole text, as it is, with the places where the words stand.
pub fn marked(text: &str, wanted: &[&str]) -> Snippet {
    let matches = matching(text, wanted).into_iter().map(|(place, _)| place).collect();
    Snippet { text: text.to_owned(), matches: merged(matches) }
}

fn words_apart_by_one_space(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// Where words of the query stand, and which.
fn matching(text: &str, wanted: &[&str]) -> Vec<(Range<usize>, usize)> {
    let words = words::split(text);
    let hits = words.iter().filter_map(|word| {
        let which = wanted.iter().position(|wanted| *wanted == word.text)?;
        Some((word.start..word.end, which))
    });
    hits.collect()
}

/// The place from which the most different words of the query are in sight.
fn best_start(line: &str, places: &[(Range<usize>, usize)]) -> usize {
    let mut best = (0, 0);
    for (at, (place, _)) in places.iter().enumerate() {
        let in_sight = places[at..].iter().take_while(|(other, _)| other.end <= place.start + WIDTH);
        let mut seen: Vec<usize> = in_sight.map(|(_, which)| *which).collect();
        seen.sort_unstable();
        seen.dedup();
        if seen.len() > best.0 {
            best = (seen.len(), place.start);
        }
    }
    // A little of what comes before makes it readable; a short text is shown whole.
    if line.len() <= WIDTH { 0 } else { best.1.saturating_sub(WIDTH / 5) }
}

/// A stretch of about the right width that begins and ends between words where it can.
fn borders(line: &str, start: usize) -> (usize, usize) {
    let mut from = start.min(line.len());
    while !line.is_char_boundary(from) {
        from -= 1;
    }
    if from > 0 {
        let near = line[from..].char_indices().take(BORDER).find(|(_, c)| *c == ' ');
        from += near.map_or(0, |(at, _)| at + 1);
    }
    let mut to = line[from..].char_indices().nth(WIDTH).map_or(line.len(), |(at, _)| from + at);
    if to < line.len() {
        let near = line[from..to].char_indices().rev().take(BORDER).find(|(_, c)| *c == ' ');
        to = near.map_or(to, |(at, _)| from + at);
    }
    (from, to)
}

/// Ranges that touch become one.
fn merged(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
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

    /// Matches in square brackets.
    fn check(text: &str, wanted: &[&str], expect: &str) {
        let snippet = snippet(text, wanted);
        let mut told = snippet.text.clone();
        for range in snippet.matches.iter().rev() {
            told.insert(range.end, ']');
            told.insert(range.start, '[');
        }
        assert_eq!(told, expect);
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
        assert!(found.text.chars().count() <= WIDTH + 2);
    }

    proptest! {
        #[test]
        fn any_text_gives_ranges_inside_the_snippet(text in any::<String>(), word in "[a-z]{1,4}") {
            for made in [snippet(&text, &[&word]), marked(&text, &[&word])] {
                for range in &made.matches {
                    prop_assert!(made.text.get(range.clone()).is_some());
                }
            }
        }
    }
}
