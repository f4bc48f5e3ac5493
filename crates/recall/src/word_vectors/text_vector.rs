//! The vector of a text: the sum of the vectors of its words, in any order.

use super::pieces::visit_pieces;
use super::table::DIMENSIONS;

/// More pieces than this are not summed, so that 16 bits are enough.
const MAX_PIECES: usize = i16::MAX as usize / 128;

/// The direction says what a text is about, the length how much it says.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TextVector([f32; DIMENSIONS]);

impl TextVector {
    /// The vector of a text without known words.
    pub(crate) const ZERO: Self = Self([0.0; DIMENSIONS]);

    /// The vector of the first `max_pieces` word pieces of a text, at most 255.
    pub(crate) fn from_text(text: &str, max_pieces: usize) -> Self {
        let mut sum = [0_i16; DIMENSIONS];
        visit_pieces(text, max_pieces.min(MAX_PIECES), |piece| {
            let Some(row) = piece.row else { return };
            for (sum, number) in sum.iter_mut().zip(row) {
                *sum += i16::from(number.cast_signed());
            }
        });
        Self(sum.map(f32::from))
    }

    /// Adds a share of another vector.
    pub(crate) fn add(&mut self, other: &Self, share: f32) {
        for (sum, number) in self.0.iter_mut().zip(other.0) {
            *sum += share * number;
        }
    }

    /// Similarity of two texts, -1 to 1; 0 if one of them has no known words.
    pub(crate) fn cosine(&self, other: &Self) -> f32 {
        let lengths = (self.product(self) * other.product(other)).sqrt();
        if lengths > 0.0 { self.product(other) / lengths } else { 0.0 }
    }

    fn product(&self, other: &Self) -> f32 {
        self.0.iter().zip(other.0).map(|(a, b)| a * b).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(text: &str) -> TextVector {
        TextVector::from_text(text, 64)
    }

    #[track_caller]
    fn check_closer(text: &str, related: &str, unrelated: &str) {
        let (near, far) = (vector(text).cosine(&vector(related)), vector(text).cosine(&vector(unrelated)));
        assert!(near > far + 0.1, "{text}: {related} {near}, {unrelated} {far}");
    }

    #[test]
    fn related_words_are_closer_than_unrelated_ones() {
        check_closer("guitar", "violin", "divorce");
        check_closer("divorce", "marriage", "database");
        check_closer("database", "sql", "camping");
        check_closer("camping", "tent", "violin");
        check_closer(
            "What instrument does she play?",
            "I practice the violin every day.",
            "We hiked in the mountains.",
        );
    }

    #[test]
    fn order_and_case_do_not_matter_and_the_same_text_is_identical() {
        assert_eq!(vector("violin and guitar"), vector("Guitar AND Violin"));
        assert!((vector("some text").cosine(&vector("some text")) - 1.0).abs() < 1e-6);
    }

    #[test]
    fn text_without_known_words_is_like_nothing() {
        for text in ["", "...", "日本語", "x"] {
            assert_eq!(vector(text), TextVector::ZERO, "{text}");
            assert!(vector(text).cosine(&vector("guitar")).abs() < f32::EPSILON);
        }
    }

    #[test]
    fn text_after_the_limit_does_not_count() {
        assert_eq!(TextVector::from_text("red green blue", 2), vector("red green"));
    }

    #[test]
    fn neighbors_add_their_share() {
        let mut sum = vector("tent");
        sum.add(&vector("violin"), 0.7);
        assert!(sum.cosine(&vector("guitar")) > vector("tent").cosine(&vector("guitar")));
        sum.add(&vector("violin"), -0.7);
        assert!((sum.cosine(&vector("tent")) - 1.0).abs() < 1e-5);
    }

    proptest::proptest! {
        #[test]
        fn cosine_of_any_texts_is_in_range(a in ".*", b in ".*") {
            let cosine = vector(&a).cosine(&vector(&b));
            assert!((-1.001..=1.001).contains(&cosine), "{cosine}");
        }
    }
}
