//! A sentence as the phrase readers see it, and the order in which they are asked.

use std::ops::Range;

use super::calendar::{Calendar, Count, Unit};
use super::token::{Gap, Token, tokens};
use super::{Span, When};

/// A time phrase that was understood.
#[derive(Clone, Copy, Debug)]
pub(super) enum Phrase {
    /// It means the same in a sentence and as a value.
    Plain(When),
    /// "Two months ago": about then in a sentence, exactly then as a value.
    Ago(Count, Unit),
}

/// The phrase that begins at a word, and the word after its end.
pub(super) type Found = Option<(usize, Phrase)>;

/// The words of a text with the calendar to read them by.
pub(super) struct Sentence<'a> {
    tokens: Vec<Token>,
    pub(super) calendar: &'a Calendar<'a>,
    /// The text is nothing but a time, so that "may" can only be the month.
    pub(super) is_value: bool,
}

impl Phrase {
    pub(super) fn loosely(self, calendar: &Calendar<'_>) -> Option<When> {
        match self {
            Phrase::Plain(when) => Some(when),
            Phrase::Ago(count, unit) => calendar.around(count, unit).map(When::Span),
        }
    }

    pub(super) fn exactly(self, calendar: &Calendar<'_>) -> Option<Span> {
        match self {
            Phrase::Plain(When::Span(span)) => Some(span),
            Phrase::Plain(when) => calendar.latest(when),
            Phrase::Ago(count, unit) => calendar.exactly(count, unit),
        }
    }
}

impl<'a> Sentence<'a> {
    pub(super) fn new(text: &str, calendar: &'a Calendar<'a>) -> Self {
        Self { tokens: tokens(text), calendar, is_value: false }
    }

    pub(super) fn value(text: &str, calendar: &'a Calendar<'a>) -> Self {
        Self { is_value: true, ..Self::new(text, calendar) }
    }

    /// Where the words from `at` up to `end` stand in the text.
    pub(super) fn place(&self, at: usize, end: usize) -> Range<usize> {
        let from = self.tokens.get(at).map_or(0, |token| token.place.start);
        let to = self.tokens.get(end.saturating_sub(1)).map_or(from, |token| token.place.end);
        from..to.max(from)
    }

    pub(super) fn len(&self) -> usize {
        self.tokens.len()
    }

    /// The phrase that begins at word `at`: the longer readings are tried first.
    pub(super) fn phrase(&self, at: usize) -> Found {
        self.relative(at).or_else(|| self.absolute(at))
    }

    /// The word at `at`; empty past the end.
    pub(super) fn word(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| &token.text)
    }

    /// The word at `at` when only space separates it from the one before; empty otherwise.
    pub(super) fn next(&self, at: usize) -> &str {
        self.tokens.get(at).filter(|token| token.gap == Gap::Space).map_or("", |token| &token.text)
    }

    /// Like `next`, but a comma may stand between, as in "May 7, 2023".
    pub(super) fn next_past_comma(&self, at: usize) -> &str {
        let joined = |token: &&Token| matches!(token.gap, Gap::Space | Gap::Comma);
        self.tokens.get(at).filter(joined).map_or("", |token| &token.text)
    }

    /// The word before `at` in the same phrase; empty at its start.
    pub(super) fn before(&self, at: usize) -> &str {
        if self.next(at).is_empty() { "" } else { at.checked_sub(1).map_or("", |at| self.word(at)) }
    }

    /// The word that governs `at`: "in" for the "March" of "in the early March".
    pub(super) fn governor(&self, mut at: usize) -> &str {
        while matches!(self.before(at), "the" | "early" | "mid" | "late") {
            at -= 1;
        }
        self.before(at)
    }

    pub(super) fn is_capital(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| token.capital)
    }

    pub(super) fn gap(&self, at: usize) -> Gap {
        self.tokens.get(at).map_or(Gap::Break, |token| token.gap)
    }
}

pub(super) fn span(end: usize, span: Option<Span>) -> Found {
    span.map(|span| (end, Phrase::Plain(When::Span(span))))
}
