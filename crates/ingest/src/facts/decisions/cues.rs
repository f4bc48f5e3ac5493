//! Cue words without which a text contains no decision, found in one pass, and a helper for the finer patterns.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::sentences::ProseSentence;
use crate::facts::pattern::CuePattern;

/// Without one of these a sentence states no preference or prohibition.
const PREFERENCE_CUES: &[&str] = &[
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

/// Without one of these a model's text contains no proposal.
const PROPOSAL_CUES: &[&str] = &[
    "recommend",
    "suggest",
    "propose",
    "proposal",
    "would go with",
    "'d go with",
    "’d go with",
    "i'd use",
    "i’d use",
    "i would use",
    "best option",
    "best fix",
    "best approach",
    "cleanest",
    "simplest fix",
    "i'd keep",
    "i would keep",
    "i'd rather",
    "i prefer",
    "my vote",
    "i lean",
    "makes the most sense",
    "better to",
];

/// Without one of these a sentence of a model explains nothing, needs nothing and conflicts with nothing.
const DIAGNOSIS_CUES: &[&str] = &[
    "because",
    "cause",
    "culprit",
    "due to",
    "issue",
    "problem",
    "bug",
    "error",
    "turns out",
    "turned out",
    "found it",
    "realize",
    "happens when",
    "happened when",
    "happening",
    "fails when",
    "failed when",
    "failing",
    "comes from",
    "came from",
    "missing",
    "wrong",
    "mismatch",
    "stale",
    "that's why",
    "which is why",
    "this is why",
    "the reason",
    "explains",
    "was never",
    "is never",
    "wasn't",
    "isn't",
    "doesn't",
    "does not",
    "didn't",
    "did not",
    "can't",
    "cannot",
    "expects",
    "expected",
    "requires",
    "require",
    "needs",
    "need ",
    "must ",
    "depends on",
    "only works",
    "incompatible",
    "not compatible",
    "conflict",
    "clash",
    "work with",
    "works with",
    "not supported",
    "doesn’t",
    "isn’t",
];

/// Whether a sentence of a model may explain why something happens, or what something needs.
pub(in crate::facts) fn may_diagnose(text: &str) -> bool {
    static FOUND: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| automaton(DIAGNOSIS_CUES));
    FOUND.as_ref().is_some_and(|found| found.is_match(text))
}

/// Whether a sentence may state a preference or prohibition.
pub(super) fn may_state_preference(sentence: &ProseSentence<'_>) -> bool {
    static FOUND: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| automaton(PREFERENCE_CUES));
    FOUND.as_ref().is_some_and(|found| found.is_match(&sentence.masked))
}

/// Whether a model's text may contain a proposal.
pub(super) fn may_propose(text: &str) -> bool {
    static FOUND: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| automaton(PROPOSAL_CUES));
    FOUND.as_ref().is_some_and(|found| found.is_match(text))
}

fn automaton(cues: &[&str]) -> Option<AhoCorasick> {
    AhoCorasick::builder().ascii_case_insensitive(true).build(cues).ok()
}

/// A pattern of a table as [`spell_pattern`] reads it. `None` if it is invalid.
pub(super) fn compile_pattern(table: &str) -> Option<CuePattern> {
    CuePattern::new(&spell_pattern(table))
}

/// Spells out a pattern of a table: a space matches any white space, ` ?` also none, and apostrophes may be typographic
/// or missing. A long pattern continues on the next line, whose indent is ignored.
pub(super) fn spell_pattern(table: &str) -> String {
    let joined: String =
        table.lines().enumerate().map(|(at, line)| if at == 0 { line } else { line.trim_start() }).collect();
    let spelled = joined.replace('\'', "['’]?").replace(" ?", r"[\x20\t]*").replace(' ', r"[\x20\t]+");
    // ASCII word boundaries are enough here and much cheaper to match.
    let spelled = spelled.replace(r"\b", r"(?-u:\b)");
    format!("(?i){spelled}")
}

/// Whether a sentence is a statement: not a question, a doubt, a report of the past or a temporary measure.
pub(super) fn is_statement(sentence: &ProseSentence<'_>) -> bool {
    static DOUBT: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(
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

/// Whether a sentence takes back or limits what it says, or only sounds like a refusal: "nothing wrong with X", "I was going
/// to say X, but no". What it states is then easily the opposite of what it seems.
pub(super) fn is_mixed(masked: &str) -> bool {
    static MIXED: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(
            r"\b(?:nothing wrong|no luck|no idea|no problem|no objection|no wonder|not a fan|don't hesitate|do not hesitate|hesitate to|no longer|neither|i was going to|unless|never have|
                avoid not|not because|don't forget|do not forget|not only|don't just|do not just|i never|better than|worse than)\b|
                ^(?:\w+ ){0,3}(?:there's|there is|there are|has|have) no\b|
                \bbut,? (?:no|actually|we can't|we cannot|this project|keep|stay|it's fine|it is fine|since|then)\b",
        )
    });
    MIXED.as_ref().is_none_or(|mixed| mixed.is_match(masked))
}

/// Whether a sentence is in a language that these rules do not support.
pub(super) fn is_foreign(text: &str) -> bool {
    const WORDS: &[&str] = &[
        "die", "der", "das", "und", "ist", "ich", "nicht", "wir", "mit", "immer", "auch", "noch", "le", "la", "les",
        "est", "que", "une", "des", "nous", "pour", "el", "los", "las", "por", "una", "con", "para", "het", "een",
        "niet", "il", "che", "não", "uma", "com",
    ];
    let is_known = |word: &&str| {
        if word.is_ascii() {
            WORDS.iter().any(|known| known.eq_ignore_ascii_case(word))
        } else {
            WORDS.contains(&word.to_lowercase().as_str())
        }
    };
    let known = text.split_whitespace().filter(is_known).take(2).count();
    if text.is_ascii() {
        return known >= 2;
    }
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    let far = text.chars().filter(|c| c.is_alphabetic() && u32::from(*c) > 0x24F).count();
    known >= 2 || far * 4 > letters
}

#[cfg(test)]
mod tests {
    use super::super::sentences::split_sentences;
    use super::*;

    #[test]
    fn doubts_questions_and_reports_are_not_statements() {
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
            assert_eq!(is_statement(&split_sentences(&[text])[0]), expected, "{text}");
        }
    }
}
