//! Recognizes a question about something that was decided: "which http client do we use?", "should we use sqlite?".

use rethread_model::{FactState, Predicate, Trust};

use super::Decision;
use super::names::{contains_name, name_form};
use crate::question::decision_with_topic;

/// A longer prompt asks for work, and its question is beside that.
const MAX_PROMPT_CHARS: usize = 300;
/// Maximum number of words that describe the topic.
const MAX_TOPIC_WORDS: usize = 4;
/// Words that begin a question about a choice.
const QUESTION_OPENINGS: [&str; 22] = [
    "should we",
    "should i",
    "which",
    "what",
    "why did we",
    "why do we",
    "why are we",
    "why not",
    "why don't we",
    "do we",
    "did we",
    "are we",
    "can we",
    "could we",
    "can i",
    "shall we",
    "may i",
    "is it ok to",
    "would it be ok",
    "how do we",
    "have we",
    "remind me",
];
/// Words before a question.
const LEADS: [&str; 9] = ["so ", "and ", "ok ", "ok, ", "hey ", "hey, ", "but ", "btw ", "so, "];
/// Words of a question that say nothing about its topic.
const FRAME_WORDS: &str = "a about after again all allowed already an and any are as at be been better can \
    choose chose chosen could currently decide decided decision did do does don't during else ever for from go \
    going have here how i in instead into is it kind last let me my now of ok okay on one or our over pick picked \
    please prefer project rather remind repo settle settled shall should so still supposed than that the there \
    these thing this to type us use used using want we what which why with would you your";

/// The open decision of a human that answers a question, if the prompt asks one. The newest of several.
pub fn decision_for_question<'a>(prompt: &str, decisions: &'a [Decision]) -> Option<&'a Decision> {
    let Some(question) = asked_question(prompt) else { return decision_with_topic(prompt.trim(), decisions) };
    let topic = topic_words(&question);
    let may_answer = |one: &&Decision| {
        one.trust == Trust::Human
            && one.is_open()
            && one.state == FactState::Confirmed
            && matches!(one.predicate, Predicate::Decided | Predicate::Prefers)
    };
    let candidates: Vec<&Decision> = decisions.iter().filter(may_answer).collect();
    let named = candidates.iter().find(|one| names_option(&question, one));
    let covered = || candidates.iter().find(|one| covers_topic(one, &question, &topic));
    named.or_else(covered).copied().or_else(|| decision_with_topic(prompt.trim(), decisions))
}

/// The question of a short prompt, in lower case; `None` if it asks for something else.
fn asked_question(prompt: &str) -> Option<String> {
    if prompt.chars().count() > MAX_PROMPT_CHARS || prompt.lines().filter(|line| !line.trim().is_empty()).count() > 2 {
        return None;
    }
    let mut sentences = prompt.split_inclusive(['?', '.', '!', '\n']).map(|sentence| sentence.trim().to_lowercase());
    sentences.find(|sentence| {
        let mut bare = sentence.as_str();
        while let Some(rest) = LEADS.iter().find_map(|lead| bare.strip_prefix(lead)) {
            bare = rest;
        }
        let begins = |opening: &&str| bare.strip_prefix(*opening).is_some_and(|rest| rest.starts_with([' ', ',']));
        QUESTION_OPENINGS.iter().any(begins)
    })
}

/// The words of a question that say what it is about.
fn topic_words(question: &str) -> Vec<String> {
    words(question).filter(|word| !FRAME_WORDS.split_ascii_whitespace().any(|frame| frame == word)).collect()
}

/// Whether the question names what was chosen or rejected.
fn names_option(question: &str, decision: &Decision) -> bool {
    let options = std::iter::once(&decision.subject).chain(&decision.rejected_option);
    options
        .into_iter()
        .any(|option| name_form(option, &decision.statement).is_some_and(|form| contains_name(question, option, form)))
}

/// Whether the decision is about everything that the question names. One word is enough only in "which X do we use".
fn covers_topic(decision: &Decision, question: &str, topic: &[String]) -> bool {
    if topic.is_empty() || topic.len() > MAX_TOPIC_WORDS {
        return false;
    }
    let asks_which = (question.starts_with("which ") || question.starts_with("what ")) && question.contains(" we ");
    let parts = [Some(&decision.subject), decision.rejected_option.as_ref(), Some(&decision.statement)];
    let known: Vec<String> =
        parts.into_iter().flatten().flat_map(|part| words(&part.to_lowercase()).collect::<Vec<_>>()).collect();
    let is_known = |word: &String| known.iter().any(|known| stem(known) == stem(word));
    (topic.len() > 1 || asks_which) && topic.iter().all(is_known)
}

fn words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !(c.is_alphanumeric() || "'-_".contains(c)));
    words.map(|word| word.trim_matches(['\'', '-', '_'])).filter(|word| !word.is_empty()).map(str::to_owned)
}

fn stem(word: &str) -> &str {
    if word.len() > 3 { word.strip_suffix('s').unwrap_or(word) } else { word }
}

#[cfg(test)]
mod tests {
    use rethread_model::EntityKind;
    use rethread_store::FactRow;

    use super::super::decisions;
    use super::super::testing::{KnownFactExt, known_fact};
    use super::*;

    fn decided(minute: i64, subject: &str, rejected: &str, sentence: &str) -> FactRow {
        known_fact("a", minute, Predicate::Decided, (EntityKind::Decision, subject))
            .object(EntityKind::Decision, rejected)
            .state(FactState::Confirmed)
            .detail(sentence)
            .with(|fact| fact.trust = Trust::Human)
    }

    fn answer(prompt: &str) -> Option<String> {
        let facts = [
            decided(1, "sqlite", "postgres", "use sqlite instead of postgres for the index"),
            decided(2, "ky", "axios", "ky instead of axios as the http client"),
            decided(3, "squash merges", "rebases", "squash merges rather than rebases on main"),
        ];
        decision_for_question(prompt, &decisions(&facts)).map(|one| one.subject.clone())
    }

    #[test]
    fn a_question_about_a_topic_finds_its_decision() {
        // D41
        for (prompt, expected) in [
            ("should we use sqlite or postgres?", "sqlite"),
            ("which http client do we use", "ky"),
            ("What http client are we using here?", "ky"),
            ("why did we choose ky?", "ky"),
            ("ok. can we use postgres here?", "sqlite"),
            ("do we squash merges on main?", "squash merges"),
        ] {
            assert_eq!(answer(prompt).as_deref(), Some(expected), "{prompt}");
        }
    }

    #[test]
    fn a_question_with_all_words_of_a_rule_finds_it() {
        let rule = known_fact("a", 1, Predicate::Forbids, (EntityKind::Preference, "snapshot tests"))
            .state(FactState::Confirmed)
            .detail("no snapshot tests for the dashboard")
            .with(|fact| fact.trust = Trust::Human);
        let all = decisions(&[rule]);
        let found = |prompt: &str| decision_for_question(prompt, &all).is_some();
        assert!(found("snapshot tests ok for the dashboard?") && found("are snapshot tests allowed?"));
        for prompt in
            ["are tests ok?", "write snapshot tests", "why do the snapshot tests fail?", "snapshot of the db?"]
        {
            assert!(!found(prompt), "{prompt}");
        }
    }

    #[test]
    fn other_questions_and_requests_find_nothing() {
        for prompt in [
            "which file has the parser?",
            "what is the main problem?",
            "which client do we test?",
            "should we use mysql?",
            "add an index on main",
            "what changed on main",
            "can we merge it?",
            "why?",
            "fix the http client",
            "how do we deploy the http client to staging quickly?",
        ] {
            assert_eq!(answer(prompt), None, "{prompt}");
        }
    }
}
