//! Compares a typed name with the names of sessions: equal, same words, beginnings of words, one letter off.

use rethread_index::words::COMMON_WORDS;

/// Shortest word that can name a session by itself.
const MIN_WORD_CHARS: usize = 3;
/// Shortest word in which one letter may be wrong.
const MIN_TYPO_CHARS: usize = 5;
/// Verbs that begin so many names that they identify none.
const FREQUENT_WORDS: [&str; 8] = ["add", "check", "create", "fix", "implement", "make", "test", "update"];

/// A typed name, ready to be compared.
pub(super) struct NameQuery {
    lower: String,
    slug: String,
}

/// A name in lowercase, with every run of other characters than letters and digits replaced by a dash.
pub fn slug(name: &str) -> String {
    let lower = name.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-")
}

impl NameQuery {
    pub(super) fn new(text: &str) -> Self {
        Self { lower: text.to_lowercase(), slug: slug(text) }
    }

    pub(super) fn slug(&self) -> &str {
        &self.slug
    }

    fn words(&self) -> impl Iterator<Item = &str> {
        self.slug.split('-').filter(|word| !word.is_empty())
    }

    pub(super) fn is_one_word(&self) -> bool {
        self.words().count() == 1
    }

    /// Whether the text has a word that can identify a session.
    pub(super) fn can_be_words(&self) -> bool {
        self.words().any(is_distinctive)
    }

    pub(super) fn is_name(&self, name: &str) -> bool {
        name.to_lowercase() == self.lower
    }

    pub(super) fn is_slug(&self, name: &str) -> bool {
        !self.slug.is_empty() && slug(name) == self.slug
    }

    /// Whether a name has all the words.
    pub(super) fn has_words(&self, name: &str) -> bool {
        self.all_match(name, |word, other| word == other)
    }

    /// Whether each word is the beginning of a word of the name: `auth-bug` for "Fix the authentication bug".
    pub(super) fn has_beginnings(&self, name: &str) -> bool {
        self.all_match(name, |word, other| {
            word == other
                || (word.chars().count() >= MIN_WORD_CHARS && (other.starts_with(word) || is_inflected(word, other)))
        })
    }

    /// Whether each word is a word of the name with at most one letter wrong.
    pub(super) fn has_misspelled_words(&self, name: &str) -> bool {
        self.all_match(name, |word, other| word == other || is_misspelled(word, other))
    }

    /// Whether a name contains each word, anywhere.
    pub(super) fn contains(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        !self.slug.is_empty() && self.words().all(|word| name.contains(word))
    }

    /// How close a name is: the number of distinctive words in common, if it is at least half of them.
    pub(super) fn closeness(&self, name: &str) -> u32 {
        let name = slug(name);
        let is_common = |word: &&str| {
            let fits = |other: &str| {
                *word == other
                    || is_misspelled(word, other)
                    || (word.len() > MIN_WORD_CHARS && is_inflected(word, other))
            };
            name.split('-').any(fits)
        };
        let distinctive = || self.words().filter(|word| is_distinctive(word));
        let common = distinctive().filter(is_common).count();
        if common > 0 && common * 2 >= distinctive().count() { common as u32 } else { 0 }
    }

    fn all_match(&self, name: &str, fits: impl Fn(&str, &str) -> bool) -> bool {
        let name = slug(name);
        // Scripts without spaces have no words to compare.
        let is_match =
            |word: &str| name.split('-').any(|other| fits(word, other)) || (!word.is_ascii() && name.contains(word));
        !self.slug.is_empty() && self.words().all(is_match)
    }
}

fn is_distinctive(word: &str) -> bool {
    let least = if word.is_ascii() { MIN_WORD_CHARS } else { 2 };
    word.chars().count() >= least && COMMON_WORDS.binary_search(&word).is_err() && !FREQUENT_WORDS.contains(&word)
}

/// Whether two words differ only in a short English ending: `redirect` and `redirects`, `parser` and `parsing`.
fn is_inflected(word: &str, other: &str) -> bool {
    let stem = |word: &str| {
        let ending = ["ing", "ers", "er", "ed", "es", "s"].iter().find(|ending| word.ends_with(**ending));
        word[..word.len() - ending.map_or(0, |ending| ending.len())].to_owned()
    };
    let (word, other) = (stem(word), stem(other));
    word.len() > MIN_WORD_CHARS && word == other
}

/// Whether one letter is missing, added, wrong, or swapped with its neighbor.
fn is_misspelled(word: &str, other: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (word.chars().collect(), other.chars().collect());
    if a.len().min(b.len()) + 1 < MIN_TYPO_CHARS.max(a.len().max(b.len())) || a.len() < MIN_TYPO_CHARS {
        return false;
    }
    let start = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let (rest_a, rest_b) = (&a[start..], &b[start..]);
    let end = rest_a.iter().rev().zip(rest_b.iter().rev()).take_while(|(x, y)| x == y).count();
    match (rest_a.len() - end, rest_b.len() - end) {
        (0 | 1, 0 | 1) => true,
        (2, 2) => rest_a[0] == rest_b[1] && rest_a[1] == rest_b[0],
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Comparison = fn(&NameQuery, &str) -> bool;

    fn check(compare: Comparison, text: &str, name: &str, expect: bool) {
        assert_eq!(compare(&NameQuery::new(text), name), expect, "{text:?} and {name:?}");
    }

    #[test]
    fn words_of_a_name_are_compared_whole_or_by_their_beginnings() {
        // D14
        check(NameQuery::has_words, "rounding-of-discounts", "Fix the rounding of discounts", true);
        check(NameQuery::has_words, "round", "Fix the rounding of discounts", false);
        check(NameQuery::has_words, "解析器", "修复解析器的错误", true);
        check(NameQuery::has_beginnings, "auth-bug", "Fix the authentication bug", true);
        check(NameQuery::has_beginnings, "redirects", "Follow a redirect only once", true);
        check(NameQuery::has_beginnings, "auth-bug", "Write the author index", false);
    }

    #[test]
    fn one_wrong_letter_is_forgiven_in_a_long_word() {
        // D14
        for typo in ["roundign", "rouding", "roundding", "raunding"] {
            check(NameQuery::has_misspelled_words, typo, "Fix the rounding", true);
        }
        for other in ["grounding-it", "bounded", "fax"] {
            check(NameQuery::has_misspelled_words, other, "Fix the rounding", false);
        }
    }

    #[test]
    fn common_words_name_no_session() {
        // D15
        for (text, expect) in [("the", false), ("fix", false), ("rounding", true), ("fix-it-rounding", true)] {
            assert_eq!(NameQuery::new(text).can_be_words(), expect, "{text}");
        }
    }

    #[test]
    fn a_name_is_close_if_half_of_the_words_are_in_it() {
        // D14
        let closeness = |text: &str, name: &str| NameQuery::new(text).closeness(name);
        assert_eq!(closeness("rounding-in-the-cart", "Fix the rounding"), 1);
        assert_eq!(closeness("rounding-of-taxes-and-discounts", "Fix the rounding"), 0);
        assert_eq!(closeness("count", "Fix the rounding"), 0);
    }
}
