//! The feature weights of a score, in one table.
//!
//! Weights marked *fitted* come from a listwise softmax fit on labeled conversations (`LoCoMo` and LongMemEval-S,
//! development halves; `scripts/bench retrieval` measures them, with each feature left out in turn). Those marked *set*
//! are for what these conversations lack: tools, files, errors, projects, the current time. They are too small to
//! outweigh a better match, and large enough to break ties.

/// What one feature contributes to a score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScoreContribution {
    /// Name of the feature.
    pub feature: &'static str,
    /// Weighted value added to the score; may be negative.
    pub points: f32,
}

/// One row of the table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FeatureWeight {
    /// Name of the feature, as shown in `why`.
    pub feature: &'static str,
    /// Score per unit of the feature.
    pub weight: f32,
    /// What it measures. Most features are shares, 0 to 1, of the total weight of the query's words.
    pub description: &'static str,
}

/// The features, in the order of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum ScoreFeature {
    Bm25,
    Session,
    Near,
    Around,
    Question,
    Forms,
    Before,
    Asks,
    Human,
    Agent,
    Speaker,
    Month,
    Day,
    When,
    Self_,
    Names,
    Long,
    New,
    Echo,
    Phrase,
    Path,
    Error,
    Call,
    Project,
    Recent,
    Meaning,
    Work,
    Exact,
    Related,
}

/// Number of features.
pub const FEATURE_COUNT: usize = 29;

/// The weights; one set for all kinds of text.
pub const FEATURE_TABLE: [FeatureWeight; FEATURE_COUNT] = [
    row("bm25", 2.34, "fitted: the entry's own words, BM25"),
    row("session", 2.99, "fitted: the words of the whole session as one text, BM25, square root"),
    row("near", 2.19, "fitted: words in the entry or up to two entries away"),
    row("around", 2.19, "fitted: words in the entry or up to four entries away"),
    row("question", 4.27, "fitted: words in the entry, or in the one before it if that asks something"),
    row("forms", 3.10, "fitted: words that occur only in another form"),
    row("before", 1.96, "fitted: BM25 of the entry two before, the same speaker's previous entry"),
    row("asks", -0.71, "fitted: it ends in a question mark"),
    row("human", 3.29, "fitted: a human said it, and the query asks about \"I\" or \"my\""),
    row("agent", 0.76, "fitted: an agent said it, and the query asks what it said"),
    row("speaker", 1.14, "fitted: the query names the speaker"),
    row("month", 3.40, "fitted: it was said in the month, week or span the query names; 0.3 for a year"),
    row("day", 2.97, "fitted: it was said on the day the query names, fading over the two weeks after"),
    row("when", 1.89, "fitted: it states a time, and the query asks when"),
    row("self", 0.65, "fitted: the speaker talks about themselves"),
    row("names", 0.69, "fitted: it has names in it: none, one, more"),
    row("long", -1.92, "fitted: logarithm of how many thousand characters it has"),
    row("new", 2.30, "fitted: share of its words that the sixteen entries before it do not have"),
    row("echo", -0.49, "fitted: it repeats words of the entry before"),
    row("phrase", 2.0, "set: the query occurs in it word for word"),
    row("path", 1.0, "set: share of the query's paths and dotted names that occur in it as a whole"),
    row("error", 0.8, "set: words in it, if it is an error"),
    row("call", -1.0, "set: it is a tool call, which has many words of little meaning"),
    row("project", 0.5, "set: it belongs to the user's project"),
    row("recent", 0.5, "set: halves every thirty days"),
    row("meaning", 6.0, "set: embedding similarity, if an embedding model is configured"),
    row(
        "work",
        100.0,
        "set: in coding work, the session's prompts, replies, changes, reads, searches and other calls, BM25 each; up to \
         twice as much in a time that the query names",
    ),
    row(
        "exact",
        400.0,
        "set: in coding work, for four words and more: it has them in the same order; half for nearly all of them",
    ),
    row(
        "related",
        8.0,
        "fitted: in conversations, words related to the query's, in the entry or up to four entries away",
    ),
];

const fn row(part: &'static str, weight: f32, meaning: &'static str) -> FeatureWeight {
    FeatureWeight { feature: part, weight, description: meaning }
}

/// The weights in use: those of the table, or with features switched off to measure their effect.
#[derive(Clone, Debug, PartialEq)]
pub struct FeatureWeights([f32; FEATURE_COUNT]);

impl Default for FeatureWeights {
    fn default() -> Self {
        Self(FEATURE_TABLE.map(|line| line.weight))
    }
}

impl FeatureWeights {
    /// A copy with one feature switched off.
    #[must_use]
    pub fn without(&self, part: &str) -> Self {
        let mut weights = self.clone();
        for (weight, line) in weights.0.iter_mut().zip(FEATURE_TABLE) {
            if line.feature == part {
                *weight = 0.0;
            }
        }
        weights
    }

    pub(crate) fn of(&self, feature: ScoreFeature) -> f32 {
        self.0[feature as usize]
    }
}

/// The feature values of one candidate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FeatureValues([f32; FEATURE_COUNT]);

impl Default for FeatureValues {
    fn default() -> Self {
        Self([0.0; FEATURE_COUNT])
    }
}

impl FeatureValues {
    pub(crate) fn set(&mut self, part: ScoreFeature, value: f32) {
        self.0[part as usize] = value;
    }

    pub(crate) fn set_if(&mut self, part: ScoreFeature, is: bool) {
        self.set(part, f32::from(u8::from(is)));
    }

    pub(crate) fn score(&self, weights: &FeatureWeights) -> f32 {
        self.0.iter().zip(weights.0).map(|(value, weight)| value * weight).sum()
    }

    /// What each feature contributes, largest first, without negligible ones.
    pub(crate) fn explain(&self, weights: &FeatureWeights) -> Vec<ScoreContribution> {
        let points = self.0.iter().zip(weights.0).map(|(value, weight)| value * weight);
        let mut why: Vec<ScoreContribution> = FEATURE_TABLE
            .iter()
            .zip(points)
            .map(|(line, points)| ScoreContribution { feature: line.feature, points })
            .collect();
        why.retain(|one| one.points.abs() >= 0.0005);
        why.sort_by(|a, b| b.points.abs().total_cmp(&a.points.abs()));
        why
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_can_be_switched_off_by_name() {
        let mut values = FeatureValues::default();
        values.set(ScoreFeature::Bm25, 0.5);
        values.set_if(ScoreFeature::Asks, true);
        let weights = FeatureWeights::default();
        let without = weights.without("asks");
        assert!(values.score(&without) > values.score(&weights));
        assert_eq!(values.explain(&without).len(), 1);
        assert_eq!(FEATURE_TABLE[ScoreFeature::Meaning as usize].feature, "meaning");
        assert_eq!(FEATURE_TABLE[ScoreFeature::Related as usize].feature, "related");
        assert_eq!(FEATURE_TABLE[ScoreFeature::Phrase as usize].feature, "phrase");
    }
}
