//! An attempt at fixing an error: which of the changes made since the failure are likely to be the fix.

use rethread_model::clip;
use serde::{Deserialize, Serialize};

use super::change::{AttemptedChange, ChangeKind, Likelihood};
use super::relation::ErrorWords;

/// With more places than this it is unclear which one fixed the error, unless the error names them.
const MAX_CLEAR_PLACES: usize = 4;
/// Maximum number of parts of a description.
const MAX_PARTS: usize = 4;
/// Maximum length of a description, in characters.
const MAX_DETAIL_CHARS: usize = 420;

/// The likely fix among several changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct FixAttempt {
    /// What was done.
    pub(super) detail: String,
    /// The lines of the changes.
    pub(super) lines: Vec<u64>,
    /// The files that were changed.
    #[serde(default)]
    pub(super) files: Vec<String>,
    /// Whether it is clear that one of these changes made the difference.
    pub(super) is_clear: bool,
    /// Whether they name what the error names.
    #[serde(default)]
    pub(super) is_related: bool,
}

/// Selects the likely fix. `None` if no change was made, or if it may be that only a check was switched off.
pub(super) fn select_attempt(
    changes: &[&AttemptedChange],
    is_complete: bool,
    failed: &str,
    words: &ErrorWords,
) -> Option<FixAttempt> {
    let (bypasses, changes): (Vec<&AttemptedChange>, Vec<&AttemptedChange>) =
        without_reverted(changes).into_iter().partition(|change| change.is_bypass());
    let ranked: Vec<(Likelihood, &AttemptedChange)> =
        changes.iter().map(|change| (change.likelihood(failed, words), *change)).collect();
    let best = ranked.iter().map(|(likelihood, _)| *likelihood).max().filter(|best| *best > Likelihood::Unknown)?;
    let chosen: Vec<&AttemptedChange> =
        ranked.iter().filter(|(likelihood, _)| *likelihood == best).map(|(_, change)| *change).collect();
    let is_elsewhere = chosen.iter().all(|change| bypasses.iter().all(|bypass| bypass.what != change.what));
    let is_honest = bypasses.is_empty() || (best == Likelihood::Related && is_elsewhere);
    if !is_honest {
        return None;
    }
    // The commands of one call are one change.
    let place = |change: &AttemptedChange| match change.kind {
        ChangeKind::Edited | ChangeKind::Wrote => change.what.clone(),
        _ => change.line.to_string(),
    };
    let mut places: Vec<String> = chosen.iter().map(|change| place(change)).collect();
    places.sort_unstable();
    places.dedup();
    let is_chosen = |change: &AttemptedChange| chosen.iter().any(|one| one.number == change.number);
    let has_subagent = changes.iter().any(|change| change.kind == ChangeKind::Delegated && !is_chosen(change));
    let is_clear = match best {
        Likelihood::Related => places.len() <= MAX_CLEAR_PLACES,
        Likelihood::Likely => places.len() <= MAX_CLEAR_PLACES && is_complete && !has_subagent,
        // With several commands of this sort, any of them may have been a look around. Sub-agents had a task.
        Likelihood::Possible => {
            let are_tasks = chosen.iter().all(|change| change.kind == ChangeKind::Delegated);
            (places.len() == 1 || (are_tasks && places.len() <= MAX_CLEAR_PLACES)) && is_complete && !has_subagent
        }
        Likelihood::Unlikely | Likelihood::Unknown => false,
    };
    let mut lines: Vec<u64> = chosen.iter().map(|change| change.line).collect();
    lines.dedup();
    let is_file = |change: &&&AttemptedChange| matches!(change.kind, ChangeKind::Edited | ChangeKind::Wrote);
    let mut files: Vec<String> = chosen.iter().filter(is_file).map(|change| change.what.clone()).collect();
    files.dedup();
    let is_related = best == Likelihood::Related;
    Some(FixAttempt { detail: describe(&chosen, words), lines, files, is_clear, is_related })
}

/// The changes without those that were taken back, or that a new version of the file replaced.
fn without_reverted<'c>(changes: &[&'c AttemptedChange]) -> Vec<&'c AttemptedChange> {
    let mut kept: Vec<&AttemptedChange> = Vec::new();
    for change in changes {
        if change.kind == ChangeKind::Wrote {
            kept.retain(|earlier| !earlier.is_in_file(&change.what));
        }
        match kept.iter().rposition(|earlier| earlier.is_reverted_by(change)) {
            Some(at) => drop(kept.remove(at)),
            None => kept.push(change),
        }
    }
    kept
}

/// The changes as text. Each change gets a part before one gets a second.
fn describe(changes: &[&AttemptedChange], words: &ErrorWords) -> String {
    let described: Vec<Vec<String>> = changes.iter().map(|change| change.describe(words)).collect();
    let most = described.iter().map(Vec::len).max().unwrap_or_default();
    let mut chosen: Vec<(usize, usize)> = Vec::new();
    for round in 0..most {
        chosen.extend((0..described.len()).filter(|at| round < described[*at].len()).map(|at| (at, round)));
    }
    chosen.truncate(MAX_PARTS);
    chosen.sort_unstable();
    let mut parts: Vec<&str> = chosen.into_iter().map(|(at, round)| described[at][round].as_str()).collect();
    parts.dedup();
    clip(&parts.join("; "), MAX_DETAIL_CHARS).into_owned()
}
