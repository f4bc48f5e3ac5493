//! The order of the sessions on the board: by last activity with pinned sessions first, or by a column.

use std::cmp::Reverse;

use rethread_llm::NanoUsd;
use rethread_store::SessionNumber;

use super::board::Candidate;

/// A column by which sessions can be sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BoardColumn {
    /// The time of the last activity, latest first.
    #[default]
    Activity,
    /// The project, in alphabetical order; sessions without one come last.
    Project,
    /// The agent, in alphabetical order.
    Agent,
    /// The known cost, highest first; sessions without one come last.
    Cost,
    /// The number of failed tool calls, highest first.
    Failures,
    /// The number of changed files, highest first.
    Files,
}

/// A column, and whether its order is reversed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BoardOrder {
    /// The column.
    pub column: BoardColumn,
    /// Sorts the other way round; sessions without a value still come last.
    pub is_reversed: bool,
}

impl BoardOrder {
    /// Sorts sessions that are sorted by last activity, which stays the order among equals.
    pub(super) fn sort(self, shown: &mut [Candidate<'_>], cost: impl Fn(SessionNumber) -> Option<NanoUsd>) {
        match self.column {
            BoardColumn::Activity if !self.is_reversed => shown.sort_by_key(|one| Reverse(one.pinned_at)),
            BoardColumn::Activity => {
                let at = |one: &Candidate<'_>| one.row.last_activity_at;
                shown.sort_by_key(|one| (at(one).is_none(), at(one)));
            }
            BoardColumn::Project => {
                let name = |one: &Candidate<'_>| one.row.project.as_deref().map(str::to_lowercase);
                self.sort_by(shown, |one| Reverse(name(one)), |one| one.row.project.is_none());
            }
            BoardColumn::Agent => self.sort_by(shown, |one| Reverse(one.row.agent.as_str()), |_| false),
            BoardColumn::Cost => {
                self.sort_by(shown, |one| cost(one.row.number), |one| cost(one.row.number).is_none());
            }
            BoardColumn::Failures => self.sort_by(shown, |one| one.row.tool_errors, |_| false),
            BoardColumn::Files => self.sort_by(shown, |one| one.row.files_edited, |_| false),
        }
    }

    /// Sorts by a key, the greatest first or, if reversed, last.
    fn sort_by<K: Ord>(
        self,
        shown: &mut [Candidate<'_>],
        key: impl Fn(&Candidate<'_>) -> K,
        is_unknown: impl Fn(&Candidate<'_>) -> bool,
    ) {
        if self.is_reversed {
            shown.sort_by_cached_key(|one| (is_unknown(one), key(one)));
        } else {
            shown.sort_by_cached_key(|one| (is_unknown(one), Reverse(key(one))));
        }
    }
}
