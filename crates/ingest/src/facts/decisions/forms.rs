//! Answers to questions of an agent: in a form, or numbered like the questions. They are decisions in every language.

use std::ops::RangeInclusive;
use std::sync::LazyLock;

use regex::Regex;
use rethread_model::{FactState, clip};
use serde::{Deserialize, Serialize};

use super::cues::compile_pattern;
use super::prose::prose_lines;
use super::reasons::reason_for;
use super::sentences::split_sentences;
use crate::facts::pattern::CuePattern;

/// Maximum number of numbered questions in one text.
const MAX_QUESTIONS: usize = 10;
/// Maximum length of a stored question or answer, in characters.
const MAX_TEXT_CHARS: usize = 160;
/// An answer with more words is a new instruction.
const MAX_ANSWER_WORDS: usize = 25;
/// A numbered answer with more words is a text of its own.
const MAX_NUMBERED_WORDS: usize = 14;
/// Maximum length of a subject, in characters.
const MAX_SUBJECT_CHARS: usize = 60;

/// A question with the answer of a human.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AnsweredForm {
    pub(super) question: String,
    pub(super) answer: String,
}

/// What an answer decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FormDecision {
    pub(super) subject: String,
    pub(super) state: FactState,
    /// The question and its answer.
    pub(super) detail: String,
    pub(super) reason: Option<String>,
}

/// A numbered question that waits for an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct NumberedQuestion {
    number: u32,
    text: String,
}

/// The questions of a form with the answers that a human selected or typed.
pub(super) fn form_answers(text: &str) -> Vec<AnsweredForm> {
    if text.contains("\"=\"") {
        return quoted_pairs(text);
    }
    if !text.contains(" → ") {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut question = String::new();
    for line in text.lines() {
        match line.split_once(" → ") {
            Some((end, answer)) => {
                question.push_str(end);
                found.push(answered(&question, answer));
                question.clear();
            }
            // A question may have several lines.
            None => question = format!("{question}{line} "),
        }
    }
    found.retain(|one| is_question(&one.question));
    found
}

/// The pairs of the form `"question"="answer"` in a text.
fn quoted_pairs(text: &str) -> Vec<AnsweredForm> {
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(start) = text[at..].find('"').map(|start| at + start + 1) {
        at = start;
        let Some((question, rest)) = quoted(&text[start..], 4..=600) else { continue };
        let Some((answer, rest)) = rest.strip_prefix("=\"").and_then(|rest| quoted(rest, 1..=400)) else { continue };
        let after = rest.chars().next();
        if after.is_none_or(|c| matches!(c, '.' | ',' | ';') || c.is_whitespace()) {
            found.push(answered(question, answer));
            at = text.len() - rest.len() + after.map_or(0, char::len_utf8);
        }
    }
    found
}

/// What precedes the next quote that is not escaped, if it has a length in this range, in characters, and what follows.
fn quoted(text: &str, lengths: RangeInclusive<usize>) -> Option<(&str, &str)> {
    let (mut chars, mut length) = (text.char_indices(), 0);
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return lengths.contains(&length).then(|| (&text[..at], &text[at + 1..])),
            '\\' if chars.next().is_none_or(|(_, escaped)| escaped == '\n') => return None,
            _ => length += 1,
        }
        if length > *lengths.end() {
            return None;
        }
    }
    None
}

fn answered(question: &str, answer: &str) -> AnsweredForm {
    AnsweredForm { question: question.trim().to_owned(), answer: answer.trim().to_owned() }
}

fn is_question(text: &str) -> bool {
    text.trim_end_matches([')', '"', '*', ' ']).ends_with(['?', '？', ':', '。', 'か'])
}

/// The numbered questions of a text; none if it has fewer than two.
pub(super) fn numbered_questions(text: &str) -> Vec<NumberedQuestion> {
    if !text.contains(['?', '？']) {
        return Vec::new();
    }
    let mut found: Vec<NumberedQuestion> = Vec::new();
    for line in prose_lines(text) {
        let Some((number, rest)) = numbered(line) else { continue };
        if !rest.contains(['?', '？']) {
            continue;
        }
        if found.iter().any(|one| one.number == number) {
            return Vec::new();
        }
        let text = clip(&rest.replace("**", ""), MAX_TEXT_CHARS).into_owned();
        found.push(NumberedQuestion { number, text });
    }
    if (2..=MAX_QUESTIONS).contains(&found.len()) { found } else { Vec::new() }
}

/// The answers of a reply to numbered questions: `1. yes 2) postgres`, one per line or in one line.
pub(super) fn numbered_answers(questions: &[NumberedQuestion], reply: &str) -> Vec<AnsweredForm> {
    static NEXT: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"[\s,;](?:and )?(\d{1,2})[.):=-] ?").ok());
    if questions.is_empty() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for line in reply.lines() {
        let Some(next) = NEXT.as_ref() else { return found };
        let mut starts: Vec<usize> = next.captures_iter(line).filter_map(|one| Some(one.get(1)?.start())).collect();
        starts.insert(0, 0);
        starts.push(line.len());
        for part in starts.windows(2) {
            let Some((number, answer)) = numbered(line[part[0]..part[1]].trim_matches([' ', ',', ';'])) else {
                continue;
            };
            if let Some(question) = questions.iter().find(|question| question.number == number)
                && answer.split_whitespace().count() <= MAX_NUMBERED_WORDS
                && !repeats(&question.text, answer)
            {
                found.push(answered(&question.text, answer));
            }
        }
    }
    found
}

/// Whether a text consists mostly of words of the question: it was pasted back.
fn repeats(question: &str, answer: &str) -> bool {
    let question = question.to_lowercase();
    let words: Vec<&str> = answer.split_whitespace().collect();
    let known = words.iter().filter(|word| question.contains(&word.to_lowercase())).count();
    words.len() > 3 && known * 3 >= words.len() * 2
}

/// The number at the start of a line, and what follows it.
fn numbered(line: &str) -> Option<(u32, &str)> {
    let line = line.trim_start_matches(['*', '#', '-', ' ', '(', 'Q', 'q']);
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let number: u32 = line.get(..digits)?.parse().ok().filter(|number| (1..=30).contains(number))?;
    let rest = line[digits..].trim_start_matches(['*']);
    let rest = rest.strip_prefix(['.', ')', ':', '-', '=', '。', '、']).or_else(|| rest.strip_prefix(' '))?;
    let rest = rest.trim_start_matches([' ', '*', '-', ')']);
    (!rest.is_empty()).then_some((number, rest))
}

/// The decision in an answer; `None` if the answer only selects a task, gives information or asks back.
pub(super) fn form_decision(form: &AnsweredForm) -> Option<FormDecision> {
    static TASK: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(
            r"\b(?:like me to (?:do|review|work|start|focus|look|tackle|help)|do next|work on next|start with|
                what next|ready to|shall i (?:proceed|continue|start|go)|should i (?:proceed|continue|start|go ahead)|
                would you like to (?:do|proceed|continue)|can you (?:clarify|share|paste|confirm|describe)|
                what do you mean|what (?:error|output|happens|do you see)|did (?:you|it|that)|have you|are you (?:sure|seeing)|
                does (?:it|this|that) (?:work|look)|which (?:pr|issue|ticket|commit)|continue\?|proceed\?|
                commit (?:this|these|the|now)|push (?:this|these|the|now))",
        )
    });
    let answer = strip_recommendation(&form.answer);
    let is_task = TASK.as_ref().is_some_and(|task| task.is_match(&form.question));
    let is_open = answer.is_empty()
        || answer.ends_with(['?', '？'])
        || answer.split_whitespace().count() > MAX_ANSWER_WORDS
        || is_non_answer(&answer);
    if is_task || is_open {
        return None;
    }
    let detail = format!("{} → {}", clip(&form.question, MAX_TEXT_CHARS), clip(&answer, MAX_TEXT_CHARS));
    let (subject, state) = match yes_or_no(&answer) {
        Some((state, "")) => (topic(&form.question)?, state),
        Some((state, rest)) if rest.split_whitespace().count() < 2 => (topic(&form.question)?, state),
        // "no, hard deletes": what follows is the decision.
        Some((_, rest)) => (subject_text(rest.split(", ").next().unwrap_or(rest)), FactState::Confirmed),
        None => (answer_subject(&form.question, &answer), FactState::Confirmed),
    };
    let reason = split_sentences(&[answer.as_str()]).first().and_then(|sentence| reason_for(&subject, sentence));
    Some(FormDecision { subject, state, detail, reason })
}

fn strip_recommendation(answer: &str) -> String {
    static MARK: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?i)\s*[(（\[](?:recommended|default|推荐|推奨|empfohlen|권장)[^)）\]]*[)）\]]").ok()
    });
    let bare = MARK.as_ref().map_or_else(|| answer.into(), |mark| mark.replace_all(answer, ""));
    bare.trim().trim_end_matches('.').to_owned()
}

/// Whether an answer leaves everything open.
fn is_non_answer(answer: &str) -> bool {
    let lower = answer.to_lowercase();
    let first = lower.split([' ', ',', '.', ':']).next().unwrap_or_default();
    matches!(
        first,
        "other" | "cancel" | "skip" | "done" | "none" | "idk" | "unsure" | "hmm" | "maybe" | "whatever" | "n/a"
    ) || ["not sure", "don't know", "dont know", "you decide", "up to you", "no preference", "type something"]
        .iter()
        .any(|open| lower.contains(open))
}

/// Whether an answer is a yes or a no, and what follows it.
fn yes_or_no(answer: &str) -> Option<(FactState, &str)> {
    let end = answer.find([' ', ',', '.', '!', ';', '-']).unwrap_or(answer.len());
    let state = match answer[..end].to_lowercase().as_str() {
        "yes" | "yep" | "yeah" | "ok" | "okay" | "sure" | "y" | "correct" | "ja" | "oui" | "si" | "sí" | "はい"
        | "是" | "네" => FactState::Confirmed,
        "no" | "nope" | "nah" | "n" | "nein" | "non" | "いいえ" | "不" | "아니요" => FactState::Refuted,
        _ => return None,
    };
    Some((state, answer[end..].trim_matches([' ', ',', '.', '!', ';', '-'])))
}

/// What a question of the form "should we X" is about.
fn topic(question: &str) -> Option<String> {
    static ASKED: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(
            r"\b(?:should (?:i|we|it|the|this|they)|shall (?:i|we)|do you want (?:me to|to|us to|a|an|the)?|
                would you like (?:me to|to|us to|a|an)?|do we (?:want|need)|want me to|can we|ok to|okay to|is it (?:ok|fine) to) ",
        )
    });
    let asked = ASKED.as_ref()?.find(question)?;
    let rest = question[asked.end()..].trim_end_matches(['?', ' ', ')']);
    (rest.split_whitespace().count() >= 1).then(|| subject_text(rest))
}

/// The subject of an answer in its own words, with the code that the question names if the answer only refers to it.
fn answer_subject(question: &str, answer: &str) -> String {
    let refers = answer.split_whitespace().any(|word| {
        matches!(
            word.to_lowercase().trim_matches(|c: char| !c.is_alphanumeric()),
            "it" | "them" | "this" | "that" | "both"
        )
    });
    let named = question.split('`').nth(1).filter(|name| refers && !name.is_empty() && !answer.contains(*name));
    match named {
        Some(name) => subject_text(&format!("{name}: {answer}")),
        None => subject_text(answer),
    }
}

fn subject_text(text: &str) -> String {
    let end = [" — ", " – ", " - ", ". ", "; ", " ("].iter().filter_map(|mark| text.find(mark)).min();
    let short = text[..end.filter(|end| *end > 2).unwrap_or(text.len())].trim().trim_matches(['"', '*']);
    clip(&short.to_lowercase(), MAX_SUBJECT_CHARS).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decided(question: &str, answer: &str) -> Option<(String, FactState)> {
        form_decision(&answered(question, answer)).map(|made| (made.subject, made.state))
    }

    #[test]
    fn forms_of_all_shapes_are_read() {
        // D37
        let text = r#"User has answered your questions: "Which model?"="Tiny (Recommended)". "Where to \"put\" it"="In a, b". You can now continue."#;
        let found = form_answers(text);
        assert_eq!(
            (found.len(), found[0].answer.as_str(), found[1].answer.as_str()),
            (2, "Tiny (Recommended)", "In a, b")
        );
        let found = form_answers("Which fix? → by id\nWhich color\nfor the header? → red, blue");
        assert_eq!(found.len(), 2);
        assert_eq!(found[1], answered("Which color for the header?", "red, blue"));
        assert!(form_answers("the flow is a → b and c → d").is_empty());
    }

    #[test]
    fn answers_are_decisions_unless_they_only_select_a_task() {
        for (question, answer, expected) in [
            ("Which model should it use?", "Tiny (Recommended)", Some(("tiny", FactState::Confirmed))),
            (
                "What should happen to the `mode` argument?",
                "Remove it",
                Some(("mode: remove it", FactState::Confirmed)),
            ),
            ("Should we keep the old route?", "Yes", Some(("keep the old route", FactState::Confirmed))),
            ("Do you want to add a cache layer?", "no", Some(("add a cache layer", FactState::Refuted))),
            ("どのデータベースを使いますか？", "PostgreSQL", Some(("postgresql", FactState::Confirmed))),
            (
                "Do you want soft deletes?",
                "no, hard deletes, because of GDPR",
                Some(("hard deletes", FactState::Confirmed)),
            ),
            ("Which issue would you like me to review?", "#325", None),
            ("What would you like me to do next?", "Fix the tests", None),
            ("Which one?", "you decide", None),
            ("Which one?", "what is the difference?", None),
        ] {
            let expected = expected.map(|(subject, state)| (subject.to_owned(), state));
            assert_eq!(decided(question, answer), expected, "{question} {answer}");
        }
    }

    #[test]
    fn numbered_answers_belong_to_numbered_questions() {
        let asked = numbered_questions(
            "Before I start:\n1. Which database should we use?\n2. **Should we cache?**\n3) Anything else?",
        );
        assert_eq!(asked.len(), 3);
        let found = numbered_answers(&asked, "1. postgres, 2) no");
        assert_eq!(found.iter().map(|one| one.answer.as_str()).collect::<Vec<_>>(), ["postgres", "no"]);
        let found = numbered_answers(&asked, "1 - sqlite\n3: nothing");
        assert_eq!(found.len(), 2);
        assert!(numbered_answers(&asked, "go ahead").is_empty());
        assert!(numbered_questions("1. Read the file\n2. Is it there?").is_empty());
    }
}
