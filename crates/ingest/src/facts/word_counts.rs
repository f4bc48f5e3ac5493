//! Compares texts by the words they share, counted.

use std::collections::HashMap;

/// The share of words that two texts have in common, from 0 to 1. A word that occurs twice counts twice.
pub(super) fn word_overlap(one: &str, other: &str) -> f64 {
    let (one, other) = (counted_words(one), counted_words(other));
    let total = one.values().sum::<usize>() + other.values().sum::<usize>();
    let common: usize =
        one.iter().map(|(word, count)| (*count).min(other.get(word).copied().unwrap_or_default())).sum();
    if total == 0 { 0.0 } else { 2.0 * common as f64 / total as f64 }
}

fn counted_words(text: &str) -> HashMap<&str, usize> {
    let mut counts = HashMap::new();
    for word in text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty()) {
        *counts.entry(word).or_default() += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_in_common_are_counted() {
        assert!((word_overlap("a b b", "b b c") - 2.0 / 3.0).abs() < 1e-9);
        assert!((word_overlap("", "")).abs() < 1e-9 && (word_overlap("x(1)", "x( 1 )") - 1.0).abs() < 1e-9);
    }
}
