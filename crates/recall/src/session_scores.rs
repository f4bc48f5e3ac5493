//! Scores sessions as a whole, for coding work: what was asked, what was answered, which files, which other calls.
//!
//! A task is done over many entries. No single one of them says as much about it as all together.

use rethread_index::{IndexSnapshot, SessionField, SessionFields};

use crate::matches::{TermMatches, WeightedTerm, bm25_weight, inverse_frequency};
use crate::search_filters::SearchFilters;

/// BM25 `k1` and `b` for a field of a session. The textbook values; other ones were not tried.
const SATURATION: f32 = 1.2;
const LENGTH_PENALTY: f32 = 0.75;

/// One score per session number: BM25 of the query in each field of the session, summed with equal weights.
#[derive(Debug)]
pub(crate) struct SessionScores(Vec<f32>);

impl SessionScores {
    pub(crate) fn compute(snapshot: &IndexSnapshot, matches: &TermMatches, allowed: &SearchFilters) -> Self {
        let fields = snapshot.session_fields();
        let mut tally =
            TermTally { counts: vec![[0; SessionField::COUNT]; fields.session_limit()], sessions: Vec::new() };
        let mut scores = vec![0.0; fields.session_limit()];
        for term in matches.terms.iter().chain(&matches.further_terms) {
            tally.count(snapshot, fields, term, allowed);
            let weights = tally
                .sessions_by_field()
                .map(|with| term.term.weight * inverse_frequency(fields.session_count() as f32, with as f32));
            for (session, counts) in tally.drain() {
                let lengths = fields.word_counts(session);
                for field in 0..SessionField::COUNT {
                    let length = lengths[field] as f32 / fields.average_words()[field];
                    scores[session] +=
                        weights[field] * bm25_weight(counts[field] as f32, length, SATURATION, LENGTH_PENALTY);
                }
            }
        }
        Self(scores)
    }

    pub(crate) fn of_session(&self, session: u64) -> f32 {
        self.0.get(session as usize).copied().unwrap_or(0.0)
    }

    /// The sessions with the best scores, best first.
    pub(crate) fn best(&self, limit: usize) -> Vec<u64> {
        let mut sessions = self.above(0.0);
        sessions.truncate(limit);
        sessions
    }

    /// The sessions with a score above `least`, best first.
    pub(crate) fn above(&self, least: f32) -> Vec<u64> {
        let mut sessions: Vec<u64> =
            (0..self.0.len() as u64).filter(|session| self.of_session(*session) > least).collect();
        // Of equal sessions the newer one, which has the larger number.
        sessions.sort_by(|a, b| self.of_session(*b).total_cmp(&self.of_session(*a)).then(b.cmp(a)));
        sessions
    }
}

/// How often one term occurs in each field of each session.
struct TermTally {
    /// By session number.
    counts: Vec<[u32; SessionField::COUNT]>,
    /// Sessions with a count.
    sessions: Vec<usize>,
}

impl TermTally {
    fn count(
        &mut self,
        snapshot: &IndexSnapshot,
        fields: &SessionFields,
        term: &WeightedTerm,
        allowed: &SearchFilters,
    ) {
        let passes = allowed.allows_everything();
        for (at, (segment, postings)) in snapshot.segments().iter().zip(&term.postings).enumerate() {
            for (doc, count) in postings {
                if !passes && !allowed.allows(segment, at, *doc) {
                    continue;
                }
                let Some((session, field)) = fields.place(at, *doc) else { continue };
                let counts = &mut self.counts[session];
                if counts.iter().all(|count| *count == 0) {
                    self.sessions.push(session);
                }
                counts[field] += count;
            }
        }
    }

    /// In how many sessions the term occurs, by field.
    fn sessions_by_field(&self) -> [usize; SessionField::COUNT] {
        let mut with = [0; SessionField::COUNT];
        for session in &self.sessions {
            for (with, count) in with.iter_mut().zip(self.counts[*session]) {
                *with += usize::from(count > 0);
            }
        }
        with
    }

    /// The counts of the term; afterwards the tally is empty.
    fn drain(&mut self) -> impl Iterator<Item = (usize, [u32; SessionField::COUNT])> {
        let counts = &mut self.counts;
        self.sessions.drain(..).map(|session| (session, std::mem::take(&mut counts[session])))
    }
}
