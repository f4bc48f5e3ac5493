//! Splits text into word pieces, as the model that the vectors come from does (`WordPiece`, uncased).
//!
//! A word that is not in the list is split into the longest pieces that are, from its start: `misremembered` is `mis`,
//! `##rem`, `##em`, `##bered`. Single characters are always pieces and have no vector, so words in a script that is not in
//! the list do not count.

use unicode_normalization::char::{decompose_canonical, is_combining_mark};

use super::piece_hash::PieceHash;
use super::table::{self, PieceRow};

/// How a piece that continues a word begins in the list.
const CONTINUED: &[u8] = b"##";
/// The longest piece of the list, in characters.
const LONGEST_PIECE: usize = 18;
/// Longer words, in bytes, are hashes, keys and the like. They count as one piece without a vector.
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
    let mut word = FoldedWord::default();
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            word.push(c.to_ascii_lowercase());
        } else if !c.is_ascii() && c.is_alphanumeric() {
            word.push_folded(c);
        } else if c.is_ascii() || !is_combining_mark(c) {
            word.visit_pieces(&mut left, &mut visit);
            word.clear();
            left = left.saturating_sub(usize::from(!c.is_whitespace() && !c.is_control()));
            if left == 0 {
                return;
            }
        }
    }
    word.visit_pieces(&mut left, &mut visit);
}

/// A word in lower case and without accents. It is hashed while it is read, because most words are in the list.
#[derive(Default)]
struct FoldedWord {
    text: String,
    hash: PieceHash,
}

impl FoldedWord {
    fn push(&mut self, letter: char) {
        self.text.push(letter);
        self.hash = self.hash.extend(letter.encode_utf8(&mut [0; 4]).as_bytes());
    }

    fn push_folded(&mut self, letter: char) {
        for lower in letter.to_lowercase() {
            decompose_canonical(lower, |part| {
                if !is_combining_mark(part) {
                    self.push(part);
                }
            });
        }
    }

    fn clear(&mut self) {
        self.text.clear();
        self.hash = PieceHash::START;
    }

    fn visit_pieces(&self, left: &mut usize, visit: &mut impl FnMut(WordPiece<'_>)) {
        if self.text.is_empty() || *left == 0 {
            return;
        }
        if let Some(row) = table::find(self.hash) {
            visit(WordPiece { text: &self.text, row: Some(row) });
            *left -= 1;
        } else if self.text.len() > LONGEST_WORD {
            *left -= 1;
        } else {
            self.visit_parts(left, visit);
        }
    }

    fn visit_parts(&self, left: &mut usize, visit: &mut impl FnMut(WordPiece<'_>)) {
        let (mut rest, mut hash) = (self.text.as_str(), PieceHash::START);
        while !rest.is_empty() && *left > 0 {
            let (piece, after) = split_longest(rest, hash);
            visit(piece);
            *left -= 1;
            (rest, hash) = (after, PieceHash::START.extend(CONTINUED));
        }
    }
}

/// The longest piece at the start of the rest of a word, and what follows. The hash is that of what comes before it in
/// the list: nothing, or the mark of a piece that continues a word.
fn split_longest(rest: &str, mut hash: PieceHash) -> (WordPiece<'_>, &str) {
    let mut starts = [(0, hash); LONGEST_PIECE];
    let mut count = 0;
    for (start, (at, c)) in starts.iter_mut().zip(rest.char_indices()) {
        hash = hash.extend(c.encode_utf8(&mut [0; 4]).as_bytes());
        *start = (at + c.len_utf8(), hash);
        count += 1;
    }
    let mut longer = starts.iter().take(count).skip(1).rev();
    let known = longer.find_map(|(end, hash)| Some((*end, Some(table::find(*hash)?))));
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
        check("unaffable", "una ffa ble");
        check("misremembered playdates", "mis rem em bered play dates");
        check("The quick brown fox", "the quick brown fox");
        check("Embeddings!", "em bed ding s");
        check("tokenization", "token ization");
        check("John's DON'T", "john s don t");
        check("Jalapeño Ångström CAFÉ", "ja la pen o ang strom cafe");
        check("cafe\u{301}", "cafe");
        check("it’s well-known… 😀great", "it s well known great");
    }

    #[test]
    fn unknown_scripts_fall_into_characters_without_vectors() {
        check("日本 ok", "日 本 ok");
        visit_pieces("Привет, 日本語, ᓄᓇᕗᑦ, 한국어", 64, |piece| {
            assert!(piece.row.is_none(), "{piece:?}");
        });
        check("", "");
        check(" \n\t…", "");
        check(&"x".repeat(LONGEST_WORD + 1), "");
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
