//! Embedding similarity between the query and entries.

use rethread_store::SessionNumber;

/// Minimum number of entries for their average cosine to be meaningful.
const MIN_ENTRIES_FOR_AVERAGE: usize = 64;
/// Assumed cosine of unrelated texts when there are too few entries.
const DEFAULT_BASELINE: f32 = 0.3;
/// Upper bound on the baseline, so that a collection about a single topic still shows differences.
const MAX_BASELINE: f32 = 0.9;

/// Minimum similarity (0 to 1) for an entry to be found by embedding alone. Some entries are slightly similar by
/// chance,
/// and a query without an answer must find nothing.
const MIN_SIMILARITY: f32 = 0.2;

/// The cosine between the query and each entry that has an embedding.
///
/// Models differ in the cosine they give unrelated texts: 0.1 or 0.7. Cosines are therefore measured from the average
/// over all entries, most of which are unrelated to the query.
#[derive(Clone, Debug, Default)]
pub struct SimilarityScores {
    /// Session number, sequence number, cosine; sorted by the first two.
    entries: Vec<(u64, u64, f32)>,
    baseline: f32,
}

impl SimilarityScores {
    /// Takes the cosines of all entries, including those outside the search: they define the average.
    pub fn new(all: impl IntoIterator<Item = (SessionNumber, u64, f32)>) -> Self {
        let mut entries: Vec<_> = all.into_iter().map(|(session, seq, cosine)| (session.get(), seq, cosine)).collect();
        entries.sort_unstable_by_key(|(session, seq, _)| (*session, *seq));
        let sum: f64 = entries.iter().map(|(_, _, cosine)| f64::from(*cosine)).sum();
        let average = (sum / entries.len().max(1) as f64) as f32;
        let baseline =
            if entries.len() < MIN_ENTRIES_FOR_AVERAGE { DEFAULT_BASELINE } else { average.clamp(0.0, MAX_BASELINE) };
        Self { entries, baseline }
    }

    /// Similarity from 0 (unrelated) to 1 (identical); 0 for an unknown entry.
    pub(crate) fn similarity(&self, session: u64, seq: u64) -> f32 {
        let found = self.entries.binary_search_by_key(&(session, seq), |(session, seq, _)| (*session, *seq));
        found.map_or(0.0, |at| self.normalize(self.entries[at].2))
    }

    /// The most similar entries of the wanted sessions, best first.
    pub(crate) fn most_similar(&self, limit: usize, is_allowed: impl Fn(u64) -> bool) -> Vec<(u64, u64)> {
        let fits = |entry: &&(u64, u64, f32)| self.normalize(entry.2) >= MIN_SIMILARITY && is_allowed(entry.0);
        let mut found: Vec<(u64, u64, f32)> = self.entries.iter().filter(fits).copied().collect();
        let better =
            |a: &(u64, u64, f32), b: &(u64, u64, f32)| b.2.total_cmp(&a.2).then_with(|| (a.0, a.1).cmp(&(b.0, b.1)));
        if found.len() > limit {
            found.select_nth_unstable_by(limit, better);
            found.truncate(limit);
        }
        found.sort_unstable_by(better);
        found.into_iter().map(|(session, seq, _)| (session, seq)).collect()
    }

    fn normalize(&self, cosine: f32) -> f32 {
        ((cosine - self.baseline) / (1.0 - self.baseline)).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scores(cosines: impl IntoIterator<Item = f32>) -> SimilarityScores {
        let all = cosines.into_iter().enumerate();
        SimilarityScores::new(all.map(|(at, cosine)| (SessionNumber::new(at as u64 % 2), at as u64, cosine)))
    }

    #[test]
    fn with_few_entries_a_fixed_baseline_is_used() {
        let few = scores([1.0, 0.65, 0.3, -1.0]);
        let shares: Vec<f32> = (0..5).map(|seq| few.similarity(seq % 2, seq)).collect();
        assert!((shares[1] - 0.5).abs() < 1e-6, "{shares:?}");
        assert!(shares[0] > 0.999 && shares[2] < 0.001, "{shares:?}");
        assert!(shares[3] <= 0.0 && shares[4] <= 0.0, "neither negative nor unknown entries count: {shares:?}");
    }

    #[test]
    fn with_many_entries_their_average_is_the_baseline_for_any_model() {
        for base in [0.1_f32, 0.7] {
            let many = scores((0..100).map(|at| if at == 7 { 1.0 - (1.0 - base) / 2.0 } else { base }));
            assert!((many.similarity(1, 7) - 0.5).abs() < 0.02, "{base}");
            assert!(many.similarity(0, 8) < 0.01);
        }
    }

    #[test]
    fn the_best_come_first_and_only_from_wanted_sessions() {
        let some = scores([0.5, 0.9, 0.8, 0.4, 0.8]);
        assert_eq!(some.most_similar(10, |_| true), [(1, 1), (0, 2), (0, 4), (0, 0)]);
        assert_eq!(some.most_similar(2, |_| true), [(1, 1), (0, 2)]);
        assert_eq!(some.most_similar(2, |session| session == 0), [(0, 2), (0, 4)]);
    }
}
