//! How alike two errors are: the share of the telling words of the one that the other has.

use std::collections::BTreeSet;

/// Errors that share at least this much of the telling words are taken for the same kind of error.
pub const ALIKE_ENOUGH: f64 = 0.6;

/// One shared word says something only if it is as long as this.
const LONG_WORD: usize = 5;
/// Words that stand in every second error.
const COMMON: [&str; 44] = [
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
];

/// The words of a text that tell one error from another, in lower case.
pub fn telling_words(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    let words = words.map(|word| word.trim_matches('_').to_lowercase());
    words.filter(|word| is_telling(word)).collect()
}

/// Which share of the words asked for is among the others, from 0 to 1; nothing where that would be chance.
pub fn share_of_words(asked: &BTreeSet<String>, known: &BTreeSet<String>) -> f64 {
    let shared: Vec<&String> = asked.intersection(known).collect();
    let is_chance = shared.len() < 2 && shared.iter().all(|word| word.chars().count() < LONG_WORD);
    if asked.is_empty() || is_chance { 0.0 } else { shared.len() as f64 / asked.len() as f64 }
}

fn is_telling(word: &str) -> bool {
    let has_letters = word.chars().any(char::is_alphabetic);
    has_letters && word.chars().count() > 2 && !COMMON.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(asked: &str, known: &str) -> f64 {
        share_of_words(&telling_words(asked), &telling_words(known))
    }

    #[test]
    fn errors_with_the_same_words_are_alike_whatever_stands_between_them() {
        assert!(share("no such table: orders", "error: no such table: <value>") >= ALIKE_ENOUGH);
        assert!(share("ENOSPC", "npm ERR! ENOSPC: no space left on device") >= ALIKE_ENOUGH);
    }

    #[test]
    fn unrelated_errors_share_nothing() {
        assert!(share("error: cannot find value `x` in this scope", "error: linker `cc` not found") < ALIKE_ENOUGH);
        assert!(share("Error: failed with exit code 1", "error: process failed") < ALIKE_ENOUGH);
        assert!(share("", "") < ALIKE_ENOUGH);
    }
}
