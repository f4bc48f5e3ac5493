//! Splits text into words for the index and for queries, in the same way for code and prose.
//!
//! A compound such as `src/store/wal.rs`, `HttpClientError` or `max_hot_entries` gives its parts and, at the position
//! of its first part, the whole compound. English words are stemmed; stop words are left out but keep their position.
//! Scripts written without spaces give single characters and pairs of characters.

mod english;
mod script;

pub use english::COMMON_WORDS;
pub(crate) use english::stop_words;

use frostem::{Algorithm, Stemmer};
use rustc_hash::FxHashMap;
use unicode_normalization::UnicodeNormalization;

/// Longer words are not searched for: base64, minified code.
const MAX_WORD_BYTES: usize = 64;
/// Stems in the cache. Texts have few distinct words, and stemming takes ten times as long as a lookup.
const MAX_CACHED_STEMS: usize = 100_000;

/// One word of a text, as it is indexed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexedWord<'t> {
    /// Lower case, stemmed.
    pub text: &'t str,
    /// Position among the words of the text. A whole compound has the position of its first part.
    pub position: usize,
    /// Byte offset of the start in the text.
    pub start: usize,
    /// Byte offset of the end in the text.
    pub end: usize,
}

/// The words of one text, stored compactly.
#[derive(Clone, Debug, Default)]
pub struct WordList {
    letters: String,
    spans: Vec<WordSpan>,
    positions: usize,
}

#[derive(Clone, Copy, Debug)]
struct WordSpan {
    letters_end: usize,
    position: usize,
    start: usize,
    end: usize,
}

impl WordList {
    /// Iterates over the words in text order.
    pub fn iter(&self) -> impl Iterator<Item = IndexedWord<'_>> {
        let mut from = 0;
        self.spans.iter().map(move |span| {
            let text = &self.letters[from..span.letters_end];
            from = span.letters_end;
            IndexedWord { text, position: span.position, start: span.start, end: span.end }
        })
    }

    /// Number of words.
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Whether there are no words.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    fn clear(&mut self) {
        self.letters.clear();
        self.spans.clear();
        self.positions = 0;
    }

    /// Adds a word. Empty ones are skipped: a run of only accents folds to nothing.
    fn push(&mut self, text: &str, position: usize, start: usize, end: usize) {
        if text.is_empty() {
            return;
        }
        self.letters.push_str(text);
        self.spans.push(WordSpan { letters_end: self.letters.len(), position, start, end });
    }
}

/// Splits texts into words. Caches stems, so reuse one splitter for many texts.
pub struct WordSplitter {
    stemmer: Stemmer,
    stems: FxHashMap<String, Option<Box<str>>>,
    folded: String,
}

impl std::fmt::Debug for WordSplitter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Splitter").field("stems", &self.stems.len()).finish_non_exhaustive()
    }
}

impl Default for WordSplitter {
    fn default() -> Self {
        Self { stemmer: Stemmer::new(Algorithm::English), stems: FxHashMap::default(), folded: String::new() }
    }
}

/// Splits a single text. For many texts, reuse a [`WordSplitter`].
pub fn split(text: &str) -> WordList {
    let mut words = WordList::default();
    WordSplitter::default().split(text, &mut words);
    words
}

impl WordSplitter {
    /// Replaces `words` with the words of `text`.
    pub fn split(&mut self, text: &str, words: &mut WordList) {
        words.clear();
        let mut rest = text.char_indices().peekable();
        while let Some((start, first)) = rest.next() {
            if script::is_unspaced(first) {
                let mut end = start + first.len_utf8();
                while let Some((at, _)) = rest.next_if(|(_, c)| script::is_unspaced(*c)) {
                    end = at + text[at..].chars().next().map_or(1, char::len_utf8);
                }
                push_pairs(text, start, end, words);
            } else if script::is_emoji(first) {
                let position = words.positions;
                words.positions += 1;
                words.push(&text[start..start + first.len_utf8()], position, start, start + first.len_utf8());
            } else if script::is_letter(first) {
                let end = compound_end(text, start);
                while rest.next_if(|(at, _)| *at < end).is_some() {}
                self.split_compound(text, start, end, words);
            }
        }
    }

    /// Splits a run of letters and joiners into the whole and, level by level, its parts.
    fn split_compound(&mut self, text: &str, start: usize, end: usize, words: &mut WordList) {
        if text[start..end].bytes().all(|byte| byte.is_ascii_lowercase()) {
            return self.push_word(text, start, end, words);
        }
        self.split_parts(text, start, end, CompoundLevel::Path, words);
    }

    fn split_parts(&mut self, text: &str, start: usize, end: usize, level: CompoundLevel, words: &mut WordList) {
        let pieces = level.part_ranges(&text[start..end]);
        // The whole comes first, at the position of its first part. A possessive or contraction is not kept as a whole.
        if pieces.len() > 1 && end - start <= MAX_WORD_BYTES {
            match level {
                CompoundLevel::Apostrophe => {}
                CompoundLevel::CamelCase => self.push_camel_case(text, start, end, words),
                _ => self.push_compound(text, start, end, words),
            }
        }
        for (from, to) in pieces {
            match level.inner() {
                Some(below) => self.split_parts(text, start + from, start + to, below, words),
                None => self.push_word(text, start + from, start + to, words),
            }
        }
    }

    /// Adds a compound as written, in lower case.
    fn push_compound(&mut self, text: &str, start: usize, end: usize, words: &mut WordList) {
        self.fold(&text[start..end]);
        words.push(&self.folded, words.positions, start, end);
    }

    /// Adds `HttpClientError` as one word, stemmed, so that `httpclienterrors` finds it.
    fn push_camel_case(&mut self, text: &str, start: usize, end: usize, words: &mut WordList) {
        self.fold(&text[start..end]);
        let position = words.positions;
        if let Some(stem) = self.stem() {
            words.push(stem, position, start, end);
        }
    }

    /// Adds a plain word, folded and stemmed. It takes the next position even if it is left out.
    fn push_word(&mut self, text: &str, start: usize, end: usize, words: &mut WordList) {
        let position = words.positions;
        words.positions += 1;
        if end - start > MAX_WORD_BYTES {
            return;
        }
        self.fold(&text[start..end]);
        if let Some(stem) = self.stem() {
            words.push(stem, position, start, end);
        }
    }

    /// The stem of the folded word. `None` for a stop word.
    fn stem(&mut self) -> Option<&str> {
        if !self.stems.contains_key(&self.folded) {
            if self.stems.len() >= MAX_CACHED_STEMS {
                self.stems.clear();
            }
            let stem = english::stem(self.stemmer, &self.folded);
            self.stems.insert(self.folded.clone(), stem.map(Box::from));
        }
        self.stems.get(&self.folded)?.as_deref()
    }

    /// Converts to lower case without accents, in Unicode normalization form KC.
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

/// End of the run of letters that starts at `start`. Joiners count only between letters.
fn compound_end(text: &str, start: usize) -> usize {
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

/// Adds each character of a script without spaces, and each pair of adjacent characters.
fn push_pairs(text: &str, start: usize, end: usize, words: &mut WordList) {
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

/// Separators that split a compound, from the outermost to the innermost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CompoundLevel {
    /// `/`, `\` and `::`.
    Path,
    /// `.`
    Dot,
    /// `_` and `-`.
    Dash,
    /// `'` as in `don't`.
    Apostrophe,
    /// `camelCase`.
    CamelCase,
}

impl CompoundLevel {
    fn inner(self) -> Option<CompoundLevel> {
        match self {
            CompoundLevel::Path => Some(CompoundLevel::Dot),
            CompoundLevel::Dot => Some(CompoundLevel::Dash),
            CompoundLevel::Dash => Some(CompoundLevel::Apostrophe),
            CompoundLevel::Apostrophe => Some(CompoundLevel::CamelCase),
            CompoundLevel::CamelCase => None,
        }
    }

    /// Byte ranges of the non-empty parts.
    fn part_ranges(self, text: &str) -> Vec<(usize, usize)> {
        let splits = |c: char| match self {
            CompoundLevel::Path => matches!(c, '/' | '\\' | ':'),
            CompoundLevel::Dot => c == '.',
            CompoundLevel::Dash => matches!(c, '_' | '-'),
            CompoundLevel::Apostrophe => matches!(c, '\'' | '’'),
            CompoundLevel::CamelCase => false,
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
                if self == CompoundLevel::Apostrophe && english::is_contraction(&text[from..]) {
                    end = at;
                    break;
                }
            } else if self == CompoundLevel::CamelCase && starts_camel_part(before, c, next) {
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

/// Whether a new part of a camel-case word starts at `c`.
fn starts_camel_part(before: Option<char>, c: char, next: Option<char>) -> bool {
    let Some(before) = before else { return false };
    let after_small = before.is_lowercase() || before.is_numeric();
    let ends_capitals = before.is_uppercase() && next.is_some_and(char::is_lowercase);
    c.is_uppercase() && (after_small || ends_capitals)
}

#[cfg(test)]
mod tests;
