//! The model's last text, which a reply answers and may quote.

use serde::{Deserialize, Serialize};

use super::decision::FactPosition;

/// How much of the end of a model's text is kept until the human replies, in bytes.
const MAX_REPLIED_BYTES: usize = 6_000;
/// A sentence of the model that a human repeats is at least this long, in bytes.
const MIN_QUOTE_BYTES: usize = 24;

/// A text that waits for a reply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct RepliedText {
    /// Its last lines.
    pub(super) text: String,
    pub(super) position: FactPosition,
}

impl RepliedText {
    pub(super) fn new(text: &str, position: FactPosition) -> Self {
        Self { text: last_part(text), position }
    }
}

/// Decides which sentences of a reply are the human's own, and not repeated from the text that was replied to.
pub(super) fn own_words(replied: &str) -> impl Fn(&str) -> bool + use<> {
    let replied = without_marks(replied);
    move |sentence| sentence.len() < MIN_QUOTE_BYTES || !replied.contains(without_marks(sentence).trim_end_matches('.'))
}

/// A text as a terminal shows it: without the marks of Markdown, with single spaces.
fn without_marks(text: &str) -> String {
    let mut bare = String::with_capacity(text.len());
    for (at, word) in text.split_whitespace().enumerate() {
        if at > 0 {
            bare.push(' ');
        }
        bare.extend(word.split(['*', '`', '#']));
    }
    bare
}

/// The last lines of a text. If they begin inside a code block, its start is added.
fn last_part(text: &str) -> String {
    let start = text.ceil_char_boundary(text.len().saturating_sub(MAX_REPLIED_BYTES));
    if start == 0 {
        return text.to_owned();
    }
    let start = text[start..].find('\n').map_or(start, |end| start + end + 1);
    let is_code = text[..start].lines().filter(|line| line.trim_start().starts_with("```")).count() % 2 == 1;
    format!("{}{}", if is_code { "```\n" } else { "" }, &text[start..])
}
