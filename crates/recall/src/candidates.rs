//! The entries worth a closer look, with the conversation around each.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rethread_index::{Doc, IndexError, Snapshot};
use rethread_model::Timestamp;
use rethread_store::EpisodeKey;
use rustc_hash::FxHashMap;

use crate::allowed::Allowed;
use crate::matches::Matches;
use crate::rank::Moment;

/// Entries looked at closely. More change the order of a page no longer, and cost time.
const MOST: usize = 300;
/// However many are asked for, so many are looked at at most.
const MOST_EVER: usize = 100_000;
/// Sessions looked at closely.
const MOST_SESSIONS: usize = 80;

/// Entries around a match that are looked at too.
const REACH: usize = 2;
/// Sessions of no more entries are looked at as a whole.
const SHORT_SESSION: usize = 40;

/// What it is worth for the first guess that an entry lies in a time the query names.
const IN_TIME: f32 = 3.0;

/// Where a document is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Spot {
    pub(crate) segment: usize,
    pub(crate) doc: Doc,
}

/// A session with its entries in order.
#[derive(Debug)]
pub(crate) struct View {
    /// Position in the session, and where it is.
    pub(crate) entries: Vec<(u64, Spot)>,
    /// Words in all of them.
    pub(crate) length: f32,
    /// How often each word of the query stands in it.
    pub(crate) counts: Vec<f32>,
}

/// An entry worth a closer look.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub(crate) spot: Spot,
    pub(crate) episode: EpisodeKey,
    pub(crate) seq: u64,
    /// Where it stands among the entries of its session.
    pub(crate) place: usize,
}

/// Candidates and the sessions they are in.
#[derive(Debug, Default)]
pub(crate) struct Candidates {
    pub(crate) entries: Vec<Candidate>,
    pub(crate) sessions: FxHashMap<u64, View>,
    /// How many entries matched in all.
    pub(crate) matched: u64,
}

/// A spot in a heap that drops the worst. Of equals the newer is better, wherever it lies in the index, so that the
/// choice is always the same.
struct Guessed {
    guess: f32,
    age: (Option<Timestamp>, u64, u64),
    spot: Spot,
}

impl PartialEq for Guessed {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Guessed {}

impl PartialOrd for Guessed {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Guessed {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.guess.total_cmp(&other.guess).then_with(|| self.age.cmp(&other.age))
    }
}

impl Candidates {
    /// The entries that match best by themselves.
    pub(crate) fn by_words(
        snapshot: &Snapshot,
        matches: &Matches,
        allowed: &Allowed,
        moment: Moment<'_>,
        limit: usize,
    ) -> Result<Self, IndexError> {
        // Who wants more than usual gets more.
        let most = MOST.max(limit.min(MOST_EVER));
        let mut heap = BinaryHeap::with_capacity(most + 1);
        let (mut matched, passes) = (0, allowed.lets_everything_through());
        for (at, (segment, found)) in snapshot.segments().iter().zip(&matches.segments).enumerate() {
            let mut least = if heap.len() == most { least_of(&heap) } else { f32::MIN };
            for doc in found.documents() {
                let mut guess = found.guess(doc);
                // What the filters hold back does not count, so they come first; without filters nothing is asked.
                if !passes && !allowed.lets_through(segment, at, doc) {
                    continue;
                }
                matched += 1;
                if !moment.times.is_empty() && segment.at(doc).is_some_and(|at| moment.names(at)) {
                    guess += IN_TIME;
                }
                if guess < least {
                    continue;
                }
                let age = (segment.at(doc), segment.episode(doc).session.get(), segment.seq(doc));
                heap.push(Reverse(Guessed { guess, age, spot: Spot { segment: at, doc } }));
                if heap.len() > most {
                    heap.pop();
                }
                if heap.len() == most {
                    least = least_of(&heap);
                }
            }
        }
        let spots = heap.into_sorted_vec().into_iter().map(|Reverse(guessed)| guessed.spot).collect();
        Self::gather(snapshot, matches, spots, matched, MOST_SESSIONS.max(limit))
    }

    /// What was said right before or after a match may be the answer without having a word of the question. Of a short
    /// session everything is looked at.
    pub(crate) fn add_neighbours(&mut self, snapshot: &Snapshot, allowed: &Allowed) {
        let mut places: FxHashMap<u64, Vec<usize>> = FxHashMap::default();
        for candidate in &self.entries {
            places.entry(candidate.episode.session.get()).or_default().push(candidate.place);
        }
        for (session, known) in places {
            let Some(view) = self.sessions.get(&session) else { continue };
            let mut wanted = vec![view.entries.len() <= SHORT_SESSION; view.entries.len()];
            for place in &known {
                let near = place.saturating_sub(REACH)..(place + REACH + 1).min(wanted.len());
                wanted[near].fill(true);
            }
            for place in known {
                wanted[place] = false;
            }
            for (place, (seq, spot)) in view.entries.iter().enumerate().filter(|(place, _)| wanted[*place]) {
                let segment = &snapshot.segments()[spot.segment];
                if allowed.lets_through(segment, spot.segment, spot.doc) {
                    self.entries.push(Candidate { spot: *spot, episode: segment.episode(spot.doc), seq: *seq, place });
                }
            }
        }
    }

    fn gather(
        snapshot: &Snapshot,
        matches: &Matches,
        spots: Vec<Spot>,
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
                all.sessions.insert(session, View::of(snapshot, matches, session)?);
            }
            let seq = segment.seq(spot.doc);
            let Some(view) = all.sessions.get(&session) else { continue };
            let Ok(place) = view.entries.binary_search_by_key(&seq, |(seq, _)| *seq) else { continue };
            all.entries.push(Candidate { spot, episode, seq, place });
        }
        Ok(all)
    }
}

/// Entries that pass the filters and lie in the times that are named, newest first.
pub(crate) fn newest(snapshot: &Snapshot, allowed: &Allowed, moment: Moment<'_>) -> Vec<Candidate> {
    let mut found: Vec<(Option<Timestamp>, u64, Spot)> = Vec::new();
    for (at, segment) in snapshot.segments().iter().enumerate() {
        for doc in 0..segment.limit() {
            let when = segment.at(doc);
            let in_time = moment.times.is_empty() || when.is_some_and(|at| moment.names(at));
            if in_time && allowed.lets_through(segment, at, doc) {
                found.push((when, segment.seq(doc), Spot { segment: at, doc }));
            }
        }
    }
    found.sort_unstable_by_key(|one| Reverse(*one));
    let all = found.into_iter().map(|(_, seq, spot)| {
        let episode = snapshot.segments()[spot.segment].episode(spot.doc);
        Candidate { spot, episode, seq, place: 0 }
    });
    all.collect()
}

fn least_of(heap: &BinaryHeap<Reverse<Guessed>>) -> f32 {
    heap.peek().map_or(f32::MIN, |Reverse(guessed)| guessed.guess)
}

impl View {
    pub(crate) fn of(snapshot: &Snapshot, matches: &Matches, session: u64) -> Result<Self, IndexError> {
        let mut view = Self { entries: Vec::new(), length: 0.0, counts: vec![0.0; matches.terms.len()] };
        for (at, segment) in snapshot.segments().iter().enumerate() {
            for doc in segment.of_session(session)? {
                view.entries.push((segment.seq(doc), Spot { segment: at, doc }));
                view.length += segment.length(doc) as f32;
                if matches.segments[at].masks[doc as usize] != 0 {
                    for (term, count) in view.counts.iter_mut().enumerate() {
                        *count += matches.count(term, at, doc) as f32;
                    }
                }
            }
        }
        // Entries come in long sorted runs, one or a few for each segment, and a stable sort makes use of that.
        view.entries.sort();
        Ok(view)
    }

    /// The entry `away` places after (or before) a place.
    pub(crate) fn neighbour(&self, place: usize, away: isize) -> Option<Spot> {
        let at = place.checked_add_signed(away)?;
        self.entries.get(at).map(|(_, spot)| *spot)
    }
}
