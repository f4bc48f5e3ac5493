//! Compares errors by word overlap: the share of one error's distinctive words that the other contains.

use std::collections::BTreeSet;

/// Errors with at least this overlap (0 to 1) count as the same kind of error.
pub(super) const MIN_WORD_OVERLAP: f64 = 0.6;

/// Minimum length, in characters, for a single shared word to count.
const LONG_WORD_CHARS: usize = 5;
/// Words too common in errors to be distinctive.
const COMMON_WORDS: [&str; 62] = [
    "error",
    "errors",
    "failed",
    "failure",
    "fail",
    "the",
    "and",
    "for",
    "with",
    "from",
    "that",
    "this",
    "not",
    "was",
    "are",
    "has",
    "have",
    "did",
    "does",
    "cannot",
    "can",
    "could",
    "couldn",
    "unable",
    "line",
    "file",
    "warning",
    "note",
    "help",
    "exit",
    "code",
    "status",
    "command",
    "process",
    "path",
    "num",
    "value",
    "hash",
    "str",
    "number",
    "exception",
    "traceback",
    "panicked",
    "thread",
    "expected",
    "received",
    "actual",
    "assert",
    "assertion",
    "assertionerror",
    "equal",
    "equals",
    "equality",
    "deeply",
    "match",
    "greater",
    "less",
    "than",
    "left",
    "right",
    "got",
    "object",
];

/// The words of a text that distinguish one error from another, in lower case.
pub(super) fn distinctive_words(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    let words = words.map(|word| word.trim_matches('_').to_lowercase());
    words.filter(|word| is_distinctive(word)).collect()
}

/// Share of `query` words that are in `known`, 0 to 1; 0 if the overlap could be chance.
pub(super) fn word_overlap(query: &BTreeSet<String>, known: &BTreeSet<String>) -> f64 {
    let shared: Vec<&String> = query.intersection(known).collect();
    let is_chance = shared.len() < 2 && shared.iter().all(|word| word.chars().count() < LONG_WORD_CHARS);
    if query.is_empty() || is_chance { 0.0 } else { shared.len() as f64 / query.len() as f64 }
}

fn is_distinctive(word: &str) -> bool {
    let has_letters = word.chars().any(char::is_alphabetic);
    has_letters && word.chars().count() > 2 && !COMMON_WORDS.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(query: &str, known: &str) -> f64 {
        word_overlap(&distinctive_words(query), &distinctive_words(known))
    }

    #[test]
    fn errors_with_the_same_distinctive_words_overlap() {
        assert!(share("no such table: orders", "error: no such table: <value>") >= MIN_WORD_OVERLAP);
        assert!(share("ENOSPC", "npm ERR! ENOSPC: no space left on device") >= MIN_WORD_OVERLAP);
    }

    #[test]
    fn unrelated_errors_do_not_overlap() {
        assert!(share("error: cannot find value `x` in this scope", "error: linker `cc` not found") < MIN_WORD_OVERLAP);
        assert!(share("Error: failed with exit code 1", "error: process failed") < MIN_WORD_OVERLAP);
        assert!(share("", "") < MIN_WORD_OVERLAP);
        let values = "AssertionError: expected '2026-02-28' to be '2026-03-01' // Object.is equality";
        assert!(share(values, "AssertionError: expected 0 to be greater than 0") < MIN_WORD_OVERLAP);
        assert!(share("expected 3 to be 4", "expected 401 to be 200") < MIN_WORD_OVERLAP);
    }
}
