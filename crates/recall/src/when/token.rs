//! Splits a text into words for the phrase parsers, and records what separates them.

use std::ops::Range;

use super::date::{MonthCertainty, parse_month};

/// One word of a text.
pub(super) struct TimeToken {
    /// Lower case, without surrounding punctuation and possessive.
    pub(super) text: String,
    /// Whether it began with a capital letter.
    pub(super) is_capitalized: bool,
    /// Whether it ended in `'s`.
    pub(super) is_possessive: bool,
    /// What separates it from the previous word.
    pub(super) gap: TokenGap,
    /// Byte range in the text, including surrounding punctuation.
    pub(super) byte_range: Range<usize>,
}

/// What separates a word from the previous one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenGap {
    /// Only space: a phrase may continue.
    Space,
    /// A comma: a date may continue.
    Comma,
    /// The start of the text, or punctuation that ends a phrase.
    Break,
    /// An operator such as `=`: a value follows, not prose.
    Symbol,
}

const OPENING: &[char] = &['(', '[', '{', '"', '\'', '“', '„', '‘', '«', '¿', '¡'];
const CLOSING: &[char] = &[',', '.', ';', ':', '!', '?', ')', ']', '}', '"', '\'', '”', '’', '»'];
const SYMBOLS: &[char] = &['=', '<', '>', '+', '*', '/', '%', '&', '|', '#', '$', '@'];
const POSSESSIVES: [&str; 2] = ["'s", "’s"];
const HEDGES: [&str; 3] = ["early-", "mid-", "late-"];

pub(super) fn tokenize(text: &str) -> Vec<TimeToken> {
    let mut tokens = Vec::new();
    let mut gap = TokenGap::Break;
    let mut after = 0;
    for chunk in text.split_whitespace() {
        let start = after + text[after..].find(chunk).unwrap_or_default();
        after = start + chunk.len();
        let byte_range = start..after;
        let opened = chunk.trim_start_matches(OPENING);
        let word = opened.trim_end_matches(CLOSING);
        if !word.contains(char::is_alphanumeric) {
            gap = if chunk.contains(SYMBOLS) { TokenGap::Symbol } else { TokenGap::Break };
            continue;
        }
        if opened.len() < chunk.len() && gap != TokenGap::Symbol {
            gap = TokenGap::Break;
        }
        let lower = word.to_lowercase();
        let owner = POSSESSIVES.iter().find_map(|end| lower.strip_suffix(end));
        let (lower, is_possessive) = (owner.unwrap_or(&lower), owner.is_some());
        let hedge = HEDGES.iter().find(|hedge| lower.starts_with(**hedge));
        if let Some(hedge) = hedge {
            let text = hedge.trim_end_matches('-').to_owned();
            tokens.push(TimeToken {
                text,
                is_capitalized: starts_with_capital(word),
                is_possessive: false,
                gap,
                byte_range: byte_range.clone(),
            });
            gap = TokenGap::Space;
        }
        let skip = hedge.map_or(0, |hedge| hedge.len());
        let is_capitalized = word.get(skip..).is_some_and(starts_with_capital);
        tokens.push(TimeToken {
            text: lower.get(skip..).unwrap_or_default().to_owned(),
            is_capitalized,
            is_possessive,
            gap,
            byte_range,
        });
        gap = match opened.get(word.len()..).unwrap_or_default() {
            "" => TokenGap::Space,
            "," => TokenGap::Comma,
            // The period of "Jan. 5" ends a word, not a phrase.
            "." if matches!(parse_month(lower), Some((_, MonthCertainty::Short))) => TokenGap::Space,
            _ => TokenGap::Break,
        };
    }
    tokens
}

fn starts_with_capital(word: &str) -> bool {
    word.chars().next().is_some_and(char::is_uppercase)
}
