//! How texts that were given to other sessions are recognised as quoting a session.

use std::collections::{BTreeMap, BTreeSet};

/// Letters and digits at the beginning of a text by which it is recognised; a quote may be cut right after them.
const LONGEST: usize = 16;
/// Shorter beginnings are anybody's.
const SHORTEST: usize = 8;

/// Names, ids and beginnings of what was said in sessions, as letters and digits alone: quotes change the rest.
#[derive(Clone, Debug, Default)]
pub struct Marks(BTreeMap<usize, BTreeSet<String>>);

impl Marks {
    /// Takes a name, an id or something that was said.
    pub(crate) fn add(&mut self, text: &str) {
        let mark: String = bare(text).take(LONGEST).collect();
        let length = mark.chars().count();
        if length >= SHORTEST {
            self.0.entry(length).or_default().insert(mark);
        }
    }

    /// Whether a text quotes one of them.
    pub(crate) fn are_in(&self, text: &str) -> bool {
        let text: Vec<char> = bare(text).collect();
        self.0.iter().any(|(length, marks)| {
            text.windows(*length).any(|window| marks.contains(&window.iter().collect::<String>()))
        })
    }
}

fn bare(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_is_recognised_by_its_beginning() {
        let mut marks = Marks::default();
        marks.add("Fix the \"flaky\" parser, please, before noon");
        marks.add("ok");
        assert!(marks.are_in("- session (2m ago): 'fix the 'flaky' parse…'"));
        assert!(!marks.are_in("fix the flowers; ok"));
    }
}
