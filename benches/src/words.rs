//! Invents a vocabulary of a few thousand words. None is taken from a text.

use std::collections::HashSet;
use std::ops::Range;

use crate::random::Random;

const WORDS: usize = 4_000;
const RANKS: u32 = 1 << 16;
/// Draws of a language: so many that the rarest words come up too.
const ZIPF_RANKS: u32 = 1 << 21;
/// The invented part of a language that people have used for years.
const LANGUAGE: usize = 60_000;

/// The words that make up a third of any English text; a stop list should meet them.
const FREQUENT: &str = "the to a of and is in it that for this on with not be as are we i you \
    can so if from then when at by but have use should or was now do all no there one which \
    only does has still here after before let's run why";

const ONSETS: [&str; 24] = [
    "b", "c", "d", "f", "g", "h", "k", "l", "m", "n", "p", "r", "s", "t", "v", "w", "z", "br", "cl", "dr", "st", "tr",
    "pl", "qu",
];
const RIMES: [&str; 20] = [
    "a", "e", "i", "o", "u", "an", "ar", "el", "en", "er", "in", "is", "on", "or", "um", "ax", "ell", "ist", "ock",
    "ine",
];

/// A vocabulary in which, as in a language, few words are frequent and many are rare.
#[derive(Debug)]
pub struct Words {
    list: Vec<String>,
    frequent: usize,
    ranks: Vec<u16>,
}

impl Words {
    /// The vocabulary of `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let (list, frequent) = vocabulary(seed, WORDS, 2..4);
        let ranks = (0..RANKS).map(rank).collect();
        Self { list, frequent, ranks }
    }

    /// A vocabulary as large as a language's, in which a word of rank `n` comes up about `1/n` as often as the first.
    #[must_use]
    pub fn language(seed: u64) -> Self {
        let (list, frequent) = vocabulary(seed, LANGUAGE, 2..3);
        let ranks = (0..ZIPF_RANKS).map(zipf).collect();
        Self { list, frequent, ranks }
    }

    /// True for the words that a stop list should meet.
    #[must_use]
    pub fn is_frequent(&self, word: &str) -> bool {
        self.list[..self.frequent].iter().any(|known| known == word)
    }

    /// One of the words that a stop list should meet.
    pub fn function_word(&self, random: &mut Random) -> &str {
        &self.list[random.index(self.frequent)]
    }

    /// A word, the frequent ones more often.
    pub fn word(&self, random: &mut Random) -> &str {
        &self.list[usize::from(self.ranks[random.index(self.ranks.len())])]
    }

    /// A word that is no function word, all equally often.
    pub fn name(&self, random: &mut Random) -> &str {
        let names = &self.list[self.frequent..];
        &names[random.index(names.len())]
    }
}

/// The word of a draw: the cube lets the first of 4,000 words come up in 6 % of all draws.
#[expect(clippy::cast_possible_truncation, reason = "the result is below WORDS")]
const fn rank(draw: u32) -> u16 {
    let (draw, range) = (draw as u64, RANKS as u64);
    (draw * draw / range * draw / range * WORDS as u64 / range) as u16
}

/// The word of a draw by the law of Zipf.
fn zipf(draw: u32) -> u16 {
    let share = f64::from(draw) / f64::from(ZIPF_RANKS);
    ((LANGUAGE as f64).powf(share) - 1.0) as u16
}

/// `count` different words, the function words first; and how many of them are function words.
fn vocabulary(seed: u64, count: usize, syllables: Range<u64>) -> (Vec<String>, usize) {
    let mut list: Vec<String> = FREQUENT.split_whitespace().map(String::from).collect();
    let frequent = list.len();
    let mut known: HashSet<String> = list.iter().cloned().collect();
    let mut random = Random::new(seed);
    while list.len() < count {
        let word = invent(&mut random, &syllables);
        if known.insert(word.clone()) {
            list.push(word);
        }
    }
    (list, frequent)
}

fn invent(random: &mut Random, syllables: &Range<u64>) -> String {
    (0..random.between(syllables.start, syllables.end))
        .map(|_| [*random.pick(&ONSETS), *random.pick(&RIMES)].concat())
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{WORDS, Words};
    use crate::random::Random;

    #[test]
    fn few_words_are_frequent_and_most_words_are_used() {
        let (words, mut random) = (Words::new(1), Random::new(1));
        let drawn: Vec<_> = (0..100_000).map(|_| words.word(&mut random)).collect();
        let distinct: HashSet<_> = drawn.iter().collect();
        let the = drawn.iter().filter(|word| **word == "the").count();
        assert!(distinct.len() > WORDS * 9 / 10, "only {} different words", distinct.len());
        assert!((5_000..8_000).contains(&the), "\"the\" {the} times in 100000");
    }

    #[test]
    fn in_a_language_a_third_is_function_words_and_most_others_are_rare() {
        let (words, mut random) = (Words::language(1), Random::new(1));
        let drawn: Vec<_> = (0..100_000).map(|_| words.word(&mut random)).collect();
        let distinct: HashSet<_> = drawn.iter().collect();
        let function = drawn.iter().filter(|word| words.is_frequent(word)).count();
        assert!((30_000..45_000).contains(&function), "{function} function words in 100000");
        assert!(distinct.len() > 15_000, "only {} different words", distinct.len());
    }
}
