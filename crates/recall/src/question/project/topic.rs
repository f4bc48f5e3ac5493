//! Finds the decision or rule that a question is about by its words alone, without searching the sessions.

use rethread_model::{FactState, Trust};

use super::MemoryKind;
use super::quotes::is_question;
use super::shape::QuestionShape;
use super::terms::{QuestionTerms, TermSplitter};
use crate::facts::Decision;

/// A longer question is about more than one thing.
const MAX_QUESTION_CHARS: usize = 160;
/// One word is shared by chance too often.
const MIN_TOPIC_WORDS: usize = 2;

/// The newest decision or rule of a human that has every word of what a short question is about.
pub(crate) fn decision_with_topic<'a>(question: &str, decisions: &'a [Decision]) -> Option<&'a Decision> {
    let shape = QuestionShape::parse(question);
    let kinds = [MemoryKind::Decision, MemoryKind::Preference];
    let is_asked = shape.is_open() || kinds.into_iter().any(|kind| shape.is_mostly(kind));
    if !is_asked || !is_question(question) || question.chars().count() > MAX_QUESTION_CHARS {
        return None;
    }
    let mut splitter = TermSplitter::default();
    let terms = QuestionTerms::of(question, &mut splitter);
    let all = terms.topic_len();
    if all < MIN_TOPIC_WORDS {
        return None;
    }
    let holds = |one: &&Decision| one.trust == Trust::Human && one.state == FactState::Confirmed && one.is_open();
    decisions.iter().filter(holds).find(|one| {
        let parts = [Some(&one.subject), one.rejected_option.as_ref(), Some(&one.statement)];
        let text = parts.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join("\n");
        terms.topic_len_of(terms.find(&text, &mut splitter)) == all
    })
}
