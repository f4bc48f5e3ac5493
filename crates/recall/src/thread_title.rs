//! The prompt that asks a model to name a thread, and the name in its answer.

use rethread_model::thread::{ChatRole, ThreadRecord};
use rethread_model::{clip, one_line};

/// The system prompt of a model that names a thread.
pub const TITLE_SYSTEM_PROMPT: &str = "You name conversations. Answer with a title of at most six words for the \
                      conversation you are given: no quotation marks, no full stop, nothing else. Do not continue the conversation.";
/// Maximum words of a title.
const MAX_TITLE_WORDS: usize = 6;
/// Characters of each message that are sent to the model.
const MAX_TEXT_CHARS: usize = 2_000;

/// Asks for the title of a thread, with its first prompt and first answer; `None` if it has no answer yet.
pub fn title_prompt(records: &[ThreadRecord]) -> Option<String> {
    let messages = || records.iter().filter_map(ThreadRecord::message);
    let first = |role: ChatRole| messages().find(|message| message.role == role && !message.text().trim().is_empty());
    let prompt = first(ChatRole::User)?.text();
    let answered = first(ChatRole::Assistant)?.text();
    Some(format!(
        "[User]: {}\n[Assistant]: {}\n\nGive the title of this conversation.",
        clip(&prompt, MAX_TEXT_CHARS),
        clip(&answered, MAX_TEXT_CHARS)
    ))
}

/// A title as a name: one line, no quotes, limited length. `None` if nothing remains.
pub fn clean_title(text: &str) -> Option<String> {
    let line = text.trim().lines().map(str::trim).find(|line| !line.is_empty())?;
    let line = one_line(line.trim_start_matches(['#', '*', ' ']).trim_start_matches("Title:"));
    let bare = line.trim_matches(|c: char| c.is_whitespace() || "\"'`*“”‘’.".contains(c));
    let words: Vec<&str> = bare.split(' ').filter(|word| !word.is_empty()).collect();
    // A model that writes sentences instead of a title misunderstood; the first words of the thread are a better name.
    (1..=2 * MAX_TITLE_WORDS).contains(&words.len()).then(|| words[..words.len().min(MAX_TITLE_WORDS)].join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: Option<&str>) {
        assert_eq!(clean_title(text).as_deref(), expect, "{text:?}");
    }

    #[test]
    // E004-01
    fn a_title_has_at_most_six_words() {
        check("\"Parser fails on Tuesdays.\"\n", Some("Parser fails on Tuesdays"));
        check("**Title: Weekday table**", Some("Weekday table"));
        check("One two three four five six seven", Some("One two three four five six"));
        check("", None);
        check(&"word ".repeat(40), None);
    }
}
