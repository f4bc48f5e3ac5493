//! A linear model: a table of integer weights for each feature and class.

use rustc_hash::{FxHashMap, FxHashSet};

/// Weights are stored as integers: this many make 1.
pub(super) const SCALE: f64 = 32.0;

/// Smaller weights are not stored.
const MIN_WEIGHT: i32 = 2;

/// A trained model. Its rows are parsed when they are used, so that loading it is cheap.
#[derive(Clone, Debug, Default)]
pub struct LinearModel<'a> {
    classes: usize,
    words: FxHashSet<&'a str>,
    /// The weights of each feature, as written.
    rows: FxHashMap<&'a str, &'a str>,
}

/// The score of each class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scores(Vec<i32>);

impl<'a> LinearModel<'a> {
    /// Reads a model: a line of classes, a line of known words, then a line per feature.
    pub fn parse(text: &'a str) -> Self {
        let mut lines = text.lines().filter(|line| !line.starts_with('#'));
        let classes = lines.next().unwrap_or_default().split_whitespace().count();
        let words = lines.next().unwrap_or_default().split_whitespace().collect();
        let mut rows = FxHashMap::default();
        rows.reserve(memchr::memchr_iter(b'\n', text.as_bytes()).count());
        rows.extend(lines.filter_map(|line| line.split_once('\t')));
        Self { classes, words, rows }
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
        self.words.contains(word)
    }

    /// The score of each class for the features that `visit_all` visits.
    pub fn score(&self, visit_all: impl FnOnce(&mut dyn FnMut(&str))) -> Scores {
        let mut scores = vec![0; self.classes.max(1)];
        visit_all(&mut |feature| {
            for (class, weight) in self.weights(feature) {
                if let Some(score) = scores.get_mut(class) {
                    *score += weight;
                }
            }
        });
        Scores(scores)
    }

    /// The weights of a feature, each with its class.
    fn weights(&self, feature: &str) -> impl Iterator<Item = (usize, i32)> + use<'a> {
        let values = self.rows.get(feature).copied().unwrap_or_default();
        values.as_bytes().split(|byte| *byte == b' ').filter_map(parse_weight)
    }

    /// The features that speak most for a class against the first one, strongest first.
    pub fn explain(&self, features: Vec<String>, class: usize) -> Vec<(String, f64)> {
        let weight_of = |feature: &str| {
            let rows = self.weights(feature);
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

/// Reads `class=weight`.
fn parse_weight(value: &[u8]) -> Option<(usize, i32)> {
    let equals = value.iter().position(|byte| *byte == b'=')?;
    let (class, weight) = (&value[..equals], &value[equals + 1..]);
    let number = |digits: &[u8]| digits.iter().fold(0, |sum, digit| sum * 10 + i32::from(digit.wrapping_sub(b'0')));
    let weight = weight.strip_prefix(b"-").map_or_else(|| number(weight), |digits| -number(digits));
    Some((usize::try_from(number(class)).ok()?, weight))
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
    use super::*;

    #[test]
    fn a_written_model_reads_back_and_chooses() {
        let weights = [("1 use".to_owned(), vec![0.0, 1.5]), ("1 why".to_owned(), vec![2.0, -1.0])];
        let text = LinearModel::format(&["none", "choose"], &["use".to_owned()], &weights);
        let model = LinearModel::parse(&text);
        assert!(model.knows("use") && !model.knows("why"));
        let best = |features: &[&str]| model.score(|visit| features.iter().for_each(|one| visit(one))).best();
        assert_eq!((best(&["1 use"]), best(&["1 use", "1 why"]), best(&[])), (1, 0, 0));
        let scores = model.score(|visit| visit("1 use"));
        assert!(scores.likelihood(1) > 0.8 && (scores.likelihood(0) + scores.likelihood(1) - 1.0).abs() < 1e-9);
        assert_eq!(model.explain(vec!["1 use".to_owned(), "1 x".to_owned()], 1), [("1 use".to_owned(), 1.5)]);
    }

    #[test]
    fn an_empty_model_chooses_the_first_class() {
        let scores = LinearModel::parse("").score(|visit| visit("1 use"));
        assert_eq!(scores.best(), 0);
    }
}
