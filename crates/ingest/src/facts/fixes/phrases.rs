//! What people and models say about a failure: that it is fixed, and why it happened.

use super::super::tables::{
    EXPLAINING_PHRASES, FIXED_PHRASES, NOT_WORKING_PHRASES, PLANNING_PHRASES, RESEARCH_WORDS, WORKS_PHRASES,
};
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

/// Whether a task for a sub-agent asks to look at something, and not to change it.
pub(super) fn is_research(task: &str) -> bool {
    let lower = task.to_ascii_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric() && c != '-').filter(|word| !word.is_empty());
    let looks = words.by_ref().take(2).any(|word| RESEARCH_WORDS.contains(word));
    looks && !words.any(|word| matches!(word, "fix" | "implement" | "edit" | "change" | "update" | "write" | "add"))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_that_only_looks_is_research() {
        for task in ["Explore the e2e tests", "Thoroughly review phase 1", "Find all callers of load"] {
            assert!(is_research(task), "{task}");
        }
        for task in ["Fix the imports", "Review the tests and fix them", "Convert src to TypeScript", ""] {
            assert!(!is_research(task), "{task}");
        }
    }
}
