//! Splits text into word pieces, as the model that the vectors come from does (uncased WordPiece).
//!
//! A word that is not in the list is split into the longest pieces that are, from its start: `unaffable` is `un`, `##aff`,
//! `##able`. Single characters are always pieces and have no vector. So a script the list does not know says nothing.

use unicode_normalization::char::{decompose_canonical, is_combining_mark};

use super::piece_hash::PieceHash;
use super::table::{self, PieceRow};

/// The longest piece of the list, in characters.
const LONGEST_PIECE: usize = 18;
/// Longer words are hashes, keys and the like, and count as one piece without a vector.
const LONGEST_WORD: usize = 100;

/// Part of a word, in lower case and without accents.
#[derive(Clone, Copy, Debug)]
pub(super) struct WordPiece<'a> {
    /// Only tests look at the text.
    #[cfg_attr(not(test), expect(dead_code, reason = "tests compare it"))]
    pub(super) text: &'a str,
    pub(super) row: Option<&'static PieceRow>,
}

/// Visits the first pieces of a text, at most `limit`. Punctuation marks count and are not visited.
pub(super) fn visit_pieces(text: &str, limit: usize, mut visit: impl FnMut(WordPiece<'_>)) {
    let mut left = limit;
    let mut word = String::new();
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            word.push(c.to_ascii_lowercase());
        } else if c.is_alphanumeric() {
            push_folded(&mut word, c);
        } else if !is_combining_mark(c) {
            visit_word(&word, &mut left, &mut visit);
            word.clear();
            left = left.saturating_sub(usize::from(!c.is_whitespace() && !c.is_control()));
            if left == 0 {
                return;
            }
        }
    }
    visit_word(&word, &mut left, &mut visit);
}

/// Adds a letter in lower case and without accents.
fn push_folded(word: &mut String, letter: char) {
    for lower in letter.to_lowercase() {
        decompose_canonical(lower, |part| {
            if !is_combining_mark(part) {
                word.push(part);
            }
        });
    }
}

fn visit_word(word: &str, left: &mut usize, visit: &mut impl FnMut(WordPiece<'_>)) {
    if word.chars().nth(LONGEST_WORD).is_some() {
        *left = left.saturating_sub(1);
        return;
    }
    let mut rest = word;
    while !rest.is_empty() && *left > 0 {
        let (piece, after) = split_longest(rest, rest.len() < word.len());
        visit(piece);
        *left -= 1;
        rest = after;
    }
}

/// The longest piece at the start of the rest of a word, and what follows.
fn split_longest(rest: &str, is_continued: bool) -> (WordPiece<'_>, &str) {
    let mut hash = PieceHash::new(is_continued);
    let mut starts = [(0, hash); LONGEST_PIECE];
    let mut count = 0;
    for (start, (at, c)) in starts.iter_mut().zip(rest.char_indices()) {
        let end = at + c.len_utf8();
        hash = hash.extend(&rest.as_bytes()[at..end]);
        *start = (end, hash);
        count += 1;
    }
    let longer = starts.iter().take(count).skip(1).rev();
    let known = longer.filter_map(|(end, hash)| table::find(*hash).map(|row| (*end, Some(row)))).next();
    let (end, row) = known.unwrap_or((starts[0].0, None));
    let (text, after) = rest.split_at(end);
    (WordPiece { text, row }, after)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let mut found = Vec::new();
        visit_pieces(text, 64, |piece| found.push(piece.text.to_owned()));
        assert_eq!(found.join(" "), expected, "{text:?}");
    }

    #[test]
    fn words_are_split_as_the_model_does() {
        check("unaffable", "un aff able");
        check("The quick brown fox", "the quick brown fox");
        check("Embeddings!", "em bed ding s");
        check("tokenization", "token ization");
        check("John's DON'T", "john s don t");
        check("Jalapeño Ångström CAFÉ", "jalapeno angstrom cafe");
        check("cafe\u{301}", "cafe");
        check("it’s well-known… 😀great", "it s well known great");
    }

    #[test]
    fn unknown_scripts_fall_into_characters_without_vectors() {
        check("日本 ok", "日 本 ok");
        visit_pieces("Привет, 日本語, ᓄᓇᕗᑦ, 한국어", 64, |piece| {
            assert!(piece.row.is_none(), "{piece:?}")
        });
        check("", "");
        check(" \n\t…", "");
        check(&"x".repeat(101), "");
        assert!("x".repeat(100).len() == 100);
    }

    #[test]
    fn longest_piece_of_the_list_fits() {
        let lengths = include_str!("pieces.txt").lines().map(|line| line.trim_start_matches("##").chars().count());
        assert_eq!(lengths.clone().max(), Some(LONGEST_PIECE));
        assert_eq!(lengths.min(), Some(2));
    }

    #[test]
    fn at_most_as_many_pieces_as_asked_for() {
        let count = |text: &str, limit| {
            let mut count = 0;
            visit_pieces(text, limit, |_| count += 1);
            count
        };
        assert_eq!(count("one two three four", 3), 3);
        assert_eq!(count("unaffable", 2), 2);
        assert_eq!(count("one, two, three", 3), 2, "a mark counts");
        assert_eq!(count("one", 0), 0);
    }

    proptest::proptest! {
        #[test]
        fn any_text_can_be_split(text in ".*", limit in 0_usize..80) {
            let mut count = 0;
            visit_pieces(&text, limit, |piece| {
                assert!(!piece.text.is_empty());
                count += 1;
            });
            assert!(count <= limit);
        }
    }
}
