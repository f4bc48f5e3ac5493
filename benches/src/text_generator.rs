//! Generates random prose, source code and command output. Nothing is copied from real text.

use std::fmt::Write as _;

use crate::random::Random;
use crate::vocabulary::Vocabulary;

/// A vocabulary and the random numbers that choose from it.
#[derive(Debug)]
pub struct TextGenerator<'w> {
    words: &'w Vocabulary,
    /// Source of all random choices.
    pub random: Random,
}

impl<'w> TextGenerator<'w> {
    /// Creates a generator. The same words and seed give the same texts.
    #[must_use]
    pub const fn new(words: &'w Vocabulary, seed: u64) -> Self {
        Self { words, random: Random::new(seed) }
    }

    /// True with a probability of `percent` %.
    pub const fn chance(&mut self, percent: u64) -> bool {
        self.random.chance(percent)
    }

    /// A random word, weighted by frequency.
    pub fn word(&mut self) -> &'w str {
        self.words.word(&mut self.random)
    }

    /// A random word that is not a function word, all equally likely.
    pub fn content_word(&mut self) -> &'w str {
        self.words.content_word(&mut self.random)
    }

    /// Such as `tavel_onix`.
    pub fn identifier(&mut self) -> String {
        format!("{}_{}", self.content_word(), self.content_word())
    }

    /// Such as `src/tavel/onix.rs`.
    pub fn path(&mut self) -> String {
        let folder = self.random.pick(&["src", "crates", "tests", "docs", "web/app"]);
        let ending = self.random.pick(&["rs", "rs", "ts", "py", "md", "toml"]);
        format!("{folder}/{}/{}.{ending}", self.content_word(), self.content_word())
    }

    /// Three to six words without punctuation.
    pub fn title(&mut self) -> String {
        let words: Vec<_> = (0..self.random.between(3, 7)).map(|_| self.content_word()).collect();
        words.join(" ")
    }

    /// A user prompt: mostly short, sometimes long, occasionally with a decision.
    pub fn prompt(&mut self, max_bytes: usize) -> String {
        let bytes = self.random.size(220, 1.1).min(max_bytes).min(8_000);
        let text = self.prose(bytes);
        let (one, two) = (self.content_word(), self.content_word());
        match self.random.below(40) {
            0 => format!("Let's use {one}, not {two}. {text}"),
            1 => format!("We decided to go with {one}. {text}"),
            2 => format!("Don't ever touch {}. {text}", self.path()),
            _ => text,
        }
    }

    /// Agent text between or after tool calls.
    pub fn answer(&mut self, max_bytes: usize) -> String {
        let bytes = self.random.size(520, 1.0).min(max_bytes).min(12_000);
        self.prose(bytes)
    }

    /// At least `bytes` of sentences in paragraphs.
    pub fn prose(&mut self, bytes: usize) -> String {
        let mut text = String::with_capacity(bytes + 160);
        loop {
            self.sentence(&mut text);
            if text.len() >= bytes {
                return text;
            }
            text.push_str(if self.random.chance(20) { "\n\n" } else { " " });
        }
    }

    /// At least `bytes` of lines that look like source code.
    pub fn code(&mut self, bytes: usize) -> String {
        let mut text = String::with_capacity(bytes + 160);
        while text.len() < bytes {
            self.code_line(&mut text);
            text.push('\n');
        }
        text
    }

    /// At least `bytes` of lines that look like the output of builds, tests and searches.
    pub fn output(&mut self, bytes: usize) -> String {
        let mut text = String::with_capacity(bytes + 160);
        while text.len() < bytes {
            self.output_line(&mut text);
            text.push('\n');
        }
        text
    }

    fn sentence(&mut self, text: &mut String) {
        text.push_str(&capitalize(self.word()));
        for _ in 0..self.random.between(4, 18) {
            text.push(' ');
            if self.random.chance(5) {
                let _ = write!(text, "`{}`", self.identifier());
            } else {
                text.push_str(self.word());
            }
        }
        text.push(*self.random.pick(&['.', '.', '.', '?', ':']));
    }

    fn code_line(&mut self, text: &mut String) {
        const INDENT: &str = "                ";
        text.push_str(&INDENT[..4 * self.random.index(5)]);
        let (one, two) = (self.content_word(), self.content_word());
        let number = self.random.below(4096);
        let _ = match self.random.below(8) {
            0 => write!(text, "let {one}_{two} = {two}.{one}({number}, \"{one} {two}\");"),
            1 => write!(text, "if {one}.{two}() == {number} {{"),
            2 => write!(text, "pub fn {one}_{two}(&self, {two}: u{number}) -> Option<{one}> {{"),
            3 => write!(text, "self.{one}.push({two}_{number});"),
            4 => write!(text, "}}"),
            5 => write!(text, "// {} {one} {} {two}.", self.word(), self.word()),
            6 => write!(text, "return Err({one}::{two} {{ at: {number} }});"),
            _ => Ok(()),
        };
    }

    fn output_line(&mut self, text: &mut String) {
        let (one, two) = (self.content_word(), self.content_word());
        let number = self.random.below(4096);
        let _ = match self.random.below(6) {
            0 => write!(text, "test {one}::{two}_{number} ... ok"),
            1 => write!(text, "   Compiling {one}-{two} v0.{}.{number}", number % 30),
            2 => write!(text, "src/{one}/{two}.rs:{number}: {} {one}({number})", self.word()),
            3 => write!(text, "\u{1b}[32m{one}\u{1b}[0m {number} ms\t{two}"),
            4 => write!(text, "{{\"{one}\": {number}, \"{two}\": \"{}\"}}", self.word()),
            _ => write!(text, "{number:>8} {one} {} {two}", self.word()),
        };
    }
}

/// The word with its first letter in upper case.
pub(crate) fn capitalize(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
}
