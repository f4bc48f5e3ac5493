//! Finds where any of a set of literals stands, in upper or lower case. Does not know what they mean.

mod automaton;

use std::ops::Range;
use std::sync::OnceLock;

use automaton::Tables;

/// A shorter text is looked through sooner than the tables are made that read long ones.
const SHORT: usize = 4 << 10;

/// A set of literals to look for.
#[derive(Debug)]
pub(super) struct Literals {
    set: Vec<&'static str>,
    /// The numbers of the literals that begin with each byte, in small letters.
    beginning: Vec<Vec<usize>>,
    /// Made for the first long text. A hook never sees one, and its whole life is as long as making them takes.
    tables: OnceLock<Tables>,
}

/// A literal in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hit {
    /// The number of the literal in the set.
    pub(super) literal: usize,
    pub(super) range: Range<usize>,
}

impl Literals {
    pub(super) fn new(literals: Vec<&'static str>) -> Self {
        let mut beginning = vec![Vec::new(); 256];
        for (number, literal) in literals.iter().enumerate() {
            if let Some(first) = literal.bytes().next() {
                beginning[usize::from(first.to_ascii_lowercase())].push(number);
            }
        }
        Self { set: literals, beginning, tables: OnceLock::new() }
    }

    /// Every literal in the text, also where they overlap, in the order of their ends.
    pub(super) fn find(&self, text: &[u8]) -> Vec<Hit> {
        match self.tables.get() {
            None if text.len() <= SHORT => self.find_in_short(text),
            _ => self.tables.get_or_init(|| Tables::new(&self.set)).find(text),
        }
    }

    /// Tries every literal that begins with the byte at each place.
    fn find_in_short(&self, text: &[u8]) -> Vec<Hit> {
        let mut hits = Vec::new();
        for (start, first) in text.iter().enumerate() {
            for &literal in &self.beginning[usize::from(first.to_ascii_lowercase())] {
                let range = start..start + self.set[literal].len();
                let found = text.get(range.clone());
                if found.is_some_and(|found| found.eq_ignore_ascii_case(self.set[literal].as_bytes())) {
                    hits.push(Hit { literal, range });
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

    fn sorted(mut hits: Vec<Hit>) -> Vec<Hit> {
        hits.sort_by_key(|hit| (hit.range.end, hit.range.start));
        hits
    }

    proptest! {
        #[test]
        fn short_texts_and_long_ones_are_read_alike(text in "(token|_key|KEY=|sk-|api_|[a-z=_ -]|\\PC){0,60}") {
            let literals = Literals::new(vec!["token", "_key", "key=", "sk-", "api_key"]);
            let tables = Tables::new(&literals.set);
            prop_assert_eq!(literals.find_in_short(text.as_bytes()), sorted(tables.find(text.as_bytes())));
        }
    }

    #[test]
    fn hits_are_the_same_with_and_without_lanes() {
        let tables = Tables::new(&["token", "_key", "key=", "sk-", "api_key"]);
        let line = |number: usize| format!("x{number} API_KEY=sk-tok{}", "y".repeat(number % 7));
        let text: String = (0..300).map(line).collect();
        let whole = tables.find(text.as_bytes());
        // Short pieces are read without lanes.
        let mut pieced = Vec::new();
        for end in 0..text.len() {
            let from = end.saturating_sub(20);
            pieced.extend(
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
        assert_eq!(whole, pieced);
        assert!(whole.len() > 1_000);
    }
}
