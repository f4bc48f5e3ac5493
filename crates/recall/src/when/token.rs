//! Cuts a text into words for the phrase readers, and keeps what stood between them.

use std::ops::Range;

use super::date::{Month, month};

/// One word of the text.
pub(super) struct Token {
    /// In lower case, without the punctuation and the possessive around it.
    pub(super) text: String,
    /// Whether it was written with a capital.
    pub(super) capital: bool,
    /// What stood before it.
    pub(super) gap: Gap,
    /// Where it stands in the text, with the punctuation around it.
    pub(super) place: Range<usize>,
}

/// What stands between a word and the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gap {
    /// Only space: a phrase may go on.
    Space,
    /// A comma: a date may go on.
    Comma,
    /// The start of the text, or punctuation that ends a phrase.
    Break,
    /// An operator such as `=`: what follows is a value, not prose.
    Symbol,
}

const OPENING: &[char] = &['(', '[', '{', '"', '\'', '“', '„', '‘', '«', '¿', '¡'];
const CLOSING: &[char] = &[',', '.', ';', ':', '!', '?', ')', ']', '}', '"', '\'', '”', '’', '»'];
const SYMBOLS: &[char] = &['=', '<', '>', '+', '*', '/', '%', '&', '|', '#', '$', '@'];
const POSSESSIVES: [&str; 2] = ["'s", "’s"];
const HEDGES: [&str; 3] = ["early-", "mid-", "late-"];

pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut gap = Gap::Break;
    let mut after = 0;
    for chunk in text.split_whitespace() {
        let start = after + text[after..].find(chunk).unwrap_or_default();
        after = start + chunk.len();
        let place = start..after;
        let opened = chunk.trim_start_matches(OPENING);
        let word = opened.trim_end_matches(CLOSING);
        if !word.contains(char::is_alphanumeric) {
            gap = if chunk.contains(SYMBOLS) { Gap::Symbol } else { Gap::Break };
            continue;
        }
        if opened.len() < chunk.len() && gap != Gap::Symbol {
            gap = Gap::Break;
        }
        let lower = word.to_lowercase();
        let lower = POSSESSIVES.iter().find_map(|end| lower.strip_suffix(end)).unwrap_or(&lower);
        let hedge = HEDGES.iter().find(|hedge| lower.starts_with(**hedge));
        if let Some(hedge) = hedge {
            let text = hedge.trim_end_matches('-').to_owned();
            tokens.push(Token { text, capital: starts_with_capital(word), gap, place: place.clone() });
            gap = Gap::Space;
        }
        let skip = hedge.map_or(0, |hedge| hedge.len());
        let capital = word.get(skip..).is_some_and(starts_with_capital);
        tokens.push(Token { text: lower.get(skip..).unwrap_or_default().to_owned(), capital, gap, place });
        gap = match opened.get(word.len()..).unwrap_or_default() {
            "" => Gap::Space,
            "," => Gap::Comma,
            // The point of "Jan. 5" ends a word, not a phrase.
            "." if matches!(month(lower), Some((_, Month::Short))) => Gap::Space,
            _ => Gap::Break,
        };
    }
    tokens
}

fn starts_with_capital(word: &str) -> bool {
    word.chars().next().is_some_and(char::is_uppercase)
}
