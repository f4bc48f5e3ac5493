//! Adds candidates by embedding similarity; they need not share a word with the query.

use std::collections::hash_map::Entry;

use rethread_index::{IndexError, IndexSnapshot};
use rustc_hash::FxHashMap;

use crate::SimilarityScores;
use crate::candidates::{CandidateSession, CandidateSet, SearchCandidate};
use crate::matches::TermMatches;
use crate::search_filters::SearchFilters;

/// Maximum number of candidates added by similarity.
const MAX_SIMILAR: usize = 100;
/// Most similar entries examined to find [`MAX_SIMILAR`] that pass the filters.
const MAX_EXAMINED: usize = 1_000;

impl CandidateSet {
    /// Adds the entries most similar to the query.
    pub(crate) fn add_similar(
        &mut self,
        snapshot: &IndexSnapshot,
        matches: &TermMatches,
        allowed: &SearchFilters,
        similarity: &SimilarityScores,
    ) -> Result<(), IndexError> {
        let mut views: FxHashMap<u64, CandidateSession> = FxHashMap::default();
        let mut found = 0;
        for (session, seq) in similarity.most_similar(MAX_EXAMINED, |session| allowed.allows_session(session)) {
            if found == MAX_SIMILAR {
                break;
            }
            let view = match (self.sessions.get(&session), views.entry(session)) {
                (Some(view), _) => view,
                (None, Entry::Occupied(view)) => &*view.into_mut(),
                (None, Entry::Vacant(position)) => {
                    &*position.insert(CandidateSession::load(snapshot, matches, session)?)
                }
            };
            let Ok(position) = view.entries.binary_search_by_key(&seq, |(seq, _)| *seq) else { continue };
            let address = view.entries[position].1;
            let segment = &snapshot.segments()[address.segment];
            if !allowed.allows(segment, address.segment, address.doc) {
                continue;
            }
            found += 1;
            if self.entries.iter().any(|candidate| candidate.address == address) {
                continue;
            }
            self.matched += 1;
            self.entries.push(SearchCandidate { address, episode: segment.episode(address.doc), seq, position });
            if let Some(view) = views.remove(&session) {
                self.sessions.insert(session, view);
            }
        }
        Ok(())
    }
}
