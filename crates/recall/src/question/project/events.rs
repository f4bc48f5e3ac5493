//! Candidates for an answer from what happened: commits, branches, packages and changes to files.

use rethread_model::Predicate;
use rethread_store::FactRow;

use super::fact_items::{FactCandidate, FactPlace, SettledFact};
use super::terms::{QuestionTerms, TermSplitter};
use super::wording::{AnswerTimes, day, origin, touch_sentence};
use super::{AnswerItem, AnswerSentence, MemoryKind, SentenceSource};
use crate::facts::{FactSource, FileTouch};
use crate::quote::quote_short;

/// Maximum length of what a fact is about, in characters.
const SUBJECT_CHARS: usize = 160;
/// Maximum number of episodes shown of a file's history.
const MAX_TOUCHES: usize = 4;

/// What was done to a file, newest first; changes before reads.
pub(super) fn file_item(name: &str, touches: &[FileTouch], times: AnswerTimes) -> Option<AnswerItem> {
    let (changes, reads): (Vec<&FileTouch>, Vec<&FileTouch>) = touches.iter().partition(|touch| touch.is_change());
    let shown = changes.into_iter().chain(reads).take(MAX_TOUCHES);
    let sentences: Vec<AnswerSentence> = shown.map(|touch| touch_sentence(name, touch, times)).collect();
    (!sentences.is_empty()).then_some(AnswerItem { memory: MemoryKind::File, sentences, score: 0.0 })
}

/// Commits, branches and packages that have words of the question.
pub(super) fn event_candidates(
    facts: &[FactRow],
    terms: &QuestionTerms,
    splitter: &mut TermSplitter,
    times: AnswerTimes,
) -> Vec<FactCandidate> {
    let mut all = Vec::new();
    for known in facts {
        let fact = &known.fact;
        let object = fact.object.as_ref().map_or("", |object| &object.name);
        let found = terms.find(&format!("{} {object} {}", fact.subject.name, event_verb(fact.predicate)), splitter);
        if terms.topic_len_of(found) == 0 {
            continue;
        }
        let source = FactSource::of_fact(known);
        let subject = quote_short(&fact.subject.name, SUBJECT_CHARS);
        let day = fact.at.map(|at| format!(" on {}", day(at))).unwrap_or_default();
        let place = origin(source.session_name.as_deref(), fact.at, times);
        let branch =
            if object.is_empty() { String::new() } else { format!(" ({})", quote_short(object, SUBJECT_CHARS)) };
        let text = format!("{} \"{subject}\"{branch}{day} {place}.", event_words(fact.predicate));
        all.push(FactCandidate {
            memory: MemoryKind::Event,
            sentences: vec![AnswerSentence::new(text, SentenceSource::of_fact(&source))],
            terms: found,
            named: terms.share_of_name(&fact.subject.name, splitter),
            trust: 1.0,
            places: vec![FactPlace::of(&source)],
            closed_by: None,
            at: fact.at,
            error: None,
            settled: Some(SettledFact {
                key: format!("event {} {}", fact.subject.name, source.citation()),
                ..SettledFact::default()
            }),
        });
    }
    all
}

fn event_words(predicate: Predicate) -> &'static str {
    match predicate {
        Predicate::Committed => "Committed",
        Predicate::Reverted => "Reverted",
        Predicate::Branched => "Created branch",
        Predicate::Merged => "Merged",
        Predicate::Added => "Added package",
        Predicate::Removed => "Removed package",
        _ => "Recorded",
    }
}

/// Other words people use for the same event.
fn event_verb(predicate: Predicate) -> &'static str {
    match predicate {
        Predicate::Added => "added installed upgraded package dependency",
        Predicate::Removed => "removed uninstalled dropped package dependency",
        Predicate::Reverted => "reverted rolled back rollback undone",
        Predicate::Merged => "merged",
        Predicate::Branched => "branch created",
        _ => "",
    }
}
