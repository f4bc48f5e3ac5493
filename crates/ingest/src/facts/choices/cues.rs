//! The words without which a text can hold no choice, found in one pass, and the patterns that tell more.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use regex::Regex;

use super::sentences::Sentence;

/// Without one of these a human's text is not looked at further.
const HUMAN: &[&str] = &[
    "instead",
    "rather",
    "go with",
    "going with",
    "go wiht",
    "let's",
    "lets ",
    "let’s",
    "we use",
    "decided",
    "settled on",
    "agreed on",
    "stick",
    "switch to",
    "swap ",
    "drop ",
    "use ",
    "over ",
    "prefer",
    "always",
    "never",
    "from now on",
    "in general",
    "generally",
    "by default",
    "ever",
    "stop ",
    "whenever",
    "every time",
    "each time",
    "no more",
    "any more",
    "anymore",
    "final decision",
    "change of plan",
    "not ",
    "forget",
    "scrap",
    "we'll",
    "we’ll",
    "as a rule",
];

/// Without one of these a sentence states no standing wish.
const STANDING: &[&str] = &[
    "always",
    "never",
    "ever",
    "stop ",
    "no more",
    "any more",
    "anymore",
    "from now on",
    "in general",
    "generally",
    "as a rule",
    "by default",
    "prefer",
    "every time",
    "each time",
    "any time",
    "anytime",
];

/// Without one of these a model's text proposes nothing.
const MODEL: &[&str] = &["recommend", "suggest", "propose", "would go with", "'d go with", "’d go with"];

/// Whether a human's text may hold a choice or a rule.
pub(super) fn may_choose(text: &str) -> bool {
    static FOUND: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| automaton(HUMAN));
    FOUND.as_ref().is_some_and(|found| found.is_match(text))
}

/// Whether a sentence may state a standing wish.
pub(super) fn may_wish(sentence: &Sentence<'_>) -> bool {
    static FOUND: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| automaton(STANDING));
    FOUND.as_ref().is_some_and(|found| found.is_match(&sentence.masked))
}

/// Whether a model's text may hold a proposal.
pub(super) fn may_propose(text: &str) -> bool {
    static FOUND: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| automaton(MODEL));
    FOUND.as_ref().is_some_and(|found| found.is_match(text))
}

fn automaton(cues: &[&str]) -> Option<AhoCorasick> {
    AhoCorasick::builder().ascii_case_insensitive(true).build(cues).ok()
}

/// A pattern of a table: a blank stands for any white space, one with `?` for none too, and apostrophes may be typographic or left out.
/// A long table goes on in the next line, whose indent does not count.
pub(super) fn pattern(table: &str) -> Option<Regex> {
    let joined: String =
        table.lines().enumerate().map(|(at, line)| if at == 0 { line } else { line.trim_start() }).collect();
    let spelled = joined.replace('\'', "['’]?").replace(" ?", r"[\x20\t]*").replace(' ', r"[\x20\t]+");
    // Boundaries of ASCII words are enough here, and far cheaper to look for.
    let spelled = spelled.replace(r"\b", r"(?-u:\b)");
    Regex::new(&format!("(?i){spelled}")).ok()
}

/// Whether a sentence states something: it neither asks nor wonders, tells no story and is not meant for the moment only.
pub(super) fn is_stated(sentence: &Sentence<'_>) -> bool {
    static DOUBT: LazyLock<Option<Regex>> = LazyLock::new(|| {
        pattern(
            r"\b(if (we|you|i|it|they|the|this|that)|what if|could|maybe|perhaps|should (we|i|it)|would (it|we|
                you|that)|wonder\w*|might|not sure|unsure|don't know|can (we|you|i)|do (we|you|i)|does|did|
                for now|temporarily|at some point|some day|someday|this time|just this once|for the moment|
                for the time being|later|used to|was|were|would be|we used|back in|supposed to|looks like|seems|
                i guess|i suppose|i thought|i think|how (do|to|would|about|hard)|why|whether|(said|says|wrote|
                asked|told|claims) |never mind|nevermind|according to)\b",
        )
    });
    !sentence.is_question()
        && !is_foreign(&sentence.masked)
        && !DOUBT.as_ref().is_none_or(|doubt| doubt.is_match(&sentence.masked))
}

/// Whether a sentence is in a language that these rules do not know.
fn is_foreign(text: &str) -> bool {
    const WORDS: &[&str] = &[
        "die", "der", "das", "und", "ist", "ich", "nicht", "wir", "mit", "immer", "auch", "noch", "le", "la", "les",
        "est", "que", "une", "des", "nous", "pour", "el", "los", "las", "por", "una", "con", "para", "het", "een",
        "niet", "il", "che", "non", "per", "não", "uma", "com",
    ];
    let known = text.split_whitespace().filter(|word| WORDS.contains(&word.to_lowercase().as_str())).count();
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    let far = text.chars().filter(|c| c.is_alphabetic() && u32::from(*c) > 0x24F).count();
    known >= 2 || far * 4 > letters
}

#[cfg(test)]
mod tests {
    use super::super::sentences::split;
    use super::*;

    #[test]
    fn doubts_questions_and_stories_state_nothing() {
        for (text, expected) in [
            ("use tabs instead of spaces", true),
            ("let's go with tabs", true),
            ("should we use tabs?", false),
            ("if we used tabs instead of spaces it would be nicer", false),
            ("maybe we go with tabs", false),
            ("use tabs for now", false),
            ("Tom wrote that we go with tabs", false),
            ("die Option war also immer an, never change a running system", false),
            ("我们用 MySQL 还是 Postgres", false),
        ] {
            assert_eq!(is_stated(&split(&[text])[0]), expected, "{text}");
        }
    }
}
