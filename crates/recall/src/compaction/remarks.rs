//! Finds sentences that say more than others: wishes of the user, decisions, plans.

use rethread_model::{clip, one_line};

/// Characters of a sentence worth keeping. What is longer is rather pasted than said.
const LONGEST: usize = 300;

/// Sentences of a user on how something is to be done.
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

/// Sentences in which something is decided.
pub(crate) fn decisions(text: &str) -> impl Iterator<Item = String> {
    sentences(text).filter(|sentence| {
        let sentence = plain(sentence);
        ["decided", "let's use", "lets use", "instead of"].iter().any(|cue| sentence.contains(cue))
    })
}

/// Lines of an answer that say what comes next.
pub(crate) fn plans(text: &str) -> impl Iterator<Item = String> {
    let lines = text.lines().map(str::trim).filter(|line| line.chars().count() <= LONGEST);
    lines.filter(|line| is_plan(line)).map(|line| one_line(item(line)))
}

fn is_plan(line: &str) -> bool {
    let listed = item(line).len() < line.len() && line.starts_with(|c: char| c.is_ascii_digit());
    let line = plain(item(line));
    listed
        || ["next", "then ", "now ", "i'll ", "i will ", "let me ", "todo", "remaining"]
            .iter()
            .any(|cue| line.starts_with(cue))
}

/// A line without what marks it as one of a list.
fn item(line: &str) -> &str {
    let numbered = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = numbered.strip_prefix(['.', ')']).filter(|_| numbered.len() < line.len());
    numbered.or_else(|| line.strip_prefix(['-', '*'])).map_or(line, str::trim_start)
}

/// Sentences, as far as line ends and full stops show them.
fn sentences(text: &str) -> impl Iterator<Item = String> {
    let lines = text.lines().map(|line| item(line.trim()));
    let pieces = lines.flat_map(|line| line.split_inclusive(". ").flat_map(|piece| piece.split_inclusive("; ")));
    pieces
        .map(str::trim)
        .filter(|piece| !piece.is_empty() && piece.len() <= 4 * LONGEST)
        .map(|piece| clip(&one_line(piece), LONGEST).into_owned())
}

/// In lower case, with straight apostrophes.
fn plain(text: &str) -> String {
    text.to_lowercase().replace('’', "'")
}

fn words(text: &str) -> Vec<String> {
    let words = plain(text);
    let words = words.split(|c: char| !c.is_alphanumeric() && c != '\'');
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn e004_20_wishes_decisions_and_plans_are_recognised() {
        let check = |found: Vec<String>, expect: &[&str]| assert_eq!(found, expect);
        let wish = "Fix the parser. Don’t touch the tests; use tabs.\nThe build is red.\n- Always run clippy";
        check(constraints(wish).collect(), &["Don’t touch the tests;", "use tabs.", "Always run clippy"]);
        let chat = "We decided on SQLite. It is small.\nLet's use a pool instead of threads";
        check(decisions(chat).collect(), &["We decided on SQLite.", "Let's use a pool instead of threads"]);
        let answer = "The parser works.\n1. Write docs\n2) Ship\n- a fact\n- Next: clean up\nI'll run it again";
        check(plans(answer).collect(), &["Write docs", "Ship", "Next: clean up", "I'll run it again"]);
    }
}
