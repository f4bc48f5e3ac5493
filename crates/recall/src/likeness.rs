//! How alike entries are to a query in meaning, as an embedding model sees it.

use rethread_store::SessionNumber;

/// With fewer entries than this their average says little.
const ENOUGH: usize = 64;
/// What two texts have in common that have nothing in common, where the average does not tell.
const UNLIKE: f32 = 0.3;
/// The average of a collection about one thing only must not swallow every difference.
const MOST_UNLIKE: f32 = 0.9;

/// The share from which an entry is found by its meaning alone. Chance makes some entries a little more alike than
/// others, and a query that nothing answers must find nothing.
const LEAST: f32 = 0.2;

/// The cosine between the query and each entry that has numbers.
///
/// Models differ in what they give for texts that have nothing to do with each other: 0.1 or 0.7. So a cosine counts
/// from the average over all entries, which are mostly about something else.
#[derive(Clone, Debug, Default)]
pub struct Likeness {
    /// Session, position there, cosine; by session and position.
    entries: Vec<(u64, u64, f32)>,
    unlike: f32,
}

impl Likeness {
    /// Takes the cosines of all entries, also of those that are not searched: they tell the average.
    pub fn new(all: impl IntoIterator<Item = (SessionNumber, u64, f32)>) -> Self {
        let mut entries: Vec<_> = all.into_iter().map(|(session, seq, cosine)| (session.get(), seq, cosine)).collect();
        entries.sort_unstable_by_key(|(session, seq, _)| (*session, *seq));
        let sum: f64 = entries.iter().map(|(_, _, cosine)| f64::from(*cosine)).sum();
        let average = (sum / entries.len().max(1) as f64) as f32;
        let unlike = if entries.len() < ENOUGH { UNLIKE } else { average.clamp(0.0, MOST_UNLIKE) };
        Self { entries, unlike }
    }

    /// From 0, nothing in common, to 1, the same.
    pub(crate) fn share(&self, session: u64, seq: u64) -> f32 {
        let found = self.entries.binary_search_by_key(&(session, seq), |(session, seq, _)| (*session, *seq));
        found.map_or(0.0, |at| self.normalised(self.entries[at].2))
    }

    /// The entries most alike, best first, in the sessions that are wanted.
    pub(crate) fn best(&self, most: usize, is_wanted: impl Fn(u64) -> bool) -> Vec<(u64, u64)> {
        let fits = |entry: &&(u64, u64, f32)| self.normalised(entry.2) >= LEAST && is_wanted(entry.0);
        let mut found: Vec<(u64, u64, f32)> = self.entries.iter().filter(fits).copied().collect();
        let better =
            |a: &(u64, u64, f32), b: &(u64, u64, f32)| b.2.total_cmp(&a.2).then_with(|| (a.0, a.1).cmp(&(b.0, b.1)));
        if found.len() > most {
            found.select_nth_unstable_by(most, better);
            found.truncate(most);
        }
        found.sort_unstable_by(better);
        found.into_iter().map(|(session, seq, _)| (session, seq)).collect()
    }

    fn normalised(&self, cosine: f32) -> f32 {
        ((cosine - self.unlike) / (1.0 - self.unlike)).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn likeness(cosines: impl IntoIterator<Item = f32>) -> Likeness {
        let all = cosines.into_iter().enumerate();
        Likeness::new(all.map(|(at, cosine)| (SessionNumber::new(at as u64 % 2), at as u64, cosine)))
    }

    #[test]
    fn of_few_entries_a_cosine_counts_from_a_fixed_point() {
        let few = likeness([1.0, 0.65, 0.3, -1.0]);
        let shares: Vec<f32> = (0..5).map(|seq| few.share(seq % 2, seq)).collect();
        assert!((shares[1] - 0.5).abs() < 1e-6, "{shares:?}");
        assert!(shares[0] > 0.999 && shares[2] < 0.001, "{shares:?}");
        assert!(shares[3] <= 0.0 && shares[4] <= 0.0, "neither against it nor unknown counts: {shares:?}");
    }

    #[test]
    fn of_many_entries_it_counts_from_their_average_whatever_the_model() {
        for base in [0.1_f32, 0.7] {
            let many = likeness((0..100).map(|at| if at == 7 { 1.0 - (1.0 - base) / 2.0 } else { base }));
            assert!((many.share(1, 7) - 0.5).abs() < 0.02, "{base}");
            assert!(many.share(0, 8) < 0.01);
        }
    }

    #[test]
    fn the_best_come_first_and_only_of_wanted_sessions() {
        let some = likeness([0.5, 0.9, 0.8, 0.4, 0.8]);
        assert_eq!(some.best(10, |_| true), [(1, 1), (0, 2), (0, 4), (0, 0)]);
        assert_eq!(some.best(2, |_| true), [(1, 1), (0, 2)]);
        assert_eq!(some.best(2, |session| session == 0), [(0, 2), (0, 4)]);
    }
}
