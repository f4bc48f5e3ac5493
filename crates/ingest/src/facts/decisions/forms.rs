//! Answers to questions of an agent: in a form, or numbered like the questions. They are decisions in every language.

use std::ops::RangeInclusive;
use std::sync::LazyLock;

use regex::Regex;
use rethread_model::{FactState, clip};

use super::cues::compile_pattern;
use super::decision::WrittenDecision;
use super::reasons::reason_for;
use super::sentences::split_sentences;
use crate::facts::pattern::CuePattern;

/// Maximum length of a stored question or answer, in characters.
const MAX_TEXT_CHARS: usize = 160;
/// An answer with more words is a new instruction.
const MAX_ANSWER_WORDS: usize = 25;
/// Maximum number of answers in one form.
const MAX_ANSWERS: usize = 32;
/// Maximum length of a subject, in characters.
const MAX_SUBJECT_CHARS: usize = 60;

/// A question with the answer of a human.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AnsweredForm {
    pub(super) question: String,
    pub(super) answer: String,
    /// The options that were not selected, as listed after the answer.
    pub(super) others: Option<String>,
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
    found.truncate(MAX_ANSWERS);
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

pub(super) fn answered(question: &str, answer: &str) -> AnsweredForm {
    let answer = answer.trim();
    let listed = answer.strip_suffix(')').and_then(|answer| answer.rsplit_once(" (not "));
    let (answer, others) = listed.map_or((answer, None), |(answer, others)| (answer, Some(others.to_owned())));
    AnsweredForm { question: question.trim().to_owned(), answer: answer.to_owned(), others }
}

fn is_question(text: &str) -> bool {
    text.trim_end_matches([')', '"', '*', ' ']).ends_with(['?', '？', ':', '。', 'か'])
}

/// The decision in an answer; `None` if the answer only selects a task, gives information or asks back.
pub(super) fn form_decision(form: &AnsweredForm) -> Option<WrittenDecision> {
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
    let others = form.others.as_deref().map(|others| format!(" (not {})", clip(others, MAX_TEXT_CHARS)));
    let others = others.unwrap_or_default();
    let detail = format!("{} → {}{others}", clip(&form.question, MAX_TEXT_CHARS), clip(&answer, MAX_TEXT_CHARS));
    let (subject, state) = match yes_or_no(&answer) {
        Some((state, rest)) if rest.split_whitespace().count() < 2 => {
            (topic(&form.question).or_else(|| asked_statement(&form.question))?, state)
        }
        // "no, hard deletes": what follows is the decision.
        Some((_, rest)) => (subject_text(rest.split(", ").next().unwrap_or(rest)), FactState::Confirmed),
        None => (answer_subject(&form.question, &answer), FactState::Confirmed),
    };
    let reason = split_sentences(&[answer.as_str()]).first().and_then(|sentence| reason_for(&subject, sentence));
    Some(WrittenDecision { subject, state, detail, reason })
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
    ) || [
        "not sure",
        "don't care",
        "dont care",
        "depends",
        "if it's",
        "don't know",
        "dont know",
        "you decide",
        "up to you",
        "no preference",
        "type something",
    ]
    .iter()
    .any(|open| lower.contains(open))
}

/// Whether an answer is a yes or a no, and what follows it.
fn yes_or_no(answer: &str) -> Option<(FactState, &str)> {
    let lower = answer.to_lowercase();
    if ["not for now", "not now", "not yet", "later", "never", "no never", "god no", "hell no"]
        .iter()
        .any(|later| lower.starts_with(later))
    {
        return Some((FactState::Refuted, ""));
    }
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

/// What a question asks to confirm: "The list is per project. Correct?", "Network access is off by default?"
fn asked_statement(question: &str) -> Option<String> {
    const OPEN: [&str; 9] = ["what", "which", "how", "where", "when", "who", "why", "did", "have"];
    let stated = question.split(['?', '？']).next()?;
    let stated = stated.split(". ").next().unwrap_or(stated);
    let stated = stated.rsplit_once(" – ").map_or(stated, |(_, stated)| stated).trim();
    let first = stated.split_whitespace().next()?.to_lowercase();
    (stated.split_whitespace().count() > 1 && !OPEN.contains(&first.as_str())).then(|| subject_text(stated))
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
}
