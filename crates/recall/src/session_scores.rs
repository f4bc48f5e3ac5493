//! Scores sessions as a whole, for coding work: what was asked, what was answered, which files, which other calls.
//!
//! A task is done over many entries. No single one of them says as much about it as all together.

use rethread_index::{IndexSnapshot, SessionPart, SessionParts};

use crate::matches::{TermMatches, WeightedTerm, bm25_weight, inverse_frequency};
use crate::search_filters::SearchFilters;

/// BM25 `k1` and `b` for a part of a session. The textbook values; other ones were not tried.
const SATURATION: f32 = 1.2;
const LENGTH_PENALTY: f32 = 0.75;

/// One score per session number: BM25 of the query in each part of the session, summed with equal weights.
#[derive(Debug)]
pub(crate) struct SessionScores(Vec<f32>);

impl SessionScores {
    pub(crate) fn compute(snapshot: &IndexSnapshot, matches: &TermMatches, allowed: &SearchFilters) -> Self {
        let parts = snapshot.session_parts();
        let mut tally =
            TermTally { counts: vec![[0; SessionPart::COUNT]; parts.session_limit()], sessions: Vec::new() };
        let mut scores = vec![0.0; parts.session_limit()];
        for term in matches.terms.iter().chain(&matches.further_terms) {
            tally.count(snapshot, parts, term, allowed);
            let weights = tally
                .sessions_by_part()
                .map(|with| term.term.weight * inverse_frequency(parts.session_count() as f32, with as f32));
            for (session, counts) in tally.drain() {
                let lengths = parts.word_counts(session);
                for part in 0..SessionPart::COUNT {
                    let length = lengths[part] as f32 / parts.average_words()[part];
                    scores[session] +=
                        weights[part] * bm25_weight(counts[part] as f32, length, SATURATION, LENGTH_PENALTY);
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
        let mut sessions: Vec<u64> =
            (0..self.0.len() as u64).filter(|session| self.of_session(*session) > 0.0).collect();
        // Of equal sessions the newer one, which has the larger number.
        sessions.sort_by(|a, b| self.of_session(*b).total_cmp(&self.of_session(*a)).then(b.cmp(a)));
        sessions.truncate(limit);
        sessions
    }
}

/// How often one term occurs in each part of each session.
struct TermTally {
    /// By session number.
    counts: Vec<[u32; SessionPart::COUNT]>,
    /// Sessions with a count.
    sessions: Vec<usize>,
}

impl TermTally {
    fn count(&mut self, snapshot: &IndexSnapshot, parts: &SessionParts, term: &WeightedTerm, allowed: &SearchFilters) {
        let passes = allowed.allows_everything();
        for (at, (segment, postings)) in snapshot.segments().iter().zip(&term.postings).enumerate() {
            for (doc, count) in postings {
                if !passes && !allowed.allows(segment, at, *doc) {
                    continue;
                }
                let Some((session, part)) = parts.place(at, *doc) else { continue };
                let counts = &mut self.counts[session];
                if counts.iter().all(|count| *count == 0) {
                    self.sessions.push(session);
                }
                counts[part] += count;
            }
        }
    }

    /// In how many sessions the term occurs, by part.
    fn sessions_by_part(&self) -> [usize; SessionPart::COUNT] {
        let mut with = [0; SessionPart::COUNT];
        for session in &self.sessions {
            for (with, count) in with.iter_mut().zip(self.counts[*session]) {
                *with += usize::from(count > 0);
            }
        }
        with
    }

    /// The counts of the term; afterwards the tally is empty.
    fn drain(&mut self) -> impl Iterator<Item = (usize, [u32; SessionPart::COUNT])> {
        let counts = &mut self.counts;
        self.sessions.drain(..).map(|session| (session, std::mem::take(&mut counts[session])))
    }
}
