//! Lists of words in one string, separated by single spaces.

/// Whether a list has the word.
pub(crate) fn is_listed(word: &str, list: &str) -> bool {
    list.split(' ').any(|listed| listed == word)
}
