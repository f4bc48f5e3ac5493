//! Adds entries that mean the same as the query and need not share a word with it.

use std::collections::hash_map::Entry;

use rethread_index::{IndexError, Snapshot};
use rustc_hash::FxHashMap;

use crate::Likeness;
use crate::allowed::Allowed;
use crate::candidates::{Candidate, Candidates, View};
use crate::matches::Matches;

/// Entries looked at closely because of their meaning.
const MOST_ALIKE: usize = 100;
/// Entries looked at to find as many that pass the filters.
const LOOKED_AT: usize = 1_000;

impl Candidates {
    /// Adds the entries most alike to the query in meaning.
    pub(crate) fn add_alike(
        &mut self,
        snapshot: &Snapshot,
        matches: &Matches,
        allowed: &Allowed,
        likeness: &Likeness,
    ) -> Result<(), IndexError> {
        let mut views: FxHashMap<u64, View> = FxHashMap::default();
        let mut found = 0;
        for (session, seq) in likeness.best(LOOKED_AT, |session| allowed.lets_session(session)) {
            if found == MOST_ALIKE {
                break;
            }
            let view = match (self.sessions.get(&session), views.entry(session)) {
                (Some(view), _) => view,
                (None, Entry::Occupied(view)) => &*view.into_mut(),
                (None, Entry::Vacant(place)) => &*place.insert(View::of(snapshot, matches, session)?),
            };
            let Ok(place) = view.entries.binary_search_by_key(&seq, |(seq, _)| *seq) else { continue };
            let spot = view.entries[place].1;
            let segment = &snapshot.segments()[spot.segment];
            if !allowed.lets_through(segment, spot.segment, spot.doc) {
                continue;
            }
            found += 1;
            if self.entries.iter().any(|candidate| candidate.spot == spot) {
                continue;
            }
            self.matched += 1;
            self.entries.push(Candidate { spot, episode: segment.episode(spot.doc), seq, place });
            if let Some(view) = views.remove(&session) {
                self.sessions.insert(session, view);
            }
        }
        Ok(())
    }
}
