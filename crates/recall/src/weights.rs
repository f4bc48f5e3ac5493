//! How the parts of a score are weighed: one table for everything.

/// A part of a score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Why {
    /// What it is about.
    pub part: &'static str,
    /// What it adds to the score.
    pub points: f32,
}

/// One line of the table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weight {
    /// The part's name, as shown in `why`.
    pub part: &'static str,
    /// What one unit of it is worth.
    pub weight: f32,
    /// What it measures, from 0 to about 1.
    pub meaning: &'static str,
}

/// The parts of a score, in the order of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Part {
    /// The entry's own words.
    Bm25,
    /// The words of its whole session.
    Session,
}

/// How many parts there are.
pub const PARTS: usize = 2;

/// The table. One set of weights for all kinds of text.
pub const TABLE: [Weight; PARTS] = [
    Weight { part: "bm25", weight: 3.5, meaning: "words of the query in the entry" },
    Weight { part: "session", weight: 3.5, meaning: "words of the query in the whole session" },
];

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

    pub(crate) fn weigh(&self, values: &[f32; PARTS]) -> f32 {
        self.0.iter().zip(values).map(|(weight, value)| weight * value).sum()
    }

    /// What each part adds, largest first; parts that add nothing are left out.
    pub(crate) fn explain(&self, values: &[f32; PARTS]) -> Vec<Why> {
        let points = self.0.iter().zip(values).map(|(weight, value)| weight * value);
        let mut why: Vec<Why> =
            TABLE.iter().zip(points).map(|(line, points)| Why { part: line.part, points }).collect();
        why.retain(|one| one.points.abs() >= 0.0005);
        why.sort_by(|a, b| b.points.abs().total_cmp(&a.points.abs()));
        why
    }
}
