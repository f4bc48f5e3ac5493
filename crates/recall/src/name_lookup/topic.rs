//! Decides which sessions are about a word, although their names do not have it.

use std::collections::BTreeMap;

use rethread_model::SessionKind;
use rethread_store::SessionNumber;

use super::MAX_WORD_MATCHES;
use super::query::slug;
use crate::SearchHit;

/// A session is about a word if one of its first prompts has it, or this many.
const MIN_PROMPTS: usize = 2;
/// Entries at the start of a session that say what it is about.
const FIRST_ENTRIES: u64 = 6;
/// Words that are variables rather than topics. Sorted.
const CODE_WORDS: [&str; 30] = [
    "array",
    "class",
    "config",
    "count",
    "counter",
    "data",
    "default",
    "error",
    "flag",
    "global",
    "identity",
    "index",
    "instance",
    "instances",
    "item",
    "items",
    "length",
    "list",
    "name",
    "options",
    "param",
    "params",
    "rowcount",
    "session",
    "state",
    "total",
    "user",
    "value",
    "variable",
    "version",
];

/// Whether a word can be the topic of a session rather than a variable.
pub(super) fn is_topic(word: &str) -> bool {
    CODE_WORDS.binary_search(&word).is_err()
}

/// The first sessions that are about a word, by the prompts that were found with it.
pub fn sessions_about(word: &str, prompts: &[SearchHit]) -> Vec<SessionNumber> {
    let mut sessions: BTreeMap<SessionNumber, (usize, bool)> = BTreeMap::new();
    for hit in prompts.iter().filter(|hit| hit.session.kind == SessionKind::Main) {
        if slug(&hit.entry.text).split('-').any(|other| other == word) {
            let known = sessions.entry(hit.key.session).or_default();
            known.0 += 1;
            known.1 |= hit.entry.seq < FIRST_ENTRIES;
        }
    }
    let is_about = |(count, is_early): (usize, bool)| is_early || count >= MIN_PROMPTS;
    sessions.into_iter().filter(|(_, seen)| is_about(*seen)).map(|(number, _)| number).take(MAX_WORD_MATCHES).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted() {
        assert!(CODE_WORDS.is_sorted());
    }
}
