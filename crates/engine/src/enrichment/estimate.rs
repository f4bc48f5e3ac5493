//! What it would cost to have the model add facts to what a sync would read.

use std::collections::BTreeMap;

use rethread_model::{Tokens, estimate_tokens};
use rethread_store::{SessionWork, Store, UsageFilter};

use super::ask::{INSTRUCTIONS, PIECE_BYTES};
use crate::sync::{Job, Start};
use crate::{Engine, EngineError, NanoUsd, WorkKind};

/// Of a thousand tokens of transcripts so many are kept, where nothing was read yet: as measured, see the README.
const USUALLY_KEPT: u64 = 34;
/// Tokens of an answer, by experience.
const USUAL_ANSWER: u64 = 600;

/// What adding facts to sessions of one type would take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnrichmentEstimate {
    /// The type; nothing where it is not known before the sessions are read. They count like all others together.
    pub kind: Option<WorkKind>,
    /// How many sessions.
    pub sessions: u64,
    /// Tokens read and written.
    pub tokens: u64,
    /// What they cost; nothing if nobody knows the price.
    pub cost: Option<NanoUsd>,
}

impl Engine {
    /// By type of session, for transcripts that would be read. Nothing where no model can be asked.
    pub(crate) fn enrichment_estimates(
        &self,
        store: Option<&Store>,
        jobs: &[Job],
    ) -> Result<Option<Vec<EnrichmentEstimate>>, EngineError> {
        let Ok(model) = self.enrichment_model() else { return Ok(None) };
        let work = store.map(|store| store.work(&UsageFilter::default())).transpose()?.unwrap_or_default();
        let mut by_kind: BTreeMap<Option<WorkKind>, (u64, Tokens)> = BTreeMap::new();
        for job in jobs {
            let kind = match (&job.start, store) {
                (Start::Known(row) | Start::Again(row), Some(store)) => match row.session {
                    Some(session) => store.work_of(session)?.as_ref().map(WorkKind::of),
                    None => None,
                },
                _ => None,
            };
            let kept = share_of(&work, kind, estimate_tokens(job.bytes_to_read()));
            let pieces = (kept * 4).div_ceil(PIECE_BYTES).max(1);
            let (sessions, tokens) = by_kind.entry(kind).or_default();
            *sessions += 1;
            tokens.input += kept + pieces * INSTRUCTIONS;
            tokens.output += pieces * USUAL_ANSWER;
        }
        let price = model.chat.price();
        let estimates = by_kind.into_iter().map(|(kind, (sessions, tokens))| EnrichmentEstimate {
            kind,
            sessions,
            tokens: tokens.total(),
            cost: price.map(|price| price.cost(tokens)),
        });
        Ok(Some(estimates.collect()))
    }
}

/// How many of so many tokens are kept, by what was kept of sessions of that type, else of all.
fn share_of(work: &[SessionWork], kind: Option<WorkKind>, raw: u64) -> u64 {
    let sums = |wanted: Option<WorkKind>| {
        let alike = work.iter().filter(|work| wanted.is_none_or(|kind| WorkKind::of(work) == kind));
        alike.fold((0, 0), |(raw, kept), work| (raw + work.raw_tokens, kept + work.kept_tokens))
    };
    let measured = [kind, None].into_iter().map(sums).find(|(raw, _)| *raw > 0);
    let (of, kept) = measured.unwrap_or((1_000, USUALLY_KEPT));
    let share = u128::from(raw) * u128::from(kept) / u128::from(of);
    u64::try_from(share).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l003_17_what_is_kept_of_a_type_decides_else_of_all_else_what_is_usual() {
        let talk = SessionWork { messages: 4, raw_tokens: 1_000, kept_tokens: 200, ..SessionWork::default() };
        let look = SessionWork { messages: 4, tool_calls: 9, raw_tokens: 3_000, kept_tokens: 200, ..talk };
        let both = [talk, look];
        assert_eq!(share_of(&both, Some(WorkKind::Chat), 500), 100);
        assert_eq!(share_of(&both, None, 500), 50);
        assert_eq!(share_of(&both, Some(WorkKind::Debugging), 500), 50, "no session of that type was measured");
        assert_eq!(share_of(&[], Some(WorkKind::Chat), 1_000), USUALLY_KEPT);
    }
}
