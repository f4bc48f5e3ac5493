//! Orders candidates by a weighted sum of what is known about each.

use jiff::Zoned;
use rethread_index::Snapshot;
use rethread_model::Timestamp;
use rethread_store::SessionNumber;

use crate::When;
use crate::candidates::{Candidate, Candidates};
use crate::matches::Matches;
use crate::weights::{PARTS, Part, Weights, Why};

/// The times a query speaks of, seen from now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment<'a> {
    pub(crate) now: &'a Zoned,
    pub(crate) times: &'a [When],
}

impl Moment<'_> {
    /// Whether a time phrase of the query means this moment.
    pub(crate) fn names(&self, at: Timestamp) -> bool {
        self.times.iter().any(|when| when.contains(at, self.now.time_zone()))
    }
}

/// A candidate with its score.
#[derive(Clone, Debug)]
pub(crate) struct Ranked {
    pub(crate) candidate: Candidate,
    pub(crate) score: f32,
    pub(crate) why: Vec<Why>,
}

/// All candidates, best first.
pub(crate) fn rank(
    _snapshot: &Snapshot,
    matches: &Matches,
    candidates: &Candidates,
    _moment: Moment<'_>,
    _near: &[SessionNumber],
    weights: &Weights,
) -> Vec<Ranked> {
    let ideal: f32 = matches.terms.iter().map(|term| term.idf * term.term.weight).sum::<f32>() + 5.0;
    let mut ranked: Vec<Ranked> = Vec::with_capacity(candidates.entries.len());
    for candidate in &candidates.entries {
        let mut values = [0.0; PARTS];
        let spot = candidate.spot;
        values[Part::Bm25 as usize] = matches.segments[spot.segment].scores[spot.doc as usize] / ideal;
        if let Some(view) = candidates.sessions.get(&candidate.episode.session.get()) {
            values[Part::Session as usize] = view.best / ideal;
        }
        ranked.push(Ranked { candidate: *candidate, score: weights.weigh(&values), why: weights.explain(&values) });
    }
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score));
    ranked
}
