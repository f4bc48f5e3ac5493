//! Finds what came of a session: the last answer with substance, not the "Okay." after "commit".

use rethread_model::{Entry, EntryKind, NameSource};

use super::CardSource;
use super::name::derive_name;
use super::prose::{ProseLine, ProseLineKind, is_mostly_letters, prose_sentences, sentences};
use super::words::{distinctive_words, is_next_step, is_next_steps_heading, normalize_text};

/// Minimum number of distinctive words of an answer with substance.
const MIN_ANSWER_WORDS: usize = 5;
/// Openings of sentences in which a model only comments on its next action or agrees.
const CHATTER_OPENINGS: [&str; 24] = [
    "acknowledged",
    "awesome",
    "let me",
    "now let me",
    "now i",
    "i'll ",
    "i will ",
    "i'm going to",
    "wait",
    "actually",
    "let's check",
    "let's see",
    "good",
    "great",
    "perfect",
    "excellent",
    "looks good",
    "looking at",
    "you're right",
    "you're absolutely right",
    "sure",
    "okay",
    "got it",
    "hello",
];
/// Openings of sentences that offer to go on.
const OFFER_OPENINGS: [&str; 5] = ["let me know", "just let me know", "feel free", "happy to", "i'm ready"];
/// Verbs of prompts that record or repeat work.
const ROUTINE_VERBS: [&str; 10] =
    ["commit", "merge", "publish", "pull", "push", "rebase", "release", "rerun", "retry", "stage"];
/// A longer prompt asks for more than that.
const MAX_ROUTINE_WORDS: usize = 12;
/// Words of sentences that report a result.
const RESULT_WORDS: [&str; 37] = [
    "added",
    "adds",
    "all",
    "answered",
    "changed",
    "committed",
    "complete",
    "completed",
    "converted",
    "created",
    "deleted",
    "done",
    "extracted",
    "fixed",
    "found",
    "implemented",
    "improved",
    "installed",
    "merged",
    "moved",
    "now",
    "opened",
    "pass",
    "passed",
    "passes",
    "pushed",
    "refactored",
    "removed",
    "renamed",
    "replaced",
    "resolved",
    "simplified",
    "successfully",
    "updated",
    "verified",
    "works",
    "wrote",
];

/// What an answer says: results, further statements, open work, and a question to the user.
#[derive(Debug, Default)]
pub(super) struct AnswerParts {
    /// Sentences of running text, results first.
    pub(super) statements: Vec<String>,
    /// Whether a statement reports a result.
    pub(super) has_result: bool,
    /// Items of lists.
    pub(super) items: Vec<String>,
    /// What is left to do.
    pub(super) next_steps: Vec<String>,
    /// The last question, if nothing else was said.
    pub(super) question: Option<String>,
}

/// The answers that report the outcome of a session.
pub(super) struct OutcomeAnswers<'a> {
    /// The last answer with substance.
    pub(super) main: Option<&'a Entry>,
    /// The answer after it that ended the session, such as the report of a commit.
    pub(super) last: Option<&'a Entry>,
}

impl<'a> OutcomeAnswers<'a> {
    pub(super) fn find(source: &CardSource<'a>) -> Self {
        let finals = final_answers(source);
        let has_substance = |answer: &&Entry| distinctive_words(&stated_text(&answer.text)).count() >= MIN_ANSWER_WORDS;
        let of_request = finals.iter().rev().filter(|(is_routine, _)| !is_routine).map(|(_, answer)| *answer);
        let main = of_request.clone().find(has_substance);
        let main = main.or_else(|| finals.iter().rev().map(|(_, answer)| *answer).find(has_substance));
        let main = main.or_else(|| source.answers().rev().find(has_substance));
        let last = finals.last().map(|(_, answer)| *answer);
        let main = main.or(last.filter(|answer| distinctive_words(&stated_text(&answer.text)).count() > 0));
        Self { main, last: last.filter(|last| main.is_none_or(|main| last.seq > main.seq)) }
    }
}

impl AnswerParts {
    pub(super) fn of(lines: &[ProseLine]) -> Self {
        let mut parts = Self::default();
        let mut is_left = false;
        let mut stated: Vec<String> = Vec::new();
        for line in lines {
            let is_label = line.kind == ProseLineKind::Text
                && line.text.split(' ').count() <= 3
                && !line.text.ends_with(['.', '!', '?']);
            if line.kind == ProseLineKind::Heading || line.text.ends_with(':') || is_label {
                is_left = is_next_steps_heading(&line.text);
                continue;
            }
            for sentence in sentences(&line.text) {
                if is_offer(sentence) {
                } else if sentence.ends_with('?') {
                    parts.question = Some(sentence.to_owned());
                } else if is_left || is_next_step(sentence) {
                    parts.next_steps.push(sentence.to_owned());
                } else if !is_mostly_letters(sentence) || (!sentence.contains(' ') && sentence.contains('/')) {
                } else if line.kind == ProseLineKind::ListItem {
                    parts.items.push(sentence.to_owned());
                } else if !is_chatter(sentence) {
                    stated.push(sentence.to_owned());
                }
            }
        }
        // Remarks may come before the result; the result matters more. What follows it stays in order.
        let first_result = stated.iter().position(|text| is_result(text));
        parts.has_result = first_result.is_some();
        let begin = first_result.map_or(0, |at| stated[..=at].iter().rposition(|text| !refers_back(text)).unwrap_or(0));
        stated.rotate_left(begin);
        parts.statements = stated;
        parts
    }
}

/// The last answer of each episode, and whether its prompt was routine, such as `commit and push`.
fn final_answers<'a>(source: &CardSource<'a>) -> Vec<(bool, &'a Entry)> {
    let (mut finals, mut is_routine, mut open) = (Vec::new(), true, None);
    for entry in source.entries {
        match entry.kind {
            EntryKind::Prompt | EntryKind::Task => {
                finals.extend(open.take().map(|answer| (is_routine, answer)));
                is_routine = is_routine_prompt(entry);
            }
            EntryKind::AssistantText if !entry.text.trim().is_empty() => open = Some(entry),
            // A text before a call only announces it.
            EntryKind::Call => open = None,
            _ => {}
        }
    }
    finals.extend(open.map(|answer| (is_routine, answer)));
    finals
}

/// Whether a prompt only has what was done recorded or repeated: `commit the spec`, `update the pr`.
fn is_routine_prompt(entry: &Entry) -> bool {
    let Some(name) = derive_name(entry.kind, &entry.text, None) else { return true };
    let lower = normalize_text(&name.text);
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let is_short = words.len() <= MAX_ROUTINE_WORDS;
    let is_about_pr = words.windows(2).any(|pair| pair == ["pull", "request"]) || words.contains(&"pr");
    let is_record = words.first().is_some_and(|verb| ROUTINE_VERBS.contains(verb)) || is_about_pr;
    name.source != NameSource::Prompt || (is_short && is_record)
}

/// An answer without what only comments.
fn stated_text(text: &str) -> String {
    let sentences =
        prose_sentences(text).into_iter().filter(|sentence| !is_chatter(sentence) && !sentence.ends_with('?'));
    // Addresses and hashes do not count.
    let is_word = |word: &&str| !word.contains('/') && !word.chars().any(|c| c.is_ascii_digit());
    let words = sentences.collect::<Vec<_>>().join(" ");
    words.split(' ').filter(is_word).collect::<Vec<_>>().join(" ")
}

/// Whether a sentence only comments on what the model does.
pub(super) fn is_chatter(sentence: &str) -> bool {
    let plain = normalize_text(sentence);
    CHATTER_OPENINGS.iter().any(|beginning| plain.starts_with(beginning)) && !is_result(sentence)
}

/// Whether a sentence needs the one before it to be understood.
fn refers_back(sentence: &str) -> bool {
    let plain = normalize_text(sentence);
    let first = plain.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    matches!(first, "it" | "its" | "this" | "that" | "these" | "those" | "they" | "both" | "so" | "then")
}

/// Whether a sentence only offers to go on.
fn is_offer(sentence: &str) -> bool {
    let plain = normalize_text(sentence);
    OFFER_OPENINGS.iter().any(|opening| plain.starts_with(opening))
}

fn is_result(sentence: &str) -> bool {
    let plain = normalize_text(sentence);
    let mut words = plain.split(|c: char| !c.is_alphanumeric());
    words.any(|word| RESULT_WORDS.binary_search(&word).is_ok())
}

#[cfg(test)]
mod tests {
    use super::super::prose::prose_lines;
    use super::*;
    use crate::testing::{entry, pi_session};

    fn main_answer(texts: &[(EntryKind, &str)]) -> (Option<String>, Option<String>) {
        let entries: Vec<Entry> =
            texts.iter().enumerate().map(|(at, (kind, text))| entry(at as u64, *kind, text)).collect();
        let session = pi_session();
        let found = OutcomeAnswers::find(&CardSource { session: &session, entries: &entries, decisions: &[] });
        (found.main.map(|entry| entry.text.clone()), found.last.map(|entry| entry.text.clone()))
    }

    #[test]
    fn the_reply_to_a_routine_prompt_is_not_the_outcome() {
        // D16
        let result = "Added a retry with backoff to the uploader; all uploader tests pass.";
        let found = main_answer(&[
            (EntryKind::Prompt, "make the uploader retry on timeouts"),
            (EntryKind::AssistantText, result),
            (EntryKind::Prompt, "commit the uploader and update the pr"),
            (EntryKind::AssistantText, "Okay."),
        ]);
        assert_eq!(found, (Some(result.to_owned()), Some("Okay.".to_owned())));
        assert_eq!(
            main_answer(&[(EntryKind::Prompt, "fix the login bug"), (EntryKind::AssistantText, "Okay!")]).0,
            None
        );
    }

    #[test]
    fn results_come_before_remarks_and_questions_are_left_out() {
        // D16
        let parts = AnswerParts::of(&prose_lines(
            "Let me summarize. The draft folder was untracked before. Fixed the parser. Want more?\n\nNext steps:\n- push it",
        ));
        assert_eq!(parts.statements, ["Fixed the parser.", "The draft folder was untracked before."]);
        assert_eq!((parts.next_steps, parts.question.as_deref()), (vec!["push it".to_owned()], Some("Want more?")));
    }

    #[test]
    fn sentences_after_a_result_stay_in_order_and_offers_are_dropped() {
        // D16
        let parts = AnswerParts::of(&prose_lines(
            "The agent lacked a flag. The fix adds it to the launch. Two other failures are in the tool. Those are fixed \
             elsewhere. Let me know if you want more!",
        ));
        let expected =
            ["The fix adds it to the launch.", "Two other failures are in the tool.", "Those are fixed elsewhere."];
        assert_eq!(parts.statements[..3], expected.map(str::to_owned));
        assert!(parts.next_steps.is_empty(), "{parts:?}");
    }

    #[test]
    fn the_tables_are_sorted() {
        assert!(RESULT_WORDS.is_sorted());
    }
}
