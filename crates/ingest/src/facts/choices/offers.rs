//! What the model offers to choose from: lists of options, and questions with an "or" in them.

use std::sync::LazyLock;

use regex::Regex;
use rethread_model::clip;
use serde::{Deserialize, Serialize};

use super::cues::pattern;
use super::phrase::{is_task, item, thing};
use super::prose::plain;
use super::sentences::split;

/// The most options that are remembered.
const MOST: usize = 8;
/// The longest text of an option or a question that is kept.
const LONGEST: usize = 240;

/// One option of a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Offer {
    /// Its letter or number, in lower case.
    pub(super) key: String,
    /// What it is called.
    pub(super) title: String,
    /// The line that offers it.
    pub(super) text: String,
    /// Whether the line says that it is recommended.
    pub(super) is_recommended: bool,
}

/// The options of a text. Two lists with the same letters cannot be told apart and offer nothing.
pub(super) fn offers(text: &str) -> Vec<Offer> {
    static POINT: LazyLock<Option<Regex>> = LazyLock::new(|| {
        pattern(
            r"^[\s*_#-]*(?:option |approach |choice )?(?P<key>[a-h]|
                [1-9])(?:\*\*)? ?[).:—–-]+(?:\*\*)? (?P<text>\S.*)$",
        )
    });
    if !has_first_point(text) || !asks_for_a_way(text) {
        return Vec::new();
    }
    let Some(point) = POINT.as_ref() else { return Vec::new() };
    let mut keys: Vec<String> = Vec::new();
    let mut found = Vec::new();
    for line in plain(text) {
        let Some(parts) = point.captures(line) else { continue };
        let key = parts["key"].to_lowercase();
        if keys.contains(&key) {
            return Vec::new();
        }
        keys.push(key.clone());
        let rest = parts["text"].trim();
        // A line that ends so is followed by what to type: an instruction, not an option.
        if rest.ends_with(':') {
            continue;
        }
        let is_recommended = rest.to_lowercase().contains("recommended");
        if let Some(title) = title(rest) {
            found.push(Offer { key, title, text: clip(&rest.replace("**", ""), LONGEST).into_owned(), is_recommended });
        }
    }
    if keys.len() < 2 || keys.len() > MOST { Vec::new() } else { found }
}

/// Whether a line begins with the first letter or number of a list: a cheap look before anything is taken apart.
fn has_first_point(text: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim_start_matches(['*', '_', '#', '-', ' ']);
        let named = line.split_once(' ').filter(|(word, _)| is_word_for_option(word));
        let mut chars = named.map_or(line, |(_, rest)| rest).chars();
        let begins = matches!(chars.next(), Some('1' | 'a' | 'A'));
        begins && chars.next().is_some_and(|c| matches!(c, ')' | '.' | ':' | '*' | ' ' | '—' | '–' | '-'))
    })
}

fn is_word_for_option(word: &str) -> bool {
    ["option", "approach", "choice"].iter().any(|known| known.eq_ignore_ascii_case(word))
}

/// Whether a text lets somebody choose between ways, and not between things to be done next.
fn asks_for_a_way(text: &str) -> bool {
    static WAY: LazyLock<Option<Regex>> = LazyLock::new(|| {
        pattern(r"\b(?:options?|approach(?:es)?|which|prefer|choose|ways|alternatives?|recommended|or)\b")
    });
    static WORK: LazyLock<Option<Regex>> =
        LazyLock::new(|| pattern(r"\b(?:want me to|like me to|shall i|findings|issues found|next steps)\b"));
    static OFFER: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"\?|\b(?:options|pick|choose|which|decide)\b"));
    let fits = |table: &LazyLock<Option<Regex>>| table.as_ref().is_some_and(|table| table.is_match(text));
    let lower = text.to_lowercase();
    let is_recommended = ["(recommended", "— recommended", "- recommended"].iter().any(|mark| lower.contains(mark));
    fits(&WAY) && (is_recommended && fits(&OFFER) || text.contains('?') && !fits(&WORK))
}

/// A short name for an option.
pub(super) fn title(text: &str) -> Option<String> {
    let text = text.trim_start_matches(['*', ' ', '`']);
    let text = text.strip_prefix("Recommended: ").unwrap_or(text);
    let end = [" — ", " – ", " - ", ": ", " (", ". ", "**", "; "].iter().filter_map(|mark| text.find(mark)).min();
    let text = &text[..end.unwrap_or(text.len())];
    thing(text, text).filter(|name| !is_task(name))
}

/// The last question of a text that asks for one thing or another.
pub(super) fn either_or(text: &str) -> Option<String> {
    if !text.contains('?') || !text.contains(" or ") || text.contains("me to ") {
        return None;
    }
    let line = text.lines().rev().find(|line| line.contains('?') && line.contains(" or "))?;
    let lines = plain(line);
    let asked =
        split(&lines).into_iter().rev().find(|sentence| sentence.is_question() && sentence.text.contains(" or "))?;
    Some(clip(asked.text, LONGEST).into_owned())
}

/// Whether a text ends by asking whether some work is to be done, which a bare "yes" then answers.
pub(super) fn ends_with_a_task(text: &str) -> bool {
    static TASK: LazyLock<Option<Regex>> = LazyLock::new(|| {
        pattern(r"\b(?:want me to|like me to|shall i|should i|can i|may i|do you have|did you|is your|are you)\b")
    });
    // "Want me to do it?" asks about what was proposed.
    static SAME: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"\b(?:it|this|that|go ahead|go on|proceed)\b"));
    let Some(line) = text.trim_end().lines().next_back().filter(|line| line.ends_with('?')) else { return false };
    let asked = split(&[line]);
    let fits = |table: &LazyLock<Option<Regex>>| {
        let table = table.as_ref();
        asked.last().is_some_and(|last| table.is_some_and(|table| table.is_match(&last.masked)))
    };
    fits(&TASK) && !fits(&SAME)
}

/// The key of the option that a short answer takes.
pub(super) fn taken_key(text: &str) -> Option<String> {
    static TAKES: LazyLock<Option<Regex>> = LazyLock::new(|| {
        pattern(
            r"^(?:(?:ok|okay|yes|yeah|let's|please|pls|i'd|i|we|just|alright),? )*(?:(?:go with|go for|do|try|
                use|implement|take|pick|choose|prefer|want|say) )?(?:the )?(?:option|approach|choice|
                number)? ?#?(?P<key>[a-h]|[1-9])(?: please| pls)?[.!=)]*$",
        )
    });
    let line = text.trim().lines().next()?;
    let key = |part: &str| TAKES.as_ref()?.captures(part.trim()).map(|found| found["key"].to_lowercase());
    let (first, rest) = line.split_once(", ").unwrap_or((line, ""));
    let is_several = rest.split([' ', ',']).any(|word| word.len() == 1 && word != "a" && word != "i");
    key(line).or_else(|| if is_several { None } else { key(first) })
}

/// What a short answer takes of an either-or question.
pub(super) fn taken_word(text: &str, asked: &str) -> Option<String> {
    let answer = text.trim().split(", ").next().unwrap_or_default().trim_end_matches(['.', '!']);
    if answer.len() < 3 || answer.split_whitespace().count() > 3 || answer.contains('?') {
        return None;
    }
    let name = thing(answer, answer).filter(|name| !is_task(name))?;
    let asked: Vec<String> =
        asked.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase()).collect();
    let wanted: Vec<&str> = name.split(' ').collect();
    let fits = asked.windows(wanted.len()).any(|window| window.iter().zip(&wanted).all(|(one, other)| one == other));
    fits.then_some(name)
}

/// The questions of a form with the answers a human picked.
pub(super) fn form(text: &str) -> Vec<(String, String)> {
    static PAIR: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r#""([^"]{8,400}\?)"="([^"]{1,200})""#).ok());
    if text.contains("\"=\"") {
        let Some(pair) = PAIR.as_ref() else { return Vec::new() };
        return pair.captures_iter(text).map(|found| (found[1].to_owned(), found[2].to_owned())).collect();
    }
    match text.split_once("? → ") {
        Some((question, answer)) if !answer.contains('\n') => vec![(format!("{question}?"), answer.to_owned())],
        _ => Vec::new(),
    }
}

/// What an answer of a form decides, if its question is about how something is done.
pub(super) fn picked(question: &str, answer: &str) -> Option<String> {
    static ABOUT: LazyLock<Option<Regex>> = LazyLock::new(|| {
        pattern(
            r"\b(?:should|approach|strategy|prefer|use|style|format|library|framework|which .* (?:better|best|
                sense)|how (?:do|would) you want)\b",
        )
    });
    let is_about_ways = ABOUT.as_ref().is_some_and(|about| about.is_match(question));
    let answer = answer.replace("(Recommended)", "").replace("(recommended)", "");
    let answer = answer.trim();
    let is_short = answer.len() <= 120 && !answer.ends_with('?') && !is_approval(answer);
    if !is_about_ways || !is_short {
        return None;
    }
    item(answer)
}

/// Whether an answer only lets the work go on.
fn is_approval(answer: &str) -> bool {
    let first = answer.split([' ', ',', '.']).next().unwrap_or_default().to_lowercase();
    matches!(
        first.as_str(),
        "yes"
            | "no"
            | "ok"
            | "approve"
            | "approved"
            | "proceed"
            | "continue"
            | "cancel"
            | "skip"
            | "other"
            | "done"
            | "remove"
            | "none"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_options_are_read() {
        let found = offers("Two ways:\n\nA) IndexedDB with a queue.\nB) SQLite in WebAssembly.\n\nWhich?");
        assert_eq!(
            found.iter().map(|offer| offer.title.as_str()).collect::<Vec<_>>(),
            ["indexeddb with queue", "sqlite"]
        );
        let found = offers("Two options:\n**1. Threads (recommended)** — fast\n**2. Processes** — slow");
        assert!(found[0].is_recommended && found[0].title == "threads" && found[1].key == "2");
        assert!(offers("1. one thing\n1. other thing\n2. more").is_empty());
    }

    #[test]
    fn short_answers_take_an_option() {
        for (text, key) in [
            ("B", Some("b")),
            ("option 2", Some("2")),
            ("ok, let's take 3!", Some("3")),
            ("go with choice C", Some("c")),
            ("go", None),
            ("a test", None),
        ] {
            assert_eq!(taken_key(text).as_deref(), key, "{text}");
        }
        assert_eq!(taken_word("axum", "built on axum or on actix-web?").as_deref(), Some("axum"));
        assert_eq!(taken_word("axum, we have it", "on axum or on actix-web?").as_deref(), Some("axum"));
        assert_eq!(taken_word("yes", "axum or yes?"), None);
    }

    #[test]
    fn a_question_about_work_is_told_from_one_about_the_proposal() {
        assert!(ends_with_a_task("I suggest x.\nWould you like me to draft release.md for the team?"));
        assert!(!ends_with_a_task("I suggest x. Want me to set it up?"));
        assert!(!ends_with_a_task("Want me to run it? I can."));
    }

    #[test]
    fn forms_are_read() {
        let text = r#"User has answered your questions: "Which model should it use?"="Tiny (Recommended)". "Is it fine?"="Yes"."#;
        let found: Vec<_> = form(text).iter().filter_map(|(question, answer)| picked(question, answer)).collect();
        assert_eq!(found, ["tiny"]);
        assert_eq!(form("Which fix? → by id"), [("Which fix?".to_owned(), "by id".to_owned())]);
    }
}
