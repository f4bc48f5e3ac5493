//! Finds sentences worth keeping in a summary: the user's constraints, decisions, and planned steps.

use rethread_model::{clip, one_line};

/// Maximum length of a kept sentence, in characters. Longer text was probably pasted.
const MAX_SENTENCE_CHARS: usize = 300;

/// Sentences in which the user says how something is to be done.
pub(crate) fn constraints(text: &str) -> impl Iterator<Item = String> {
    sentences(text).filter(|sentence| {
        let words = words(sentence);
        let says = |word: &str| words.iter().any(|known| known == word);
        let begins = |word: &str| words.iter().find(|known| *known != "please").is_some_and(|first| first == word);
        ["must", "always", "never", "don't", "dont", "mustn't", "shouldn't"].into_iter().any(says)
            || ["use", "prefer", "avoid", "keep", "only"].into_iter().any(begins)
            || words.windows(2).any(|pair| pair == ["do", "not"])
    })
}

/// Sentences that state a decision.
pub(crate) fn decisions(text: &str) -> impl Iterator<Item = String> {
    sentences(text).filter(|sentence| {
        let sentence = normalize_text(sentence);
        ["decided", "let's use", "lets use", "instead of"].iter().any(|cue| sentence.contains(cue))
    })
}

/// Lines of an answer that announce next steps.
pub(crate) fn planned_steps(text: &str) -> impl Iterator<Item = String> {
    let lines = text.lines().map(str::trim).filter(|line| line.chars().count() <= MAX_SENTENCE_CHARS);
    lines.filter(|line| is_plan(line)).map(|line| one_line(without_list_marker(line)))
}

fn is_plan(line: &str) -> bool {
    let listed = without_list_marker(line).len() < line.len() && line.starts_with(|c: char| c.is_ascii_digit());
    let line = normalize_text(without_list_marker(line));
    listed
        || ["next", "then ", "now ", "i'll ", "i will ", "let me ", "todo", "remaining"]
            .iter()
            .any(|cue| line.starts_with(cue))
}

/// A line without its list marker.
fn without_list_marker(line: &str) -> &str {
    let numbered = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = numbered.strip_prefix(['.', ')']).filter(|_| numbered.len() < line.len());
    numbered.or_else(|| line.strip_prefix(['-', '*'])).map_or(line, str::trim_start)
}

/// Splits at line ends, periods and semicolons.
fn sentences(text: &str) -> impl Iterator<Item = String> {
    let lines = text.lines().map(|line| without_list_marker(line.trim()));
    let pieces = lines.flat_map(|line| line.split_inclusive(". ").flat_map(|piece| piece.split_inclusive("; ")));
    pieces
        .map(str::trim)
        .filter(|piece| !piece.is_empty() && piece.len() <= 4 * MAX_SENTENCE_CHARS)
        .map(|piece| clip(&one_line(piece), MAX_SENTENCE_CHARS).into_owned())
}

/// Lower case, with straight apostrophes.
fn normalize_text(text: &str) -> String {
    text.to_lowercase().replace('’', "'")
}

fn words(text: &str) -> Vec<String> {
    let words = normalize_text(text);
    let words = words.split(|c: char| !c.is_alphanumeric() && c != '\'');
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constraints_decisions_and_plans_are_recognized() {
        // E004-20
        let check = |found: Vec<String>, expect: &[&str]| assert_eq!(found, expect);
        let prompt = "Fix the parser. Don’t touch the tests; use tabs.\nThe build is red.\n- Always run clippy";
        check(constraints(prompt).collect(), &["Don’t touch the tests;", "use tabs.", "Always run clippy"]);
        let chat = "We decided on SQLite. It is small.\nLet's use a pool instead of threads";
        check(decisions(chat).collect(), &["We decided on SQLite.", "Let's use a pool instead of threads"]);
        let answer = "The parser works.\n1. Write docs\n2) Ship\n- a fact\n- Next: clean up\nI'll run it again";
        check(planned_steps(answer).collect(), &["Write docs", "Ship", "Next: clean up", "I'll run it again"]);
    }
}
