//! How the parts of a score are weighed: one table for everything.
//!
//! The weights marked *fitted* come from a listwise softmax fit on labelled conversations (`LoCoMo` and LongMemEval-S,
//! development halves; `scripts/bench retrieval` measures them, with each part left out in turn). Those marked *set*
//! concern what these conversations do not have: tools, files, errors, projects, a present. They are small enough
//! never to outweigh a better match, and large enough to decide between equals.

/// What a part adds to a score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Why {
    /// The part's name.
    pub part: &'static str,
    /// What it adds.
    pub points: f32,
}

/// One line of the table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weight {
    /// The part's name, as shown in `why`.
    pub part: &'static str,
    /// What one unit of it is worth.
    pub weight: f32,
    /// What it measures; most are shares from 0 to 1 of what all words of the query are worth.
    pub meaning: &'static str,
}

/// The parts of a score, in the order of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum Part {
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
}

/// How many parts there are.
pub const PARTS: usize = 26;

/// The table. One set of weights for all kinds of text.
pub const TABLE: [Weight; PARTS] = [
    line("bm25", 2.34, "fitted: the entry's own words, BM25"),
    line("session", 2.99, "fitted: the words of the whole session as one text, BM25, square root"),
    line("near", 2.19, "fitted: words in the entry or up to two entries away"),
    line("around", 2.19, "fitted: words in the entry or up to four entries away"),
    line("question", 4.27, "fitted: words in the entry, or in the one before it if that asks something"),
    line("forms", 3.10, "fitted: words that stand here in another form only"),
    line("before", 1.96, "fitted: BM25 of the entry two before, the same speaker's last word"),
    line("asks", -0.71, "fitted: it ends in a question mark"),
    line("human", 3.29, "fitted: a human said it, and the query asks about \"I\" or \"my\""),
    line("agent", 0.76, "fitted: an agent said it, and the query asks what it said"),
    line("speaker", 1.14, "fitted: the query names who speaks"),
    line("month", 3.40, "fitted: it was said in the month, week or span the query names; 0.3 for a year"),
    line("day", 2.97, "fitted: it was said on the day the query names, or in the two weeks after, ever less"),
    line("when", 1.89, "fitted: it says a time, and the query asks when"),
    line("self", 0.65, "fitted: someone speaks of themselves"),
    line("names", 0.69, "fitted: it has names in it: none, one, more"),
    line("long", -1.92, "fitted: logarithm of how many thousand characters it has"),
    line("new", 2.30, "fitted: share of its words that the sixteen entries before it do not have"),
    line("echo", -0.49, "fitted: it repeats words of the entry before"),
    line("phrase", 2.0, "set: the query stands in it word for word"),
    line("path", 1.0, "set: share of the query's paths and dotted names that stand in it as a whole"),
    line("error", 0.8, "set: words in it, if it is an error"),
    line("call", -1.0, "set: it is a tool call, which says little in many words"),
    line("project", 0.5, "set: it is of the project the user is in"),
    line("recent", 0.5, "set: halves with every thirty days"),
    line("meaning", 6.0, "set: likeness of meaning, if an embedding model is configured"),
];

const fn line(part: &'static str, weight: f32, meaning: &'static str) -> Weight {
    Weight { part, weight, meaning }
}

/// Weights in use: those of the table, or with some parts switched off to see what they are worth.
#[derive(Clone, Debug, PartialEq)]
pub struct Weights([f32; PARTS]);

impl Default for Weights {
    fn default() -> Self {
        Self(TABLE.map(|line| line.weight))
    }
}

impl Weights {
    /// The same without one part.
    #[must_use]
    pub fn without(&self, part: &str) -> Self {
        let mut weights = self.clone();
        for (weight, line) in weights.0.iter_mut().zip(TABLE) {
            if line.part == part {
                *weight = 0.0;
            }
        }
        weights
    }
}

/// What is known about one candidate, part by part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Values([f32; PARTS]);

impl Default for Values {
    fn default() -> Self {
        Self([0.0; PARTS])
    }
}

impl Values {
    pub(crate) fn set(&mut self, part: Part, value: f32) {
        self.0[part as usize] = value;
    }

    pub(crate) fn set_if(&mut self, part: Part, is: bool) {
        self.set(part, f32::from(u8::from(is)));
    }

    pub(crate) fn score(&self, weights: &Weights) -> f32 {
        self.0.iter().zip(weights.0).map(|(value, weight)| value * weight).sum()
    }

    /// What each part adds, largest first; parts that add nothing are left out.
    pub(crate) fn explain(&self, weights: &Weights) -> Vec<Why> {
        let points = self.0.iter().zip(weights.0).map(|(value, weight)| value * weight);
        let mut why: Vec<Why> =
            TABLE.iter().zip(points).map(|(line, points)| Why { part: line.part, points }).collect();
        why.retain(|one| one.points.abs() >= 0.0005);
        why.sort_by(|a, b| b.points.abs().total_cmp(&a.points.abs()));
        why
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_can_be_switched_off_by_name() {
        let mut values = Values::default();
        values.set(Part::Bm25, 0.5);
        values.set_if(Part::Asks, true);
        let weights = Weights::default();
        let without = weights.without("asks");
        assert!(values.score(&without) > values.score(&weights));
        assert_eq!(values.explain(&without).len(), 1);
        assert_eq!(TABLE[Part::Meaning as usize].part, "meaning");
        assert_eq!(TABLE[Part::Phrase as usize].part, "phrase");
    }
}
