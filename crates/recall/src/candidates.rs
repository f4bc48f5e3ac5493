//! Selects the entries worth ranking and loads the session around each.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rethread_index::{DocId, IndexError, IndexSnapshot};
use rethread_model::{EntryKind, Timestamp};
use rethread_store::EpisodeKey;
use rustc_hash::FxHashMap;

use crate::matches::TermMatches;
use crate::rank::QueryTimes;
use crate::search_filters::SearchFilters;

/// How many entries and sessions are ranked together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CandidateLimits {
    entries: usize,
    /// Sessions are loaded whole, so they are limited too.
    sessions: usize,
}

impl CandidateLimits {
    /// For the first results. Ranking more costs time and hardly changes the first page. Independent of how many results
    /// are asked for, and so are the later steps, so that the order is the same whatever the limit.
    pub(crate) const FIRST: Self = Self { entries: 300, sessions: 80 };

    /// Maximum number of sessions.
    pub(crate) fn sessions(self) -> usize {
        self.sessions
    }

    /// For the results after those found with these limits; `None` if there are no larger ones.
    pub(crate) fn next(self) -> Option<Self> {
        let more = Self { entries: self.entries * 10, sessions: self.sessions * 10 };
        (more.entries <= MAX_CANDIDATES).then_some(more)
    }
}

/// Upper bound on entries ranked together.
const MAX_CANDIDATES: usize = 300_000;

/// Entries on each side of a match that become candidates too.
const NEIGHBOR_DISTANCE: usize = 2;
/// Sessions with at most this many entries are ranked as a whole.
const SHORT_SESSION_ENTRIES: usize = 40;

/// Bonus in the first estimate for entries inside a time span named by the query.
const IN_TIME_BONUS: f32 = 3.0;

/// Location of a document in the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct DocAddress {
    pub(crate) segment: usize,
    pub(crate) doc: DocId,
}

/// A session's entries in order, with the query term counts needed for ranking.
#[derive(Debug)]
pub(crate) struct CandidateSession {
    /// Sequence number in the session, and index address. Sorted.
    pub(crate) entries: Vec<(u64, DocAddress)>,
    /// Number of words in the whole session.
    pub(crate) word_count: f32,
    /// Occurrences in the session, per query term.
    pub(crate) term_counts: Vec<f32>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct SearchCandidate {
    pub(crate) address: DocAddress,
    pub(crate) episode: EpisodeKey,
    pub(crate) seq: u64,
    /// Index among the entries of its session.
    pub(crate) position: usize,
}

#[derive(Debug, Default)]
pub(crate) struct CandidateSet {
    pub(crate) entries: Vec<SearchCandidate>,
    pub(crate) sessions: FxHashMap<u64, CandidateSession>,
    /// Total number of entries that matched.
    pub(crate) matched: u64,
}

/// A candidate in a heap that drops the worst. Ties go to the newer entry, independent of index layout, so that the
/// selection is deterministic.
struct HeapCandidate {
    estimate: f32,
    recency: (Option<Timestamp>, u64, u64),
    address: DocAddress,
}

impl PartialEq for HeapCandidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for HeapCandidate {}

impl PartialOrd for HeapCandidate {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for HeapCandidate {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.estimate.total_cmp(&other.estimate).then_with(|| self.recency.cmp(&other.recency))
    }
}

impl CandidateSet {
    /// The entries with the best first estimate.
    pub(crate) fn by_terms(
        snapshot: &IndexSnapshot,
        matches: &TermMatches,
        allowed: &SearchFilters,
        moment: QueryTimes<'_>,
        limits: CandidateLimits,
    ) -> Result<Self, IndexError> {
        let max_candidates = limits.entries;
        let mut heap = BinaryHeap::with_capacity(max_candidates + 1);
        let (mut matched, passes) = (0, allowed.allows_everything());
        for (at, (segment, found)) in snapshot.segments().iter().zip(&matches.segments).enumerate() {
            let mut least = if heap.len() == max_candidates { lowest_estimate(&heap) } else { f32::MIN };
            for doc in found.documents() {
                let mut estimate = found.estimate(doc);
                // Filtered entries must not count as matches, so filters run first. Without filters the check is
                // skipped.
                if !passes && !allowed.allows(segment, at, doc) {
                    continue;
                }
                matched += 1;
                if !moment.times.is_empty() && segment.at(doc).is_some_and(|at| moment.includes(at)) {
                    estimate += IN_TIME_BONUS;
                }
                if estimate < least {
                    continue;
                }
                let recency = (segment.at(doc), segment.episode(doc).session.get(), segment.seq(doc));
                heap.push(Reverse(HeapCandidate { estimate, recency, address: DocAddress { segment: at, doc } }));
                if heap.len() > max_candidates {
                    heap.pop();
                }
                if heap.len() == max_candidates {
                    least = lowest_estimate(&heap);
                }
            }
        }
        let spots = heap.into_sorted_vec().into_iter().map(|Reverse(guessed)| guessed.address).collect();
        Self::from_addresses(snapshot, matches, spots, matched, limits.sessions)
    }

    /// Adds entries next to matches: the answer may not contain any word of the question. Short sessions are added
    /// whole.
    pub(crate) fn add_neighbors(&mut self, snapshot: &IndexSnapshot, allowed: &SearchFilters) {
        let mut places: FxHashMap<u64, Vec<usize>> = FxHashMap::default();
        for candidate in &self.entries {
            places.entry(candidate.episode.session.get()).or_default().push(candidate.position);
        }
        for (session, known) in places {
            let Some(view) = self.sessions.get(&session) else { continue };
            let mut included = vec![view.entries.len() <= SHORT_SESSION_ENTRIES; view.entries.len()];
            for position in &known {
                let near =
                    position.saturating_sub(NEIGHBOR_DISTANCE)..(position + NEIGHBOR_DISTANCE + 1).min(included.len());
                included[near].fill(true);
            }
            for position in known {
                included[position] = false;
            }
            for (position, (seq, spot)) in view.entries.iter().enumerate().filter(|(position, _)| included[*position]) {
                let segment = &snapshot.segments()[spot.segment];
                if allowed.allows(segment, spot.segment, spot.doc) {
                    self.entries.push(SearchCandidate {
                        address: *spot,
                        episode: segment.episode(spot.doc),
                        seq: *seq,
                        position,
                    });
                }
            }
        }
    }

    /// Adds the entries of these sessions that match.
    pub(crate) fn add_sessions(
        &mut self,
        snapshot: &IndexSnapshot,
        matches: &TermMatches,
        allowed: &SearchFilters,
        sessions: &[u64],
    ) -> Result<(), IndexError> {
        for session in sessions {
            if self.sessions.contains_key(session) {
                continue;
            }
            let view = CandidateSession::load(snapshot, matches, *session)?;
            for (position, (seq, address)) in view.entries.iter().enumerate() {
                let segment = &snapshot.segments()[address.segment];
                let is_match = matches.segments[address.segment].masks[address.doc as usize] != 0;
                if is_match && allowed.allows(segment, address.segment, address.doc) {
                    let episode = segment.episode(address.doc);
                    self.entries.push(SearchCandidate { address: *address, episode, seq: *seq, position });
                }
            }
            self.sessions.insert(*session, view);
        }
        Ok(())
    }

    fn from_addresses(
        snapshot: &IndexSnapshot,
        matches: &TermMatches,
        spots: Vec<DocAddress>,
        matched: u64,
        most_sessions: usize,
    ) -> Result<Self, IndexError> {
        let mut all = Self { matched, ..Self::default() };
        for spot in spots {
            let segment = &snapshot.segments()[spot.segment];
            let episode = segment.episode(spot.doc);
            let session = episode.session.get();
            if !all.sessions.contains_key(&session) {
                if all.sessions.len() == most_sessions {
                    continue;
                }
                all.sessions.insert(session, CandidateSession::load(snapshot, matches, session)?);
            }
            let seq = segment.seq(spot.doc);
            let Some(view) = all.sessions.get(&session) else { continue };
            let Ok(position) = view.entries.binary_search_by_key(&seq, |(seq, _)| *seq) else { continue };
            all.entries.push(SearchCandidate { address: spot, episode, seq, position });
        }
        Ok(all)
    }
}

/// Entries that pass the filters and fall into the named times, newest first.
pub(crate) fn newest_entries(
    snapshot: &IndexSnapshot,
    allowed: &SearchFilters,
    moment: QueryTimes<'_>,
) -> Vec<SearchCandidate> {
    let mut found: Vec<(Option<Timestamp>, u64, DocAddress)> = Vec::new();
    for (at, segment) in snapshot.segments().iter().enumerate() {
        for doc in 0..segment.doc_limit() {
            let when = segment.at(doc);
            let in_time = moment.times.is_empty() || when.is_some_and(|at| moment.includes(at));
            if in_time && allowed.allows(segment, at, doc) {
                found.push((when, segment.seq(doc), DocAddress { segment: at, doc }));
            }
        }
    }
    found.sort_unstable_by_key(|one| Reverse(*one));
    let all = found.into_iter().map(|(_, seq, spot)| {
        let episode = snapshot.segments()[spot.segment].episode(spot.doc);
        SearchCandidate { address: spot, episode, seq, position: 0 }
    });
    all.collect()
}

fn lowest_estimate(heap: &BinaryHeap<Reverse<HeapCandidate>>) -> f32 {
    heap.peek().map_or(f32::MIN, |Reverse(guessed)| guessed.estimate)
}

impl CandidateSession {
    pub(crate) fn load(snapshot: &IndexSnapshot, matches: &TermMatches, session: u64) -> Result<Self, IndexError> {
        let mut view = Self { entries: Vec::new(), word_count: 0.0, term_counts: vec![0.0; matches.terms.len()] };
        for (at, segment) in snapshot.segments().iter().enumerate() {
            for doc in segment.in_session(session)? {
                view.entries.push((segment.seq(doc), DocAddress { segment: at, doc }));
                view.word_count += segment.word_count(doc) as f32;
                if matches.segments[at].masks[doc as usize] != 0 {
                    for (term, count) in view.term_counts.iter_mut().enumerate() {
                        *count += matches.count(term, at, doc) as f32;
                    }
                }
            }
        }
        // Entries come in long sorted runs, a few per segment, which a stable sort exploits.
        view.entries.sort();
        Ok(view)
    }

    /// Whether an agent used tools in the session.
    pub(crate) fn has_calls(&self, snapshot: &IndexSnapshot) -> bool {
        let kind = |address: &DocAddress| snapshot.segments()[address.segment].traits(address.doc).kind();
        self.entries.iter().any(|(_, address)| kind(address) == EntryKind::Call)
    }

    /// The entry `away` positions after (or, if negative, before) `position`.
    pub(crate) fn neighbor(&self, position: usize, away: isize) -> Option<DocAddress> {
        let at = position.checked_add_signed(away)?;
        self.entries.get(at).map(|(_, spot)| *spot)
    }
}
