//! Orders ranked entries for display. The order never depends on how many results are asked for.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::candidates::DocAddress;
use crate::rank::RankedCandidate;

/// Ranked entries in the order in which they are shown.
#[derive(Debug, Default)]
pub(crate) struct OrderedResults {
    /// The best entry of each session. Of nearly equal sessions only the first one is shown here.
    pub(crate) leading: Vec<RankedCandidate>,
    /// All others.
    pub(crate) following: Vec<RankedCandidate>,
}

/// The best results, shown in score order whatever their session.
const TOP_RESULTS: usize = 10;
/// After those, every third result is the best entry of a session not shown yet: if the answer is not among the first ten,
/// another session helps more than further entries of the same one. With every second or only such results, labeled
/// entries are found later; with none, labeled sessions are.
const BY_SCORE_PER_NEW_SESSION: usize = 2;

/// Conversations: the best entries by score, later mixed with the best entries of other sessions.
///
/// Sessions are ordered by their total evidence: scores are log-odds, so their exponentials add up.
pub(crate) fn by_entry(ranked: Vec<RankedCandidate>) -> OrderedResults {
    let highest = ranked.first().map_or(0.0, |one| one.score);
    let mut evidence: FxHashMap<u64, f32> = FxHashMap::default();
    for one in &ranked {
        *evidence.entry(session(one)).or_default() += (one.score - highest).exp();
    }
    let mut page = ranked;
    let rest = page.split_off(page.len().min(TOP_RESULTS));
    let mut seen: FxHashSet<u64> = page.iter().map(session).collect();
    let mut of_new_sessions: Vec<RankedCandidate> =
        rest.iter().filter(|one| seen.insert(session(one))).cloned().collect();
    of_new_sessions.sort_by(|a, b| evidence[&session(b)].total_cmp(&evidence[&session(a)]));
    let mut shown: FxHashSet<DocAddress> = FxHashSet::default();
    let (mut of_new_sessions, mut by_score) = (of_new_sessions.into_iter(), rest.into_iter());
    loop {
        let before = page.len();
        let is_new = |one: &RankedCandidate, shown: &mut FxHashSet<DocAddress>| shown.insert(one.candidate.address);
        page.extend(of_new_sessions.find(|one| is_new(one, &mut shown)));
        page.extend(by_score.by_ref().filter(|one| is_new(one, &mut shown)).take(BY_SCORE_PER_NEW_SESSION));
        if page.len() == before {
            return OrderedResults { leading: Vec::new(), following: page };
        }
    }
}

/// Coding work: the best entry of each session, then all other entries.
pub(crate) fn by_session(ranked: Vec<RankedCandidate>) -> OrderedResults {
    let mut seen: FxHashSet<u64> = FxHashSet::default();
    let (leading, following) = ranked.into_iter().partition(|one| seen.insert(session(one)));
    OrderedResults { leading, following }
}

fn session(one: &RankedCandidate) -> u64 {
    one.candidate.episode.session.get()
}
