//! Cuts a query into pieces: words, phrases, exclusions, filters and operators.

use jiff::Zoned;

use super::filter::{self, Filter};

/// One piece of a query.
#[derive(Debug)]
pub(super) struct Piece<'a> {
    /// As typed.
    pub(super) raw: &'a str,
    /// Where it begins in the query.
    pub(super) start: usize,
    pub(super) part: Part<'a>,
}

/// What a piece is for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part<'a> {
    /// To be ranked as it was typed.
    Word,
    /// What stood between quotes.
    Phrase(&'a str),
    /// Texts that may not occur.
    Excluded(Vec<String>),
    /// What must be.
    Filters(Vec<Filter>),
    /// Kinds or agents that may not be.
    Denied(Vec<Filter>),
    And,
    Or,
    Not,
}

/// Whether a text begins with a quotation.
pub(super) enum Quoted<'a> {
    No,
    /// Its inside, and the length with the quotes.
    Closed {
        inner: &'a str,
        length: usize,
    },
    /// It is never closed; the length is that of the quote.
    Open {
        length: usize,
    },
}

/// Each opening quote with the ones that close it, as English, German, French and Swedish texts use them.
const QUOTES: [(char, &[char]); 6] =
    [('"', &['"']), ('“', &['”', '“']), ('„', &['“', '”']), ('”', &['”']), ('«', &['»']), ('»', &['«', '»'])];

/// Punctuation that ends a clause, not a word.
const TRAILING: &[char] = &[',', '.', ';', ':', '!', '?', ')', ']', '}'];

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    now: &'a Zoned,
    /// A flag stands in the text, so that a dash begins another flag, not an exclusion.
    is_command: bool,
    pieces: Vec<Piece<'a>>,
}

pub(super) fn scan<'a>(text: &'a str, now: &'a Zoned) -> Vec<Piece<'a>> {
    let is_command = text.split_whitespace().any(is_flag);
    let mut scanner = Scanner { text, at: 0, now, is_command, pieces: Vec::new() };
    while scanner.skip_space() {
        scanner.piece();
    }
    scanner.pieces
}

pub(super) fn without_punctuation(word: &str) -> &str {
    word.trim_end_matches(TRAILING)
}

pub(super) fn quoted(text: &str) -> Quoted<'_> {
    let mut letters = text.chars();
    let Some((open, closers)) = letters.next().and_then(|open| QUOTES.into_iter().find(|(quote, _)| *quote == open))
    else {
        return Quoted::No;
    };
    let inside = letters.as_str();
    match inside.find(closers) {
        Some(end) => {
            let close = inside[end..].chars().next().map_or(0, char::len_utf8);
            Quoted::Closed { inner: &inside[..end], length: open.len_utf8() + end + close }
        }
        None => Quoted::Open { length: open.len_utf8() },
    }
}

impl<'a> Scanner<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Moves to the next word; false at the end.
    fn skip_space(&mut self) -> bool {
        self.at = self.text.len() - self.rest().trim_start().len();
        self.at < self.text.len()
    }

    fn push(&mut self, length: usize, part: Part<'a>) {
        let start = self.at;
        self.at += length;
        self.pieces.push(Piece { raw: &self.text[start..self.at], start, part });
    }

    fn push_word(&mut self) {
        let rest = self.rest();
        self.push(rest.find(char::is_whitespace).unwrap_or(rest.len()), Part::Word);
    }

    /// Reads the piece at a word's start.
    fn piece(&mut self) {
        let parentheses = self.rest().len() - self.rest().trim_start_matches('(').len();
        if !matches!(quoted(&self.rest()[parentheses..]), Quoted::No) {
            self.at += parentheses;
            return self.quotation();
        }
        if let Some(negated) = self.rest().strip_prefix('-') {
            return self.dashed(negated);
        }
        if let Some((length, filters)) = filter::filters(self.rest(), self.now) {
            return self.push(length, Part::Filters(filters));
        }
        let word = self.rest().split_whitespace().next().unwrap_or_default();
        match word {
            "AND" => self.push(word.len(), Part::And),
            "OR" => self.push(word.len(), Part::Or),
            "NOT" => self.push(word.len(), Part::Not),
            _ => self.push(word.len(), Part::Word),
        }
    }

    fn quotation(&mut self) {
        match quoted(self.rest()) {
            Quoted::No => self.push_word(),
            Quoted::Open { length } => {
                self.at += length;
                self.only_words();
            }
            Quoted::Closed { inner, length } => {
                self.phrase(inner, length);
                self.after_quotation();
            }
        }
    }

    fn phrase(&mut self, inner: &'a str, length: usize) {
        let inner = inner.trim();
        if inner.contains(char::is_alphanumeric) {
            self.push(length, Part::Phrase(inner));
        } else if inner.is_empty() {
            self.at += length;
        } else {
            // No index holds `->`, so that it cannot be required.
            self.push(length, Part::Word);
        }
    }

    /// What sticks to a closing quote is punctuation, another quotation, or the end of a word.
    fn after_quotation(&mut self) {
        self.at = self.text.len() - self.rest().trim_start_matches(TRAILING).len();
        let rest = self.rest();
        let is_done = rest.chars().next().is_none_or(char::is_whitespace);
        if !is_done && matches!(quoted(rest), Quoted::No) {
            self.push_word();
        }
    }

    /// Takes everything up to the end as it stands.
    fn only_words(&mut self) {
        while self.skip_space() {
            self.push_word();
        }
    }

    /// Reads `-word`, `-"some words"` and `-key:value`, whose text after the dash is `negated`.
    fn dashed(&mut self, negated: &'a str) {
        match quoted(negated) {
            Quoted::Closed { inner, length } if inner.contains(char::is_alphanumeric) => {
                self.push(1 + length, Part::Excluded(vec![inner.trim().to_owned()]));
                return self.after_quotation();
            }
            Quoted::Open { length } => {
                self.at += 1 + length;
                return self.only_words();
            }
            Quoted::Closed { .. } | Quoted::No => {}
        }
        if let Some((length, filters)) = filter::filters(negated, self.now) {
            return self.push(1 + length, filter::denied(&filters).unwrap_or(Part::Word));
        }
        let word = negated.split(char::is_whitespace).next().unwrap_or_default();
        if self.is_command || !is_excludable(word) {
            return self.push_word();
        }
        self.push(1 + word.len(), Part::Excluded(vec![without_punctuation(word).to_owned()]));
    }
}

/// Whether only a command line writes such a word: `--release`, `-p`, `-j8`, `-std=c++20`.
fn is_flag(word: &str) -> bool {
    let Some(name) = word.strip_prefix('-') else { return false };
    if let Some(long) = name.strip_prefix('-') {
        return long.starts_with(char::is_alphanumeric);
    }
    let mut letters = name.chars();
    let is_letter = letters.next().is_some_and(|letter| letter.is_ascii_alphabetic());
    let is_short = name.len() <= 3 && letters.all(|letter| letter.is_ascii_digit());
    is_letter && (is_short || name.contains('='))
}

/// Whether `-word` excludes. Two letters are more often `rm -rf` than a word; `NOT js` and `-"js"` still exclude them.
fn is_excludable(word: &str) -> bool {
    let is_cluster = word.len() <= 2 && word.bytes().all(|byte| byte.is_ascii_alphanumeric());
    word.starts_with(char::is_alphabetic) && !is_cluster
}
