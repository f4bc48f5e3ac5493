//! Finds a set of literals in a text, ignoring case. Does not know what they mean.

mod automaton;

use std::ops::Range;
use std::sync::OnceLock;

use automaton::LiteralTables;

/// A text up to this many bytes is searched faster than the tables for long texts are built.
const SHORT_TEXT_BYTES: usize = 4 << 10;

/// A set of literals to search for.
#[derive(Debug)]
pub(super) struct LiteralSet {
    set: Vec<&'static str>,
    /// The indexes of the literals that start with each byte, in lower case.
    by_first_byte: Vec<Vec<usize>>,
    /// Built for the first long text. A hook never sees one, and runs no longer than building them takes.
    tables: OnceLock<LiteralTables>,
}

/// A literal found in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LiteralHit {
    /// Index of the literal in the set.
    pub(super) literal: usize,
    pub(super) range: Range<usize>,
}

impl LiteralSet {
    pub(super) fn new(literals: Vec<&'static str>) -> Self {
        let mut by_first_byte = vec![Vec::new(); 256];
        for (number, literal) in literals.iter().enumerate() {
            if let Some(first) = literal.bytes().next() {
                by_first_byte[usize::from(first.to_ascii_lowercase())].push(number);
            }
        }
        Self { set: literals, by_first_byte, tables: OnceLock::new() }
    }

    /// Every literal in the text, including overlapping ones, in the order of their ends.
    pub(super) fn find(&self, text: &[u8]) -> Vec<LiteralHit> {
        match self.tables.get() {
            None if text.len() <= SHORT_TEXT_BYTES => self.find_in_short(text),
            _ => self.tables.get_or_init(|| LiteralTables::new(&self.set)).find(text),
        }
    }

    /// Tries every literal that starts with the byte at each position.
    fn find_in_short(&self, text: &[u8]) -> Vec<LiteralHit> {
        let mut hits = Vec::new();
        for (start, first) in text.iter().enumerate() {
            for &literal in &self.by_first_byte[usize::from(first.to_ascii_lowercase())] {
                let range = start..start + self.set[literal].len();
                let found = text.get(range.clone());
                if found.is_some_and(|found| found.eq_ignore_ascii_case(self.set[literal].as_bytes())) {
                    hits.push(LiteralHit { literal, range });
                }
            }
        }
        hits.sort_by_key(|hit| (hit.range.end, hit.range.start));
        hits
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sorted(mut hits: Vec<LiteralHit>) -> Vec<LiteralHit> {
        hits.sort_by_key(|hit| (hit.range.end, hit.range.start));
        hits
    }

    proptest! {
        #[test]
        fn short_and_long_searches_agree(text in "(token|_key|KEY=|sk-|api_|[a-z=_ -]|\\PC){0,60}") {
            let literals = LiteralSet::new(vec!["token", "_key", "key=", "sk-", "api_key"]);
            let tables = LiteralTables::new(&literals.set);
            prop_assert_eq!(literals.find_in_short(text.as_bytes()), sorted(tables.find(text.as_bytes())));
        }
    }

    #[test]
    fn hits_are_the_same_with_and_without_lanes() {
        let tables = LiteralTables::new(&["token", "_key", "key=", "sk-", "api_key"]);
        let line = |number: usize| format!("x{number} API_KEY=sk-tok{}", "y".repeat(number % 7));
        let text: String = (0..300).map(line).collect();
        let whole = tables.find(text.as_bytes());
        // Short texts are read without lanes.
        let mut from_parts = Vec::new();
        for end in 0..text.len() {
            let from = end.saturating_sub(20);
            from_parts.extend(
                tables
                    .find(&text.as_bytes()[from..=end])
                    .into_iter()
                    .filter(|hit| from + hit.range.end == end + 1)
                    .map(|mut hit| {
                        hit.range = from + hit.range.start..from + hit.range.end;
                        hit
                    }),
            );
        }
        assert_eq!(whole, from_parts);
        assert!(whole.len() > 1_000);
    }
}
