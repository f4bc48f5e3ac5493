//! A meaning as whole numbers from -127 to 127: a quarter of the space, and the same order of likeness.

/// The numbers of one text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numbers(Vec<i8>);

impl Numbers {
    /// Rounds a model's numbers so that the largest becomes 127. Only the direction counts, so no scale is kept.
    pub fn of(vector: &[f32]) -> Self {
        let largest = vector.iter().fold(0.0_f32, |largest, number| largest.max(number.abs()));
        let scale = if largest > 0.0 { 127.0 / largest } else { 0.0 };
        Self(vector.iter().map(|number| (number * scale).round() as i8).collect())
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The cosine between these and stored ones; nothing if another model made those.
    pub fn cosine(&self, stored: &[u8]) -> Option<f32> {
        if self.0.len() != stored.len() {
            return None;
        }
        let (mut product, mut own, mut other) = (0_i32, 0_i32, 0_i32);
        for (a, b) in self.0.iter().zip(stored) {
            let (a, b) = (i32::from(*a), i32::from(b.cast_signed()));
            product += a * b;
            own += a * a;
            other += b * b;
        }
        let lengths = (own as f32).sqrt() * (other as f32).sqrt();
        Some(if lengths > 0.0 { product as f32 / lengths } else { 0.0 })
    }

    /// As they are stored.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        self.0.iter().map(|number| number.cast_unsigned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_keeps_directions() {
        let numbers = Numbers::of(&[0.02, -0.01, 0.0, 0.0199]);
        assert_eq!(numbers.to_bytes(), [127, (-64_i8).cast_unsigned(), 0, 126]);
        assert!(numbers.cosine(&numbers.to_bytes()).is_some_and(|cosine| (cosine - 1.0).abs() < 1e-6));
        let opposite = Numbers::of(&[-2.0, 1.0, 0.0, -1.99]);
        assert!(opposite.cosine(&numbers.to_bytes()).is_some_and(|cosine| (cosine + 1.0).abs() < 1e-3));
    }

    #[test]
    fn rounding_changes_a_cosine_by_little() {
        let wave = |step: f32| (0..384).map(|at| (at as f32 * step).sin()).collect::<Vec<f32>>();
        let (a, b) = (wave(0.37), wave(0.371));
        let product = |x: &[f32], y: &[f32]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f32>();
        let exact = product(&a, &b) / (product(&a, &a) * product(&b, &b)).sqrt();
        let rounded = Numbers::of(&a).cosine(&Numbers::of(&b).to_bytes());
        assert!(rounded.is_some_and(|rounded| (rounded - exact).abs() < 0.01));
    }

    #[test]
    fn nothing_is_like_zeros_and_other_lengths_do_not_compare() {
        let zeros = Numbers::of(&[0.0, 0.0]);
        assert_eq!(zeros.cosine(&[127, 0]), Some(0.0));
        assert_eq!(zeros.cosine(&[127]), None);
    }
}
