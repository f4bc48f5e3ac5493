//! A tokenized sentence for the phrase parsers, and the order in which they run.

use std::ops::Range;

use super::calendar::{Calendar, CountRange, TimeUnit};
use super::relative::parse_unit;
use super::token::{TimeToken, TokenGap, tokenize};
use super::{TimePhrase, TimeSpan};
use crate::word_list::is_listed;

/// A parsed time phrase.
#[derive(Clone, Copy, Debug)]
pub(super) enum ParsedPhrase {
    /// Means the same in a sentence and as a value.
    Plain(TimePhrase),
    /// "Two months ago": approximate in a sentence, exact as a value.
    Ago(CountRange, TimeUnit),
}

/// The index of the word after the phrase, and the phrase that begins at the given word.
pub(super) type PhraseMatch = Option<(usize, ParsedPhrase)>;

/// The words of a text, and the calendar to interpret them with.
pub(super) struct TimeSentence<'a> {
    tokens: Vec<TimeToken>,
    pub(super) calendar: &'a Calendar<'a>,
    /// The whole text is a time, so "may" can only be the month.
    pub(super) is_whole_value: bool,
}

impl ParsedPhrase {
    pub(super) fn to_time_phrase(self, calendar: &Calendar<'_>) -> Option<TimePhrase> {
        match self {
            ParsedPhrase::Plain(when) => Some(when),
            ParsedPhrase::Ago(count, unit) => calendar.approximately_ago(count, unit).map(TimePhrase::Span),
        }
    }

    pub(super) fn to_span(self, calendar: &Calendar<'_>) -> Option<TimeSpan> {
        match self {
            ParsedPhrase::Plain(TimePhrase::Span(span)) => Some(span),
            ParsedPhrase::Plain(when) => calendar.latest(when),
            ParsedPhrase::Ago(count, unit) => calendar.exactly_ago(count, unit),
        }
    }
}

impl<'a> TimeSentence<'a> {
    pub(super) fn new(text: &str, calendar: &'a Calendar<'a>) -> Self {
        Self { tokens: tokenize(text), calendar, is_whole_value: false }
    }

    pub(super) fn value(text: &str, calendar: &'a Calendar<'a>) -> Self {
        Self { is_whole_value: true, ..Self::new(text, calendar) }
    }

    /// The byte range of the words from `at` up to `end`.
    pub(super) fn byte_range(&self, at: usize, end: usize) -> Range<usize> {
        let from = self.tokens.get(at).map_or(0, |token| token.byte_range.start);
        let to = self.tokens.get(end.saturating_sub(1)).map_or(from, |token| token.byte_range.end);
        from..to.max(from)
    }

    pub(super) fn len(&self) -> usize {
        self.tokens.len()
    }

    /// The phrase that begins at word `at`; longer readings are tried first.
    pub(super) fn phrase_at(&self, at: usize) -> PhraseMatch {
        self.relative(at).or_else(|| self.absolute(at))
    }

    /// The word at `at`; empty past the end.
    pub(super) fn word_at(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| &token.text)
    }

    /// The word at `at` if only space separates it from the previous word; empty otherwise.
    pub(super) fn adjacent_word(&self, at: usize) -> &str {
        self.tokens.get(at).filter(|token| token.gap == TokenGap::Space).map_or("", |token| &token.text)
    }

    /// Like `adjacent_word`, but a comma is allowed in between, as in "May 7, 2023".
    pub(super) fn adjacent_word_past_comma(&self, at: usize) -> &str {
        let joined = |token: &&TimeToken| matches!(token.gap, TokenGap::Space | TokenGap::Comma);
        self.tokens.get(at).filter(joined).map_or("", |token| &token.text)
    }

    /// The word before `at` in the same phrase; empty at its start.
    pub(super) fn previous_word(&self, at: usize) -> &str {
        if self.adjacent_word(at).is_empty() { "" } else { at.checked_sub(1).map_or("", |at| self.word_at(at)) }
    }

    /// The word that governs `at`: "in" for the "March" of "in the early March".
    pub(super) fn governor(&self, mut at: usize) -> &str {
        while matches!(self.previous_word(at), "the" | "early" | "mid" | "late") {
            at -= 1;
        }
        self.previous_word(at)
    }

    pub(super) fn is_capitalized(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is_capitalized)
    }

    pub(super) fn is_possessive(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is_possessive)
    }

    /// Whether the words from `at` on are these, separated only by space.
    pub(super) fn has_words(&self, at: usize, words: &[&str]) -> bool {
        words.iter().enumerate().all(|(place, word)| {
            let found = if place == 0 { self.word_at(at) } else { self.adjacent_word(at + place) };
            found == *word
        })
    }

    /// Whether it asks about the past: "what did we do", "we used npm". A word in "-ed" alone is often a property.
    pub(super) fn is_about_past(&self) -> bool {
        (0..self.len()).any(|at| match self.word_at(at) {
            "did" | "had" | "was" | "were" => true,
            "has" | "have" => self.adjacent_word(at + 1) == "been",
            "i" | "we" | "you" | "they" | "it" => is_past_verb(self.adjacent_word(at + 1)),
            _ => false,
        })
    }

    /// Whether "before" or "after" at `at` is part of a longer phrase that is not understood: "not before 3 March",
    /// "the second week after 3 March".
    pub(super) fn is_qualified(&self, at: usize) -> bool {
        let before = self.previous_word(at);
        matches!(before, "not" | "or") || parse_unit(before).is_some()
    }

    pub(super) fn gap(&self, at: usize) -> TokenGap {
        self.tokens.get(at).map_or(TokenGap::Break, |token| token.gap)
    }
}

fn is_past_verb(word: &str) -> bool {
    const IRREGULAR: &str = "broke built chose did found got had kept made ran said saw set took went wrote";
    is_listed(word, IRREGULAR) || (word.ends_with("ed") && !is_listed(word, "need embed feed"))
}

pub(super) fn span_match(end: usize, span: Option<TimeSpan>) -> PhraseMatch {
    span.map(|span| (end, ParsedPhrase::Plain(TimePhrase::Span(span))))
}
