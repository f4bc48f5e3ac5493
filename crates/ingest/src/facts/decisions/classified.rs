//! Finds statements with the sentence model, where no rule knows the wording.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::cues::{compile_pattern, is_foreign};
use super::names::span_name;
use super::sentences::ProseSentence;
use crate::facts::sentence_model::{SentenceContext, StatementKind, find_spans, guess_kind};

/// A statement is accepted if the model considers it at least this likely.
const MIN_LIKELIHOOD: f64 = 0.8;
/// A lasting wish is easily confused with a task.
const MIN_PREFERENCE_LIKELIHOOD: f64 = 0.8;
/// Longer sentences are descriptions.
const MAX_WORDS: usize = 45;

/// A statement that the model recognized.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ClassifiedStatement {
    pub(super) kind: StatementKind,
    /// What it is about.
    pub(super) subject: Option<String>,
    /// The alternative.
    pub(super) other: Option<String>,
}

/// What a human's sentence states, if the model is sure enough.
pub(super) fn classify(sentence: &ProseSentence<'_>, context: SentenceContext) -> Option<ClassifiedStatement> {
    let words = sentence.text.split_whitespace().count();
    if sentence.is_question() || is_open(&sentence.masked) || words > MAX_WORDS || is_foreign(&sentence.masked) {
        return None;
    }
    let guess = guess_kind(sentence.text, context);
    let is_sure = guess.stated_likelihood() >= MIN_LIKELIHOOD
        && (guess.kind != StatementKind::Prefers || guess.likelihood >= MIN_PREFERENCE_LIKELIHOOD);
    if guess.kind == StatementKind::Other || !is_sure || is_report(&sentence.masked) {
        return None;
    }
    // Items of a list are steps of a task or parts of a specification; only rules are listed as well.
    if sentence.is_list_item && !matches!(guess.kind, StatementKind::Prefers | StatementKind::Forbids) {
        return None;
    }
    let spans = find_spans(sentence.text, guess.kind);
    let name = |span: Option<Range<usize>>| span_name(sentence.text.get(span?)?);
    Some(ClassifiedStatement { kind: guess.kind, subject: name(spans.subject), other: name(spans.other) })
}

/// Whether a sentence leaves open what will be done: it asks without a question mark, hedges or supposes.
fn is_open(masked: &str) -> bool {
    static OPEN: LazyLock<Option<Regex>> = LazyLock::new(|| {
        compile_pattern(
            r"^(?:hm+|so+ |and |but |ok |okay |also |then )*,? ?(?:why|how|what|what's|whats|which|where|who|can you|could you|
                could we|can we|should we|should i|is it|is there|do we|do you|does|did|are we|would it|if|for example|e\.g|
                let's say|lets say|imagine|suppose|let me know|let's see|lets see)\b|
                \b(?:maybe|perhaps|might|hmm+|not sure|unsure|i guess|i wonder|wondering|i suppose|i worry|i believe|what if|
                could be|either way|don't know|dont know|no idea|at some point|some day|someday|used to)\b|
                (?:,? no| right|,? correct| or not| or what)[.! ]*$",
        )
    });
    OPEN.as_ref().is_none_or(|open| open.is_match(masked))
}

/// Whether a sentence reports that something is broken.
fn is_report(masked: &str) -> bool {
    static REPORT: LazyLock<Option<Regex>> = LazyLock::new(|| {
        compile_pattern(
            r"\b(?:fails?|failed|failing|broken|breaks|crash(?:es|ed|ing)?|throws?|threw|errors? (?:out|with|in)|doesn't work|
                does not work|not working|still (?:shows?|gets?|says|has|see)|i (?:get|got|see|saw|deleted|made|added|changed|ran|tried)|
                (?:tonight|tomorrow|asap|by friday))\b",
        )
    });
    REPORT.as_ref().is_none_or(|report| report.is_match(masked))
}

#[cfg(test)]
mod tests {
    use super::super::sentences::split_sentences;
    use super::*;
    use crate::facts::sentence_model::Speaker;

    fn shown(text: &str) -> Option<String> {
        let found = classify(&split_sentences(&[text])[0], SentenceContext::of(Speaker::Human))?;
        let other = found.other.map(|other| format!(" / {other}")).unwrap_or_default();
        Some(format!("{} {}{other}", found.kind.as_str(), found.subject.unwrap_or_default()))
    }

    #[test]
    fn plain_sentences_without_a_known_wording_are_recognized() {
        // D37
        for (text, expected) in [
            ("no redis here, we are serverless", "reject redis"),
            ("don't use axios, use ky", "forbid axios / ky"),
            ("no em dashes please", "forbid em dashes"),
            ("stop adding comments everywhere", "forbid adding comments everywhere"),
        ] {
            assert_eq!(shown(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn hedges_questions_and_tasks_are_not_statements() {
        for text in [
            "hmm maybe redis",
            "should we use redis instead",
            "if we drop redis, what happens to the sessions",
            "fix the login test",
            "i worry about redis here",
            "wir nehmen Postgres und nicht MySQL",
            "we could get rid of the cache, no",
        ] {
            assert_eq!(shown(text), None, "{text}");
        }
    }
}
