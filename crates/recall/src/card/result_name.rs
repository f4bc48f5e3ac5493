//! Names a session by the result that an answer reports, for prompts such as `fix these` that name nothing.

use super::outcome::is_chatter;
use super::prose::prose_sentences;
use super::words::{distinctive_words, normalize_text};

/// Minimum number of distinctive words of a name.
const MIN_WORDS: usize = 3;
/// Number of sentences of an answer that are examined; a result comes first.
const MAX_SENTENCES: usize = 4;
/// Verbs that begin the report of a result.
const RESULT_VERBS: &str = "added changed committed completed converted created deleted extracted fixed implemented \
    improved installed merged migrated moved opened pushed refactored released removed renamed replaced resolved \
    rewrote simplified switched updated upgraded wrote";
/// Words before such a verb.
const LEADS: [&str; 9] =
    ["i've ", "i have ", "we've ", "successfully ", "i ", "also ", "now ", "all done, ", "the changes are "];
/// Signs between a word such as "Done" and what was done.
const BREAKS: [&str; 5] = [" — ", " – ", " - ", ": ", ". "];

/// The sentence that reports a result, without "Done" and the like. `None` if no sentence does.
pub(super) fn result_sentence(text: &str) -> Option<String> {
    let sentences = prose_sentences(text);
    let mut reports = sentences.iter().take(MAX_SENTENCES).filter(|sentence| !is_chatter(sentence));
    reports.find_map(|sentence| report(sentence))
}

fn report(sentence: &str) -> Option<String> {
    let words: Vec<&str> = sentence.split(' ').filter(|word| !is_commit_hash(word)).collect();
    let sentence = words.join(" ");
    let (head, tail) = BREAKS
        .iter()
        .filter_map(|sign| sentence.split_once(sign))
        .min_by_key(|(head, _)| head.len())
        .unwrap_or((&sentence, ""));
    let is_short = distinctive_words(head).filter(|word| !is_result_verb(word)).count() < MIN_WORDS - 1;
    let stated = if is_short && !tail.is_empty() && begins_with_result(head) { tail } else { &sentence };
    let is_report = begins_with_result(&sentence);
    let says_more = distinctive_words(stated).filter(|word| !is_result_verb(word)).count() >= MIN_WORDS;
    (is_report && says_more).then(|| without_lead(stated).to_owned())
}

fn begins_with_result(sentence: &str) -> bool {
    let plain = normalize_text(without_lead(sentence));
    let first = plain.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    first == "done" || is_result_verb(first)
}

fn without_lead(sentence: &str) -> &str {
    let mut rest = sentence.trim();
    while let Some(lead) =
        LEADS.iter().find(|lead| rest.get(..lead.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(lead)))
    {
        rest = rest[lead.len()..].trim_start();
    }
    rest
}

pub(super) fn is_result_verb(word: &str) -> bool {
    RESULT_VERBS.split_ascii_whitespace().any(|verb| verb == word)
}

fn is_commit_hash(word: &str) -> bool {
    let bare = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    (7..=40).contains(&bare.len())
        && bare.bytes().all(|byte| byte.is_ascii_hexdigit())
        && bare.bytes().any(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reported_result_becomes_a_name() {
        // D11
        for (text, expected) in [
            (
                "Committed `0c3a7ab` — simplified install docs across 3 files.",
                Some("simplified install docs across 3 files."),
            ),
            ("Done! I've updated the port in the config file.", Some("updated the port in the config file.")),
            ("Fixed the unbound attribute in the cache test.", Some("Fixed the unbound attribute in the cache test.")),
            ("Let me look at the parser first.", None),
            ("The parser reads lines.", None),
            ("Done.", None),
            ("Committed and pushed `529b229` to `origin/main`.", None),
        ] {
            assert_eq!(result_sentence(text).as_deref(), expected, "{text}");
        }
    }
}
