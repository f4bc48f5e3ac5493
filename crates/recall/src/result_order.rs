//! Orders ranked entries for display.

use rustc_hash::FxHashMap;

use crate::rank::RankedCandidate;

/// The best results, shown in score order whatever their session.
const TOP_RESULTS: usize = 10;

/// The best [`TOP_RESULTS`] entries; then the best entry of each session not shown yet; then the rest.
///
/// If the answer is not among the first ten, another session helps more than further entries of the same one. Sessions
/// are
/// ordered by their total evidence: scores are log-odds, so their exponentials add up.
pub(crate) fn order_results(ranked: Vec<RankedCandidate>, limit: usize) -> Vec<RankedCandidate> {
    let session = |one: &RankedCandidate| one.candidate.episode.session.get();
    let highest = ranked.first().map_or(0.0, |one| one.score);
    let mut weight: FxHashMap<u64, f32> = FxHashMap::default();
    for one in &ranked {
        *weight.entry(session(one)).or_default() += (one.score - highest).exp();
    }
    let mut rest = ranked;
    let tail = rest.split_off(rest.len().min(TOP_RESULTS));
    let mut page = rest;
    let mut seen: Vec<u64> = page.iter().map(session).collect();
    let (mut firsts, mut others) = (Vec::new(), Vec::new());
    for one in tail {
        if seen.contains(&session(&one)) {
            others.push(one);
        } else {
            seen.push(session(&one));
            firsts.push(one);
        }
    }
    firsts.sort_by(|a, b| weight[&session(b)].total_cmp(&weight[&session(a)]));
    page.extend(firsts);
    page.extend(others);
    page.truncate(limit);
    page
}
