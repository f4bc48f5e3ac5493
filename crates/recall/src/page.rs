//! Which of the ranked entries make a page, and in which order.

use rustc_hash::FxHashMap;

use crate::rank::Ranked;

/// So many of the best come first, whatever session they are from.
const HEAD: usize = 10;

/// The best entries; then, of every session not yet shown, its best one; then the rest.
///
/// Who has not found it among the first ten is helped more by another session than by more of the same. Sessions are
/// ordered by all they have to say: scores are logarithms of odds, so their exponentials add up.
pub(crate) fn arrange(ranked: Vec<Ranked>, limit: usize) -> Vec<Ranked> {
    let session = |one: &Ranked| one.candidate.episode.session.get();
    let highest = ranked.first().map_or(0.0, |one| one.score);
    let mut weight: FxHashMap<u64, f32> = FxHashMap::default();
    for one in &ranked {
        *weight.entry(session(one)).or_default() += (one.score - highest).exp();
    }
    let mut rest = ranked;
    let tail = rest.split_off(rest.len().min(HEAD));
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
