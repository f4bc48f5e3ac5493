//! Answers about sessions: what the last one was about, how it ended and what is left.

use rethread_model::{Entry, EntryKind, Session};

use super::wording::{AnswerTimes, origin, phrase};
use super::{AnswerItem, AnswerSentence, MemoryKind, SentenceSource};
use crate::card::outcome_entry;
use crate::compaction::{is_filler, planned_steps};
use crate::quote::quote_short;

/// Maximum lengths, in characters, of a prompt, an outcome and one step.
const PROMPT_CHARS: usize = 240;
const OUTCOME_CHARS: usize = 420;
const STEP_CHARS: usize = 120;
/// Maximum number of files and steps listed.
const MAX_FILES: usize = 6;
const MAX_STEPS: usize = 3;
const MAX_ERRORS: usize = 2;

/// A session with what is needed to say where it stopped.
#[derive(Clone, Debug)]
pub struct SessionEvidence {
    /// The session.
    pub session: Session,
    /// Both ends of its entries, oldest first.
    pub entries: Vec<Entry>,
    /// Files it changed, the latest first.
    pub files: Vec<String>,
    /// Errors that were not fixed, each with its line.
    pub open_errors: Vec<(String, u64)>,
    /// The task the user set.
    pub task: Option<String>,
}

/// What a session was about: what was asked, what came of it, what is open. In short for a list of sessions.
pub(super) fn session_item(found: &SessionEvidence, is_short: bool, times: AnswerTimes) -> Option<AnswerItem> {
    let SessionEvidence { session, entries, .. } = found;
    let is_request = |entry: &&Entry| matches!(entry.kind, EntryKind::Prompt | EntryKind::Task);
    let requests: Vec<&Entry> = entries.iter().filter(is_request).filter(|entry| !is_filler(&entry.text)).collect();
    let first = requests.first().copied().or_else(|| entries.iter().find(is_request))?;
    let at =
        |entry: &Entry| SentenceSource::in_session(session, entry.location.line, entry.at.or(session.last_activity_at));
    let place = origin(session.name.as_deref(), session.last_activity_at, times);
    let asked = phrase(&first.text, PROMPT_CHARS);
    let mut sentences = vec![AnswerSentence::new(format!("Last worked on \"{asked}\" {place}."), at(first))];
    if let Some(task) = &found.task {
        let text = format!("Its task: \"{}\".", phrase(task, PROMPT_CHARS));
        sentences.push(AnswerSentence::new(text, at(first)));
    }
    if let Some(last) = requests.last().filter(|last| last.seq != first.seq) {
        let text = format!("The latest request: \"{}\".", phrase(&last.text, PROMPT_CHARS));
        sentences.push(AnswerSentence::new(text, at(last)));
    }
    if let Some(outcome) = outcome_entry(session, entries) {
        let text = format!("Outcome: \"{}\".", phrase(&outcome.text, OUTCOME_CHARS));
        sentences.push(AnswerSentence::new(text, at(outcome)));
        let steps: Vec<String> =
            planned_steps(&outcome.text).take(MAX_STEPS).map(|step| quote_short(&step, STEP_CHARS)).collect();
        if !steps.is_empty() && !is_short {
            sentences.push(AnswerSentence::new(format!("Next steps: {}.", steps.join("; ")), at(outcome)));
        }
    }
    if is_short {
        sentences.truncate(2);
        return Some(AnswerItem { memory: MemoryKind::Session, sentences, score: 0.0 });
    }
    for (error, line) in found.open_errors.iter().take(MAX_ERRORS) {
        let text = format!("Not resolved: \"{}\".", quote_short(error, PROMPT_CHARS));
        let source = SentenceSource::in_session(session, *line, session.last_activity_at);
        sentences.push(AnswerSentence::new(text, source));
    }
    if let Some(last) = entries.last().filter(|_| !found.files.is_empty()) {
        let names: Vec<String> = found.files.iter().take(MAX_FILES).map(|file| quote_short(file, STEP_CHARS)).collect();
        let more = found.files.len().saturating_sub(MAX_FILES);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        sentences.push(AnswerSentence::new(format!("Changed: {}{more}.", names.join(", ")), at(last)));
    }
    Some(AnswerItem { memory: MemoryKind::Session, sentences, score: 0.0 })
}
