//! Finds wording that the project does not use: in names, comments, texts for users, documents and scripts.
//!
//! Words are matched whole and in any case. Test data may say anything, so strings count only outside tests. A file
//! that needs a word, such as a table of English verbs, is listed in [`EXCEPTIONS`] with the reason.

use crate::checks::Remarks;
use crate::text::{Part, keep, starts_of};

/// Banned words with their replacement. Every form is listed, because a stem would match innocent words too. They are
/// split because this file is checked as well.
const WORDS: [(&str, &str); 27] = [
    (concat!("me", "nd"), "fix"),
    (concat!("me", "nds"), "fixes"),
    (concat!("men", "ded"), "fixed"),
    (concat!("men", "ding"), "fixing"),
    (concat!("an", "ew"), "again"),
    (concat!("who", "ever"), "the actor"),
    (concat!("some", "body"), "the actor"),
    (concat!("no", "body"), "the actor"),
    (concat!("to", "ld"), "injected, reported or shown"),
    (concat!("te", "ll"), "inject, report or show"),
    (concat!("te", "lls"), "injects, reports or shows"),
    (concat!("tel", "ling"), "injecting, reporting or showing"),
    (concat!("un", "tell"), "clear_injected"),
    (concat!("re", "tell"), "rebuild"),
    (concat!("ret", "old"), "rebuilt"),
    (concat!("tel", "ler"), "episode builder"),
    (concat!("dee", "d"), "action"),
    (concat!("dee", "ds"), "actions"),
    (concat!("rem", "edy"), "fix"),
    (concat!("rem", "edies"), "fixes"),
    (concat!("stre", "tches"), "spans"),
    (concat!("col", "our"), "color"),
    (concat!("behav", "iour"), "behavior"),
    (concat!("behav", "iours"), "behaviors"),
    (concat!("neigh", "bour"), "neighbor, or other session"),
    (concat!("unauthor", "ised"), "unauthorized"),
    (concat!("lic", "ence"), "license"),
];

/// Banned phrases of prose.
const PHRASES: [(&str, &str); 4] = [
    (concat!("at most so ", "many"), "at most N"),
    (concat!("is not ", "well"), "has a problem"),
    (concat!("dead ", "end"), "failed attempt"),
    (concat!("goes ", "on with"), "continues"),
];

/// Files that may use a word: file, word, reason.
const EXCEPTIONS: [(&str, &str, &str); 11] = [
    ("crates/index/src/words/english.rs", concat!("to", "ld"), "irregular verbs"),
    ("crates/index/src/words/english.rs", concat!("te", "ll"), "irregular verbs"),
    ("crates/ingest/src/facts/decisions/cues.rs", concat!("to", "ld"), "words of users"),
    ("crates/ingest/src/facts/decisions/names.rs", concat!("te", "ll"), "words of users"),
    ("crates/ingest/src/facts/decisions/preferences.rs", concat!("te", "ll"), "words of users"),
    ("crates/ingest/src/facts/decisions/prose.rs", concat!("to", "ld"), "words of users"),
    ("crates/recall/src/card/name.rs", concat!("me", "nd"), "words of users"),
    ("crates/recall/src/card/words.rs", concat!("te", "ll"), "words of users"),
    ("crates/recall/src/cues.rs", concat!("te", "ll"), "words of users"),
    ("crates/recall/src/cues.rs", concat!("to", "ld"), "words of users"),
    ("crates/rethread/src/cli/debug.rs", concat!("to", "ld"), "an old flag that still works"),
];

/// Banned wording in a Rust file: in names and comments everywhere, in strings outside tests.
pub(crate) fn in_rust(name: &str, text: &str) -> Remarks {
    let mut found = banned_words(name, &split_names(&keep(text, &[Part::Code])));
    found.extend(in_prose(name, &keep(text, &[Part::Comment])));
    let is_test = !name.contains("/src/") || name.contains("/tests") || name.ends_with("_tests.rs");
    if !is_test {
        let product = text.split("#[cfg(test)]").next().unwrap_or_default();
        found.extend(in_prose(name, &keep(product, &[Part::Text])));
    }
    found
}

/// Banned wording in a document or a script.
pub(crate) fn in_prose(name: &str, text: &str) -> Remarks {
    let mut found = banned_words(name, text);
    for (at, line) in text.lines().enumerate() {
        let line = line.to_lowercase();
        let phrases = PHRASES.iter().filter(|(phrase, _)| starts_of(&line, phrase).next().is_some());
        found.extend(phrases.map(|banned| remark(at, *banned)));
        if denies_a_kind(&line) {
            found.push(remark(at, (concat!("is ", "no"), "invalid, or is not a")));
        }
    }
    found
}

fn banned_words(name: &str, text: &str) -> Remarks {
    let is_excepted = |word: &str| EXCEPTIONS.iter().any(|(file, excepted, _)| *file == name && *excepted == word);
    let mut found = Remarks::new();
    for (at, line) in text.lines().enumerate() {
        // An instruction to a model may ask it to report to the user.
        let line = line.to_lowercase().replace(concat!("te", "ll me"), "").replace(concat!("te", "ll the user"), "");
        let hits = WORDS.iter().filter(|(word, _)| starts_of(&line, word).next().is_some());
        found.extend(hits.filter(|(word, _)| !is_excepted(word)).map(|banned| remark(at, *banned)));
    }
    found
}

fn remark(at: usize, (word, instead): (&str, &str)) -> (usize, String) {
    (at + 1, format!("`{word}`: write {instead}"))
}

/// Whether a line denies that something is of a kind, as an error message must not. "There is no session" and "is no longer" are plain English.
fn denies_a_kind(line: &str) -> bool {
    let denial = concat!(" is ", "no ");
    line.match_indices(denial).any(|(at, _)| {
        let before = &line[..at];
        let after = &line[at + denial.len()..];
        !before.ends_with("there") && !["longer", "more"].iter().any(|fine| after.starts_with(fine))
    })
}

/// Code with each name split at underscores and capitals, so that its words are matched one by one.
fn split_names(code: &str) -> String {
    let mut out = String::with_capacity(code.len() * 2);
    let mut after_lower = false;
    for c in code.chars() {
        if c == '_' || c.is_uppercase() && after_lower {
            out.push(' ');
        }
        if c != '_' {
            out.push(c);
        }
        after_lower = c.is_lowercase();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn banned_words_are_found_in_names_comments_and_strings() {
        let (old_name, old_word) = (concat!("To", "ldOnce"), concat!("an", "ew"));
        assert_eq!(in_rust("crates/a/src/a.rs", &format!("struct {old_name};\n")).len(), 1);
        assert_eq!(in_rust("crates/a/src/a.rs", &format!("// built {old_word}\n")).len(), 1);
        assert_eq!(in_rust("crates/a/src/a.rs", &format!("let a = \"built {old_word}\";\n")).len(), 1);
        assert_eq!(in_rust("crates/a/tests/a.rs", &format!("let a = \"built {old_word}\";\n")).len(), 0);
        assert_eq!(in_rust("crates/a/src/a.rs", "struct Toldo; // a satellite\n").len(), 0);
    }

    #[test]
    fn denials_are_found_but_plain_negations_are_not() {
        for (line, expect) in [("\"x\" is no time", true), ("there is no session", false), ("it is no longer", false)] {
            let line = line.replace("is no", concat!("is ", "no"));
            assert_eq!(denies_a_kind(&line), expect, "{line}");
        }
    }
}
