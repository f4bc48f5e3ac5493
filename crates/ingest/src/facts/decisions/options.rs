//! Options that the model offers: lists, and questions with an "or".

use std::sync::LazyLock;

use rethread_model::clip;
use serde::{Deserialize, Serialize};

use super::cues::compile_pattern;
use super::names::{is_task, leading_name};
use super::prose::prose_lines;
use super::sentences::split_sentences;
use crate::facts::pattern::CuePattern;

/// Maximum number of options in a list.
const MAX_OPTIONS: usize = 8;
/// Maximum length of a stored option or question, in characters.
const MAX_TEXT_CHARS: usize = 240;

/// One option of a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct OfferedOption {
    /// Its letter or number, in lower case.
    pub(super) key: String,
    /// Its short name.
    pub(super) title: String,
    /// The line that lists it.
    pub(super) text: String,
    /// Whether the line marks it as recommended.
    pub(super) is_recommended: bool,
}

/// The options listed in a text. Two lists with the same keys are ambiguous, so they give none.
pub(super) fn find_options(text: &str) -> Vec<OfferedOption> {
    static POINT: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(
            r"^[\s*_#-]*(?:option |approach |choice )?(?P<key>[a-h]|
                [1-9])(?:\*\*)? ?[).:—–-]+(?:\*\*)? (?P<text>\S.*)$",
        )
    });
    if !has_first_item(text) || !offers_alternatives(text) {
        return Vec::new();
    }
    let Some(point) = POINT.as_ref() else { return Vec::new() };
    let mut keys: Vec<String> = Vec::new();
    let mut found = Vec::new();
    for line in prose_lines(text) {
        let Some(parts) = point.captures(line) else { continue };
        let key = parts["key"].to_lowercase();
        if keys.contains(&key) {
            return Vec::new();
        }
        keys.push(key.clone());
        let rest = parts["text"].trim();
        // A line that ends with a colon introduces something to type: an instruction, not an option.
        if rest.ends_with(':') {
            continue;
        }
        let is_recommended = rest.to_lowercase().contains("recommended");
        if let Some(title) = option_title(rest) {
            found.push(OfferedOption {
                key,
                title,
                text: clip(&rest.replace("**", ""), MAX_TEXT_CHARS).into_owned(),
                is_recommended,
            });
        }
    }
    if keys.len() < 2 || keys.len() > MAX_OPTIONS { Vec::new() } else { found }
}

/// Whether a line starts with the first letter or number of a list: a cheap check before parsing.
fn has_first_item(text: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim_start_matches(['*', '_', '#', '-', ' ']);
        let named = line.split_once(' ').filter(|(word, _)| is_option_word(word));
        let mut chars = named.map_or(line, |(_, rest)| rest).chars();
        let begins = matches!(chars.next(), Some('1' | 'a' | 'A'));
        begins && chars.next().is_some_and(|c| matches!(c, ')' | '.' | ':' | '*' | ' ' | '—' | '–' | '-'))
    })
}

fn is_option_word(word: &str) -> bool {
    ["option", "approach", "choice"].iter().any(|known| known.eq_ignore_ascii_case(word))
}

/// Whether a text offers alternatives, rather than things to do next.
fn offers_alternatives(text: &str) -> bool {
    static WAY: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(r"\b(?:options?|approach(?:es)?|which|prefer|choose|ways|alternatives?|recommended|or)\b")
    });
    static WORK: LazyLock<Option<CuePattern>> =
        LazyLock::new(|| compile_pattern(r"\b(?:want me to|like me to|shall i|findings|issues found|next steps)\b"));
    static OFFER: LazyLock<Option<CuePattern>> =
        LazyLock::new(|| compile_pattern(r"\?|\b(?:options|pick|choose|which|decide)\b"));
    let fits = |table: &LazyLock<Option<CuePattern>>| table.as_ref().is_some_and(|table| table.is_match(text));
    let is_recommended = || {
        let lower = text.to_lowercase();
        ["(recommended", "— recommended", "- recommended"].iter().any(|mark| lower.contains(mark))
    };
    fits(&WAY) && (text.contains('?') && !fits(&WORK) || fits(&OFFER) && is_recommended())
}

/// A short name for an option.
pub(super) fn option_title(text: &str) -> Option<String> {
    let text = text.trim_start_matches(['*', ' ', '`']);
    let text = text.strip_prefix("Recommended: ").unwrap_or(text);
    let end = [" — ", " – ", " - ", ": ", " (", ". ", "**", "; "].iter().filter_map(|mark| text.find(mark)).min();
    let text = &text[..end.unwrap_or(text.len())];
    leading_name(text, text).filter(|name| !is_task(name))
}

/// The last question of a text that asks for one thing or another.
pub(super) fn either_or_question(text: &str) -> Option<String> {
    if !text.contains('?') || !text.contains(" or ") || text.contains("me to ") {
        return None;
    }
    let line = text.lines().rev().find(|line| line.contains('?') && line.contains(" or "))?;
    let lines = prose_lines(line);
    let question = split_sentences(&lines)
        .into_iter()
        .rev()
        .find(|sentence| sentence.is_question() && sentence.text.contains(" or "))?;
    Some(clip(question.text, MAX_TEXT_CHARS).into_owned())
}

/// Whether a text ends by asking whether to do some work; a bare "yes" then answers that question.
pub(super) fn ends_with_task_question(text: &str) -> bool {
    static TASK: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(
            r"\b(?:want me to|like me to|shall i|should i|can i|may i|do you have|did you|is your|are you)\b",
        )
    });
    // "Want me to do it?" refers to what was proposed.
    static SAME: LazyLock<Option<CuePattern>> =
        LazyLock::new(|| compile_pattern(r"\b(?:it|this|that|go ahead|go on|proceed)\b"));
    let Some(line) = text.trim_end().lines().next_back().filter(|line| line.ends_with('?')) else { return false };
    let sentences = split_sentences(&[line]);
    let fits = |table: &LazyLock<Option<CuePattern>>| {
        let table = table.as_ref();
        sentences.last().is_some_and(|last| table.is_some_and(|table| table.is_match(&last.masked)))
    };
    fits(&TASK) && !fits(&SAME)
}

/// The key of the option that a short reply chooses.
pub(super) fn chosen_key(text: &str) -> Option<String> {
    static TAKES: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(
            r"^(?:(?:ok|okay|yes|yeah|let's|please|pls|i'd|i|we|just|alright),? )*(?:(?:go with|go for|do|try|
                use|implement|take|pick|choose|prefer|want|say) )?(?:the )?(?:option|approach|choice|
                number)? ?#?(?P<key>[a-h]|[1-9])(?: please| pls)?[.!=)]*$",
        )
    });
    let line = text.trim().lines().next()?;
    let key = |part: &str| TAKES.as_ref()?.captures(part.trim()).map(|found| found["key"].to_lowercase());
    let (first, rest) = line.split_once(", ").unwrap_or((line, ""));
    let is_several = rest.split([' ', ',']).any(|word| word.len() == 1 && word != "a" && word != "i");
    let marked = line.split_once([')', ':', '.', '-', '—', ',', ';']).map_or("", |(start, _)| start);
    key(line).or_else(|| if is_several { None } else { key(first).or_else(|| key(marked)) })
}

/// The alternative of an either-or question that a short reply chooses.
pub(super) fn chosen_word(text: &str, question: &str) -> Option<String> {
    let answer = text.trim().split(", ").next().unwrap_or_default().trim_end_matches(['.', '!']);
    if answer.len() < 3 || answer.split_whitespace().count() > 3 || answer.contains('?') {
        return None;
    }
    let name = leading_name(answer, answer).filter(|name| !is_task(name))?;
    let question: Vec<String> = question
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase())
        .collect();
    let name_words: Vec<&str> = name.split(' ').collect();
    let fits = question
        .windows(name_words.len())
        .any(|window| window.iter().zip(&name_words).all(|(one, other)| one == other));
    fits.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn option_lists_are_parsed() {
        let found = find_options("Two ways:\n\nA) IndexedDB with a queue.\nB) SQLite in WebAssembly.\n\nWhich?");
        assert_eq!(
            found.iter().map(|offer| offer.title.as_str()).collect::<Vec<_>>(),
            ["indexeddb with queue", "sqlite"]
        );
        let found = find_options("Two options:\n**1. Threads (recommended)** — fast\n**2. Processes** — slow");
        assert!(found[0].is_recommended && found[0].title == "threads" && found[1].key == "2");
        assert!(find_options("1. one thing\n1. other thing\n2. more").is_empty());
    }

    #[test]
    fn short_replies_choose_an_option() {
        for (text, key) in [
            ("B", Some("b")),
            ("option 2", Some("2")),
            ("ok, let's take 3!", Some("3")),
            ("go with choice C", Some("c")),
            ("go", None),
            ("a test", None),
        ] {
            assert_eq!(chosen_key(text).as_deref(), key, "{text}");
        }
        assert_eq!(chosen_word("axum", "built on axum or on actix-web?").as_deref(), Some("axum"));
        assert_eq!(chosen_word("axum, we have it", "on axum or on actix-web?").as_deref(), Some("axum"));
        assert_eq!(chosen_word("yes", "axum or yes?"), None);
    }

    #[test]
    fn question_about_work_differs_from_one_about_the_proposal() {
        assert!(ends_with_task_question("I suggest x.\nWould you like me to draft release.md for the team?"));
        assert!(!ends_with_task_question("I suggest x. Want me to set it up?"));
        assert!(!ends_with_task_question("Want me to run it? I can."));
    }
}
