//! Finds statements with the sentence model, where no rule knows the wording.

use std::ops::Range;
use std::sync::LazyLock;

use super::cues::{compile_pattern, is_foreign};
use super::names::span_name;
use super::polarity::is_against;
use super::sentences::ProseSentence;
use crate::facts::pattern::CuePattern;
use crate::facts::sentence_model::{SentenceContext, SentenceGuess, StatementKind, find_spans, guess_kind};

/// A statement is accepted if the model considers it at least this likely.
const MIN_LIKELIHOOD: f64 = 0.76;
/// A lasting wish is easily confused with a task.
const MIN_PREFERENCE_LIKELIHOOD: f64 = 0.65;
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
    // What announces a statement is not part of it.
    let lead = lead_in(&sentence.masked);
    let (text, masked) = (sentence.text.get(lead..)?, sentence.masked.get(lead..)?);
    let guess = guess_kind(text, context);
    let is_sure = guess.stated_likelihood() >= MIN_LIKELIHOOD
        && (guess.kind != StatementKind::Prefers
            || guess.likelihood_of([StatementKind::Prefers, StatementKind::Forbids]) >= MIN_PREFERENCE_LIKELIHOOD);
    if guess.kind == StatementKind::Other || !is_sure || is_report(masked) {
        return None;
    }
    let spans = find_spans(text, guess.kind);
    let kind = kind_by_words(guess, spans.subject.as_ref(), masked)?;
    // Items of a list are steps of a task or parts of a specification; only rules are listed as well.
    let is_rule = matches!(kind, StatementKind::Prefers | StatementKind::Forbids);
    let is_ordinary = kind == StatementKind::Chooses && lead == 0 && (is_task(masked) || !has_deciding_word(masked));
    if (sentence.is_list_item && !is_rule) || is_ordinary || is_output(sentence.text) {
        return None;
    }
    let name = |span: Option<Range<usize>>| span_name(text.get(span?)?);
    let other =
        name(spans.other.clone()).filter(|_| kind != StatementKind::Forbids || is_replacement(masked, spans.other));
    Some(ClassifiedStatement { kind, subject: name(spans.subject), other })
}

/// Whether a part of a prohibition says what to use instead.
fn is_replacement(masked: &str, span: Option<Range<usize>>) -> bool {
    let Some(span) = span else { return false };
    let to_end = masked.get(..span.end).unwrap_or_default().to_lowercase();
    let from = to_end.floor_char_boundary(span.start.saturating_sub("instead of that prefer ".len()));
    ["use ", "prefer ", "instead", "go with ", "stick to ", "write ", "just "]
        .iter()
        .any(|cue| to_end[from..].contains(cue))
}

/// The kind of a statement. The model knows decisions from preferences; whether they are for or against something, the
/// words around the name say more reliably.
fn kind_by_words(guess: SentenceGuess, subject: Option<&Range<usize>>, masked: &str) -> Option<StatementKind> {
    use StatementKind::{Chooses, Forbids, Prefers, Rejects};
    if !matches!(guess.kind, Chooses | Rejects | Prefers | Forbids) {
        return Some(guess.kind);
    }
    let is_against = is_against(masked, subject?);
    let is_lasting = guess.likelihood_of([Prefers, Forbids]) > guess.likelihood_of([Chooses, Rejects]);
    // "You keep adding comments" is a complaint, whatever it names.
    let is_complaint =
        masked.to_lowercase().starts_with("you keep ") || masked.to_lowercase().starts_with("you always ");
    match (is_lasting, is_against || is_complaint) {
        (true, true) => Some(Forbids),
        (true, false) => Some(Prefers),
        (false, true) => Some(Rejects),
        (false, false) => Some(Chooses),
    }
}

/// Whether a sentence has a word with which people decide; without one it describes how things are.
fn has_deciding_word(masked: &str) -> bool {
    static DECIDES: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(
            r"\b(?:let's|lets|let us|we'll|i'll|we will|we're|should|shouldn't|must|want|wanna|wants|would like|i'd|we'd|use|using|go|going|gonna|keep|
                put|make|makes|stick|instead|not|only|default|defaults|call|called|rename|move|it is|choose|pick|prefer|rather|no need|decid\w*|
                needs?|ok|okay|yes|yeah|yep|please|pls|just|switch|drop|replace|add|leave|store|take|settled|agreed|final|separate|one|has to|
                have to|set|turn|enough|fine|live|belongs?|goes|happy with|revert|stay|stays|over|than|do|will|ship|targeting|from (?:here|now) on|vote)\b|->|→|^option|^[a-h]$",
        )
    });
    DECIDES.as_ref().is_some_and(|decides| decides.is_match(masked))
}

/// Whether a line looks like printed output: columns, prompts or signs instead of words.
fn is_output(text: &str) -> bool {
    let signs = text.chars().filter(|c| "|=<>{}[]()#$%&*\\/_~^·•│─".contains(*c)).count();
    text.trim().contains("   ") || text.starts_with(['$', '>', '[', '│', '|']) || signs * 6 > text.chars().count()
}

/// Length of what announces a statement: "for the record:", "decision:", "fyi,".
fn lead_in(masked: &str) -> usize {
    static LEAD: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(
            r"^(?:(?:so|ok|okay|and|just|also|oh|btw|fyi|hey|alright|right|well|hm+),? )*(?:for the record|fyi|btw|note|reminder|heads up|
                decision|decided|update|important|ps|one more thing|general rule|rule|house rule|after thinking about it|on second thought)[:,] ?",
        )
    });
    LEAD.as_ref().and_then(|lead| lead.find(masked)).map_or(0, |lead| lead.end())
}

/// Whether a sentence only orders a piece of work, without saying how it has to be.
fn is_task(masked: &str) -> bool {
    static TASK: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(
            r"^(?:(?:ok|okay|and|so|now|then|also|please|pls|just|go|lets|let's|yes|yeah),? )*(?:build|create|add|write|implement|fix|run|rerun|
                check|look|update|test|deploy|open|show|explain|refactor|investigate|commit|push|merge|rebase|review|find|debug|
                clean|generate|list|read|continue|start|restart|try|help|copy|search|give|verify|audit|tackle|do|compute) ",
        )
    });
    static DESIGN: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(
            r"\b(?:instead|rather|not|only|should|must|always|never|by default|default|over|no|without|separate|same|opt-in|opt in|cross-\w+)\b",
        )
    });
    let fits = |table: &LazyLock<Option<CuePattern>>| table.as_ref().is_some_and(|table| table.is_match(masked));
    fits(&TASK) && !fits(&DESIGN)
}

/// Whether a sentence leaves open what will be done: it asks without a question mark, hedges or supposes.
fn is_open(masked: &str) -> bool {
    static OPEN: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(
            r"^(?:hm+|so+ |and |but |ok |okay |also |then )*,? ?(?:why|how|what|what's|whats|which|where|who|can you|could you|
                could we|can we|should we|should i|is it|is there|do we|do you|does|did|are we|would it|if|for example|e\.g|
                let's say|lets say|imagine|suppose|let me know|let's see|lets see)\b|
                \b(?:maybe|perhaps|probably|shall|might|hmm+|not sure|unsure|i guess|i wonder|wondering|i suppose|i worry|i believe|what if|
                just show|only show|could be|either way|don't know|dont know|no idea|at some point|some day|someday|used to)\b|
                (?:,? no| right|,? correct| or not| or what)[.! ]*$",
        )
    });
    OPEN.as_ref().is_none_or(|open| open.is_match(masked))
}

/// Whether a sentence reports that something is broken.
fn is_report(masked: &str) -> bool {
    static REPORT: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(
            r"\b(?:fails?|failed|failing|broken|breaks|crash(?:es|ed|ing)?|throws?|threw|errors? (?:out|with|in)|doesn't work|
                does not work|not working|still (?:shows?|gets?|says|has|see)|i (?:get|got|see|saw|deleted|made|added|changed|ran|tried)|
                (?:is|are|was|were|get|gets) (?:lost|gone|logged out|missing|empty|stuck|blank|slow|null|undefined)|
                (?:tonight|tomorrow|asap|by friday|immediately))\b",
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
            ("so for the record: no Redis in this project, everything runs on Lambda", "reject redis"),
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
