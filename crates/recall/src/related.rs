//! Ranks the best entries of a conversation again, by how related their words and those around them are to the query's.
//!
//! Most answers that are missed share no word with the question. A single entry says too little for vectors, so its
//! neighbors count too.

use rethread_store::{ReadStore, SessionNumber, StoreError};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::candidates::{CandidateSession, CandidateSet, SearchCandidate};
use crate::rank::RankedCandidate;
use crate::weights::{FeatureWeights, ScoreFeature};
use crate::word_vectors::TextVector;

/// How many of the best entries are ranked again. Fewer cost less time and find fewer sessions.
const RERANKED: usize = 100;
/// Entries on each side that count too.
const REACH: usize = 4;
/// Share of a neighbor, per step away.
const DECAY: f32 = 0.7;
/// The start of an entry says what it is about.
const ENTRY_PIECES: usize = 64;
/// Characters read for that many pieces; enough for English.
const ENTRY_CHARS: u64 = 512;
/// A longer query is a pasted text.
const QUERY_PIECES: usize = 255;
/// Runs of entries with at most this many steps between them are read at once.
const MAX_STEP: usize = 3;

/// Sets the feature for the best entries and sorts them again. All others stay behind them.
pub(crate) fn rank_by_related_words(
    store: &ReadStore,
    candidates: &CandidateSet,
    query: &str,
    weights: &FeatureWeights,
    ranked: &mut [RankedCandidate],
) -> Result<(), StoreError> {
    if weights.of(ScoreFeature::Related) == 0.0 {
        return Ok(());
    }
    let query = TextVector::from_text(query, QUERY_PIECES);
    if query == TextVector::ZERO {
        return Ok(());
    }
    let count = ranked.len().min(RERANKED);
    let best = &mut ranked[..count];
    let vectors = EntryVectors::load(store, candidates, best)?;
    for one in best.iter_mut() {
        one.features.set(ScoreFeature::Related, vectors.around(candidates, &one.candidate).cosine(&query));
        one.score = one.features.score(weights);
    }
    best.sort_by(RankedCandidate::order);
    Ok(())
}

/// The vectors of entries, by session and sequence number.
struct EntryVectors(FxHashMap<(SessionNumber, u64), TextVector>);

impl EntryVectors {
    /// Reads the candidates and their neighbors.
    fn load(store: &ReadStore, candidates: &CandidateSet, best: &[RankedCandidate]) -> Result<Self, StoreError> {
        let mut positions: FxHashMap<SessionNumber, FxHashSet<usize>> = FxHashMap::default();
        for RankedCandidate { candidate, .. } in best {
            let around = candidate.position.saturating_sub(REACH)..=candidate.position + REACH;
            positions.entry(candidate.episode.session).or_default().extend(around);
        }
        let mut vectors = FxHashMap::default();
        for (session, positions) in positions {
            let Some(view) = candidates.sessions.get(&session.get()) else { continue };
            for (first, last) in sequence_ranges(view, positions) {
                let texts = store.text_starts(session, first..=last, ENTRY_CHARS)?;
                vectors.extend(
                    texts.iter().map(|(seq, text)| ((session, *seq), TextVector::from_text(text, ENTRY_PIECES))),
                );
            }
        }
        Ok(Self(vectors))
    }

    /// The vector of an entry with its neighbors, the nearest ones most.
    fn around(&self, candidates: &CandidateSet, candidate: &SearchCandidate) -> TextVector {
        let mut sum = TextVector::ZERO;
        let session = candidate.episode.session;
        let Some(view) = candidates.sessions.get(&session.get()) else { return sum };
        let first = candidate.position.saturating_sub(REACH);
        for (position, (seq, _)) in
            view.entries.iter().enumerate().skip(first).take_while(|(at, _)| *at <= candidate.position + REACH)
        {
            if let Some(vector) = self.0.get(&(session, *seq)) {
                sum.add(vector, DECAY.powi(position.abs_diff(candidate.position) as i32));
            }
        }
        sum
    }
}

/// The first and last sequence numbers of the runs of positions. Runs close to each other are joined.
fn sequence_ranges(view: &CandidateSession, positions: FxHashSet<usize>) -> Vec<(u64, u64)> {
    let mut positions: Vec<usize> = positions.into_iter().filter(|at| *at < view.entries.len()).collect();
    positions.sort_unstable();
    let runs = positions.chunk_by(|a, b| b - a <= MAX_STEP);
    let seq = |position: Option<&usize>| position.and_then(|at| view.entries.get(*at)).map(|(seq, _)| *seq);
    runs.filter_map(|run| Some((seq(run.first())?, seq(run.last())?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidates::DocAddress;

    #[test]
    fn close_runs_are_read_together() {
        let entries = (0..60).map(|at| (at * 10, DocAddress { segment: 0, doc: at as u32 })).collect();
        let view = CandidateSession { entries, word_count: 0.0, term_counts: Vec::new() };
        let check = |positions: &[usize], expected: &[(u64, u64)]| {
            assert_eq!(sequence_ranges(&view, positions.iter().copied().collect()), expected, "{positions:?}");
        };
        check(&[], &[]);
        check(&[5], &[(50, 50)]);
        check(&[2, 0, 1, 5, 30, 31], &[(0, 50), (300, 310)]);
        check(&[58, 59, 60, 61], &[(580, 590)]);
        check(&[60], &[]);
    }
}
