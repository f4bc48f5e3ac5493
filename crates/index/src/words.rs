//! Splits text into the words that are indexed and searched. One way for code and prose, for index and query alike.
//!
//! A compound such as `src/store/wal.rs`, `HttpClientError` or `max_hot_entries` gives its parts and, at the place of
//! its first part, itself. English words are stemmed; words that say nothing are left out but keep their place.
//! Scripts written without spaces give single characters and pairs.

mod english;
mod script;

pub(crate) use english::STOP;

use frostem::{Algorithm, Stemmer};
use rustc_hash::FxHashMap;
use unicode_normalization::UnicodeNormalization;

/// Longer runs are blobs that nobody types: base64, minified code.
const LONGEST: usize = 64;
/// Stems remembered; a text has few distinct words, and stemming costs ten times a look-up.
const REMEMBERED: usize = 100_000;

/// One word of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word<'t> {
    /// As it is indexed: lower case, stemmed.
    pub text: &'t str,
    /// Its place among the words of the text; the whole of a compound shares the place of its first part.
    pub position: usize,
    /// Byte offset in the text where it begins.
    pub start: usize,
    /// Byte offset where it ends.
    pub end: usize,
}

/// The words of one text.
#[derive(Clone, Debug, Default)]
pub struct Words {
    letters: String,
    spans: Vec<Span>,
    positions: usize,
}

#[derive(Clone, Copy, Debug)]
struct Span {
    until: usize,
    position: usize,
    start: usize,
    end: usize,
}

impl Words {
    /// The words in order.
    pub fn iter(&self) -> impl Iterator<Item = Word<'_>> {
        let mut from = 0;
        self.spans.iter().map(move |span| {
            let text = &self.letters[from..span.until];
            from = span.until;
            Word { text, position: span.position, start: span.start, end: span.end }
        })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    fn clear(&mut self) {
        self.letters.clear();
        self.spans.clear();
        self.positions = 0;
    }

    /// A run of nothing but accents folds to nothing, and is no word.
    fn push(&mut self, text: &str, position: usize, start: usize, end: usize) {
        if text.is_empty() {
            return;
        }
        self.letters.push_str(text);
        self.spans.push(Span { until: self.letters.len(), position, start, end });
    }
}

/// Splits texts. Remembers stems, so one splitter for many texts is faster than many.
pub struct Splitter {
    stemmer: Stemmer,
    stems: FxHashMap<String, Option<Box<str>>>,
    folded: String,
}

impl std::fmt::Debug for Splitter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Splitter").field("stems", &self.stems.len()).finish_non_exhaustive()
    }
}

impl Default for Splitter {
    fn default() -> Self {
        Self { stemmer: Stemmer::new(Algorithm::English), stems: FxHashMap::default(), folded: String::new() }
    }
}

/// The words of one text, for callers that have only one.
pub fn split(text: &str) -> Words {
    let mut words = Words::default();
    Splitter::default().split(text, &mut words);
    words
}

impl Splitter {
    /// Replaces `words` by the words of `text`.
    pub fn split(&mut self, text: &str, words: &mut Words) {
        words.clear();
        let mut rest = text.char_indices().peekable();
        while let Some((start, first)) = rest.next() {
            if script::is_unspaced(first) {
                let mut end = start + first.len_utf8();
                while let Some((at, _)) = rest.next_if(|(_, c)| script::is_unspaced(*c)) {
                    end = at + text[at..].chars().next().map_or(1, char::len_utf8);
                }
                pairs(text, start, end, words);
            } else if script::is_emoji(first) {
                let position = words.positions;
                words.positions += 1;
                words.push(&text[start..start + first.len_utf8()], position, start, start + first.len_utf8());
            } else if script::is_letter(first) {
                let end = end_of_compound(text, start);
                while rest.next_if(|(at, _)| *at < end).is_some() {}
                self.compound(text, start, end, words);
            }
        }
    }

    /// A run of letters and joiners: the whole and, level by level, its parts.
    fn compound(&mut self, text: &str, start: usize, end: usize, words: &mut Words) {
        if text[start..end].bytes().all(|byte| byte.is_ascii_lowercase()) {
            return self.word(text, start, end, words);
        }
        self.parts(text, start, end, Level::Path, words);
    }

    fn parts(&mut self, text: &str, start: usize, end: usize, level: Level, words: &mut Words) {
        let pieces = level.pieces(&text[start..end]);
        // Wholes come first at the place of their first part; a possessive or contraction is not a whole worth keeping.
        if pieces.len() > 1 && end - start <= LONGEST {
            match level {
                Level::Apostrophe => {}
                Level::Hump => self.whole_word(text, start, end, words),
                _ => self.whole(text, start, end, words),
            }
        }
        for (from, to) in pieces {
            match level.below() {
                Some(below) => self.parts(text, start + from, start + to, below, words),
                None => self.word(text, start + from, start + to, words),
            }
        }
    }

    /// A compound as it is written, in lower case.
    fn whole(&mut self, text: &str, start: usize, end: usize, words: &mut Words) {
        self.fold(&text[start..end]);
        words.push(&self.folded, words.positions, start, end);
    }

    /// `HttpClientError` as one word: stemmed, so that `httpclienterrors` finds it.
    fn whole_word(&mut self, text: &str, start: usize, end: usize, words: &mut Words) {
        self.fold(&text[start..end]);
        let position = words.positions;
        if let Some(stem) = self.stem() {
            words.push(stem, position, start, end);
        }
    }

    /// One plain word: folded and stemmed. Takes the next place even if it is left out.
    fn word(&mut self, text: &str, start: usize, end: usize, words: &mut Words) {
        let position = words.positions;
        words.positions += 1;
        if end - start > LONGEST {
            return;
        }
        self.fold(&text[start..end]);
        if let Some(stem) = self.stem() {
            words.push(stem, position, start, end);
        }
    }

    /// The stem of the folded word; nothing for a word that says nothing.
    fn stem(&mut self) -> Option<&str> {
        if !self.stems.contains_key(&self.folded) {
            if self.stems.len() >= REMEMBERED {
                self.stems.clear();
            }
            let stem = english::stem(self.stemmer, &self.folded);
            self.stems.insert(self.folded.clone(), stem.map(Box::from));
        }
        self.stems.get(&self.folded)?.as_deref()
    }

    /// Lower case, without accents, in one form of Unicode.
    fn fold(&mut self, text: &str) {
        self.folded.clear();
        if text.is_ascii() {
            self.folded.push_str(text);
            self.folded.make_ascii_lowercase();
            return;
        }
        let bare = text.nfkd().filter(|c| !script::is_accent(*c)).flat_map(char::to_lowercase);
        self.folded.extend(bare.nfkc());
    }
}

/// Where the run of letters that begins at `start` ends; joiners count only between letters.
fn end_of_compound(text: &str, start: usize) -> usize {
    let mut end = start;
    let mut rest = text[start..].char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        if script::is_letter(c) && !script::is_unspaced(c) {
            end = start + at + c.len_utf8();
        } else if c == ':' && rest.peek().is_some_and(|(_, next)| *next == ':') {
            rest.next();
            if !rest.peek().is_some_and(|(_, next)| script::is_letter(*next)) {
                break;
            }
        } else if !(script::is_joiner(c) && rest.peek().is_some_and(|(_, next)| script::is_letter(*next))) {
            break;
        }
    }
    end
}

/// Characters of a script without spaces: each one, and each with its neighbour.
fn pairs(text: &str, start: usize, end: usize, words: &mut Words) {
    let mut before: Option<usize> = None;
    for (at, c) in text[start..end].char_indices() {
        let (from, to) = (start + at, start + at + c.len_utf8());
        if let Some(previous) = before {
            words.push(&text[previous..to], words.positions - 1, previous, to);
        }
        words.push(&text[from..to], words.positions, from, to);
        words.positions += 1;
        before = Some(from);
    }
}

/// What splits a compound, from the outside in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    /// `/`, `\` and `::`.
    Path,
    /// `.`
    Dot,
    /// `_` and `-`.
    Dash,
    /// `'` as in `don't`.
    Apostrophe,
    /// `camelCase`.
    Hump,
}

impl Level {
    fn below(self) -> Option<Level> {
        match self {
            Level::Path => Some(Level::Dot),
            Level::Dot => Some(Level::Dash),
            Level::Dash => Some(Level::Apostrophe),
            Level::Apostrophe => Some(Level::Hump),
            Level::Hump => None,
        }
    }

    /// Byte ranges of the pieces; empty ones are left out.
    fn pieces(self, text: &str) -> Vec<(usize, usize)> {
        let splits = |c: char| match self {
            Level::Path => matches!(c, '/' | '\\' | ':'),
            Level::Dot => c == '.',
            Level::Dash => matches!(c, '_' | '-'),
            Level::Apostrophe => matches!(c, '\'' | '’'),
            Level::Hump => false,
        };
        let mut pieces = Vec::new();
        let mut from = 0;
        let (mut before, mut end) = (None, text.len());
        let mut rest = text.char_indices().peekable();
        while let Some((at, c)) = rest.next() {
            let next = rest.peek().map(|(_, next)| *next);
            if splits(c) {
                pieces.push((from, at));
                from = at + c.len_utf8();
                if self == Level::Apostrophe && english::is_contraction(&text[from..]) {
                    end = at;
                    break;
                }
            } else if self == Level::Hump && is_hump(before, c, next) {
                pieces.push((from, at));
                from = at;
            }
            before = Some(c);
        }
        pieces.push((from.min(end), end));
        pieces.retain(|(from, to)| from < to);
        pieces
    }
}

/// Whether a new part of a camel-case word begins at `c`.
fn is_hump(before: Option<char>, c: char, next: Option<char>) -> bool {
    let Some(before) = before else { return false };
    let after_small = before.is_lowercase() || before.is_numeric();
    let ends_capitals = before.is_uppercase() && next.is_some_and(char::is_lowercase);
    c.is_uppercase() && (after_small || ends_capitals)
}

#[cfg(test)]
mod tests;
