//! Generates a vocabulary of made-up words, with real function words.

use std::collections::HashSet;
use std::ops::Range;

use crate::random::Random;

const SMALL_WORDS: usize = 4_000;
const RANKS: u32 = 1 << 16;
/// Size of the Zipf table: large enough that the rarest words occur too.
const ZIPF_RANKS: u32 = 1 << 21;
/// Words of a large vocabulary.
const LARGE_WORDS: usize = 60_000;

/// Function words, which make up a third of any English text. A stop word list should contain them.
const FUNCTION_WORDS: &str = "the to a of and is in it that for this on with not be as are we i you \
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

/// A vocabulary in which, as in a natural language, few words are frequent and many are rare.
#[derive(Debug)]
pub struct Vocabulary {
    words: Vec<String>,
    function_word_count: usize,
    ranks: Vec<u16>,
}

impl Vocabulary {
    /// A small vocabulary of 4,000 words for `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let (words, function_word_count) = generate_words(seed, SMALL_WORDS, 2..4);
        let ranks = (0..RANKS).map(cubic_rank).collect();
        Self { words, function_word_count, ranks }
    }

    /// A large vocabulary with a Zipf distribution: the word of rank `n` is about `1/n` as frequent as the first.
    #[must_use]
    pub fn large(seed: u64) -> Self {
        let (words, function_word_count) = generate_words(seed, LARGE_WORDS, 2..3);
        let ranks = (0..ZIPF_RANKS).map(zipf_rank).collect();
        Self { words, function_word_count, ranks }
    }

    /// Whether this is a function word.
    #[must_use]
    pub fn is_function_word(&self, word: &str) -> bool {
        self.words[..self.function_word_count].iter().any(|known| known == word)
    }

    /// A random function word.
    pub fn function_word(&self, random: &mut Random) -> &str {
        &self.words[random.index(self.function_word_count)]
    }

    /// A random word, weighted by frequency.
    pub fn word(&self, random: &mut Random) -> &str {
        &self.words[usize::from(self.ranks[random.index(self.ranks.len())])]
    }

    /// A random word that is not a function word, all equally likely.
    pub fn content_word(&self, random: &mut Random) -> &str {
        let names = &self.words[self.function_word_count..];
        &names[random.index(names.len())]
    }
}

/// Word index for a random number. The cube gives the first of 4,000 words a share of 6 %.
#[expect(clippy::cast_possible_truncation, reason = "the result is below WORDS")]
const fn cubic_rank(draw: u32) -> u16 {
    let (draw, range) = (draw as u64, RANKS as u64);
    (draw * draw / range * draw / range * SMALL_WORDS as u64 / range) as u16
}

/// Word index for a random number, by Zipf's law.
fn zipf_rank(draw: u32) -> u16 {
    let share = f64::from(draw) / f64::from(ZIPF_RANKS);
    ((LARGE_WORDS as f64).powf(share) - 1.0) as u16
}

/// `count` distinct words, function words first, and the number of function words.
fn generate_words(seed: u64, count: usize, syllables: Range<u64>) -> (Vec<String>, usize) {
    let mut list: Vec<String> = FUNCTION_WORDS.split_whitespace().map(String::from).collect();
    let frequent = list.len();
    let mut known: HashSet<String> = list.iter().cloned().collect();
    let mut random = Random::new(seed);
    while list.len() < count {
        let word = random_word(&mut random, &syllables);
        if known.insert(word.clone()) {
            list.push(word);
        }
    }
    (list, frequent)
}

fn random_word(random: &mut Random, syllables: &Range<u64>) -> String {
    (0..random.between(syllables.start, syllables.end))
        .map(|_| [*random.pick(&ONSETS), *random.pick(&RIMES)].concat())
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{SMALL_WORDS, Vocabulary};
    use crate::random::Random;

    #[test]
    fn few_words_are_frequent_and_most_words_are_used() {
        let (words, mut random) = (Vocabulary::new(1), Random::new(1));
        let drawn: Vec<_> = (0..100_000).map(|_| words.word(&mut random)).collect();
        let distinct: HashSet<_> = drawn.iter().collect();
        let the = drawn.iter().filter(|word| **word == "the").count();
        assert!(distinct.len() > SMALL_WORDS * 9 / 10, "only {} different words", distinct.len());
        assert!((5_000..8_000).contains(&the), "\"the\" {the} times in 100000");
    }

    #[test]
    fn in_a_large_vocabulary_a_third_of_the_text_is_function_words() {
        let (words, mut random) = (Vocabulary::large(1), Random::new(1));
        let drawn: Vec<_> = (0..100_000).map(|_| words.word(&mut random)).collect();
        let distinct: HashSet<_> = drawn.iter().collect();
        let function = drawn.iter().filter(|word| words.is_function_word(word)).count();
        assert!((30_000..45_000).contains(&function), "{function} function words in 100000");
        assert!(distinct.len() > 15_000, "only {} different words", distinct.len());
    }
}
