//! A linear model: a table of integer weights for each feature and class.

use std::borrow::Cow;

use super::features::Feature;
use super::packing::{CLASS_BITS, MAX_CLASS, SLOT, WEIGHT, feature_hash, pack, place};

/// Weights are stored as integers: this many make 1.
pub(super) const SCALE: f64 = 32.0;

/// Bytes before the tags of a packed model.
const HEADER: usize = 8;

/// Smaller weights are not stored.
const MIN_WEIGHT: i32 = 3;

/// A trained model.
#[derive(Clone, Debug)]
pub struct LinearModel<'a> {
    /// See `packing`.
    packed: Cow<'a, [u8]>,
}

/// The score of each class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scores(Vec<i32>);

impl<'a> LinearModel<'a> {
    /// A model that was packed before.
    pub(super) const fn packed(packed: &'a [u8]) -> Self {
        Self { packed: Cow::Borrowed(packed) }
    }

    /// Reads a model: a line of classes, a line of known words, then a line per feature.
    pub fn parse(text: &str) -> Self {
        Self { packed: Cow::Owned(pack(text)) }
    }

    /// Writes a model so that `parse` reads it. Weights that hardly matter are left out.
    pub fn format(classes: &[&str], words: &[String], weights: &[(String, Vec<f64>)]) -> String {
        let mut lines = vec![
            "# Trained weights, see the module that includes them. Do not edit.".to_owned(),
            classes.join(" "),
            words.join(" "),
        ];
        for (feature, values) in weights {
            let rounded = values.iter().map(|value| (value * SCALE).round() as i32).enumerate();
            let shown: Vec<String> = rounded
                .filter(|(_, weight)| weight.abs() >= MIN_WEIGHT)
                .map(|(class, weight)| format!("{class}={weight}"))
                .collect();
            if !shown.is_empty() {
                lines.push(format!("{feature}\t{}", shown.join(" ")));
            }
        }
        lines.join("\n") + "\n"
    }

    /// Whether the model knows a word.
    pub fn knows(&self, word: &str) -> bool {
        self.find(feature_hash([word])).is_some()
    }

    /// The score of each class for the features that `visit_all` visits.
    pub fn score(&self, visit_all: impl FnOnce(&mut dyn FnMut(Feature<'_>))) -> Scores {
        let mut scores = vec![0; (self.number(0) as usize).max(1)];
        visit_all(&mut |feature| {
            for (class, weight) in self.weights(feature.hash()) {
                if let Some(score) = scores.get_mut(class) {
                    *score += weight;
                }
            }
        });
        Scores(scores)
    }

    /// The weights of a feature, each with its class.
    fn weights(&self, hash: u64) -> impl Iterator<Item = (usize, i32)> {
        let (pairs, _) = self.find(hash).unwrap_or_default().as_chunks();
        pairs.iter().copied().map(unpack_weight)
    }

    /// The packed weights of a feature; empty for a known word.
    fn find(&self, hash: u64) -> Option<&[u8]> {
        let slots = self.number(4);
        let (mut at, tag, check) = place(hash, slots);
        let tags = self.packed.get(HEADER..HEADER + slots as usize)?;
        let table = HEADER + tags.len();
        loop {
            let found = *tags.get(at)?;
            if found == 0 {
                return None;
            }
            let slot = table + at * SLOT;
            if found == tag && self.number(slot) == check {
                // The highest byte is the number of weights.
                let place = self.number(slot + 4);
                let start = table + tags.len() * SLOT + (place & 0xff_ffff) as usize * WEIGHT;
                return self.packed.get(start..start + (place >> 24) as usize * WEIGHT);
            }
            at = if at + 1 == tags.len() { 0 } else { at + 1 };
        }
    }

    fn number(&self, at: usize) -> u32 {
        self.packed.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_le_bytes)
    }

    /// The features that speak most for a class against the first one, strongest first.
    pub fn explain(&self, features: Vec<String>, class: usize) -> Vec<(String, f64)> {
        let weight_of = |feature: &str| {
            let rows = self.weights(feature_hash(feature.split(' ')));
            rows.map(|(one, weight)| if one == class { weight } else { -weight * i32::from(one == 0) }).sum::<i32>()
        };
        let mut all: Vec<(String, f64)> = features
            .into_iter()
            .map(|feature| {
                let weight = f64::from(weight_of(&feature)) / SCALE;
                (feature, weight)
            })
            .filter(|(_, weight)| *weight > 0.0)
            .collect();
        all.sort_by(|one, other| other.1.total_cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
        all
    }
}

/// The class and the weight of packed bytes.
fn unpack_weight(bytes: [u8; WEIGHT]) -> (usize, i32) {
    let packed = i16::from_le_bytes(bytes);
    (usize::from((packed & MAX_CLASS).unsigned_abs()), i32::from(packed >> CLASS_BITS))
}

impl Scores {
    /// The class with the highest score; the first of equal ones.
    pub fn best(&self) -> usize {
        let top = self.0.iter().max().copied().unwrap_or(0);
        self.0.iter().position(|score| *score == top).unwrap_or(0)
    }

    /// How likely a class is, from 0 to 1.
    pub fn likelihood(&self, class: usize) -> f64 {
        self.likelihoods().get(class).copied().unwrap_or(0.0)
    }

    /// How likely each class is, from 0 to 1.
    pub fn likelihoods(&self) -> Vec<f64> {
        let top = self.0.iter().max().copied().unwrap_or(0);
        let powers: Vec<f64> = self.0.iter().map(|score| (f64::from(score - top) / SCALE).exp()).collect();
        let sum: f64 = powers.iter().sum();
        powers.into_iter().map(|power| power / sum).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{KINDS, SPANS};
    use super::*;

    #[test]
    fn a_written_model_reads_back_and_chooses() {
        let weights = [("1 use".to_owned(), vec![0.0, 1.5]), ("1 why".to_owned(), vec![2.0, -1.0])];
        let text = LinearModel::format(&["none", "choose"], &["use".to_owned()], &weights);
        let model = LinearModel::parse(&text);
        assert!(model.knows("use") && !model.knows("why"));
        let best = |features: &[&str]| {
            model
                .score(|visit| features.iter().for_each(|one| visit(Feature::new(&one.split(' ').collect::<Vec<_>>()))))
                .best()
        };
        assert_eq!((best(&["1 use"]), best(&["1 use", "1 why"]), best(&[])), (1, 0, 0));
        let scores = model.score(|visit| visit(Feature::new(&["1", "use"])));
        assert!(scores.likelihood(1) > 0.8 && (scores.likelihood(0) + scores.likelihood(1) - 1.0).abs() < 1e-9);
        assert_eq!(model.explain(vec!["1 use".to_owned(), "1 x".to_owned()], 1), [("1 use".to_owned(), 1.5)]);
    }

    #[test]
    fn packed_models_have_the_trained_weights() {
        for (model, trained) in [(&KINDS, include_str!("kinds.tsv")), (&SPANS, include_str!("spans.tsv"))] {
            let mut lines = trained.lines().skip(2);
            assert!(lines.next().unwrap().split(' ').all(|word| model.knows(word)));
            assert!(!model.knows("not-a-word"));
            for (feature, weights) in lines.filter_map(|line| line.split_once('\t')) {
                let packed = model.weights(feature_hash(feature.split(' ')));
                let shown: Vec<String> = packed.map(|(class, weight)| format!("{class}={weight}")).collect();
                assert_eq!(shown.join(" "), weights, "{feature}");
            }
        }
    }

    #[test]
    fn an_empty_model_chooses_the_first_class() {
        let scores = LinearModel::parse("").score(|visit| visit(Feature::new(&["1", "use"])));
        assert_eq!(scores.best(), 0);
    }
}
