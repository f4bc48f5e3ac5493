//! Embedding vectors quantized to integers from -127 to 127: a quarter of the size, and the same order of similarity.

/// A quantized embedding vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuantizedVector(Vec<i8>);

impl QuantizedVector {
    /// Quantizes a model's vector so that its largest component becomes 127. Cosine similarity depends on the direction
    /// only, so the scale is not kept.
    pub fn quantize(vector: &[f32]) -> Self {
        let largest = vector.iter().fold(0.0_f32, |largest, number| largest.max(number.abs()));
        let scale = if largest > 0.0 { 127.0 / largest } else { 0.0 };
        Self(vector.iter().map(|number| (number * scale).round() as i8).collect())
    }

    /// The dimension.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the dimension is 0.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Cosine similarity with a stored vector; `None` if the dimensions differ, as those of different models may.
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

    /// The stored form: one byte per component.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        self.0.iter().map(|number| number.cast_unsigned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantizing_keeps_the_direction() {
        let numbers = QuantizedVector::quantize(&[0.02, -0.01, 0.0, 0.0199]);
        assert_eq!(numbers.to_bytes(), [127, (-64_i8).cast_unsigned(), 0, 126]);
        assert!(numbers.cosine(&numbers.to_bytes()).is_some_and(|cosine| (cosine - 1.0).abs() < 1e-6));
        let opposite = QuantizedVector::quantize(&[-2.0, 1.0, 0.0, -1.99]);
        assert!(opposite.cosine(&numbers.to_bytes()).is_some_and(|cosine| (cosine + 1.0).abs() < 1e-3));
    }

    #[test]
    fn quantizing_changes_a_cosine_by_less_than_one_percent() {
        let wave = |step: f32| (0..384).map(|at| (at as f32 * step).sin()).collect::<Vec<f32>>();
        let (a, b) = (wave(0.37), wave(0.371));
        let product = |x: &[f32], y: &[f32]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f32>();
        let exact = product(&a, &b) / (product(&a, &a) * product(&b, &b)).sqrt();
        let rounded = QuantizedVector::quantize(&a).cosine(&QuantizedVector::quantize(&b).to_bytes());
        assert!(rounded.is_some_and(|rounded| (rounded - exact).abs() < 0.01));
    }

    #[test]
    fn zero_vectors_have_no_similarity_and_other_dimensions_do_not_compare() {
        let zeros = QuantizedVector::quantize(&[0.0, 0.0]);
        assert_eq!(zeros.cosine(&[127, 0]), Some(0.0));
        assert_eq!(zeros.cosine(&[127]), None);
    }
}
