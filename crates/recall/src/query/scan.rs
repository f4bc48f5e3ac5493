//! Splits a query into tokens: words, phrases, exclusions, filters and operators.

use jiff::Zoned;

use super::filter::{self, QueryFilter};

/// One token of a query.
#[derive(Debug)]
pub(super) struct QueryToken<'a> {
    /// Text as typed.
    pub(super) raw: &'a str,
    /// Byte offset in the query.
    pub(super) start: usize,
    pub(super) role: TokenRole<'a>,
}

/// The role of a token.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TokenRole<'a> {
    /// Ranked as typed.
    Word,
    /// Text between quotes.
    Phrase(&'a str),
    /// Texts that must not occur.
    Excluded(Vec<String>),
    /// Filters that must match.
    Filters(Vec<QueryFilter>),
    /// Kinds or agents that must not match.
    Denied(Vec<QueryFilter>),
    And,
    Or,
    Not,
}

/// Whether a text begins with a quotation.
pub(super) enum Quotation<'a> {
    No,
    /// The inner text, and the length including the quotes.
    Closed {
        inner: &'a str,
        length: usize,
    },
    /// The quotation is never closed; the length is that of the opening quote.
    Open {
        length: usize,
    },
}

/// Each opening quote with its closing quotes, as used in English, German, French and Swedish.
const QUOTES: [(char, &[char]); 6] =
    [('"', &['"']), ('“', &['”', '“']), ('„', &['“', '”']), ('”', &['”']), ('«', &['»']), ('»', &['«', '»'])];

/// Punctuation that ends a clause, not a word.
const TRAILING_PUNCTUATION: &[char] = &[',', '.', ';', ':', '!', '?', ')', ']', '}'];

struct QueryScanner<'a> {
    text: &'a str,
    at: usize,
    now: &'a Zoned,
    /// The text contains a flag, so a dash starts another flag, not an exclusion.
    is_command: bool,
    pieces: Vec<QueryToken<'a>>,
}

pub(super) fn tokenize<'a>(text: &'a str, now: &'a Zoned) -> Vec<QueryToken<'a>> {
    let is_command = text.split_whitespace().any(is_flag);
    let mut scanner = QueryScanner { text, at: 0, now, is_command, pieces: Vec::new() };
    while scanner.skip_space() {
        scanner.read_token();
    }
    scanner.pieces
}

pub(super) fn without_punctuation(word: &str) -> &str {
    word.trim_end_matches(TRAILING_PUNCTUATION)
}

pub(super) fn parse_quotation(text: &str) -> Quotation<'_> {
    let mut letters = text.chars();
    let Some((open, closers)) = letters.next().and_then(|open| QUOTES.into_iter().find(|(quote, _)| *quote == open))
    else {
        return Quotation::No;
    };
    let inside = letters.as_str();
    match inside.find(closers) {
        Some(end) => {
            let close = inside[end..].chars().next().map_or(0, char::len_utf8);
            Quotation::Closed { inner: &inside[..end], length: open.len_utf8() + end + close }
        }
        None => Quotation::Open { length: open.len_utf8() },
    }
}

impl<'a> QueryScanner<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Moves to the next word; false at the end.
    fn skip_space(&mut self) -> bool {
        self.at = self.text.len() - self.rest().trim_start().len();
        self.at < self.text.len()
    }

    fn push(&mut self, length: usize, part: TokenRole<'a>) {
        let start = self.at;
        self.at += length;
        self.pieces.push(QueryToken { raw: &self.text[start..self.at], start, role: part });
    }

    fn push_word(&mut self) {
        let rest = self.rest();
        self.push(rest.find(char::is_whitespace).unwrap_or(rest.len()), TokenRole::Word);
    }

    /// Reads the token at the start of a word.
    fn read_token(&mut self) {
        let parentheses = self.rest().len() - self.rest().trim_start_matches('(').len();
        if !matches!(parse_quotation(&self.rest()[parentheses..]), Quotation::No) {
            self.at += parentheses;
            return self.read_quotation();
        }
        if let Some(negated) = self.rest().strip_prefix('-') {
            return self.read_dashed(negated);
        }
        if let Some((length, filters)) = filter::parse_filters(self.rest(), self.now) {
            return self.push(length, TokenRole::Filters(filters));
        }
        let word = self.rest().split_whitespace().next().unwrap_or_default();
        match word {
            "AND" => self.push(word.len(), TokenRole::And),
            "OR" => self.push(word.len(), TokenRole::Or),
            "NOT" => self.push(word.len(), TokenRole::Not),
            _ => self.push(word.len(), TokenRole::Word),
        }
    }

    fn read_quotation(&mut self) {
        match parse_quotation(self.rest()) {
            Quotation::No => self.push_word(),
            Quotation::Open { length } => {
                self.at += length;
                self.read_rest_as_words();
            }
            Quotation::Closed { inner, length } => {
                self.push_phrase(inner, length);
                self.skip_after_quotation();
            }
        }
    }

    fn push_phrase(&mut self, inner: &'a str, length: usize) {
        let inner = inner.trim();
        if inner.contains(char::is_alphanumeric) {
            self.push(length, TokenRole::Phrase(inner));
        } else if inner.is_empty() {
            self.at += length;
        } else {
            // The index contains no punctuation such as `->`, so it cannot be required.
            self.push(length, TokenRole::Word);
        }
    }

    /// After a closing quote: skips punctuation and reads the rest of the word.
    fn skip_after_quotation(&mut self) {
        self.at = self.text.len() - self.rest().trim_start_matches(TRAILING_PUNCTUATION).len();
        let rest = self.rest();
        let is_done = rest.chars().next().is_none_or(char::is_whitespace);
        if !is_done && matches!(parse_quotation(rest), Quotation::No) {
            self.push_word();
        }
    }

    /// Takes the rest of the text as plain words.
    fn read_rest_as_words(&mut self) {
        while self.skip_space() {
            self.push_word();
        }
    }

    /// Reads `-word`, `-"some words"` and `-key:value`; `negated` is the text after the dash.
    fn read_dashed(&mut self, negated: &'a str) {
        match parse_quotation(negated) {
            Quotation::Closed { inner, length } if inner.contains(char::is_alphanumeric) => {
                self.push(1 + length, TokenRole::Excluded(vec![inner.trim().to_owned()]));
                return self.skip_after_quotation();
            }
            Quotation::Open { length } => {
                self.at += 1 + length;
                return self.read_rest_as_words();
            }
            Quotation::Closed { .. } | Quotation::No => {}
        }
        if let Some((length, filters)) = filter::parse_filters(negated, self.now) {
            return self.push(1 + length, filter::negate_filters(&filters).unwrap_or(TokenRole::Word));
        }
        let word = negated.split(char::is_whitespace).next().unwrap_or_default();
        if self.is_command || !is_excludable(word) {
            return self.push_word();
        }
        self.push(1 + word.len(), TokenRole::Excluded(vec![without_punctuation(word).to_owned()]));
    }
}

/// Whether a word only occurs on a command line: `--release`, `-p`, `-j8`, `-std=c++20`.
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

/// Whether `-word` excludes. Two letters are more often flags (`rm -rf`); `NOT js` and `-"js"` still exclude them.
fn is_excludable(word: &str) -> bool {
    let is_cluster = word.len() <= 2 && word.bytes().all(|byte| byte.is_ascii_alphanumeric());
    word.starts_with(char::is_alphabetic) && !is_cluster
}
