//! Writes prose, source code and command output that nobody wrote before. Nothing is quoted.

use std::fmt::Write as _;

use crate::random::Random;
use crate::words::Words;

/// A vocabulary together with the random numbers that choose from it.
#[derive(Debug)]
pub struct Author<'w> {
    words: &'w Words,
    /// The stream everything is drawn from.
    pub random: Random,
}

impl<'w> Author<'w> {
    /// An author of `words` whose texts depend on `seed`.
    #[must_use]
    pub const fn new(words: &'w Words, seed: u64) -> Self {
        Self { words, random: Random::new(seed) }
    }

    /// True in `percent` of a hundred cases.
    pub const fn chance(&mut self, percent: u64) -> bool {
        self.random.chance(percent)
    }

    /// A word, the frequent ones more often.
    pub fn word(&mut self) -> &'w str {
        self.words.word(&mut self.random)
    }

    /// A word that is no function word, all equally often.
    pub fn name(&mut self) -> &'w str {
        self.words.name(&mut self.random)
    }

    /// Such as `tavel_onix`.
    pub fn identifier(&mut self) -> String {
        format!("{}_{}", self.name(), self.name())
    }

    /// Such as `src/tavel/onix.rs`.
    pub fn path(&mut self) -> String {
        let folder = self.random.pick(&["src", "crates", "tests", "docs", "web/app"]);
        let ending = self.random.pick(&["rs", "rs", "ts", "py", "md", "toml"]);
        format!("{folder}/{}/{}.{ending}", self.name(), self.name())
    }

    /// A few words without a full stop, for titles.
    pub fn title(&mut self) -> String {
        let words: Vec<_> = (0..self.random.between(3, 7)).map(|_| self.name()).collect();
        words.join(" ")
    }

    /// What a person types: mostly short, sometimes long, now and then a decision.
    pub fn prompt(&mut self, room: usize) -> String {
        let bytes = self.random.size(220, 1.1).min(room).min(8_000);
        let text = self.prose(bytes);
        let (one, two) = (self.name(), self.name());
        match self.random.below(40) {
            0 => format!("Let's use {one}, not {two}. {text}"),
            1 => format!("We decided to go with {one}. {text}"),
            2 => format!("Don't ever touch {}. {text}", self.path()),
            _ => text,
        }
    }

    /// What an agent says between or after its calls.
    pub fn answer(&mut self, room: usize) -> String {
        let bytes = self.random.size(520, 1.0).min(room).min(12_000);
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

    /// At least `bytes` of lines that look like a program.
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
        text.push_str(&capitalised(self.word()));
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
        let (one, two) = (self.name(), self.name());
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
        let (one, two) = (self.name(), self.name());
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

/// The word with a capital letter.
pub(crate) fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
}
