//! Finds sessions with similar work: the same files, the same words.

use rethread_index::IndexSnapshot;
use rethread_model::Session;
use rethread_store::{ReadStore, SessionNumber};

use crate::SearchError;
use crate::matches::TermMatches;
use crate::search_filters::SearchFilters;
use crate::session_groups::SessionGroups;
use crate::session_scores::SessionScores;
use crate::terms::QueryTerms;

/// Minimum score, as a share of what the session itself scores for its own words. In coding sessions of ten projects, a
/// third of the pairs above it changed the same file, and they were four fifths of all pairs that did.
const MIN_SHARE: f32 = 0.3;

/// With fewer words a session says too little about itself: "fix the parser" fits anything.
const MIN_TERMS: usize = 10;

/// A session that did similar work.
#[derive(Clone, Debug)]
pub struct SimilarSession {
    /// Number of the session in the store.
    pub number: SessionNumber,
    /// The session.
    pub session: Session,
    /// How much of the own words it covers, 0 to 1, relative to the session itself.
    pub share: f32,
}

/// The sessions most similar to one, best first. `about` are words that say what the session did. Copies, forks and
/// sub-agents of the session are left out.
pub fn similar_sessions(
    store: &ReadStore,
    snapshot: &IndexSnapshot,
    number: SessionNumber,
    about: &str,
    limit: usize,
) -> Result<Vec<SimilarSession>, SearchError> {
    let terms = QueryTerms::from_query(about, about, snapshot)?;
    let matches = TermMatches::find(snapshot, &terms, store.max_session_number()?)?;
    if matches.terms.len() + matches.further_terms.len() < MIN_TERMS {
        return Ok(Vec::new());
    }
    let scores = SessionScores::compute(snapshot, &matches, &SearchFilters::default());
    let own = scores.of_session(number.get());
    let Some(itself) = store.session_by_number(number)? else { return Ok(Vec::new()) };
    let mut groups = SessionGroups::new(store);
    groups.leader(number, &itself)?;
    let mut similar = Vec::new();
    for other in scores.above(MIN_SHARE * own) {
        let other = SessionNumber::new(other);
        let Some(session) = store.session_by_number(other)?.filter(|_| other != number) else { continue };
        if session.parent == Some(itself.id) || itself.parent == Some(session.id) {
            continue;
        }
        if groups.leader(other, &session)? == other {
            let share = (scores.of_session(other.get()) / own).min(1.0);
            similar.push(SimilarSession { number: other, session, share });
        }
        if similar.len() == limit {
            break;
        }
    }
    Ok(similar)
}
