//! What people and models say about a failure: that it is fixed, and why it happened.

use super::super::tables::{EXPLAINING_PHRASES, FIXED_PHRASES, NOT_WORKING_PHRASES, PLANNING_PHRASES, WORKS_PHRASES};
use super::MAX_TEXT_CHARS;

/// Whether a human reports that something works.
pub(in crate::facts) fn says_it_works(text: &str) -> bool {
    let text = text.trim().to_ascii_lowercase();
    text.len() < 400 && WORKS_PHRASES.any_in_text(&text) && !NOT_WORKING_PHRASES.any_in_text(&text)
}

/// Whether the model states that it fixed something, rather than hoping so.
pub(super) fn says_it_is_fixed(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    FIXED_PHRASES.any_in_text(&text)
        && !["should be", "hopefully", "let me", "let's", "?"].iter().any(|cue| text.contains(cue))
}

/// The sentence in which the model explains a failure.
pub(super) fn explanation(text: &str) -> Option<String> {
    let sentences = text.split('\n').flat_map(|line| line.split_inclusive(". ")).map(str::trim);
    let is_prose = |sentence: &&str| {
        (20..=MAX_TEXT_CHARS).contains(&sentence.len()) && !sentence.contains("```") && !sentence.ends_with('?')
    };
    let explains = |sentence: &&str| {
        let lower = sentence.to_ascii_lowercase();
        EXPLAINING_PHRASES.any_in_text(&lower) && !PLANNING_PHRASES.any_in_text(&lower)
    };
    sentences.filter(is_prose).find(explains).map(|sentence| sentence.trim_end_matches(':').to_owned())
}
